"""The figures of localizations: their outlines in pixels, and the errors of drawing them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from chalicelib.core.measuring.cameras import Pixel
from chalicelib.core.measuring.figures import Figure, Move, free_moves, outward_moves
from chalicelib.core.values import outlines, rle
from chalicelib.core.values.refinements import corners

_ELLIPSE = 360
"""Corners of the outline of an ellipse: it has 99.995 % of its area."""
_LEAST_CORNERS = 3
_CORNERS = ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))


def figure_of(shape: Any, size: tuple[int, int]) -> Figure | None:
    """The figure of a localization; None of a dot, a skeleton, or what has no place.

    Args:
        shape: has the members of `Geometry`.
        size: width and height of its media in pixels.
    """
    width, height = size
    if shape.points is not None:
        return _polygon(shape, size)
    if shape.x is None or shape.y is None:
        return None
    x, y = shape.x * width, shape.y * height
    if shape.u is not None and shape.v is not None:
        return Figure([[(x, y), (x + shape.u * width, y + shape.v * height)]], free_moves(2), is_open=True)
    if shape.width is None or shape.height is None:
        return None
    if shape.mask is not None:
        return _mask(shape.mask, (round(x), round(y)))
    return _box(shape, size)


def _polygon(shape: Any, size: tuple[int, int]) -> Figure | None:
    """The figure of a polygon or polyline."""
    is_open = shape.closed is False
    if shape.visible is not None or len(shape.points) < (2 if is_open else _LEAST_CORNERS):
        return None
    rings = [[(x * size[0], y * size[1]) for x, y in ring] for ring in (shape.points, *(shape.holes or ()))]
    if is_open:
        return Figure(rings[:1], free_moves(len(rings[0])), is_open=True)
    turned = [ring if (outlines.signed_area(ring) >= 0) == (at == 0) else ring[::-1] for at, ring in enumerate(rings)]
    return Figure(turned, free_moves(sum(map(len, turned))))


def _mask(mask: Any, corner: tuple[int, int]) -> Figure | None:
    """The figure of the pixels of a mask, whose box begins at a corner."""
    runs = rle.decode(mask.counts)
    if not rle.area(runs):
        return None
    rings = [[(x + corner[0], y + corner[1]) for x, y in ring] for ring in outlines.rings(runs, mask.size[0])]
    return Figure(rings, outward_moves(rings))


def _box(shape: Any, size: tuple[int, int]) -> Figure:
    """The figure of a box or ellipse, turned or not; each of its four sides is drawn with an error of its own."""
    angle = shape.angle or 0.0
    box = [(x * size[0], y * size[1]) for x, y in corners((shape.x, shape.y, shape.width, shape.height), angle, size)]
    units: Sequence[Pixel] = _CORNERS
    if shape.form == "ellipse":
        turns = (2 * math.pi * step / _ELLIPSE for step in range(_ELLIPSE))
        units = [(math.cos(turn), math.sin(turn)) for turn in turns]
    middle = (box[0][0] + box[2][0]) / 2, (box[0][1] + box[2][1]) / 2
    along = (box[1][0] - box[0][0]) / 2, (box[1][1] - box[0][1]) / 2
    down = (box[3][0] - box[0][0]) / 2, (box[3][1] - box[0][1]) / 2
    ring = [(middle[0] + a * along[0] + d * down[0], middle[1] + a * along[1] + d * down[1]) for a, d in units]
    sine, cosine = math.sin(math.radians(angle)), math.cos(math.radians(angle))
    moves: list[Move] = []
    for axis, (x, y) in enumerate(((cosine, sine), (-sine, cosine))):
        for sign in (1.0, -1.0):
            shares = [(1 + sign * unit[axis]) / 2 for unit in units]
            moves.append({at: (x * share, y * share) for at, share in enumerate(shares)})
    return Figure([ring], moves, is_box=shape.form != "ellipse")
