"""Numbered pictures of a folder as one video: a QuickTime file whose samples are the pictures as they are.

Nothing is decoded: the bytes of each JPEG or PNG become a sample, so frame n of the video is picture n + 1. All sizes
are known from the directory of the archive. The file is read from begin to end, and only one block is in memory.
"""

from __future__ import annotations

import io
import re
import struct
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from typing import cast

from chalicelib.formats.model import Archive, Files

RATE = 30.0
"""Pictures a second where the archive does not say."""
FASTEST = 1_000.0
BLOCK = 1024 * 1024
_CODECS = {"jpg": b"jpeg", "jpeg": b"jpeg", "png": b"png "}
_PICTURE = re.compile(rf"(?P<number>\d{{1,9}})\.({'|'.join(_CODECS)})", re.IGNORECASE)
_MATRIX = struct.pack(">9I", 0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)


def numbered_pictures(archive: Files) -> dict[str, list[str]]:
    """The paths of the numbered pictures of an archive by folder, which has `/` at the end."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path in archive.names():
        folder, _, name = path.rpartition("/")
        if folder and _PICTURE.fullmatch(name):
            found[f"{folder}/"].append(path)
    return dict(found)


def in_order(folder: str, paths: list[str]) -> list[str]:
    """The pictures of a folder from number 1 on.

    Raises:
        ValueError: a number is missing or stands twice, or they are of several formats.
    """
    found: dict[int, str] = {}
    for path in paths:
        number = int(path.rpartition("/")[2].partition(".")[0])
        if number in found:
            raise ValueError(f"{found[number]} and {path} have the same number")
        found[number] = path
    for number in range(1, len(found) + 1):
        if number not in found:
            message = f"{folder} has {len(found)} pictures, but none with number {number}: it needs each frame from 1"
            raise ValueError(message)
    if len({_codec(path) for path in found.values()}) > 1:
        raise ValueError(f"{folder} has JPEG and PNG pictures; all need to be of one format")
    return [found[number] for number in sorted(found)]


def _codec(path: str) -> bytes:
    return _CODECS[path.rpartition(".")[2].lower()]


class PictureVideo(io.RawIOBase):
    """The QuickTime file of some pictures, to be read once."""

    def __init__(self, archive: Archive, paths: list[str], rate: float | None = None) -> None:
        """Lay out the file.

        Args:
            archive: has the pictures.
            paths: of at least one picture, in order, all of one format.
            rate: pictures a second; None for `RATE`.
        """
        sizes = [archive.size(path) for path in paths]
        exact = Fraction(rate if rate and 0 < rate <= FASTEST else RATE).limit_denominator(1001)
        head = _box(b"ftyp", b"qt  ", struct.pack(">I", 0), b"qt  ")
        begin = len(head) + len(_movie(sizes, 0, _codec(paths[0]), exact)) + 16
        data = struct.pack(">I4sQ", 1, b"mdat", 16 + sum(sizes))
        self._head = head + _movie(sizes, begin, _codec(paths[0]), exact) + data
        self._blocks = self._read(archive, paths)
        self._left = memoryview(b"")
        self.size = len(self._head) + sum(sizes)
        """Bytes of the file."""

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, target: object) -> int:
        """Read up to the end of a block."""
        view = memoryview(cast("bytearray", target))
        if not self._left:
            self._left = memoryview(next(self._blocks, b""))
        count = min(len(view), len(self._left))
        view[:count], self._left = self._left[:count], self._left[count:]
        return count

    def _read(self, archive: Archive, paths: list[str]) -> Iterator[bytes]:
        yield self._head
        for path in paths:
            with archive.open(path) as file:
                while block := file.read(BLOCK):
                    yield block


def _movie(sizes: list[int], begin: int, codec: bytes, rate: Fraction) -> bytes:
    """The box that says where each sample lies; its length does not depend on `begin`."""
    scale, each = rate.numerator, rate.denominator
    count = len(sizes)
    length = count * each
    offsets = [begin]
    for size in sizes[:-1]:
        offsets.append(offsets[-1] + size)
    entry = _box(codec, bytes(6), _int16(1), bytes(16), bytes(4), _int32(0x480000, 0x480000, 0), _int16(1), bytes(32),
                 _int16(24, 0xFFFF))  # fmt: skip
    table = _box(
        b"stbl",
        _full(b"stsd", _int32(1), entry),
        _full(b"stts", _int32(1, count, each)),
        _full(b"stsc", _int32(1, 1, 1, 1)),
        _full(b"stsz", _int32(0, count, *sizes)),
        _full(b"co64", _int32(count), struct.pack(f">{count}Q", *offsets)),
    )
    places = _box(b"dinf", _full(b"dref", _int32(1), _full(b"url ", flags=1)))
    media = _box(
        b"mdia",
        _full(b"mdhd", _int32(0, 0, scale, length, 0)),
        _full(b"hdlr", b"mhlrvide", bytes(13)),
        _box(b"minf", _full(b"vmhd", bytes(8), flags=1), places, table),
    )
    track = _full(b"tkhd", _int32(0, 0, 1, 0, length), bytes(16), _MATRIX, bytes(8), flags=7)
    movie = _full(
        b"mvhd", _int32(0, 0, scale, length, 0x10000), _int16(0x100), bytes(10), _MATRIX, bytes(24), _int32(2)
    )
    return _box(b"moov", movie, _box(b"trak", track, media))


def _int32(*numbers: int) -> bytes:
    return struct.pack(f">{len(numbers)}I", *numbers)


def _int16(*numbers: int) -> bytes:
    return struct.pack(f">{len(numbers)}H", *numbers)


def _box(name: bytes, *parts: bytes) -> bytes:
    body = b"".join(parts)
    return struct.pack(">I4s", 8 + len(body), name) + body


def _full(name: bytes, *parts: bytes, flags: int = 0) -> bytes:
    return _box(name, _int32(flags), *parts)
