"""The sound of transport and program streams whose frames are counted: recordings that were joined end to end.

The clock of each recording begins anew, so a time does not say where in the file its sound is. Pictures do: the frame
table knows the frame of each keyframe by its place in the file. Sound gets the clock of the table: that of the pictures
around it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from msgspec import Struct

from chalicelib.video.timing import FrameTable, Keyframe

if TYPE_CHECKING:
    from av import Packet
    from av.container import InputContainer
    from av.stream import Stream

_START = Keyframe(0)
# Seconds between two packets of a stream from which on they belong to different recordings.
_BACK, _FORTH = -1, 10
_MOST_WAITING = 10_000


class _Line(Struct):
    """The packets of one stream: the number of its recording, and when its last packet ends."""

    recording: int = 0
    end: Fraction | None = None

    def add(self, packet: Packet[Stream], base: Fraction) -> bool:
        """Whether a packet begins another recording."""
        if packet.dts is None:
            return False
        time = packet.dts * base
        begins = self.end is not None and not _BACK <= time - self.end <= _FORTH
        self.recording += begins
        self.end = time + (packet.duration or 0) * base
        return begins


class _Clock:
    """What is added to the times of each recording to have those of the table."""

    def __init__(self, table: FrameTable, key: Keyframe) -> None:
        self._base = Fraction(*table.base)
        self._times = table.times()
        self._frames: dict[int | None, int] = {
            each.position: each.frame for each in table.keyframes() if each.position is not None
        }
        # None until a picture of the recording is found whose frame is known.
        self._added: list[Fraction | None] = [Fraction(0) if key.position is None else None]
        self._pictures = _Line()
        self.shown = self._times[key.frame] * self._base

    def add_packet(self, packet: Packet[Stream]) -> None:
        """Take the times of a packet of pictures into account, in the order of the file."""
        if packet.dts is None or packet.pts is None:
            return
        unit = packet.time_base
        begins = self._pictures.add(packet, unit)
        if begins:
            self._added.append(self.shown - packet.dts * unit)
        frame = self._frames.get(packet.pos) if packet.is_keyframe else None
        if frame is not None and (begins or self._added[-1] is None):
            self._added[-1] = self._times[frame] * self._base - packet.pts * unit
        if self._added[-1] is not None:
            self.shown = (self._pictures.end or Fraction(0)) + self._added[-1]

    def offset(self, recording: int) -> Fraction | None:
        """What is added to the times of a recording, in seconds; None where that is not known yet."""
        return self._added[recording] if recording < len(self._added) else None


def packets(
    container: InputContainer, sound: Stream, table: FrameTable, since: Fraction | None, until: Fraction
) -> Iterator[Packet[Stream]]:
    """The packets of a track between two approximate times of the table, with the times of the table."""
    pictures = container.streams.video[0]
    key = _key(table, since)
    if key.position is not None:
        container.seek(key.position, stream=pictures, unsupported_byte_offset=True)
    clock, line = _Clock(table, key), _Line()
    waiting: deque[tuple[int, Packet[Stream]]] = deque()
    for packet in container.demux([pictures, sound]):
        if packet.stream_index == pictures.index:
            clock.add_packet(packet)
        else:
            if packet.size:
                line.add(packet, packet.time_base)
            waiting.append((line.recording, packet))
        # Sound of another recording may come before the first picture of it.
        while waiting and (added := clock.offset(waiting[0][0])) is not None:
            yield _moved(waiting.popleft()[1], added)
        if clock.shown > until or len(waiting) > _MOST_WAITING:
            return


def _moved(packet: Packet[Stream], seconds: Fraction) -> Packet[Stream]:
    ticks = round(seconds / packet.time_base)
    packet.pts = None if packet.pts is None else packet.pts + ticks
    packet.dts = None if packet.dts is None else packet.dts + ticks
    return packet


def _key(table: FrameTable, since: Fraction | None) -> Keyframe:
    """The last keyframe with a place in the file that is not after a time."""
    if since is None:
        return _START
    base, times = Fraction(*table.base), table.times()
    found = [key for key in table.keyframes() if key.position is not None and times[key.frame] * base <= since]
    return found[-1] if found else _START
