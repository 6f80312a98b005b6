"""A media's streaming files: the choice of one for a request, and its segment file and header, cached in memory.

A media that refers to a video in a registered bucket has no streaming file: its frames are decoded from the object
itself, by its frame table.

A streaming file and its segment file may be URLs (`reference_only`). Both are then read by ranges through the guard
against internal addresses, from origins that the operator or the organization allows. Any other text is read only if it
is a key that the media may name (`owners.authorize`).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import Context, copy_context
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from chalicelib.core.keys import key_forms
from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.core.models.entities import Media
from chalicelib.core.models.media_files import BucketObject, VideoDefinition
from chalicelib.core.values.recent import Recent
from chalicelib.errors import BadInput, Conflict, NotFound
from chalicelib.resources.uploads import fetching
from chalicelib.storage.objects import objects, owners

if TYPE_CHECKING:
    from chalicelib.video.decoding.frame import Original
    from chalicelib.video.files.source import Source
    from chalicelib.video.mp4.segments import SegmentInfo

LARGEST_SEGMENT_FILE = 32 * 1024 * 1024
"""Maximum size of a segment file at a URL, in bytes."""


@dataclass(frozen=True)
class Url:
    """A file elsewhere, and the organization whose list of origins counts for it."""

    url: str
    organization: int | None


Place = ObjectKey | Url
"""Location of a file."""
MOST_BOXES = 200_000
"""Boxes of all segment files that are kept in memory, with 133 bytes each."""
kept_segments: Recent[SegmentInfo] = Recent(MOST_BOXES, MOST_BOXES, lambda info: len(info.segments))
LARGEST_AHEAD = 16 * 1024 * 1024
"""Maximum size of a range that is read ahead, in bytes."""
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


@dataclass(frozen=True, kw_only=True)
class OriginalVideo:
    """A video where it lies, which can be read by its frame table.

    Attributes:
        found: the object as it was indexed.
        key: its key.
        frame_table: the key of its frame table.
    """

    found: BucketObject
    key: ObjectKey
    frame_table: ObjectKey

    @property
    def original(self) -> Original:
        """Its picture and the times of its frames."""
        return _original(self.frame_table)

    @property
    def resolution(self) -> list[int]:
        """Height and width in pixels."""
        return [self.original.video.height, self.original.video.width]

    @property
    def source(self) -> Source:
        """Its bytes."""
        return ReferenceSource(self.key, self.found)


class ReferenceSource:
    """The bytes of an object in a registered bucket as it was last seen; reading another or a missing one fails."""

    def __init__(self, key: ObjectKey, found: BucketObject) -> None:
        self.key = key
        self.size, self.etag = found.size, found.etag

    def read(self, offset: int, length: int) -> bytes:
        """The `length` bytes from `offset`, fewer only at the end.

        Raises:
            Conflict: the object is gone, or was replaced.
        """
        length = min(length, self.size - offset)
        if length <= 0:
            return b""
        try:
            return objects.read_range(self.key, offset, length, etag=self.etag)
        except (Conflict, NotFound) as failure:
            message = (
                f"The object {self.key.name!r} was changed or removed in its bucket; see media_files.bucket_object."
            )
            raise Conflict(message) from failure


class RangeSource:
    """An object read by ranges; its size is not needed, because the segment file lists the ranges."""

    size = 0

    def __init__(self, key: ObjectKey) -> None:
        self._key = key

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
        # A child reads a longer range in parts.
        known = [each for each in ranges if each[1] <= LARGEST_AHEAD]
        # A single range is read by the calling thread.
        self._waiting = deque(known if len(known) > 1 else ())
        self._ahead: dict[tuple[int, int], Future[bytes]] = {}

    def read(self, offset: int, length: int) -> bytes:
        """The `length` bytes from `offset`, fewer only at the end."""
        if (offset, length) == (0, self._header):
            return _header(self._path, length)
        while self._waiting and len(self._ahead) < _AHEAD:
            wanted = self._waiting.popleft()
            self._ahead[wanted] = _readers().submit(self._in_context, copy_context(), *wanted)
        started = self._ahead.pop((offset, length), None)
        if started is not None:
            return started.result()
        return self._from_store(offset, length)

    def _in_context(self, context: Context, offset: int, length: int) -> bytes:
        """Read in another thread, within the time of the request."""
        return context.run(self._from_store, offset, length)

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
        each.path: Url(each.path, organization) for each in named if key_forms.is_url(each.path)
    }
    return places | {each.path: key for each, key in keys.items()}


def choose(media: Media, quality: int | None, enough: tuple[float, float] | None = None) -> Stream | OriginalVideo:
    """The streaming file whose height is closest to `quality`, or the highest one; or the video where it lies.

    Args:
        media: the video.
        quality: a height in pixels, if one is wanted.
        enough: the width and height that are shown of it: without `quality` the lowest file that has both.

    Raises:
        BadInput: the media shows others, or has no streaming file with a segment file.
        Conflict: its frames are in an object that is missing or was changed.
    """
    files = media.media_files
    if files and (files.ids or files.live or files.concat):
        raise BadInput(f"Media {media.id} shows other media; ask for the frames of those.")
    streaming = (files.streaming if files else None) or []
    places = locate(media.project, media.id, (path for entry in streaming for path in _paths(entry)))
    usable = [
        Stream(entry=entry, path=places[entry.path], segment_info=places[entry.segment_info])
        for entry in streaming
        if entry.path in places and entry.segment_info in places
    ]
    if not usable and (original := _where_it_lies(media)):
        return original
    if not usable:
        raise BadInput(f"Media {media.id} has no streaming file{' with a segment file' if streaming else ''} yet.")
    if quality is None:
        width, height = enough or (math.inf, math.inf)
        large = [each for each in usable if each.resolution[0] >= height and each.resolution[1] >= width]
        return min(large, key=_height) if large else max(usable, key=_height)
    return min(usable, key=lambda entry: abs(entry.resolution[0] - quality))


def _height(stream: Stream) -> int:
    return stream.resolution[0]


def _where_it_lies(media: Media) -> OriginalVideo | None:
    """The video that a media refers to, once its frames are indexed."""
    found = media.media_files.bucket_object if media.media_files else None
    if found is None or not found.frame_table:
        return None
    check_present(found)
    keys = owners.authorize(media, [found.path, found.frame_table])
    if len(keys) < 2:  # noqa: PLR2004 both
        return None
    return OriginalVideo(found=found, key=keys[found.path], frame_table=keys[found.frame_table])


def check_present(found: BucketObject) -> None:
    """Raise Conflict for an object that is known to be missing, or changed and not indexed again."""
    if found.state != "present":
        message = f"The object of this media is {found.state} since {found.missing_datetime or found.changed_datetime}."
        raise Conflict(message)


def frames_of(stream: Stream | OriginalVideo) -> int:
    """The number of frames of a video, from its segment file or its frame table."""
    if isinstance(stream, OriginalVideo):
        return stream.original.table.count
    return segments(stream.segment_info).frames


def _paths(entry: VideoDefinition) -> Iterator[str]:
    yield entry.path
    yield entry.segment_info or ""


def segments(path: Place) -> SegmentInfo:
    """A segment file. The content of its key never changes: uploads and transcodes give every file a new key."""
    return kept_segments.get(path, lambda: _read_segments(path))


def _read_segments(path: Place) -> SegmentInfo:
    from chalicelib.video.mp4 import segments as reading  # noqa: PLC0415

    try:
        document = msgspec.json.decode(_whole(path))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as failure:
        raise BadInput("The segment file is not JSON.", str(failure)) from failure
    return reading.parse_segment_info(document)


@lru_cache(maxsize=64)
def _original(key: ObjectKey) -> Original:
    """A frame table, which the service wrote. Its key names its content."""
    from chalicelib.video.decoding.frame import Original  # noqa: PLC0415 kept off the API's cold start

    return msgspec.json.decode(objects.read(key), type=Original)


def _whole(path: Place) -> bytes:
    if isinstance(path, ObjectKey):
        size, etag = objects.head(path) or (0, "")
        if size > LARGEST_SEGMENT_FILE:
            raise BadInput(f"The segment file has {size} bytes; at most {LARGEST_SEGMENT_FILE} are read.")
        return objects.read_range(path, 0, size, etag=etag) if size else objects.read(path)
    return fetching.fetch_url(path.url, LARGEST_SEGMENT_FILE, path.organization)


@lru_cache(maxsize=256)
def _header(path: Place, length: int) -> bytes:
    """The first boxes of a streaming file, a few KB."""
    return open_path(path).read(0, length)


@lru_cache(maxsize=1)
def _readers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_READERS, thread_name_prefix="ranges")
