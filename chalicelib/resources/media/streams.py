"""A media's streaming files: which one serves a request, and its segment file and header, kept in memory.

A streaming file may be a URL (`reference_only`), as may its segment file. Both are then read by ranges through the
guard against inside addresses, from origins that the operator allows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from chalicelib.core import object_keys
from chalicelib.core.entities import Media, VideoDefinition
from chalicelib.errors import BadInput
from chalicelib.resources.uploads import fetching
from chalicelib.storage.objects import objects

if TYPE_CHECKING:
    from chalicelib.video.segments import SegmentInfo
    from chalicelib.video.source import Source

LARGEST_SEGMENT_FILE = 32 * 1024 * 1024
"""Bytes of a segment file that is a URL."""
_READERS = 4
_AHEAD = 8
"""Ranges that are read before they are asked for, at most."""


class RangeSource:
    """An object read by ranges; its size is not needed, for its segment file says what there is."""

    def __init__(self, key: str, size: int = 0) -> None:
        self._key = key
        self.size = size

    def read(self, offset: int, length: int) -> bytes:
        """The `length` bytes from `offset`, fewer only at the end."""
        return objects.read_range(self._key, offset, length)


class StreamSource:
    """A streaming file: its header from memory, and ranges known beforehand read side by side."""

    size = 0

    def __init__(self, path: str, header: int, ranges: Iterable[tuple[int, int]] = ()) -> None:
        self._path = path
        self._header = header
        self._source: Source | None = None
        known = list(ranges)
        # One range alone is read by the thread that asks for it.
        self._waiting = deque(known if len(known) > 1 else ())
        self._ahead: dict[tuple[int, int], Future[bytes]] = {}

    def read(self, offset: int, length: int) -> bytes:
        """The `length` bytes from `offset`, fewer only at the end."""
        if (offset, length) == (0, self._header):
            return _header(self._path, length)
        while self._waiting and len(self._ahead) < _AHEAD:
            wanted = self._waiting.popleft()
            self._ahead[wanted] = _readers().submit(self._from_store, *wanted)
        started = self._ahead.pop((offset, length), None)
        if started is not None:
            return started.result()
        return self._from_store(offset, length)

    def _from_store(self, offset: int, length: int) -> bytes:
        if self._source is None:
            self._source = open_path(self._path)
        return self._source.read(offset, length)


def open_path(path: str) -> Source:
    """What a file record's path names: an object of ours, or a URL from an allowed origin."""
    return fetching.HttpSource(path) if object_keys.is_url(path) else RangeSource(path)


def choose(media: Media, quality: int | None) -> VideoDefinition:
    """The streaming file whose height is closest to `quality`, or the highest one.

    Raises:
        BadInput: the media shows others, or has no streaming file with a segment file.
    """
    files = media.media_files
    if files and (files.ids or files.live or files.concat):
        message = f"Media {media.id} shows other media; ask for the frames of those."
        raise BadInput(message)
    streaming = (files.streaming if files else None) or []
    usable = [entry for entry in streaming if entry.segment_info]
    if not usable:
        message = f"Media {media.id} has no streaming file{' with a segment file' if streaming else ''} yet."
        raise BadInput(message)
    if quality is None:
        return max(usable, key=lambda entry: entry.resolution[0])
    return min(usable, key=lambda entry: abs(entry.resolution[0] - quality))


def frames_of(stream: VideoDefinition) -> int:
    """How many frames a streaming file has, by its segment file."""
    return segments(stream.segment_info or "").frames


@lru_cache(maxsize=64)
def segments(path: str) -> SegmentInfo:
    """A segment file. Its key is that of one content for good: uploads and transcodes give every file a new one."""
    from chalicelib.video import segments as reading  # noqa: PLC0415

    try:
        document = msgspec.json.decode(_whole(path))
    except msgspec.DecodeError as failure:
        raise BadInput("The segment file is not JSON.", str(failure)) from failure
    return reading.parse_segment_info(document)


def _whole(path: str) -> bytes:
    if object_keys.is_url(path):
        return fetching.fetch_url(path, LARGEST_SEGMENT_FILE)
    return objects.read(path)


@lru_cache(maxsize=256)
def _header(path: str, length: int) -> bytes:
    """The first boxes of a streaming file, which are a few KB."""
    return open_path(path).read(0, length)


@lru_cache(maxsize=1)
def _readers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_READERS, thread_name_prefix="ranges")
