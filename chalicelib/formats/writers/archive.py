"""A zip archive (zip64) that is written in parts by several processes, and joined by copies of bytes.

    part = PartArchive(out)                  one process writes one part into a file:
    part.add(path, data)                     whole members, with their headers, ready to be copied
    part.append(path, section, data)         fragments of members that all parts write, deflated
    content = part.finish()                  what is where in that file: kilobytes, whatever the part's size

    for piece in plan(contents, layouts):    the archive, in order: bytes, ranges of parts, directories of parts

Deflate data can be concatenated where each fragment ends at a byte, and so can CRCs (`crc_of_both`). So a member of
gigabytes is joined without being decompressed, and nothing of it passes through memory.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import BinaryIO

from msgspec import Struct

from chalicelib.formats.model import Layout, Section

LEVEL = 4
"""Level of deflate: half the time of the default 6, for 5 % more bytes."""
BUFFERED = 256 * 1024
"""Bytes of a fragment that are in memory, at most, before they go to the file."""
_DEFLATED, _STORED = 8, 0
_UNICODE = 1 << 11
_VERSION = 45
"""Version of the zip format that is needed: 4.5 has zip64."""
_LARGE = 0xFFFFFFFF
_DATE = (1 << 5) | 1
"""1 January 1980: the same bytes each time that a part is written."""
_LOCAL = struct.Struct("<4sHHHHHIIIHH")
_CENTRAL = struct.Struct("<4sHHHHHHIIIHHHHHII")
_SIZES = struct.Struct("<HHQQ")
_PLACE = struct.Struct("<HHQQQ")
"""The zip64 extra field of the directory: both sizes, and the offset. Always there, so that lengths are known."""


class Fragment(Struct, frozen=True, array_like=True):
    """Deflated bytes of a section in a part: where they are, and the CRC and number of the plain bytes."""

    path: str
    section: str
    offset: int
    length: int
    crc: int
    size: int


class Content(Struct, frozen=True, kw_only=True):
    """What is in the file of a part: members from `0` to `members`, their directory after it, then fragments."""

    members: int = 0
    directory: int = 0
    """Bytes of the directory."""
    count: int = 0
    """The number of members."""
    fragments: list[Fragment] = []


class Range(Struct, frozen=True):
    """Bytes of a part's file."""

    part: int
    offset: int
    length: int


class Directory(Struct, frozen=True):
    """The directory of a part, whose offsets are from the part's begin; see `move_directory`."""

    part: int
    offset: int
    length: int
    base: int


Piece = bytes | Range | Directory
"""What follows in an archive; each is of known length (`length_of`)."""


class _Open:
    """A fragment that is being written: deflated in memory."""

    def __init__(self, between: bytes) -> None:
        self.between = between
        self.crc = self.size = 0
        self.chunks: list[bytes] = []
        self._deflate = zlib.compressobj(LEVEL, zlib.DEFLATED, -15)
        self._rows: list[bytes] = []
        self._held = 0

    def write(self, data: bytes) -> None:
        if not data:
            return
        if self.between and (self.size or self._rows):
            self._rows.append(self.between)
        self._rows.append(data)
        self._held += len(data)
        if self._held >= BUFFERED:
            self._pack()

    def finish(self) -> None:
        self._pack()
        self.chunks.append(self._deflate.flush(zlib.Z_FULL_FLUSH))

    def _pack(self) -> None:
        data = b"".join(self._rows)
        self._rows, self._held = [], 0
        self.crc = zlib.crc32(data, self.crc)
        self.size += len(data)
        self.chunks.append(self._deflate.compress(data))


class PartArchive:
    """One part: implements `model.Sink`. Fragments are in memory, deflated, until `finish`."""

    def __init__(self, out: BinaryIO, layout: Callable[[str], Layout]) -> None:
        """Begin a part.

        Args:
            out: a file open for writing, at its begin.
            layout: the layout of a member that all parts write, by its path.
        """
        self._out, self._layout = out, layout
        self._place = 0
        self._directory: list[bytes] = []
        self._open: dict[tuple[str, str], _Open] = {}

    def add(self, path: str, data: bytes, *, stored: bool = False) -> None:
        """A whole member.

        Args:
            path: its name.
            data: its bytes.
            stored: whether it is compressed already, as pictures are.
        """
        name, method, body = path.encode(), _STORED, data
        if not stored:
            deflate = zlib.compressobj(LEVEL, zlib.DEFLATED, -15)
            packed = deflate.compress(data) + deflate.flush()
            if len(packed) < len(data):
                method, body = _DEFLATED, packed
        member = _Member(name, method, zlib.crc32(data), len(body), len(data))
        self._directory.append(member.entry(self._place))
        self._write(member.header())
        self._write(body)

    def append(self, path: str, section: str, data: bytes) -> None:
        """More of a section of a member that all parts write: a row, put after the section's `between`."""
        found = self._open.get((path, section))
        if found is None:
            among = {part.name: part.between for part in self._layout(path) if isinstance(part, Section)}
            found = self._open[path, section] = _Open(among[section])
        found.write(data)

    def finish(self) -> Content:
        """Write the directory and the fragments. Returns their places."""
        members, directory = self._place, b"".join(self._directory)
        self._write(directory)
        fragments = []
        for (path, section), found in self._open.items():
            offset = self._place
            found.finish()
            for chunk in found.chunks:
                self._write(chunk)
            fragments.append(Fragment(path, section, offset, self._place - offset, found.crc, found.size))
        return Content(members=members, directory=len(directory), count=len(self._directory), fragments=fragments)

    def _write(self, data: bytes) -> None:
        self._out.write(data)
        self._place += len(data)


