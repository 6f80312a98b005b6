"""Bodies and answers of neighbours, sums and clones."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from chalicelib.core.resource import Id, Resource

Count = Annotated[int, Meta(ge=0)]
MOST_CLONED = 500
"""Maximum number of media in one request."""


class MediaNext(Struct, kw_only=True):
    """The next media; −1 for the last."""

    next: int


class MediaPrev(Struct, kw_only=True):
    """The previous media; −1 for the first."""

    prev: int


class MediaStats(Struct, kw_only=True):
    """Sums over media."""

    count: Count
    duration: Annotated[float, Meta(ge=0, description="Seconds of video.")]
    total_size: Annotated[int, Meta(ge=0, description="Bytes of all files except audio.")]
    download_size: Annotated[
        int,
        Meta(ge=0, description="Bytes of one file of each media: archival, else streaming, else image."),
    ]


class CloneMediaSpec(Resource, kw_only=True):
    """The destination of clones."""

    dest_project: Id
    dest_type: Annotated[
        Annotated[int, Meta(ge=-1)],
        Meta(description="A media type of that project; −1 for its first."),
    ]
    dest_section: Annotated[str | None, Meta(description="The name of a folder, created if it does not exist.")] = None
    dest_section_id: Id | None = None


class GetClonedMediaResponse(Struct, kw_only=True):
    """The media that share files with one media, including itself and the original."""

    message: str
    ids: list[int]
