"""The rules of refined shapes: masks, rotated boxes, ellipses, polylines, polygons with holes and skeletons.

Each is a box or polygon with more members, which a client that does not know them draws and changes as before.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

from chalicelib.core.values import rle
from chalicelib.core.values.shapes import REFINING, refinements_of
from chalicelib.errors import BadInput

Point = Sequence[float]
_PIXEL = 0.5
"""Part of a pixel by which a box may differ from its mask."""
_SAME = 1e-9
"""Fraction of a side by which rounding may move a point."""
_LEAST_CORNERS = 3


def check(shape: Any, of: Any, size: tuple[float, float] | None) -> None:
    """Check the refinements of a localization.

    Args:
        shape: the localization as it would be stored.
        of: its type.
        size: width and height of its media in pixels; None where they are not known.

    Raises:
        BadInput: the type does not allow one of them, or it breaks a rule.
    """
    for name in refinements_of(shape):
        if name not in of.refinements:
            allowed = ", ".join(of.refinements) or "none"
            raise BadInput(f"{REFINING[name]}: the type {of.name!r} does not allow {name}; its refinements: {allowed}.")
    if shape.mask is not None:
        check_mask(shape, size)
    if shape.holes:
        _check_holes(shape)
    if shape.visible is not None and of.skeleton is None:
        raise BadInput(f"visible: the type {of.name!r} has no skeleton.")
    if of.skeleton is not None and shape.points is not None:
        wanted = len(of.skeleton.points)
        for member in "points", "visible":
            found = getattr(shape, member)
            if found is not None and len(found) != wanted:
                raise BadInput(f"{member}: the skeleton of {of.name!r} has {wanted} points, not {len(found)}.")


def check_mask(shape: Any, size: tuple[float, float] | None) -> None:
    """Raise BadInput unless a mask has the pixels of its box, which lies in the picture of a known size."""
    mask = shape.mask
    if shape.angle or shape.form:
        raise BadInput("mask: a box with a mask has no angle and no form.")
    if None in (shape.x, shape.y, shape.width, shape.height):
        raise BadInput("mask: give x, y, width and height of its box, too.")
    if len(mask.counts) > rle.MOST_CHARACTERS:
        raise BadInput(
            f"mask.counts: {len(mask.counts):,} characters are more than the {rle.MOST_CHARACTERS:,} of one mask. "
            "Make its outline simpler, or cut it into several localizations."
        )
    height, width = mask.size
    if height * width > rle.MOST_PIXELS:
        raise BadInput(f"mask.size: {height} x {width} are more than the {rle.MOST_PIXELS:,} pixels of one mask.")
    if size is None:
        raise BadInput("mask: the size of its media is not known yet, so its pixels have no place.")
    if abs(shape.width * size[0] - width) > _PIXEL or abs(shape.height * size[1] - height) > _PIXEL:
        wide, high = shape.width * size[0], shape.height * size[1]
        raise BadInput(
            f"mask.size: [{height}, {width}] is not that of its box, which is {high:.1f} pixels high and {wide:.1f} "
            "wide. A box that only moves takes its mask along; for another size give a new mask, or null."
        )
    if max((shape.x + shape.width) * size[0] - size[0], (shape.y + shape.height) * size[1] - size[1]) > _PIXEL:
        raise BadInput("mask: its box reaches beyond the picture.")
    try:
        runs = rle.decode(mask.counts)
    except ValueError as problem:
        raise BadInput(f"mask.counts: {problem}; it takes the compressed run lengths of COCO.") from None
    if sum(runs) != height * width:
        raise BadInput(f"mask.counts: its runs have {sum(runs)} pixels; {height} x {width} are {height * width}.")


def _check_holes(shape: Any) -> None:
    if shape.closed is False:
        raise BadInput("holes: an open polygon has none.")
    outline = shape.points or []
    if len(outline) < _LEAST_CORNERS:
        raise BadInput("holes: give the points around them, too.")
    for place, hole in enumerate(shape.holes):
        if len(hole) < _LEAST_CORNERS:
            raise BadInput(f"holes[{place}]: a hole has at least {_LEAST_CORNERS} points, not {len(hole)}.")
        for point in hole:
            if not is_within(point, outline):
                raise BadInput(f"holes[{place}]: {list(point)} is outside of the polygon. Give holes with new points.")


def is_within(point: Point, outline: Sequence[Point]) -> bool:
    """Whether a point is within an outline or on it."""
    x, y = point
    inside = False
    for (ax, ay), (bx, by) in zip(outline, [*outline[1:], outline[0]], strict=True):
        cross = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
        is_beside = min(ax, bx) - _SAME <= x <= max(ax, bx) + _SAME and min(ay, by) - _SAME <= y <= max(ay, by) + _SAME
        if abs(cross) <= _SAME and is_beside:
            return True
        if (ay > y) != (by > y) and x < ax + (y - ay) / (by - ay) * (bx - ax):
            inside = not inside
    return inside


def moved_holes(before: Any, points: Sequence[Point]) -> list[list[list[float]]] | None:
    """The holes of a polygon that moves as a whole; as they are where it changes otherwise."""
    old = before.points or []
    if not before.holes or len(old) != len(points):
        return before.holes  # type: ignore[no-any-return]
    along, down = points[0][0] - old[0][0], points[0][1] - old[0][1]
    if any(abs(x - a - along) > _SAME or abs(y - b - down) > _SAME for (a, b), (x, y) in zip(old, points, strict=True)):
        return before.holes  # type: ignore[no-any-return]
    return [[[_unit(x + along), _unit(y + down)] for x, y in hole] for hole in before.holes]


def _unit(number: float) -> float:
    return min(max(number, 0.0), 1.0)


def corners(box: Sequence[float], angle: float, size: tuple[float, float]) -> list[tuple[float, float]]:
    """The corners of a box that is turned clockwise about its centre, in fractions.

    Args:
        box: x, y, width and height in fractions.
        angle: degrees.
        size: width and height of the media in pixels: a turn is one of pixels.
    """
    x, y, width, height = box
    sine, cosine = math.sin(math.radians(angle)), math.cos(math.radians(angle))
    middle = x + width / 2, y + height / 2
    found = []
    for along, down in ((-width, -height), (width, -height), (width, height), (-width, height)):
        dx, dy = along / 2 * size[0], down / 2 * size[1]
        found.append((middle[0] + (dx * cosine - dy * sine) / size[0], middle[1] + (dx * sine + dy * cosine) / size[1]))
    return found


def bounds(shape: Any, size: tuple[float, float] | None) -> list[float] | None:
    """The upright box around a turned one: x, y, width, height in fractions. None for others and unknown sizes."""
    if not shape.angle or size is None or None in (shape.x, shape.y, shape.width, shape.height):
        return None
    box = shape.x, shape.y, shape.width, shape.height
    return list(turned_bounds(box, shape.angle, size, is_ellipse=shape.form == "ellipse"))


def turned_bounds(
    box: Sequence[float], angle: float, size: tuple[float, float], *, is_ellipse: bool
) -> tuple[float, float, float, float]:
    """The upright box around a box or ellipse that is turned, in fractions; see `corners`."""
    if is_ellipse:
        x, y, width, height = box
        sine, cosine = math.sin(math.radians(angle)), math.cos(math.radians(angle))
        wide, high = width * size[0] / 2, height * size[1] / 2
        half = math.hypot(wide * cosine, high * sine) / size[0], math.hypot(wide * sine, high * cosine) / size[1]
        return x + width / 2 - half[0], y + height / 2 - half[1], 2 * half[0], 2 * half[1]
    xs, ys = zip(*corners(box, angle, size), strict=True)
    return min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)


def share(shape: Any) -> float | None:
    """The part of the media that a shape covers, from 0 to 1; None for masks, and for shapes without an area."""
    if shape.points is not None:
        if shape.closed is False or shape.visible is not None or len(shape.points) < _LEAST_CORNERS:
            return None
        return ring_area(shape.points) - sum(map(ring_area, shape.holes or ()))
    if shape.mask is not None or shape.width is None or shape.height is None:
        return None
    part: float = shape.width * shape.height
    return part * math.pi / 4 if shape.form == "ellipse" else part


def ring_area(points: Sequence[Point]) -> float:
    """The area within an outline."""
    pairs = zip(points, [*points[1:], points[0]], strict=True)
    return abs(sum(ax * by - bx * ay for (ax, ay), (bx, by) in pairs)) / 2


def form(shape: Any) -> str | None:
    """The word by which queries know a refined shape; None for others."""
    found: Collection[str] = refinements_of(shape)
    for name in ("mask", "ellipse", "skeleton", "holes", "open"):
        if name in found:
            return name
    return "rotated" if "angle" in found else None
