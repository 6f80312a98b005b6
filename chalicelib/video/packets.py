"""The presentation time of every packet of a video, without decoding; of MP4 and MOV without fetching the payload."""

from __future__ import annotations

import re
import time
from array import array
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, cast

import msgspec
from msgspec import Struct

from chalicelib.errors import BadInput
from chalicelib.video.files import losses, quirks
from chalicelib.video.files.source import SourceFile
from chalicelib.video.mp4 import boxes
from chalicelib.video.timing import MAX_FRAMES

if TYPE_CHECKING:
    from av import Packet, VideoStream
    from av.container import InputContainer

BY_DECODING_TIME = frozenset({"mov", "avi", "mpeg"})
"""Containers, by FFmpeg's names, that are searched by decoding time."""
STREAMED = frozenset({"mpegts", "mpeg"})
"""Those that are searched by byte offset."""
_SHOWS_DAMAGE = STREAMED | {"matroska"}
"""Those of which damage to what is between the packets can be seen."""
_MOST_BOXES = 64
_MANY_FRAMES = 20
"""Frames for each of which one packet without a time is taken for damage."""
_VP8_START, _VP8_SHOWN = 3, 0x10


_CLOCK = re.compile(r"(\d{1,5}):(\d\d):(\d\d(?:\.\d{1,9})?)")


class Packets(Struct):
    """The result of demuxing: presentation times of frames, and keyframes as (time, stamp, position).

    `usable` is false where the times do not tell one frame from another. `begins` is the time of the first packet if
    it is a keyframe, `broken` that of the last packet if the file ends inside it. `first` is the first packet's offset
    and how much later than it is decoded it is presented. `ordered` is false where the times may be those of decoding,
    as in AVI. `outliers` are times that were wrong, and those next to them. `is_damaged` is true where the
    file is damaged before its second packet; `missing_ends` are the ends at which it has lost packets.
    """

    times: array[int]
    keys: list[tuple[int, int, int | None]]
    usable: bool
    shift: int = 0
    begins: int | None = None
    broken: int | None = None
    first: tuple[int, int] = 0, 0
    ordered: bool = True
    outliers: list[int] = msgspec.field(default_factory=list)
    is_damaged: bool = False
    missing_ends: tuple[losses.End, ...] = ()
    _before: int | None = None
    _earlier: int | None = None

    def add(self, packet: Packet[VideoStream], name: str) -> bool:
        """Add a packet that has a presentation time. Returns whether its picture is presented."""
        time, stamp = packet.pts or 0, packet.dts
        if self._before is not None and stamp is not None and stamp < self._before:
            if name in STREAMED or self._earlier is None or stamp <= self._earlier or not self.times:
                # Recordings joined end to end start their clock again, and sorting by it would mix them.
                self.usable = False
                return False
            # Only the time of the packet before this one was damaged.
            self.outliers.append(self.times.pop())
            self.outliers.append(time)
            self._before = self._earlier
        self._earlier = self._before
        if self._before is None and stamp is not None:
            self.first = packet.pos or 0, time - stamp
        self._before = stamp
        self.broken = time if packet.is_corrupt and name not in STREAMED else None
        if packet.is_keyframe:
            self.keys.append((time, stamp if name in BY_DECODING_TIME and stamp is not None else time, packet.pos))
            self.begins = self.begins if self.times else time
        return not packet.is_discard

    def finish(self, *, is_timed: bool) -> None:
        """Sort the times; `is_timed` is false where packets without a time are no result of damage."""
        self.times = array("q", sorted(self.times))
        self.usable = self.usable and is_timed and all(a < b for a, b in pairwise(self.times))


