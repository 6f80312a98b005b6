"""A media's streaming files: which one serves a request, and its segment file, kept while the container lives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from chalicelib.core.entities import Media, VideoDefinition
from chalicelib.core.object_keys import ObjectKey
from chalicelib.errors import BadInput
from chalicelib.storage.objects import objects, owners

if TYPE_CHECKING:
    from chalicelib.video.segments import SegmentInfo


class RangeSource:
    """An object read by ranges; what its segment file says of its size is enough."""

    def __init__(self, key: ObjectKey, size: int = 0) -> None:
        self._key = key
        self.size = size

    def read(self, offset: int, length: int) -> bytes:
        """The `length` bytes from `offset`, fewer only at the end."""
        return objects.read_range(self._key, offset, length)


@dataclass(frozen=True, kw_only=True)
class Stream:
    """A streaming file that may be read.

    Attributes:
        entry: its record.
        key: its object.
        segments: its segment file.
    """

    entry: VideoDefinition
    key: ObjectKey
    segments: ObjectKey

    @property
    def resolution(self) -> list[int]:
        """Height and width in pixels."""
        return self.entry.resolution


def choose(media: Media, quality: int | None) -> Stream:
    """The streaming file whose height is closest to `quality`, or the highest one.

    Raises:
        BadInput: the media shows others, or has no streaming file with a segment file.
    """
    files = media.media_files
    if files and (files.ids or files.live or files.concat):
        message = f"Media {media.id} shows others; ask them for their frames."
        raise BadInput(message)
    streaming = (files.streaming if files else None) or []
    keys = owners.authorize(media, (path for entry in streaming for path in (entry.path, entry.segment_info or "")))
    usable = [
        Stream(entry=entry, key=keys[entry.path], segments=keys[entry.segment_info])
        for entry in streaming
        if entry.path in keys and entry.segment_info in keys
    ]
    if not usable:
        message = f"Media {media.id} has no streaming file yet."
        raise BadInput(message)
    if quality is None:
        return max(usable, key=lambda entry: entry.resolution[0])
    return min(usable, key=lambda entry: abs(entry.resolution[0] - quality))


def frames_of(stream: Stream) -> int:
    """How many frames a streaming file has, by its segment file."""
    from chalicelib.video import segments as reading  # noqa: PLC0415 kept off the API's cold start

    return reading.spans(segments(stream.segments))[-1].last_frame + 1


@lru_cache(maxsize=64)
def segments(key: ObjectKey) -> SegmentInfo:
    """A segment file. Its key is that of one content for good: uploads and transcodes give every file a new one."""
    from chalicelib.video import segments as reading  # noqa: PLC0415

    try:
        document = msgspec.json.decode(objects.read(key))
    except msgspec.DecodeError as failure:
        raise BadInput("The segment file is not JSON.", str(failure)) from failure
    return reading.parse_segment_info(document)
