"""Masks as Label Studio sends them: run lengths of bytes in a stream of bits, as its converter's `brush` writes them.

A stream begins with the number of values (32 bits), the bits of a value less one (5), and four lengths less one (4
each). Then blocks: a bit that says whether one value is repeated, two that choose a length, the number of values less
one in as many bits, and that value, or as many values. A picture has four values a pixel, row by row; the fourth is its
mask.
"""

from __future__ import annotations

from collections.abc import Sequence

_CHANNELS = 4
_BYTE = 8


def columns(stream: Sequence[int], width: int, height: int) -> bytes:
    """A byte for each pixel, column by column: any but 0 is inside.

    Raises:
        ValueError: it is not such a stream, or not of a picture of that size.
    """
    values = _values_of(bytes(stream), width * height * _CHANNELS)
    rows = values[_CHANNELS - 1 :: _CHANNELS]
    return b"".join(rows[column::width] for column in range(width))


class _Bits:
    """Numbers of some bits each, the highest bit first."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def read(self, count: int) -> int:
        """The next number of so many bits. Raises ValueError at the end."""
        end = self._at + count
        last = (end + 7) // _BYTE
        if last > len(self._data):
            raise ValueError("the run lengths of a mask end too early")
        whole = int.from_bytes(self._data[self._at // _BYTE : last])
        self._at = end
        return whole >> (last * _BYTE - end) & ((1 << count) - 1)


def _values_of(data: bytes, wanted: int) -> bytes:
    bits = _Bits(data)
    count, size = bits.read(32), bits.read(5) + 1
    lengths = [bits.read(4) + 1 for _ in range(4)]
    if count != wanted or size != _BYTE:
        raise ValueError(f"a mask has {count} values of {size} bits, not {wanted} of {_BYTE}")
    found = bytearray()
    while len(found) < count:
        is_run = bits.read(1)
        many = bits.read(lengths[bits.read(2)]) + 1
        if len(found) + many > count:
            raise ValueError("the run lengths of a mask go beyond its picture")
        found += bytes([bits.read(_BYTE)]) * many if is_run else bytes(bits.read(_BYTE) for _ in range(many))
    return bytes(found)
