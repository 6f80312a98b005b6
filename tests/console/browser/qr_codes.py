"""A reader of QR codes that are drawn without a fault: versions 2 to 10 with error correction M, one text in bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator

BORDER = 4
BLOCKS = {2: [28], 3: [44], 4: [32] * 2, 5: [43] * 2, 6: [27] * 4, 7: [31] * 4, 8: [38] * 2 + [39] * 2}
BLOCKS |= {9: [36] * 3 + [37] * 2, 10: [43] * 4 + [44]}
"""Bytes of data of each block, by version (ISO/IEC 18004, table 9)."""
ALIGNED = {7: (6, 22, 38), 8: (6, 24, 42), 9: (6, 26, 46), 10: (6, 28, 50)}
MASKS = (
    lambda y, x: (x + y) % 2,
    lambda y, _: y % 2,
    lambda _, x: x % 3,
    lambda y, x: (x + y) % 3,
    lambda y, x: (y // 2 + x // 3) % 2,
    lambda y, x: x * y % 2 + x * y % 3,
    lambda y, x: (x * y % 2 + x * y % 3) % 2,
    lambda y, x: ((x + y) % 2 + x * y % 3) % 2,
)
"""A module is turned where these give 0, by the number of the mask."""
Modules = set[tuple[int, int]]


def modules_of(path: str) -> Modules:
    """The dark modules, as row and column, of a path of unit squares that has a border of four."""
    return {(int(y) - BORDER, int(x) - BORDER) for x, y in re.findall(r"M(\d+) (\d+)h1v1h-1z", path)}


def read(dark: Modules) -> str:
    """The text of a code."""
    size = max(y for y, _ in dark) + 1
    version = (size - 17) // 4
    told = sum(((8, x) in dark) << (14 - n) for n, x in enumerate((0, 1, 2, 3, 4, 5, 7))) ^ 0b101010000010010
    assert told >> 13 == 0, "error correction M"
    mask = MASKS[told >> 10 & 7]
    bits = [((y, x) in dark) ^ (mask(y, x) == 0) for y, x in _places(size, version)]
    stream = bytes(int("".join(map(str, map(int, bits[n : n + 8]))), 2) for n in range(0, len(bits) - 7, 8))
    number = int.from_bytes(_joined(stream, BLOCKS[version]), "big")
    total = 8 * sum(BLOCKS[version])
    length_bits = 8 if version < 10 else 16
    assert number >> (total - 4) == 4, "bytes"
    length = number >> (total - 4 - length_bits) & ((1 << length_bits) - 1)
    rest = total - 4 - length_bits - 8 * length
    return (number >> rest & ((1 << 8 * length) - 1)).to_bytes(length, "big").decode()


def _places(size: int, version: int) -> Iterator[tuple[int, int]]:
    """The places of data, in their order: columns in pairs from the right, up and down in turn."""
    aligned = ALIGNED.get(version, (6, 4 * version + 10))
    corners = {(6, 6), (6, aligned[-1]), (aligned[-1], 6)}
    boxes = [(y, x) for y in aligned for x in aligned if (y, x) not in corners]

    def is_function(y: int, x: int) -> bool:
        in_finder = (y < 9 and (x < 9 or x >= size - 8)) or (y >= size - 8 and x < 9)
        in_version = version >= 7 and ((y < 6 and x >= size - 11) or (x < 6 and y >= size - 11))
        return in_finder or in_version or 6 in (y, x) or any(abs(y - v) < 3 and abs(x - u) < 3 for v, u in boxes)

    rights = [x for x in range(size - 1, 0, -2) if x > 6] + [5, 3, 1]
    for turn, right in enumerate(rights):
        for y in range(size) if turn % 2 else reversed(range(size)):
            yield from ((y, x) for x in (right, right - 1) if not is_function(y, x))


def _joined(stream: bytes, lengths: list[int]) -> bytes:
    """The data of all blocks, whose bytes alternate."""
    blocks = [bytearray() for _ in lengths]
    place = 0
    for turn in range(max(lengths)):
        for block, length in zip(blocks, lengths, strict=True):
            if turn < length:
                block.append(stream[place])
                place += 1
    return b"".join(blocks)
