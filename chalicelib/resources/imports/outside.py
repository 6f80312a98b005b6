"""Shapes that reach beyond the picture: how far, and their part within it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from msgspec.structs import replace

from chalicelib.core.values.refinements import ring_area, turned_bounds
from chalicelib.core.values.shapes import SHAPES
from chalicelib.formats.model import LabelKind, Refined

TOLERANCE = 1e-6
"""The part of a width or height by which rounding may put a shape beyond the picture."""
_OUTSIDE = "it is outside of the picture"
_QUARTER = 90.0
Shape = tuple[float, ...]
Point = tuple[float, float]


def within(
    kind: LabelKind, shape: Shape, refined: Refined | None, allowed: Collection[str], size: Point, *, clips: bool
) -> tuple[Shape, Refined | None, str]:
    """A shape as a localization may have it, what refines it then, and a note on what it lost.

    Args:
        kind: the shape.
        shape: its numbers in fractions of the picture.
        refined: what refines it, holes in fractions.
        allowed: the refinements that its type allows.
        size: width and height of the picture in pixels; 0 where they are not known.
        clips: whether what reaches beyond the picture is clipped, not refused.

    Raises:
        ValueError: the reason why the shape is refused.
    """
    if kind == "box" and (shape[2] < 0 or shape[3] < 0):
        raise ValueError(f"its width {shape[2]:g} or height {shape[3]:g} is below 0")
    refined = refined or Refined()
    turn = refined.angle if kind == "box" and "angle" in allowed and all(size) else 0.0
    is_ellipse = refined.is_ellipse and "ellipse" in allowed
    around = turned_bounds(shape, turn, size, is_ellipse=is_ellipse) if turn else shape
    too_far = _beyond(kind, around)
    if too_far <= TOLERANCE:
        if turn and not _is_stored(shape):
            shape, refined = _exchange_sides(shape, refined, size)
        return (
            tuple(min(max(number, low), 1.0) for low, number in zip(_lows(kind, shape), shape, strict=True)),
            refined,
            "",
        )
    if not clips:
        raise ValueError(f"it reaches beyond the picture by {too_far:.3g} of a side; outside may clip it")
    if refined.mask is not None and "mask" in allowed:
        raise ValueError(f"its mask reaches beyond the picture by {too_far:.3g} of a side, and a mask is not clipped")
    if kind == "poly":
        return *_clip_points(shape, refined), ""
    note = ""
    if turn or is_ellipse:
        refined = replace(refined, angle=0.0, is_ellipse=False)
        note = "it reaches beyond the picture and became the part within it of the upright box around it"
    return _clip(kind, around), refined, note


def _beyond(kind: LabelKind, shape: Shape) -> float:
    """How far a shape reaches beyond the picture, as a part of its width or height."""
    beyond = max(0.0, max(shape) - 1, *(low - number for low, number in zip(_lows(kind, shape), shape, strict=True)))
    ends = (shape[0] + shape[2], shape[1] + shape[3]) if kind in ("box", "line") else (0.0,)
    return max(beyond, max(ends) - 1, -min(ends))


def _lows(kind: LabelKind, shape: Shape) -> Sequence[float]:
    return SHAPES[kind].lows or (0.0,) * len(shape)


def _is_stored(box: Shape) -> bool:
    """Whether a localization may have a box, which may end beyond the picture."""
    return min(box) >= -TOLERANCE and max(box) <= 1 + TOLERANCE


def _exchange_sides(box: Shape, refined: Refined, size: Point) -> tuple[Shape, Refined]:
    """A turned box as the other one of the same corners: width and height exchanged, turned by a quarter more."""
    x, y, width, height = box
    wide, high = height * size[1] / size[0], width * size[0] / size[1]
    found = x + (width - wide) / 2, y + (height - high) / 2, wide, high
    if not _is_stored(found):
        raise ValueError("its box lies within the picture only when it is turned; give its corners as a polygon")
    return found, replace(refined, angle=(refined.angle + _QUARTER) % 360)


def _clip(kind: LabelKind, shape: Shape) -> Shape:
    """The part of a box or line within the picture; a dot has none."""
    if kind == "box":
        x, y, width, height = shape
        left, top, right, bottom = _unit(x), _unit(y), _unit(x + width), _unit(y + height)
        if right <= left or bottom <= top:
            raise ValueError(_OUTSIDE)
        return left, top, right - left, bottom - top
    part = _clip_line((shape[0], shape[1]), (shape[0] + shape[2], shape[1] + shape[3])) if kind == "line" else None
    if part is None:
        raise ValueError(_OUTSIDE)
    (x, y), (to_x, to_y) = part
    return x, y, to_x - x, to_y - y


def _clip_points(shape: Shape, refined: Refined) -> tuple[Shape, Refined]:
    """The part of a polygon, polyline or skeleton within the picture."""
    points = _points(shape)
    if refined.points or refined.visible:
        marks = refined.visible or (2,) * len(points)
        outside = [not (0 <= x <= 1 and 0 <= y <= 1) for x, y in points]
        if all(outside):
            raise ValueError(_OUTSIDE)
        visible = tuple(0 if is_out else mark for is_out, mark in zip(outside, marks, strict=False))
        return tuple(_unit(number) for number in shape), replace(refined, visible=visible)
    if refined.is_open:
        return _flat(_clip_path(points)), refined
    ring = _clip_ring(points)
    if not ring:
        raise ValueError(_OUTSIDE)
    holes = (_clip_ring(_points(hole)) for hole in refined.holes)
    return _flat(ring), replace(refined, holes=tuple(_flat(hole) for hole in holes if hole))


def _clip_path(points: list[Point]) -> list[Point]:
    """The part of a polyline within the picture."""
    found: list[Point] = []
    for start, end in pairwise(points):
        part = _clip_line(start, end)
        if part is None:
            continue
        if found and found[-1] != part[0]:
            raise ValueError("it leaves the picture and comes back; cut it into several")
        found += part[bool(found) :]
    if not found:
        raise ValueError(_OUTSIDE)
    return found


def _clip_line(start: Point, end: Point) -> tuple[Point, Point] | None:
    """The part of a line within the picture, by Liang and Barsky."""
    low, high = 0.0, 1.0
    for here, there in zip(start, end, strict=True):
        if here == there:
            if not 0 <= here <= 1:
                return None
            continue
        ends = sorted((limit - here) / (there - here) for limit in (0.0, 1.0))
        low, high = max(low, ends[0]), min(high, ends[1])
    if low >= high:
        return None
    return start if low == 0 else _between(start, end, low), end if high == 1 else _between(start, end, high)


def _between(start: Point, end: Point, part: float) -> Point:
    return _unit(start[0] + part * (end[0] - start[0])), _unit(start[1] + part * (end[1] - start[1]))


def _clip_ring(points: list[Point]) -> list[Point]:
    """The part of an outline within the picture, by Sutherland and Hodgman; empty where it has no area."""
    for axis in (0, 1):
        for limit, sign in ((0.0, 1), (1.0, -1)):
            points = list(_half(points, axis, limit, sign))
    return points if points and ring_area(points) > 0 else []


def _half(points: list[Point], axis: int, limit: float, sign: int) -> Iterator[Point]:
    """The part of an outline on one side of a border of the picture."""
    for before, point in zip([*points[-1:], *points[:-1]], points, strict=True):
        is_within = sign * (point[axis] - limit) >= 0
        if is_within != (sign * (before[axis] - limit) >= 0):
            part = (limit - before[axis]) / (point[axis] - before[axis])
            other = before[1 - axis] + part * (point[1 - axis] - before[1 - axis])
            yield (other, limit) if axis else (limit, other)
        if is_within:
            yield point


def _points(numbers: Sequence[float]) -> list[Point]:
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def _flat(points: Sequence[Point]) -> Shape:
    return tuple(number for point in points for number in point)


def _unit(number: float) -> float:
    return min(max(number, 0.0), 1.0)
