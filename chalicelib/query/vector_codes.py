"""Codes of vectors: a byte a number, with what is needed to bound the distance of the vector from any other.

A code is a head and one signed byte for each number, the number divided by the code's scale and rounded. Scales are
powers of the fourth root of 2, so that the vectors of a column have few different ones and those of one scale can be
compared together. The head has the length of what rounding took away: a distance computed from codes is that much off
at most (`storage/view/vector_search/codes.py`).
"""

from __future__ import annotations

import math
import struct
from array import array

STEPS = 4
"""Scales per factor of 2."""
MAX_CODE = 127
"""The largest absolute value of a code's bytes."""
HEAD = struct.Struct("<hxxIff")
"""The step of the scale, the sum of squared bytes, the length of the rounding error, and that of the vector."""
_ROUNDED_UP = 1 + 2**-20
"""A factor larger than the relative error of a 32 bit float."""
_MAX_LENGTH = 1e38
"""Vectors longer than this have no code: their length is beyond 32 bits."""


def scale(step: int) -> float:
    """The scale of a step."""
    return math.pow(2.0, step / STEPS)


def code(packed: bytes | None) -> bytes | None:
    """The code of a vector, little-endian 32 bit floats; a head of zeros where it has none; None for None."""
    if packed is None:
        return None
    numbers = memoryview(packed).cast("f").tolist()
    largest = max(map(abs, numbers), default=0.0)
    length = math.hypot(*numbers)
    if not numbers or length > _MAX_LENGTH:
        return bytes(HEAD.size)
    step = math.ceil(STEPS * math.log2(largest / MAX_CODE)) if largest else 0
    size = scale(step)
    whole = [round(number / size) for number in numbers]
    error = math.dist(numbers, [each * size for each in whole])
    squares = sum(each * each for each in whole)
    return HEAD.pack(step, squares, error * _ROUNDED_UP, length) + array("b", whole).tobytes()


def split(center: tuple[float, ...]) -> tuple[tuple[float, bytes], tuple[float, bytes], float]:
    """A vector as the sum of two scaled vectors of bytes, and the length of the rest."""
    first, coarse, rest = _rounded(center)
    second, fine, rest = _rounded(rest)
    return (first, coarse), (second, fine), math.hypot(*rest)


def rounded_to(center: tuple[float, ...], size: float) -> tuple[bytes, float]:
    """A vector's numbers divided by a scale and rounded, as bytes; and the sum of the absolute differences to it."""
    whole = [max(-MAX_CODE, min(MAX_CODE, round(number / size))) for number in center]
    rest = math.fsum(abs(number - each * size) for number, each in zip(center, whole, strict=True))
    return array("b", whole).tobytes(), rest


def _rounded(numbers: tuple[float, ...]) -> tuple[float, bytes, tuple[float, ...]]:
    size = (max(map(abs, numbers), default=0.0) / MAX_CODE) or 1.0
    whole = [round(number / size) for number in numbers]
    rest = tuple(number - each * size for number, each in zip(numbers, whole, strict=True))
    return size, array("b", whole).tobytes(), rest
