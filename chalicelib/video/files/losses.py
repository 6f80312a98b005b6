"""Frames that are missing because a part of the file was overwritten or lost, and the times that they had.

A demuxer passes over bytes that it cannot read, so their frames have no packet. Where the other frames are equally far
apart, and the file shows the damage, the missing frames are those that fit into the gap. A gap without damage is a
pause of the recording, in which there are no frames.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Literal

import msgspec
from msgspec import Struct

from chalicelib.video.files.source import SourceFile

_MAX_GAP_SECONDS = 60
"""Seconds of a gap that is filled."""
_LONGEST_OF_CLOCK = 10
"""The same for streams, whose clock may begin anew where recordings were joined (`timing`)."""
_REGULAR = 0.8
"""The share of equal steps from which on the others are gaps."""
_SLACK = 20
"""A step may differ from the usual one by this part of it, or by one unit."""
_REORDERED = 16
"""Packets lie at most this many frames from their place in presentation order."""
_MOST_LOOKS = 100
"""Gaps whose bytes are read: screen recordings have many, all of them pauses."""
_LARGEST_LOOK = 4 * 1024 * 1024
_SYNC, _BEFORE_SYNC, _STRIDES = b"G", (0, 4), (188, 192, 204)
_FRAME_OF_BLOCK = (0xA3, 0xA1)
_SEGMENT, _CLUSTER, _TRACKS, _TRACK_NUMBER = 0x18538067, 0x1F43B675, 0x1654AE6B, 0xD7
_MASTERS = frozenset({_CLUSTER, 0xA0})
"""Matroska's Cluster and BlockGroup, which are read element by element."""
_ELEMENTS = frozenset(
    {
        *(0xE7, 0xA7, 0xAB, 0xA3, 0xA1, 0x9B, 0xFB, 0xFD, 0xA4, 0x75A1, 0x75A2, 0x8E, 0xFA, 0xEC, 0xBF),
        *(0x1C53BB6B, 0x1254C367, 0x1941A469, 0x1043A770, 0x114D9B74, 0x1549A966, 0x1654AE6B),
    }
)
_TIMESTAMP = 0xE7
_LONGEST_ELEMENT = 20
_MOST_ELEMENTS = 1000

End = Literal["start", "end"]


class Noted(Struct):
    """The packets of a stream in the order of the file: presentation time, position, and the largest time so far.

    `damaged` are times at which the demuxer found the stream damaged, `duration` the seconds from time 0 to the end of
    the stream as the file says, `tracks` the numbers of Matroska's tracks once they were read.
    """

    duration: Fraction | None = None
    tracks: frozenset[int] = frozenset()
    times: array[int] = msgspec.field(default_factory=lambda: array("q"))
    latest: array[int] = msgspec.field(default_factory=lambda: array("q"))
    positions: array[int] = msgspec.field(default_factory=lambda: array("q"))
    damaged: list[int] = msgspec.field(default_factory=list)

    def add_packet(self, time: int, position: int, *, is_corrupt: bool) -> None:
        """Take a packet into account; `position` is the offset of its first byte."""
        if is_corrupt:
            self.damaged.append(time)
        self.latest.append(max(time, self.latest[-1]) if self.latest else time)
        self.times.append(time)
        self.positions.append(position)

    def near(self, first: int, last: int, end: int) -> Iterator[tuple[int, int]]:
        """The positions of packets between two presentation times and of the ones behind them; `end` is the file's."""
        for index in range(max(0, bisect_left(self.latest, first) - 1), len(self.times)):
            if self.times[index] > last + (last - first):
                return
            yield self.positions[index], self.positions[index + 1] if index + 1 < len(self.times) else end


