"""A media's streaming files: which one serves a request, and its segment file, kept while the container lives."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from chalicelib.core import object_keys
from chalicelib.core.entities import Media, VideoDefinition
from chalicelib.errors import BadInput
from chalicelib.storage.objects import objects

if TYPE_CHECKING:
    from chalicelib.video.segments import SegmentInfo


class RangeSource:
    """An object read by ranges; what its segment file says of its size is enough."""

    def __init__(self, key: str, size: int = 0) -> None:
        self._key = key
        self.size = size

    def read(self, offset: int, length: int) -> bytes:
        """The `length` bytes from `offset`, fewer only at the end."""
        return objects.read_range(self._key, offset, length)


def choose(media: Media, quality: int | None) -> VideoDefinition:
    """The streaming file whose height is closest to `quality`, or the highest one.

    Raises:
        BadInput: the media shows others, or has no streaming file with a segment file.
    """
    files = media.media_files
    if files and (files.ids or files.live or files.concat):
        message = f"Media {media.id} shows others; ask them for their frames."
        raise BadInput(message)
    streaming = (files.streaming if files else None) or []
    usable = [entry for entry in streaming if entry.segment_info and not object_keys.is_url(entry.path)]
    if not usable:
        message = f"Media {media.id} has no streaming file yet."
        raise BadInput(message)
    if quality is None:
        return max(usable, key=lambda entry: entry.resolution[0])
    return min(usable, key=lambda entry: abs(entry.resolution[0] - quality))


def frames_of(stream: VideoDefinition) -> int:
    """How many frames a streaming file has, by its segment file."""
    from chalicelib.video import segments as reading  # noqa: PLC0415 kept off the API's cold start

    return reading.spans(segments(stream.segment_info or ""))[-1].last_frame + 1


@lru_cache(maxsize=64)
def segments(key: str) -> SegmentInfo:
    """A segment file. Its key is that of one content for good: uploads and transcodes give every file a new one."""
    from chalicelib.video import segments as reading  # noqa: PLC0415

    try:
        document = msgspec.json.decode(objects.read(key))
    except msgspec.DecodeError as failure:
        raise BadInput("The segment file is not JSON.", str(failure)) from failure
    return reading.parse_segment_info(document)