def plan(contents: Sequence[Content], layouts: Mapping[str, Layout]) -> list[Piece]:
    """An archive of parts, in order.

    Args:
        contents: of all parts, in order.
        layouts: of the members that all parts write, by path: of those that some part wrote, and of those that are
            there in any case.
    """
    pieces: list[Piece] = []
    entries: list[bytes] = []
    place = 0

    def put(piece: Piece) -> None:
        nonlocal place
        if length := length_of(piece):
            pieces.append(piece)
            place += length

    parts: dict[str, dict[str, list[tuple[int, Fragment]]]] = {path: {} for path in layouts}
    for number, content in enumerate(contents):
        for fragment in content.fragments:
            parts[fragment.path].setdefault(fragment.section, []).append((number, fragment))
    for path, layout in layouts.items():
        body, crc, size = _join(layout, parts[path])
        member = _Member(path.encode(), _DEFLATED, crc, sum(map(length_of, body)), size)
        entries.append(member.entry(place))
        for piece in (member.header(), *body):
            put(piece)
    bases = []
    for number, content in enumerate(contents):
        bases.append(place)
        put(Range(number, 0, content.members))
    start = place
    put(b"".join(entries))
    for number, content in enumerate(contents):
        put(Directory(number, content.members, content.directory, bases[number]))
    put(_end(len(entries) + sum(content.count for content in contents), start, place - start))
    return pieces


def length_of(piece: Piece) -> int:
    """Bytes of a piece."""
    return len(piece) if isinstance(piece, bytes) else piece.length


def move_directory(directory: bytes, base: int) -> bytes:
    """The directory of a part whose begin is at an offset of the archive."""
    found, at = bytearray(directory), 0
    while at < len(found):
        name, extra, comment = struct.unpack_from("<HHH", found, at + 28)
        place = at + _CENTRAL.size + name + extra - 8
        struct.pack_into("<Q", found, place, struct.unpack_from("<Q", found, place)[0] + base)
        at += _CENTRAL.size + name + extra + comment
    return bytes(found)


def crc_of_both(first: int, second: int, length: int) -> int:
    """The CRC of bytes followed by `length` others, from the CRCs of both."""
    power, factor = 1 << 31, 1 << 23  # x^0 and x^8, a byte, of the reflected polynomial
    while length:
        if length & 1:
            power = _times(factor, power)
        factor = _times(factor, factor)
        length >>= 1
    return _times(power, first) ^ second


def _times(a: int, b: int) -> int:
    """The product of two polynomials modulo that of CRC-32."""
    product = 0
    for bit in range(31, -1, -1):
        if a >> bit & 1:
            product ^= b
        b = (b >> 1) ^ (0xEDB88320 if b & 1 else 0)
    return product


class _Member(Struct, frozen=True):
    name: bytes
    method: int
    crc: int
    packed: int
    size: int

    def header(self) -> bytes:
        """The local header; with a zip64 field where a size needs it."""
        is_large = max(self.packed, self.size) >= _LARGE
        packed, size = (_LARGE, _LARGE) if is_large else (self.packed, self.size)
        extra = _SIZES.pack(1, 16, self.size, self.packed) if is_large else b""
        fixed = (b"PK\3\4", _VERSION, _UNICODE, self.method, 0, _DATE, self.crc, packed, size)
        return _LOCAL.pack(*fixed, len(self.name), len(extra)) + self.name + extra

    def entry(self, offset: int) -> bytes:
        """The entry of the directory. Its offset is always in a zip64 field, so that it can be moved."""
        extra = _PLACE.pack(1, 24, self.size, self.packed, offset)
        fixed = (b"PK\1\2", _VERSION, _VERSION, _UNICODE, self.method, 0, _DATE, self.crc, _LARGE, _LARGE)
        return _CENTRAL.pack(*fixed, len(self.name), len(extra), 0, 0, 0, 0, _LARGE) + self.name + extra


def _join(layout: Layout, parts: Mapping[str, list[tuple[int, Fragment]]]) -> tuple[list[Piece], int, int]:
    """The deflated pieces of a member that all parts write, its CRC and its size."""
    pieces: list[Piece] = []
    crc = size = 0

    def put(piece: Piece, its_crc: int, its_size: int) -> None:
        nonlocal crc, size
        pieces.append(piece)
        crc, size = crc_of_both(crc, its_crc, its_size), size + its_size

    def put_bytes(data: bytes) -> None:
        if data:
            deflate = zlib.compressobj(LEVEL, zlib.DEFLATED, -15)
            put(deflate.compress(data) + deflate.flush(zlib.Z_FULL_FLUSH), zlib.crc32(data), len(data))

    for each in layout:
        if isinstance(each, bytes):
            put_bytes(each)
            continue
        between = b""
        for number, fragment in parts.get(each.name, ()):
            if fragment.size:
                put_bytes(between)
                put(Range(number, fragment.offset, fragment.length), fragment.crc, fragment.size)
                between = each.between
    pieces.append(zlib.compressobj(LEVEL, zlib.DEFLATED, -15).flush())
    return pieces, crc, size


def _end(count: int, start: int, length: int) -> bytes:
    """The end of an archive: of zip64, and of a plain one that refers to it."""
    record = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, _VERSION, _VERSION, 0, 0, count, count, length, start)
    locator = struct.pack("<4sIQI", b"PK\6\7", 0, start + length, 1)
    few = min(count, 0xFFFF)
    return record + locator + struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, few, few, _LARGE, _LARGE, 0)