def filled(times: array[int], noted: Noted, file: SourceFile, base: Fraction, *, is_streamed: bool) -> array[int]:
    """Sorted presentation times in units of `base` with those of the frames that damage took."""
    steps = sorted(after - before for before, after in pairwise(times))
    if not steps or not noted.times:
        return times
    usual = steps[len(steps) // 2]
    slack = max(1, usual // _SLACK)
    regular = [step for step in steps if abs(step - usual) <= slack]
    if len(regular) < _REGULAR * len(steps):
        return times
    exact = Fraction(sum(regular), len(regular))
    times = _without_outliers(times, noted, exact, slack)
    longest = (_LONGEST_OF_CLOCK if is_streamed else _MAX_GAP_SECONDS) / base
    found, looks = array("q", _before(times[0], noted, file, exact, longest) if not is_streamed else ()), 0
    found.append(times[0])
    for before, after in pairwise(times):
        count = round((after - before) / exact)
        if count > 1 and after - before <= longest and abs(after - before - count * exact) <= slack * 2:
            near = _REORDERED * usual
            looks += 1
            if looks <= _MOST_LOOKS and _is_damaged(noted, file, before - near, after + near, is_streamed=is_streamed):
                found.extend(before + round(number * (after - before) / Fraction(count)) for number in range(1, count))
        found.append(after)
    end = _end(noted, file, base) if not is_streamed else None
    if end is not None:
        count = round((end - times[-1]) / exact)
        found.extend(times[-1] + round(number * exact) for number in range(1, min(count, int(longest / exact))))
    return found


def _before(first: int, noted: Noted, file: SourceFile, exact: Fraction, longest: Fraction) -> Iterator[int]:
    """The times of frames that a damaged Matroska file had before its first packet, from its first cluster's on."""
    tracks = tracks_of(file)
    body, begun = next(_clusters(file), (None, 0))
    if body is not None and _has_whole(file, body, noted.positions[0], _others(file, noted.positions[0], tracks)):
        return
    count = int((first - begun) / exact + Fraction(1, 2))
    if 0 < count <= longest / exact:
        yield from (first - round(number * exact) for number in range(count, 0, -1))


def broken_ends(noted: Noted, file: SourceFile) -> tuple[bool, tuple[End, ...]]:
    """Whether a transport stream is damaged before its second packet, and at which ends packets are lost in damage.

    How many frames they had is not known: a stream says neither when it begins nor when it ends. A part that was cut
    off is no damage.
    """
    if not noted.positions:
        return False, ()
    first, last = noted.positions[0], noted.positions[-1]
    second = noted.positions[1] if len(noted.positions) > 1 else file.size
    is_late = _is_damaged_start(file, first)
    ends: list[End] = ["start"] if is_late else []
    if _is_damaged_stream(file, last, file.size):
        ends.append("end")
    return is_late or _is_damaged_stream(file, first, second), tuple(ends)


def _is_damaged_start(file: SourceFile, stop: int) -> bool:
    """Whether a transport stream loses its beat before an offset; it may begin within a packet."""
    data = _read(file, 0, min(stop, _LARGEST_LOOK))
    for stride in _STRIDES:
        for at in range(min(stride, len(data))):
            if data[at] == _SYNC[0] and data[at + stride : at + stride + 1] in (_SYNC, b""):
                return any(data[each] != _SYNC[0] for each in range(at, len(data), stride))
    return len(data) > max(_STRIDES)


def _without_outliers(times: array[int], noted: Noted, exact: Fraction, slack: int) -> array[int]:
    """Times without those at which the file is damaged that are on no beat, though those on either side are."""

    def is_on_beat(first: int, last: int) -> bool:
        return abs(last - first - round((last - first) / exact) * exact) <= slack

    damaged = set(noted.damaged)
    if damaged.isdisjoint(times):
        return times
    kept = times[:1]
    for index in range(1, len(times)):
        is_kept = times[index] not in damaged or is_on_beat(kept[-1], times[index]) or index + 1 == len(times)
        if is_kept or not is_on_beat(kept[-1], times[index + 1]):
            kept.append(times[index])
    return kept


def _end(noted: Noted, file: SourceFile, base: Fraction) -> int | None:
    """When the last frame ends where a Matroska file is damaged behind the last packet; None where it is whole."""
    if noted.duration is None or _is_cut(file) or _is_whole(file, noted.positions[-1], file.size, tracks_of(file)):
        return None
    return round(noted.duration / base)


def _is_cut(file: SourceFile) -> bool:
    """Whether a Matroska file ends before its segment does, or does not say where that is."""
    return next((end for name, _, end in _elements(file, 0, file.size) if name == _SEGMENT), file.size + 1) > file.size


def tracks_of(file: SourceFile) -> frozenset[int]:
    """The numbers of the tracks of a Matroska file, as its blocks write them; none of another file."""
    found = set()
    for segment, body, end in _elements(file, 0, file.size):
        for tracks, first, last in _elements(file, body, end) if segment == _SEGMENT else ():
            if tracks == _CLUSTER:
                break
            entries = _elements(file, first, last) if tracks == _TRACKS else ()
            for _, begin, stop in entries:
                members = _elements(file, begin, stop)
                found |= {0x80 | _read(file, at, 1)[0] for name, at, _ in members if name == _TRACK_NUMBER}
    return frozenset(found)


def _clusters(file: SourceFile) -> Iterator[tuple[int, int]]:
    """Where the contents of clusters begin, and their times, up to the first damage."""
    for segment, body, end in _elements(file, 0, file.size):
        for name, first, last in _elements(file, body, end) if segment == _SEGMENT else ():
            if name == _CLUSTER:
                times = [
                    int.from_bytes(_read(file, begin, stop - begin), "big")
                    for member, begin, stop in _elements(file, first, min(last, first + _LONGEST_ELEMENT))
                    if member == _TIMESTAMP and stop - begin <= 8  # noqa: PLR2004 bytes of an integer
                ]
                yield first, times[0] if times else 0


def _elements(file: SourceFile, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
    """The elements between two offsets: name, where the content begins, and where it ends."""
    for _ in range(_MOST_ELEMENTS):
        data = _read(file, start, _LONGEST_ELEMENT) if start < min(stop, file.size) else b""
        name, length = _number(data, 0, keeps_marker=True)
        size, more = _number(data, length, keeps_marker=False)
        if not length or not more:
            return
        yield name, start + length + more, start + length + more + size
        start += length + more + size


def _is_damaged(noted: Noted, file: SourceFile, first: int, last: int, *, is_streamed: bool) -> bool:
    """Whether the file shows damage between two presentation times."""
    if any(first <= time <= last for time in noted.damaged):
        return True
    if is_streamed:
        if first <= noted.times[0] and _is_damaged_start(file, noted.positions[0]):
            return True
        return any(_is_damaged_stream(file, start, stop) for start, stop in noted.near(first, last, file.size))
    noted.tracks = noted.tracks or tracks_of(file)
    return any(not _is_whole(file, start, stop, noted.tracks) for start, stop in noted.near(first, last, file.size))


def _is_damaged_stream(file: SourceFile, start: int, stop: int) -> bool:
    """Whether a transport stream has lost its beat, or has a packet of the same stream, between two packets."""
    data = _read(file, start, min(max(0, stop - start), _LARGEST_LOOK))
    offset = next((at for at in _BEFORE_SYNC if data[at : at + 1] == _SYNC), None)
    if offset is None:
        return bool(data)
    stride = next((each for each in _STRIDES if data[offset + each : offset + each + 1] in (_SYNC, b"")), None)
    if stride is None:
        return True
    stream = data[offset + 1] & 0x1F, data[offset + 2]
    for at in range(offset + stride, len(data) - 2, stride):
        begins = data[at + 1] & 0x40 and (data[at + 1] & 0x1F, data[at + 2]) == stream
        if data[at : at + 1] != _SYNC or begins:
            return True
    return False


def _is_whole(file: SourceFile, start: int, stop: int, tracks: Collection[int]) -> bool:
    """Whether a Matroska file has only whole elements, and blocks of other tracks, between the data of two blocks."""
    others = _others(file, start, tracks)
    head = _read(file, max(0, start - _LONGEST_ELEMENT), min(start, _LONGEST_ELEMENT))
    at = next(_ends(head, start), None)
    if at is None:
        # No block begins there: this is no Matroska file, or one whose damage the demuxer overcame.
        return False
    return _has_whole(file, at, stop, others)


def _others(file: SourceFile, start: int, tracks: Collection[int]) -> set[int]:
    """The tracks of a Matroska file without that of the block whose data begins at an offset."""
    return {*tracks} - {_number(_read(file, start, _LONGEST_ELEMENT), 0, keeps_marker=True)[0]}


def _has_whole(file: SourceFile, at: int, stop: int, others: Collection[int]) -> bool:
    """Whether only whole elements, and blocks of other tracks, are between an offset and the data of a block."""
    while at < stop:
        data = _read(file, at, _LONGEST_ELEMENT)
        name, length = _number(data, 0, keeps_marker=True)
        size, more = _number(data, length, keeps_marker=False)
        if not length or not more or name not in _MASTERS | _ELEMENTS:
            return False
        at += length + more
        if at == stop:
            return True
        if name in _FRAME_OF_BLOCK and _number(data, length + more, keeps_marker=True)[0] not in others:
            return False
        at += 0 if name in _MASTERS else size
    return at == stop


def _ends(head: bytes, start: int) -> Iterator[int]:
    """Where a block ends of which `head` are the bytes before its data."""
    for back in range(2, len(head) + 1):
        if head[-back] in _FRAME_OF_BLOCK:
            size, length = _number(head, len(head) - back + 1, keeps_marker=False)
            if length == back - 1:
                yield start + size


def _number(data: Sequence[int], at: int, *, keeps_marker: bool) -> tuple[int, int]:
    """An integer of variable length of EBML and its bytes; 0 bytes where there is none."""
    first = data[at] if at < len(data) else 0
    length = 9 - first.bit_length()
    if not first or at + length > len(data):
        return 0, 0
    value = int.from_bytes(bytes(data[at : at + length]), "big")
    return value if keeps_marker else value & ((1 << 7 * length) - 1), length


def _read(file: SourceFile, offset: int, length: int) -> bytes:
    position = file.tell()
    file.seek(offset)
    data = file.read(length)
    file.seek(position)
    return data
