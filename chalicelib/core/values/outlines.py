"""Outlines of masks: rings of points along the borders of pixels, made simpler within a tolerance. Pure Python."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from chalicelib.core.values import rle

Ring = list[tuple[float, float]]
TOLERANCE = 1.0
"""Pixels by which a simplified outline may lie beside the border of its pixels."""
_LEAST = 3
_Corner = tuple[int, int]


def rings(runs: Sequence[int], height: int) -> list[Ring]:
    """The borders of a mask, in pixels, largest first: around its parts with a positive area, around holes negative.

    Pixels that touch at a corner only are of different parts. Linear in the runs and the columns that they cover.

    Args:
        runs: of the mask, column by column (`rle`).
        height: of the picture, in pixels.
    """
    leaving = _edges(runs, height)
    found = []
    while leaving:
        start = next(iter(leaving))
        ring, before, at = [start], start, _follow_edge(leaving, start, start)
        while at != start:
            ring.append(at)
            before, at = at, _follow_edge(leaving, at, before)
        found.append(_corners_of(ring))
    return sorted(found, key=lambda ring: -abs(signed_area(ring)))


def _edges(runs: Sequence[int], height: int) -> dict[_Corner, list[_Corner]]:
    """The directed edges between pixels inside and outside, by their starts; inside is to the right of the way."""
    columns: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    place = 0
    for number, run in enumerate(runs):
        at = place
        while number % 2 and at < place + run:
            column, top = divmod(at, height)
            bottom = min(height, top + place + run - at)
            columns[column].append((top, bottom))
            at = column * height + bottom
        place += run
    leaving: defaultdict[_Corner, list[_Corner]] = defaultdict(list)
    for column, spans in columns.items():
        for top, bottom in spans:
            leaving[column, top].append((column + 1, top))
            leaving[column + 1, bottom].append((column, bottom))
    for column in {*columns, *(column + 1 for column in columns)}:
        left, right = columns.get(column - 1, []), columns.get(column, [])
        for top, bottom in _without(left, right):
            leaving[column, top].append((column, bottom))
        for top, bottom in _without(right, left):
            leaving[column, bottom].append((column, top))
    return dict(leaving)


def _without(spans: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The parts of sorted spans that no other covers, cut where an other one ends."""
    found, first = [], 0
    for top, bottom in spans:
        at = top
        while first < len(others) and others[first][1] <= top:
            first += 1
        place = first
        while place < len(others) and others[place][0] < bottom:
            if others[place][0] > at:
                found.append((at, others[place][0]))
            at = max(at, others[place][1])
            place += 1
        if at < bottom:
            found.append((at, bottom))
    return found


def _follow_edge(leaving: dict[_Corner, list[_Corner]], at: _Corner, before: _Corner) -> _Corner:
    """Follow an edge from a corner, and remove it; of two the one further to the right, which stays at its part."""
    ends = leaving[at]
    if len(ends) > 1:
        along = at[0] - before[0], at[1] - before[1]
        ends.sort(key=lambda end: along[0] * (end[1] - at[1]) - along[1] * (end[0] - at[0]))
    end = ends.pop()
    if not ends:
        del leaving[at]
    return end


def _corners_of(ring: Sequence[_Corner]) -> Ring:
    """A ring without the corners at which it does not turn."""
    found: Ring = []
    for before, at, after in zip([ring[-1], *ring[:-1]], ring, [*ring[1:], ring[0]], strict=True):
        if (at[0] - before[0]) * (after[1] - at[1]) != (at[1] - before[1]) * (after[0] - at[0]):
            found.append((float(at[0]), float(at[1])))
    return found


def signed_area(ring: Sequence[tuple[float, float]]) -> float:
    """The area within a ring: positive where the inside is to the right of the way, y downwards."""
    return sum(ax * by - bx * ay for (ax, ay), (bx, by) in zip(ring, [*ring[1:], ring[0]], strict=True)) / 2


def simplify(ring: Sequence[tuple[float, float]]) -> Ring:
    """A ring of fewer points, none of whose points it passes by more than `TOLERANCE` (Douglas, Peucker)."""
    if len(ring) <= _LEAST + 1:
        return list(ring)
    far = max(range(len(ring)), key=lambda place: math.dist(ring[0], ring[place]))
    closed = [*ring, ring[0]]
    kept = {0, far}
    waiting = [(0, far), (far, len(ring))]
    while waiting:
        first, last = waiting.pop()
        if last - first < 2:  # noqa: PLR2004 nothing lies between
            continue
        place = max(range(first + 1, last), key=lambda each: _beside(closed[each], closed[first], closed[last]))
        if _beside(closed[place], closed[first], closed[last]) > TOLERANCE:
            kept.add(place)
            waiting += [(first, place), (place, last)]
    found = [ring[place] for place in sorted(kept)]
    return found if len(found) >= _LEAST else list(ring)


def _beside(point: tuple[float, float], start: tuple[float, float], end: tuple[float, float]) -> float:
    """The distance of a point from a line through two others, or from both where they are one."""
    length = math.dist(start, end)
    if not length:
        return math.dist(point, start)
    cross = (end[0] - start[0]) * (point[1] - start[1]) - (end[1] - start[1]) * (point[0] - start[0])
    return abs(cross) / length


def of_mask(runs: Sequence[int], height: int) -> tuple[Ring, list[Ring]]:
    """The outline of the largest part of a mask and those of the holes in it, simplified, in pixels.

    Raises:
        ValueError: the mask has no pixel.
    """
    if not rle.area(runs):
        message = "the mask has no pixel"
        raise ValueError(message)
    found = rings(runs, height)
    outer = next(ring for ring in found if signed_area(ring) > 0)
    holes = [ring for ring in found if signed_area(ring) < 0 and _is_within(ring, outer)]
    return simplify(outer), [simplify(hole) for hole in holes]


def _is_within(ring: Ring, outer: Ring) -> bool:
    """Whether a ring that crosses no other lies within another: by the middle of a pixel beside its first edge."""
    (ax, ay), (bx, by) = ring[0], ring[1]
    length = math.dist(ring[0], ring[1])
    along, down = (bx - ax) / length, (by - ay) / length
    x, y = ax + along / 2 + down / 2, ay + down / 2 - along / 2  # half a pixel to the left: outside of the mask
    inside = False
    for (ex, ey), (fx, fy) in zip(outer, [*outer[1:], outer[0]], strict=True):
        if (ey > y) != (fy > y) and x < ex + (y - ey) / (fy - ey) * (fx - ex):
            inside = not inside
    return inside