def demuxed(container: InputContainer, stream: VideoStream, file: SourceFile, name: str, deadline: float) -> Packets:
    """The timestamps and keyframes of all packets of a stream.

    `name` is the container's by FFmpeg, `deadline` a time of `time.monotonic`.

    Raises:
        BadInput: there are too many packets, or they take too long.
    """
    codec = stream.codec_context.codec.canonical_name
    if name == "mov":
        quirks.check_edits(file, stream.id)
        if codec != "vp8":
            _without_payload(container, stream, file)
    found = Packets(array("q"), [], usable=True)
    noted = losses.Noted(_duration(container, stream))
    unknown = 0
    try:
        for packet in patiently(container.demux(stream), deadline):
            if not packet.size:
                continue
            if packet.pts is None:
                unknown += 1
                continue
            if found.add(packet, name) and not _is_hidden(codec, packet):
                found.times.append(packet.pts)
            if name in _SHOWS_DAMAGE and packet.pos is not None:
                noted.add_packet(packet.pts, packet.pos, is_corrupt=packet.is_corrupt and name in STREAMED)
    finally:
        file.hollow = []
    if file.error:
        raise file.error
    found.finish(is_timed=not unknown or (name in STREAMED and unknown * _MANY_FRAMES <= len(found.times)))
    _fill(found, noted, file, stream.time_base or Fraction(1, 1000), name)
    found.ordered = name != "avi"
    found.shift = quirks.shift_of(file, stream.id, *found.first) if name == "mov" else 0
    return found


def _fill(found: Packets, noted: losses.Noted, file: SourceFile, base: Fraction, name: str) -> None:
    """Add the times of frames that damage took, and say what it took at the ends of a stream."""
    noted.damaged += found.outliers
    if found.usable and found.times:
        first = found.times[0]
        found.times = losses.filled(found.times, noted, file, base, is_streamed=name in STREAMED)
        found.is_damaged = found.times[0] < first
    if name == "mpegts":
        found.is_damaged, found.missing_ends = losses.broken_ends(noted, file)


def _duration(container: InputContainer, stream: VideoStream) -> Fraction | None:
    """Seconds to the end of a stream, as a Matroska file says of the track, or of all where that is the only one."""
    found = _CLOCK.fullmatch(stream.metadata.get("DURATION", ""))
    if found:
        hours, minutes, seconds = found.groups()
        return int(hours) * 3600 + int(minutes) * 60 + Fraction(seconds)
    return Fraction(container.duration, 1_000_000) if container.duration and len(container.streams) == 1 else None


def _is_hidden(codec: str, packet: Packet[VideoStream]) -> bool:
    """Whether a packet of VP8 says of itself that it shows no frame but serves others (RFC 6386, 9.1)."""
    if codec != "vp8" or packet.size < _VP8_START:
        return False
    head = bytes(memoryview(packet)[:_VP8_START])
    return not head[0] & _VP8_SHOWN and 0 < int.from_bytes(head, "little") >> 5 < packet.size


def _without_payload(container: InputContainer, stream: VideoStream, file: SourceFile) -> None:
    """Give the demuxer of an MP4 zeros instead of the payload, which it does not read."""
    import av  # noqa: PLC0415 - see video.opening
    from av.container.core import Flags  # noqa: PLC0415

    payload = _payload(file)
    if not payload:
        return
    # Parsers would look for keyframes in the payload; the index lists them. Seeking resets the parsers that
    # opening the file has started.
    no_parse = cast("int", Flags.no_parse.value)
    container.flags |= no_parse
    try:
        container.seek(stream.start_time or 0, stream=stream)
    except av.FFmpegError:
        container.flags &= ~no_parse
    else:
        file.hollow = payload


def patiently(packets: Iterator[Packet[VideoStream]], deadline: float) -> Iterator[Packet[VideoStream]]:
    """Packets until the first unreadable one. Raises BadInput if they are too many or take too long."""
    import av  # noqa: PLC0415 - see video.opening

    try:
        for number, packet in enumerate(packets):
            if number > MAX_FRAMES:
                raise BadInput(f"The video has more than {MAX_FRAMES} frames.")
            if number % 256 == 0 and time.monotonic() > deadline:
                raise BadInput("Looking through the video takes longer than allowed.")
            yield packet
    except av.FFmpegError:
        # A truncated file still has the frames before that.
        return


def _payload(file: SourceFile) -> list[tuple[int, int]]:
    """Byte ranges of an MP4's payload; none for fragmented files, whose indexes are between payloads."""
    ranges: list[tuple[int, int]] = []

    def read(offset: int, length: int) -> bytes:
        file.seek(offset)
        return file.read(length)

    position = file.tell()
    try:
        for number, box in enumerate(boxes.top_level(read, file.size)):
            if box.name == "moof" or number > _MOST_BOXES:
                return []
            if box.name == "mdat":
                ranges.append((box.body, min(box.end, file.size)))
    except BadInput:
        return []
    finally:
        file.seek(position)
    return ranges
