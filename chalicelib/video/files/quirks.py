"""Boxes of MP4 and MOV files that FFmpeg reads wrongly."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

from chalicelib.errors import BadInput
from chalicelib.video.files.source import SourceFile
from chalicelib.video.mp4 import boxes
from chalicelib.video.mp4.boxes import Box

Read = Callable[[int, int], bytes]

_MOST_BOXES = 64
_LARGEST_TABLE = 64 * 1024
_LARGEST_FRAGMENT = 4 * 1024 * 1024
_STARTS = frozenset({b"ftyp", b"styp", b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot"})
_DESCRIPTIONS = ("trak", "mdia", "minf", "stbl", "stsd")
# From this number of channels on, FFmpeg 8 writes beyond the list that it makes of a layout's number.
_UNSAFE_CHANNELS = 7
_SHIFT = 0x800
_NORMAL_RATE = 0x10000
# Where the number of a track is, from the body of its header on.
_SHORT_TRACK, _LONG_TRACK = 12, 20
_FIELDS_BEFORE_SHIFT = (0x100, 0x200, 0x400)


def hide_layouts(file: SourceFile) -> None:
    """Hide the channel layouts (`chan`) of seven and more channels, which corrupt FFmpeg's memory.

    The layout is then the usual one of that number of channels.
    """
    read = file.read_at
    try:
        index = _first(read, file.size, "moov")
        for table in _inside(read, index, *_DESCRIPTIONS) if index else ():
            data = read(table.offset, min(table.size, _LARGEST_TABLE))
            file.patches += [(table.offset + at, b"free") for at in _unsafe_layouts(data)]
    except BadInput:
        return


def _unsafe_layouts(data: bytes) -> Iterator[int]:
    at = data.find(b"chan")
    while at >= 0:
        layout = data[at + 8 : at + 12]
        if len(layout) == 4 and int.from_bytes(layout[2:], "big") >= _UNSAFE_CHANNELS:  # noqa: PLR2004 - bytes of an integer
            yield at
        at = data.find(b"chan", at + 4)


def hide_partial_fragment(file: SourceFile) -> bool:
    """Hide the end of a fragmented MP4 that breaks off inside a `moof` box; returns whether it does.

    FFmpeg refuses the whole file otherwise, where the fragments before it can be played.
    """
    read = file.read_at
    try:
        if read(0, 8)[4:] not in _STARTS:
            return False
        for box in boxes.top_level(read, file.size):
            if box.end > file.size:
                file.size = box.offset if box.name == "moof" else file.size
                return box.name == "moof"
    except (BadInput, struct.error):
        pass
    return False


def shift_of(file: SourceFile, track: int, position: int, delay: int) -> int:
    """Units of its clock by which FFmpeg presents a track later than the file says.

    Fragments may have negative composition offsets. FFmpeg adds the largest of them to the times of that track, and to
    no other track. Any fragment may have it; the track's first packet, at byte `position`, shows it: FFmpeg presents
    the packet `delay` units after its decoding time.
    """
    read = file.read_at
    try:
        if read(0, 8)[4:] not in _STARTS:
            return 0
        for fragment in _named(read, 0, file.size, "moof"):
            data = read(fragment.offset, min(fragment.size, _LARGEST_FRAGMENT))
            if offsets := list(_composition_offsets(data, fragment.body - fragment.offset, track)):
                # Packets before the fragments are described elsewhere.
                return max(0, delay - offsets[0] if position > fragment.offset else -min(offsets))
    except (BadInput, struct.error):
        pass
    return 0


def check_edits(file: SourceFile, track: int) -> None:
    """Raise BadInput where a track's edit list has a pause between pictures or a rate other than 1.

    FFmpeg shows pictures from the start of the track in place of a pause, and takes every rate for 1.
    """
    read = file.read_at
    # The demuxer reads on from here.
    position = file.tell()
    try:
        index = _first(read, file.size, "moov")
        edits = list(_edits(read, index, track)) if index else []
    except (BadInput, struct.error):
        return
    finally:
        file.seek(position)
    begun = False
    for start, rate in edits:
        if (begun and start < 0) or (rate != _NORMAL_RATE and len(edits) > 1):
            raise BadInput(
                "The video's edit list pauses between pictures or changes their speed, which is not supported. "
                "Export the video without edits."
            )
        begun = begun or start >= 0


def _edits(read: Read, index: Box, track: int) -> Iterator[tuple[int, int]]:
    """Start, negative for a pause, and rate of each entry of a track's edit list."""
    for each in _named(read, index.body, index.end, "trak"):
        for header in _inside(read, each, "tkhd"):
            at = header.body + (_LONG_TRACK if read(header.body, 1) == b"\1" else _SHORT_TRACK)
            if read(at, 4) != track.to_bytes(4, "big"):
                break
        else:
            for box in _inside(read, each, "edts", "elst"):
                data = read(box.body, min(box.end - box.body, _LARGEST_TABLE))
                entry = struct.Struct(">Qqi" if data[:1] == b"\1" else ">Iii")
                count = min(int.from_bytes(data[4:8], "big"), (len(data) - 8) // entry.size)
                for number in range(count):
                    _, start, rate = entry.unpack_from(data, 8 + number * entry.size)
                    yield start, rate


def _track_of(data: bytes, traf: Box) -> int:
    for box in boxes.children(data, traf.body, traf.end):
        if box.name == "tfhd":
            return int(struct.unpack_from(">I", data, box.body + 4)[0])
    return 0


def _composition_offsets(data: bytes, start: int, track: int) -> Iterator[int]:
    """By how many units a fragment's samples of a track are presented after they are decoded."""
    for traf in boxes.children(data, start, len(data)):
        if traf.name != "traf" or _track_of(data, traf) != track:
            continue
        for box in boxes.children(data, traf.body, traf.end):
            if box.name != "trun":
                continue
            flags, count = struct.unpack_from(">II", data, box.body)
            at = box.body + 8 + 4 * bool(flags & 1) + 4 * bool(flags & 4)
            before = 4 * sum(bool(flags & field) for field in _FIELDS_BEFORE_SHIFT)
            if not flags & _SHIFT:
                yield from [0] * bool(count)
                continue
            for number in range(min(count, (box.end - at) // (before + 4))):
                yield int(struct.unpack_from(">i", data, at + number * (before + 4) + before)[0])


def _first(read: Read, size: int, name: str) -> Box | None:
    """The first box of a name at the top of a file; None where there is none among the first ones."""
    if read(0, 8)[4:] not in _STARTS:
        return None
    return next(_named(read, 0, size, name), None)


def _named(read: Read, start: int, end: int, name: str) -> Iterator[Box]:
    """The boxes of a name between two offsets."""
    for _ in range(_MOST_BOXES):
        if start + 8 > end:
            return
        box = boxes.box_at(read(start, boxes.HEADER), start, end)
        if box.name == name:
            yield box
        start = box.end


def _inside(read: Read, parent: Box, *path: str) -> Iterator[Box]:
    """The boxes at a path of names below another."""
    for box in _named(read, parent.body, parent.end, path[0]):
        if len(path) > 1:
            yield from _inside(read, box, *path[1:])
        else:
            yield box
