"""Messages of media. Queue: transcode."""

from __future__ import annotations

from chalicelib.queues.base import Message


class ImportImage(Message, frozen=True, kw_only=True, tag="image.import.1"):
    """Fetch an image by URL and store it as the file of a media. Queue: transcode."""

    media: int
    url: str
    thumbnail_url: str | None = None
    """URL of the thumbnail; without it, the thumbnail is made from the image."""
    source: str = ""
    """The key of the object that `url` names, if it is ours: our store may have another address by the time."""
    thumbnail_source: str = ""
    """The key of the object that `thumbnail_url` names, if it is ours."""
