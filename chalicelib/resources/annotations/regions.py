"""The part of a picture that shows a localization."""

from __future__ import annotations

from typing import NamedTuple

from chalicelib.core.models.entities import Localization
from chalicelib.core.values.shapes import SHAPES
from chalicelib.errors import BadInput

_SMALLEST = 2.1
"""Pixels: a smaller side becomes `_AT_LEAST`."""
_AT_LEAST = 3.0


class Region(NamedTuple):
    """A part of a picture, relative to its size."""

    width: float
    height: float
    x: float
    y: float


def region(shape: Localization, dtype: str, size: tuple[int, int], margins: tuple[int, int] | None = None) -> Region:
    """The part of a picture that shows a localization, with margins around it.

    A part that reaches over the border is shifted back inside and keeps its size, unless it is larger than the picture.

    Args:
        shape: the localization.
        dtype: that of its type.
        size: of the picture, (width, height) in pixels.
        margins: x and y in pixels; those of the dtype where None.

    Raises:
        BadInput: the localization lacks what its dtype needs.
    """
    margin_x, margin_y = margins or SHAPES[dtype].margin
    width, height = size
    left, top, right, bottom = _bounds(shape, dtype)
    # A dot is the pixel it is in.
    extra = 1 if dtype == "dot" else 0
    wide = _long_enough((right - left) * width + extra + 2 * margin_x)
    high = _long_enough((bottom - top) * height + extra + 2 * margin_y)
    across, down = min(wide / width, 1.0), min(high / height, 1.0)
    return Region(
        across,
        down,
        min(max(left - margin_x / width, 0.0), 1.0 - across),
        min(max(top - margin_y / height, 0.0), 1.0 - down),
    )


def _long_enough(side: float) -> float:
    return side if side >= _SMALLEST else _AT_LEAST


def _bounds(shape: Localization, dtype: str) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of a localization, relative to the picture."""
    points: list[tuple[float, float]] = []
    if shape.bounds:
        x, y, width, height = shape.bounds
        points = [(max(x, 0.0), max(y, 0.0)), (min(x + width, 1.0), min(y + height, 1.0))]
    elif dtype == "poly":
        points = [(x, y) for x, y in shape.points or []]
    elif shape.x is not None and shape.y is not None:
        along, down = {"box": (shape.width, shape.height), "line": (shape.u, shape.v)}.get(dtype, (0.0, 0.0))
        points = [(shape.x, shape.y), (shape.x + (along or 0.0), shape.y + (down or 0.0))]
    if not points:
        raise BadInput(f"Localization {shape.id} has no coordinates.")
    across, downwards = zip(*points, strict=True)
    return min(across), min(downwards), max(across), max(downwards)
