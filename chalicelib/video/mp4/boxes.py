"""The few MP4 boxes that segment files, joining and cutting need, read and patched in place.

Only headers are touched: a fragment's payload (`mdat`) is never copied or changed, which is what lets storage join
files without reading them. Offsets are bytes. Damaged boxes raise BadInput.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

from msgspec import Struct

from chalicelib.errors import BadInput

HEADER = 16
_PLAIN_HEADER = 8
# tfhd and trun flags: which optional fields follow.
_TFHD_FIELDS = ((0x01, 8), (0x02, 4))
_TFHD_BASE, _TFHD_DURATION, _TFHD_SIZE = 0x01, 0x08, 0x10
_TRUN_FIRST = ((0x01, 4), (0x04, 4))
_TRUN_OFFSET, _TRUN_DURATION, _TRUN_SIZE, _TRUN_SHIFT = 0x01, 0x100, 0x200, 0x800
_TRUN_EACH = (0x100, 0x200, 0x400, 0x800)


class Box(Struct, frozen=True):
    """A box's four-letter name, where it starts, and its length with header."""

    name: str
    offset: int
    size: int
    body: int

    @property
    def end(self) -> int:
        """Offset of the first byte after it."""
        return self.offset + self.size


def box_at(header: bytes | bytearray, offset: int, end: int) -> Box:
    """The box whose first (up to 16) bytes are `header`; `end` is where its parent ends."""
    if len(header) < _PLAIN_HEADER:
        raise BadInput("The MP4 file ends inside a box.")
    size, name = struct.unpack_from(">I4s", header)
    body = _PLAIN_HEADER
    if size == 1 and len(header) >= HEADER:
        size = struct.unpack_from(">Q", header, 8)[0]
        body = HEADER
    elif size == 0:
        size = end - offset
    if size < body:
        raise BadInput("The MP4 file has a box of impossible size.")
    return Box(name.decode("latin-1"), offset, size, offset + body)


def top_level(read: Callable[[int, int], bytes], size: int) -> Iterator[Box]:
    """The top-level boxes of a file of `size` bytes, given how to read (offset, length); the last may be cut off."""
    offset = 0
    while offset + _PLAIN_HEADER <= size:
        box = box_at(read(offset, HEADER), offset, size)
        yield box
        offset = box.end


def children(data: bytes | bytearray, start: int, end: int) -> Iterator[Box]:
    """The boxes between two offsets of `data`."""
    while start + _PLAIN_HEADER <= end:
        box = box_at(data[start : start + HEADER], start, end)
        if box.end > end:
            raise BadInput("The MP4 file has a box longer than its parent.")
        yield box
        start = box.end


def find(data: bytes | bytearray, *path: str) -> Box | None:
    """The first box at a path of names from the top of `data`."""
    start, end, found = 0, len(data), None
    for name in path:
        found = next((box for box in children(data, start, end) if box.name == name), None)
        if found is None:
            return None
        start, end = found.body, found.end
    return found


def need(data: bytes | bytearray, *path: str) -> Box:
    """Like `find`, but raises BadInput if the box does not exist."""
    box = find(data, *path)
    if box is None:
        raise BadInput(f"The MP4 file lacks its {'/'.join(path)} box.")
    return box


def _integer(data: bytes | bytearray, offset: int, size: int = 4) -> int:
    """An unsigned big-endian integer in `data`."""
    part = data[offset : offset + size]
    if len(part) < size:
        raise BadInput("The MP4 file ends inside a box.")
    return int.from_bytes(part, "big")


def timescale(init: bytes) -> int:
    """Units per second of the first track, from the `ftyp` and `moov` boxes."""
    mdhd = need(init, "moov", "trak", "mdia", "mdhd")
    version = _integer(init, mdhd.body, 1)
    scale = _integer(init, mdhd.body + (20 if version else 12))
    if not scale:
        raise BadInput("The MP4 file is damaged: its track has a timescale of 0.")
    return scale


def default_duration(init: bytes) -> int:
    """The duration of a sample, in units, if its fragment does not give it (`trex`); 0 if absent."""
    trex = find(init, "moov", "mvex", "trex")
    return _integer(init, trex.body + 12) if trex else 0


def default_size(init: bytes) -> int:
    """The size of a sample in bytes, if its fragment does not give it (`trex`); 0 if absent."""
    trex = find(init, "moov", "mvex", "trex")
    return _integer(init, trex.body + 16) if trex else 0


