"""Length, width, area and perimeter of figures in a picture of one camera, each with its standard deviation.

The length of a closed figure is its greatest diameter (Feret), its width the least distance of two parallel lines that
enclose it (ISO 9276-6:2008); of a box they are its sides. Areas are those of polygons (the shoelace formula). Standard
deviations are of the first order: partial derivatives by independent errors, squared and summed (JCGM 100:2008, 5.1.2).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from chalicelib.core.measuring.cameras import Pixel
from chalicelib.core.measuring.planes import Plane

_STEP = 0.5
"""Pixels by which the derivatives of places are taken."""

Move = Mapping[int, Pixel]
"""By number of the point, the way it goes in pixels when a drawn border is a pixel off."""
Way = tuple[int, float, float]
"""The number of a point and the derivative of a value by its place."""


class Figure(NamedTuple):
    """A figure in pixels.

    Attributes:
        rings: its outlines, the inside to the right of the way (y downwards), so that those of holes go the other way.
            A line is one ring that is open.
        moves: the independent errors of drawing it, a pixel each.
        is_open: whether it is a line.
        is_box: whether its length and width are those of its four sides.
    """

    rings: Sequence[Sequence[Pixel]]
    moves: Sequence[Move]
    is_open: bool = False
    is_box: bool = False


class Measure(NamedTuple):
    """A value and its standard deviation."""

    value: float
    error: float


def measure(figure: Figure, plane: Plane, point_error: float) -> dict[str, Measure]:
    """The measures of a figure by name: `length`, and of a closed one `width`, `area`, `perimeter`.

    Args:
        figure: in pixels.
        plane: what the camera looks at.
        point_error: standard deviation in pixels of each error of drawing it.

    Raises:
        ValueError: the plane has no place for a point.
    """
    points = [point for ring in figure.rings for point in ring]
    found = dict(_values(figure, [plane.place(point) for point in points]))
    slopes = [_slopes(plane, point) for point in points]
    drawn = {
        name: sum(
            sum(_change(slopes[at], ways[at], move[at]) for at in move if at in ways) ** 2 for move in figure.moves
        )
        for name, (_, ways) in found.items()
    }
    squares = {name: drawn[name] * point_error**2 for name in found}
    for variant in plane.variants():
        for name, (value, _) in _values(figure, [variant.place(point) for point in points]):
            squares[name] += (value - found[name][0]) ** 2
    return {name: Measure(value, math.sqrt(squares[name])) for name, (value, _) in found.items()}


def free_moves(count: int) -> list[Move]:
    """The errors of points that were placed one by one: each in both directions."""
    return [{at: way} for at in range(count) for way in ((1.0, 0.0), (0.0, 1.0))]


def outward_moves(rings: Sequence[Sequence[Pixel]]) -> list[Move]:
    """The error of a mask: its border is off everywhere at once. Its inside is to the right of the way of rings."""
    move: dict[int, Pixel] = {}
    for ring in rings:
        normals = [_normal(start, end) for start, end in zip(ring, [*ring[1:], ring[0]], strict=True)]
        for before, after in zip([normals[-1], *normals[:-1]], normals, strict=True):
            move[len(move)] = before[0] + after[0], before[1] + after[1]
    return [move]


def _normal(start: Pixel, end: Pixel) -> Pixel:
    """The unit to the left of a way, y downwards."""
    size = math.dist(start, end) or 1.0
    return (end[1] - start[1]) / size, (start[0] - end[0]) / size


def _slopes(plane: Plane, point: Pixel) -> tuple[float, float, float, float]:
    """The derivatives of a place: of x and y across, of x and y down."""
    x, y = point
    left, right = plane.place((x - _STEP, y)), plane.place((x + _STEP, y))
    top, bottom = plane.place((x, y - _STEP)), plane.place((x, y + _STEP))
    return right[0] - left[0], right[1] - left[1], bottom[0] - top[0], bottom[1] - top[1]


def _change(slopes: tuple[float, float, float, float], way: Pixel, move: Pixel) -> float:
    """By how much a value changes when a point moves."""
    x, y = slopes[0] * move[0] + slopes[2] * move[1], slopes[1] * move[0] + slopes[3] * move[1]
    return way[0] * x + way[1] * y


def _values(figure: Figure, places: Sequence[Pixel]) -> Iterator[tuple[str, tuple[float, dict[int, Pixel]]]]:
    """Each measure with its derivatives by the places of points."""
    rings, first = [], 0
    for ring in figure.rings:
        rings.append(list(range(first, first + len(ring))))
        first += len(ring)
    if figure.is_open:
        path = rings[0]
        yield "length", _lengths(places, pairwise(path))
        return
    if figure.is_box:
        sides = [_lengths(places, pairs) for pairs in (((0, 1), (3, 2)), ((1, 2), (0, 3)))]
        sides.sort(key=lambda side: -side[0])
        for name, (value, ways) in zip(("length", "width"), sides, strict=True):
            yield name, (value / 2, {at: (x / 2, y / 2) for at, (x, y) in ways.items()})
    else:
        yield from _diameters(places, _hull(places))
    yield "area", _area(places, rings)
    yield "perimeter", _lengths(places, ((a, b) for ring in rings for a, b in zip(ring, _turned(ring), strict=True)))


def _turned(ring: Sequence[int]) -> list[int]:
    return [*ring[1:], ring[0]]


def _lengths(
    places: Sequence[Pixel], pairs: Iterator[tuple[int, int]] | Sequence[tuple[int, int]]
) -> tuple[float, dict[int, Pixel]]:
    """The sum of the distances of pairs of points."""
    total, ways = 0.0, []
    for a, b in pairs:
        (ax, ay), (bx, by) = places[a], places[b]
        size = math.dist(places[a], places[b])
        total += size
        if size:
            x, y = (bx - ax) / size, (by - ay) / size
            ways += [(a, -x, -y), (b, x, y)]
    return total, _summed(ways)


def _area(places: Sequence[Pixel], rings: Sequence[Sequence[int]]) -> tuple[float, dict[int, Pixel]]:
    """The area within rings; that of holes is below 0."""
    total, ways = 0.0, list[Way]()
    for ring in rings:
        for before, at, after in zip([ring[-1], *ring[:-1]], ring, _turned(ring), strict=True):
            (bx, by), (x, y), (ax, ay) = places[before], places[at], places[after]
            total += (x * ay - ax * y) / 2
            ways.append((at, (ay - by) / 2, (bx - ax) / 2))
    return total, _summed(ways)


def _diameters(places: Sequence[Pixel], hull: Sequence[int]) -> Iterator[tuple[str, tuple[float, dict[int, Pixel]]]]:
    """The greatest and the least diameter of a convex outline, by the points opposite to each edge."""
    longest, thinnest = _lengths(places, [(hull[0], hull[-1])]), None
    far = 1 % len(hull)
    for at, a in enumerate(hull):
        b = hull[(at + 1) % len(hull)]
        while _beside(places, a, b, hull[(far + 1) % len(hull)]) > _beside(places, a, b, hull[far]):
            far = (far + 1) % len(hull)
        for end in (a, b):
            if math.dist(places[end], places[hull[far]]) > longest[0]:
                longest = _lengths(places, [(end, hull[far])])
        distance = _beside(places, a, b, hull[far])
        if thinnest is None or distance < thinnest[0]:
            thinnest = distance, a, b, hull[far]
    yield "length", longest
    if thinnest is not None:
        yield "width", _thickness(places, *thinnest)


def _thickness(places: Sequence[Pixel], distance: float, a: int, b: int, far: int) -> tuple[float, dict[int, Pixel]]:
    """The distance of a point from the line through two others."""
    (ax, ay), (bx, by), (fx, fy) = places[a], places[b], places[far]
    size = math.dist(places[a], places[b])
    if not size:
        return distance, {}
    x, y = (ay - by) / size, (bx - ax) / size
    share = ((fx - ax) * (bx - ax) + (fy - ay) * (by - ay)) / size**2
    return distance, _summed([(far, x, y), (a, -x * (1 - share), -y * (1 - share)), (b, -x * share, -y * share)])


def _beside(places: Sequence[Pixel], a: int, b: int, point: int) -> float:
    """How far a point is to the left of the way from one to another, y upwards."""
    (ax, ay), (bx, by), (px, py) = places[a], places[b], places[point]
    size = math.dist(places[a], places[b])
    return ((bx - ax) * (py - ay) - (by - ay) * (px - ax)) / size if size else 0.0


def _hull(places: Sequence[Pixel]) -> list[int]:
    """The corners of the convex outline of points, turning left, y upwards (A. M. Andrew, 1979)."""
    ordered = sorted(range(len(places)), key=lambda at: places[at])

    def half(numbers: Sequence[int]) -> list[int]:
        found = list[int]()
        for number in numbers:
            while len(found) > 1 and _beside(places, found[-2], found[-1], number) <= 0:
                found.pop()
            if not found or places[found[-1]] != places[number]:
                found.append(number)
        return found

    lower, upper = half(ordered), half(ordered[::-1])
    return lower[:-1] + upper[:-1] or lower


def _summed(ways: Sequence[Way]) -> dict[int, Pixel]:
    found = defaultdict[int, Pixel](lambda: (0.0, 0.0))
    for at, x, y in ways:
        found[at] = found[at][0] + x, found[at][1] + y
    return dict(found)
