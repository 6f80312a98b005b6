"""A media's streaming files: the choice of one for a request, and its segment file and header, cached in memory.

A streaming file and its segment file may be URLs (`reference_only`). Both are then read by ranges through the guard
against internal addresses, from origins that the operator or the organization allows. Any other text is read only if it
is a key that the media may name (`owners.authorize`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from chalicelib.core import object_keys
from chalicelib.core.entities import Media, VideoDefinition
from chalicelib.core.object_keys import ObjectKey
from chalicelib.errors import BadInput
from chalicelib.resources.uploads import fetching
from chalicelib.storage.objects import objects, owners

if TYPE_CHECKING:
    from chalicelib.video.segments import SegmentInfo
    from chalicelib.video.source import Source

LARGEST_SEGMENT_FILE = 32 * 1024 * 1024
"""Maximum size of a segment file at a URL, in bytes."""


@dataclass(frozen=True)
class Url:
    """A file elsewhere, and the organization whose list of origins counts for it."""

    url: str
    organization: int | None


Place = ObjectKey | Url
"""Location of a file."""
_READERS = 4
_AHEAD = 8
"""Maximum number of ranges read ahead."""


@dataclass(frozen=True, kw_only=True)
class Stream:
    """A streaming file that can be read.

    Attributes:
        entry: its record.
        path: the file.
        segment_info: its segment file.
    """

    entry: VideoDefinition
    path: Place
    segment_info: Place

    @property
    def resolution(self) -> list[int]:
        """Height and width in pixels."""
        return self.entry.resolution


class RangeSource:
    """An object read by ranges; its size is not needed, because the segment file lists the ranges."""

    def __init__(self, key: ObjectKey, size: int = 0) -> None:
        self._key = key
        self.size = size

    def read(self, offset: int, length: int) -> bytes:
        """The `length` bytes from `offset`, fewer only at the end."""
        return objects.read_range(self._key, offset, length)


class StreamSource:
    """A streaming file: the header from memory, and known ranges read in parallel."""

    size = 0

    def __init__(self, path: Place, header: int, ranges: Iterable[tuple[int, int]] = ()) -> None:
        self._path = path
        self._header = header
        self._source: Source | None = None
        known = list(ranges)
        # A single range is read by the calling thread.
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


def open_path(path: Place) -> Source:
    """An object of ours, or a URL from an allowed origin."""
    return RangeSource(path) if isinstance(path, ObjectKey) else fetching.HttpSource(path.url, path.organization)


def locate(project: int, media: int, paths: Iterable[str]) -> dict[str, Place]:
    """The locations of the files that the document of a media names; files that it may not name are left out."""
    named = [owners.Named(project, media, path) for path in paths]
    keys = owners.authorize_many(named)
    organization = owners.organization_of(project)
    places: dict[str, Place] = {
        each.path: Url(each.path, organization) for each in named if object_keys.is_url(each.path)
    }
    return places | {each.path: key for each, key in keys.items()}


def choose(media: Media, quality: int | None) -> Stream:
    """The streaming file whose height is closest to `quality`, or the highest one.

    Raises:
        BadInput: the media shows others, or has no streaming file with a segment file.
    """
    files = media.media_files
    if files and (files.ids or files.live or files.concat):
        message = f"Media {media.id} shows other media; ask for the frames of those."
        raise BadInput(message)
    streaming = (files.streaming if files else None) or []
    places = locate(media.project, media.id, (path for entry in streaming for path in _paths(entry)))
    usable = [
        Stream(entry=entry, path=places[entry.path], segment_info=places[entry.segment_info])
        for entry in streaming
        if entry.path in places and entry.segment_info in places
    ]
    if not usable:
        message = f"Media {media.id} has no streaming file{' with a segment file' if streaming else ''} yet."
        raise BadInput(message)
    if quality is None:
        return max(usable, key=lambda entry: entry.resolution[0])
    return min(usable, key=lambda entry: abs(entry.resolution[0] - quality))


def frames_of(stream: Stream) -> int:
    """The number of frames of a streaming file, from its segment file."""
    return segments(stream.segment_info).frames


def _paths(entry: VideoDefinition) -> Iterator[str]:
    yield entry.path
    yield entry.segment_info or ""


@lru_cache(maxsize=64)
def segments(path: Place) -> SegmentInfo:
    """A segment file. The content of its key never changes: uploads and transcodes give every file a new key."""
    from chalicelib.video import segments as reading  # noqa: PLC0415

    try:
        document = msgspec.json.decode(_whole(path))
    except msgspec.DecodeError as failure:
        raise BadInput("The segment file is not JSON.", str(failure)) from failure
    return reading.parse_segment_info(document)


def _whole(path: Place) -> bytes:
    if isinstance(path, ObjectKey):
        return objects.read(path)
    return fetching.fetch_url(path.url, LARGEST_SEGMENT_FILE, path.organization)


@lru_cache(maxsize=256)
def _header(path: Place, length: int) -> bytes:
    """The first boxes of a streaming file, a few KB."""
    return open_path(path).read(0, length)


@lru_cache(maxsize=1)
def _readers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_READERS, thread_name_prefix="ranges")