def sample_sizes(moof: bytes, default: int = 0) -> tuple[int, list[int]] | None:
    """The offset of a fragment's samples, counted from its `moof`, and the size of each sample.

    None if they are not one run of one track, or if presentation order differs from decoding order.
    """
    outer = need(moof, "moof")
    trafs = [box for box in children(moof, outer.body, outer.end) if box.name == "traf"]
    runs = [box for box in children(moof, trafs[0].body, trafs[0].end) if box.name == "trun"] if trafs else []
    if len(trafs) != 1 or len(runs) != 1:
        return None
    tfhd, trun = need(moof, "moof", "traf", "tfhd"), runs[0]
    flags = _integer(moof, tfhd.body, 4) & 0xFFFFFF
    if flags & _TFHD_BASE:
        return None
    if flags & _TFHD_SIZE:
        skip = sum(size for bit, size in (*_TFHD_FIELDS, (_TFHD_DURATION, 4)) if flags & bit)
        default = _integer(moof, tfhd.body + 8 + skip)
    flags, count, first, stride = _run(moof, trun)
    if not flags & _TRUN_OFFSET or flags & _TRUN_SHIFT:
        return None
    start = _integer(moof, trun.body + 8)
    if not flags & _TRUN_SIZE:
        return start, [default] * count
    at = first + (4 if flags & _TRUN_DURATION else 0)
    return start, [_integer(moof, at + number * stride) for number in range(count)]


def _run(moof: bytes, trun: Box) -> tuple[int, int, int, int]:
    """The flags of a run, the number of its samples, where their entries begin, and the bytes of an entry."""
    flags = _integer(moof, trun.body, 4) & 0xFFFFFF
    count = _integer(moof, trun.body + 4)
    stride = 4 * sum(bool(flags & bit) for bit in _TRUN_EACH)
    first = trun.body + 8 + sum(size for bit, size in _TRUN_FIRST if flags & bit)
    if first + count * stride > trun.end or count > len(moof) * 1000:
        raise BadInput("The MP4 file has a fragment of impossible length.")
    return flags, count, first, stride


def sample_durations(moof: bytes, default: int = 0) -> list[int]:
    """The duration of each sample of a movie fragment, in units of the track's timescale."""
    tfhd = need(moof, "moof", "traf", "tfhd")
    flags = _integer(moof, tfhd.body, 4) & 0xFFFFFF
    if flags & _TFHD_DURATION:
        skip = sum(size for bit, size in _TFHD_FIELDS if flags & bit)
        default = _integer(moof, tfhd.body + 8 + skip)
    traf = need(moof, "moof", "traf")
    durations: list[int] = []
    for trun in children(moof, traf.body, traf.end):
        if trun.name != "trun":
            continue
        flags, count, first, stride = _run(moof, trun)
        if flags & _TRUN_DURATION:
            durations += [_integer(moof, first + number * stride) for number in range(count)]
        else:
            durations += [default] * count
    return durations


def sample_count(moof: bytes) -> int:
    """The number of samples in a movie fragment."""
    return len(sample_durations(moof))


def renumber(moof: bytes, sequence: int, time: int) -> bytes:
    """The same fragment header as number `sequence` (from 1) starting at `time` units of the track's timescale."""
    patched = bytearray(moof)
    mfhd = need(moof, "moof", "mfhd")
    patched[mfhd.body + 4 : mfhd.body + 8] = sequence.to_bytes(4, "big")
    tfdt = need(moof, "moof", "traf", "tfdt")
    size = 8 if _integer(moof, tfdt.body, 1) else 4
    if time >= 1 << 8 * size:
        raise BadInput("The video is too long for the fragments' 32-bit clock.")
    patched[tfdt.body + 4 : tfdt.body + 4 + size] = time.to_bytes(size, "big")
    return bytes(patched)


def with_duration(init: bytes, units: int) -> bytes:
    """The `ftyp` and `moov` boxes with the total duration in a `mehd` box, in the movie's timescale x `units`.

    Without it, a player learns the duration of a fragmented file only after reading all of it. `units` counts the
    track's timescale and is converted.
    """
    mvhd = need(init, "moov", "mvhd")
    movie_scale = _integer(init, mvhd.body + (20 if _integer(init, mvhd.body, 1) else 12))
    duration = units * movie_scale // timescale(init)
    mehd = struct.pack(">I4sIQ", 20, b"mehd", 1 << 24, duration)
    moov, mvex = need(init, "moov"), need(init, "moov", "mvex")
    old = find(init, "moov", "mvex", "mehd")
    start, end = (old.offset, old.end) if old else (mvex.body, mvex.body)
    grown = len(mehd) - (end - start)
    patched = bytearray(init)
    patched[start:end] = mehd
    for parent in (moov, mvex):
        patched[parent.offset : parent.offset + 4] = (parent.size + grown).to_bytes(4, "big")
    return bytes(patched)
