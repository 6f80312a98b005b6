"""Telemetry that is attached to media: the file, the instant of the first frame and the times of frames."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection
from typing import cast

from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.core.kinds import Kind
from chalicelib.core.models.entities import Media
from chalicelib.core.telemetry import reading
from chalicelib.core.telemetry.table import Table, instant_seconds
from chalicelib.core.time.deadline import check_query
from chalicelib.errors import BadInput
from chalicelib.resources.frames.times import clock_of
from chalicelib.storage.dynamodb import records
from chalicelib.storage.objects import objects, owners

LARGEST_FILE = 128 * 1024 * 1024
_BLOCK = 4 * 1024 * 1024
_DAY = 86_400
SUFFIXES = (".csv", ".nmea", ".nma", ".gpx", ".log", ".txt", ".klv", ".ts")
"""Suffixes of the attachments that are read as telemetry where none is named."""


def table_of(media: Media, name: str, time: str, wanted: Collection[str] | None = None) -> Table | None:
    """The telemetry of a media, read as a stream; None where it has no attachment with the name.

    Raises:
        BadInput: it is malformed or too large; the message names the media and the line.
        Conflict: it was replaced while it was read.
        Unavailable: the request has no time left to read it.
    """
    key = owners.authorize_attachment(media, name)
    found = objects.head(key) if key else None
    if key is None or found is None:
        return None
    size, etag = found
    if size > LARGEST_FILE:
        raise BadInput(f"file: the telemetry of media {media.id} has {size} bytes; at most {LARGEST_FILE} are read.")
    try:
        return reading.read(cast("io.BufferedReader", io.BufferedReader(_Attachment(key, size, etag))), time, wanted)
    except BadInput as refusal:
        raise BadInput(f"{refusal.message} ({name!r} of media {media.id})") from None


def names_of(media: Media) -> list[str]:
    """The names of the attachments that may be telemetry, by their ending."""
    attached = (media.media_files and media.media_files.attachment) or []
    names = (each.name or "" for each in attached)
    return [name for name in names if name.lower().endswith(SUFFIXES)]


def start_of(media: Media, table: Table, attribute: str | None) -> float | None:
    """The time of the first frame in the telemetry: 0 where its times are seconds, else an instant.

    Args:
        media: the media.
        table: its telemetry.
        attribute: the attribute of the media with the instant of the first frame. By default the first one of dtype
            datetime whose instant lies in the telemetry or up to a day before it; None where there is none.

    Raises:
        BadInput: the attribute that is named has no date.
    """
    if not table.has_instants:
        return 0.0
    if attribute is not None:
        found = instant_seconds(str(media.attributes.get(attribute) or ""))
        if found is None:
            raise BadInput(f"start: media {media.id} has no date in {attribute!r}.")
        return found
    if not table.rows:
        return None
    first, last = table.rows[0][0], table.rows[-1][0]
    dates = (instant_seconds(str(media.attributes.get(name) or "")) for name in date_attributes(media))
    return next((date for date in dates if date is not None and first - _DAY <= date <= last), None)


def date_attributes(media: Media) -> list[str]:
    """The names of the attributes of dtype datetime of the type of a media."""
    type_ = records.definitions(media.project).types(Kind.MEDIA).get(media.type)
    return [each.name for each in type_.attribute_types if each.dtype == "datetime"] if type_ else []


def frame_clock(media: Media) -> Callable[[int], float]:
    """The seconds of frames after the first one: as the source shows them, else by the frames per second.

    Raises:
        BadInput: a video has neither.
    """
    if _has_times(media):
        clock = clock_of(media)
        return lambda frame: float(clock.time_of(frame))
    if media.fps:
        rate = media.fps
        return lambda frame: frame / rate
    if media.frame_count == 1:
        return lambda _: 0.0
    raise BadInput(f"fps: media {media.id} has no frames per second, so its frames have no times.")


def _has_times(media: Media) -> bool:
    """Whether the times of its frames are known: by the segment file of a rendition, or the table of its frames."""
    files = media.media_files
    if files is None or files.ids or files.live or files.concat:
        return False
    return any(each.segment_info for each in files.streaming or ()) or bool(
        files.bucket_object and files.bucket_object.frame_table
    )


class _Attachment(io.RawIOBase):
    """An object as a file that is read in blocks, while the request has time; of the version with one ETag."""

    def __init__(self, key: ObjectKey, size: int, etag: str) -> None:
        self._key, self._size, self._etag = key, size, etag
        self._at = 0
        self._block = (0, b"")

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = max(0, offset + (0, self._at, self._size)[whence])
        return self._at

    def readinto(self, target: object) -> int:
        view = memoryview(cast("bytearray", target))
        start, data = self._block
        if not start <= self._at < start + len(data) and self._at < self._size:
            check_query()
            data = objects.read_range(self._key, self._at, min(_BLOCK, self._size - self._at), etag=self._etag)
            start, self._block = self._at, (self._at, data)
        part = data[self._at - start :][: len(view)] if self._at < self._size else b""
        view[: len(part)] = part
        self._at += len(part)
        return len(part)
