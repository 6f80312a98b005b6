"""Matching shapes of one frame of two layers: pure functions without numpy, which functions lack.

Boxes are compared by intersection over union (IoU), turned ones by that of their outlines, polygons and masks by the
IoU of their areas on a grid, dots, lines, polylines and skeletons by distance. The assignment maximizes the sum of
similarities over pairs at or above the threshold (Kuhn-Munkres).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from chalicelib.core.values import rle

if TYPE_CHECKING:
    from PIL import Image

GRID = 256
"""Cells on the longer side of the box around two polygons, on which their areas are compared."""
LARGEST_GRID = 1024
"""The same for masks, which are compared pixel by pixel where the box around them is smaller."""
STEPS = 16
"""Points at equal distances along polylines, whose mean distance is theirs."""
_SLACK = 1e-6
"""Part of a cell that rounding may add."""
Point = tuple[float, float]


@dataclass(slots=True)
class Shape:
    """One localization as it is compared. Lengths are relative to the media's width and height.

    Attributes:
        id: its id.
        kind: `box`, `line`, `dot`, `poly`, `path` (an open polyline) or `skeleton`.
        label: its class; empty for none.
        box: left, top, right, bottom of its bounds.
        points: corners of a polygon, ends of a line, points of a path or skeleton.
        mask: of a box, its pixels: height, width and run lengths.
        holes: of a polygon.
        corners: of a turned box, clockwise; `box` has their bounds.
        user: its author.
        week: the week in which it was made, such as `2026-W07`.
        track: the state of its track.
    """

    id: int
    kind: str
    label: str
    box: tuple[float, float, float, float]
    points: tuple[Point, ...] = ()
    user: int | None = None
    week: str = ""
    track: int | None = None
    mask: tuple[int, int, str] | None = None
    holes: tuple[tuple[Point, ...], ...] = ()
    corners: tuple[Point, ...] = ()


@dataclass(slots=True)
class Pair:
    """A matched pair: the indexes of both shapes, and their similarity from 0 to 1."""

    reference: int
    other: int
    similarity: float


def similarity(one: Shape, two: Shape, reach: float) -> float:
    """The similarity of two shapes of a frame, 0 to 1; 0 for shapes of different kinds.

    Args:
        one: a shape.
        two: another.
        reach: the distance of dots, and the mean distance of the ends of lines and of the points of paths and
            skeletons, at which the similarity becomes 0.
    """
    if one.kind != two.kind:
        return 0.0
    if one.kind == "dot":
        return max(0.0, 1 - math.dist(one.box[:2], two.box[:2]) / reach)
    if one.kind == "line":
        return max(0.0, 1 - _distance_of_lines(one.points, two.points) / reach)
    if one.kind in ("path", "skeleton"):
        return max(0.0, 1 - _distance_of_paths(one, two) / reach)
    if one.kind == "poly" or one.mask or two.mask:
        return _overlap_of_areas(one, two)
    return _overlap_of_outlines(one, two) if one.corners or two.corners else overlap_of_boxes(one.box, two.box)


def _overlap_of_outlines(one: Shape, two: Shape) -> float:
    return overlap_of_turned(one.corners or _corners(one), two.corners or _corners(two))


def _corners(shape: Shape) -> tuple[Point, ...]:
    left, top, right, bottom = shape.box
    return (left, top), (right, top), (right, bottom), (left, bottom)


def overlap_of_turned(one: Sequence[Point], two: Sequence[Point]) -> float:
    """The IoU of two convex outlines, each clockwise where y points down; 0 where their union is empty.

    One is clipped by the edges of the other (I. Sutherland and G. Hodgman, "Reentrant polygon clipping", 1974). A
    stretch of the picture does not change the IoU, so fractions serve as well as pixels.
    """
    shared: list[Point] = list(one)
    for begin, end in pairwise((*two, two[0])):
        shared = _clip(shared, begin, end)
    common = _area(shared)
    union = _area(one) + _area(two) - common
    return common / union if union > 0 else 0.0


def _clip(outline: Sequence[Point], begin: Point, end: Point) -> list[Point]:
    """The part of a convex outline to the right of a line, where y points down."""

    def side(point: Point) -> float:
        return (end[0] - begin[0]) * (point[1] - begin[1]) - (end[1] - begin[1]) * (point[0] - begin[0])

    found: list[Point] = []
    for first, second in zip(outline, [*outline[1:], *outline[:1]], strict=True):
        here, there = side(first), side(second)
        if here >= 0:
            found.append(first)
        if (here > 0 > there) or (here < 0 < there):
            part = here / (here - there)
            found.append((first[0] + part * (second[0] - first[0]), first[1] + part * (second[1] - first[1])))
    return found


def _area(outline: Sequence[Point]) -> float:
    edges = zip(outline, [*outline[1:], *outline[:1]], strict=True)
    return abs(sum(x * v - u * y for (x, y), (u, v) in edges)) / 2


def overlap_of_boxes(one: tuple[float, float, float, float], two: tuple[float, float, float, float]) -> float:
    """The IoU of two boxes given by left, top, right and bottom; 0 where their union is empty."""
    width = min(one[2], two[2]) - max(one[0], two[0])
    height = min(one[3], two[3]) - max(one[1], two[1])
    if width <= 0 or height <= 0:
        return 0.0
    shared = width * height
    union = (one[2] - one[0]) * (one[3] - one[1]) + (two[2] - two[0]) * (two[3] - two[1]) - shared
    return shared / union if union > 0 else 0.0


def _distance_of_lines(one: Sequence[Point], two: Sequence[Point]) -> float:
    straight = math.dist(one[0], two[0]) + math.dist(one[-1], two[-1])
    crossed = math.dist(one[0], two[-1]) + math.dist(one[-1], two[0])
    return min(straight, crossed) / 2


def _distance_of_paths(one: Shape, two: Shape) -> float:
    """The mean distance of the points of two skeletons, or of points along two polylines, in their better direction."""
    if one.kind == "skeleton":
        if len(one.points) != len(two.points):
            return math.inf
        return sum(map(math.dist, one.points, two.points)) / len(one.points)
    ours, theirs = _along(one.points), _along(two.points)
    ways = (theirs, theirs[::-1])
    return min(sum(map(math.dist, ours, way)) for way in ways) / STEPS


def _along(points: Sequence[Point]) -> list[Point]:
    """Points at equal distances along a polyline, its ends included."""
    lengths = [math.dist(*ends) for ends in pairwise(points)]
    whole, found, passed, place = sum(lengths), [], 0.0, 0
    for step in range(STEPS):
        wanted = whole * step / (STEPS - 1)
        while place < len(lengths) - 1 and passed + lengths[place] < wanted:
            passed += lengths[place]
            place += 1
        part = (wanted - passed) / lengths[place] if lengths[place] else 0.0
        (ax, ay), (bx, by) = points[place], points[place + 1]
        found.append((ax + part * (bx - ax), ay + part * (by - ay)))
    return found


def _overlap_of_areas(one: Shape, two: Shape) -> float:
    if overlap_of_boxes(one.box, two.box) == 0:
        return 0.0
    left, top = min(one.box[0], two.box[0]), min(one.box[1], two.box[1])
    side = max(one.box[2], two.box[2]) - left, max(one.box[3], two.box[3]) - top
    scale = _scale(one, two, side)
    size = (max(1, math.ceil(side[0] * scale[0] - _SLACK)), max(1, math.ceil(side[1] * scale[1] - _SLACK)))
    first, second = (_cells(shape, (left, top), scale, size) for shape in (one, two))
    shared, union = (first & second).bit_count(), (first | second).bit_count()
    return shared / union if union else 0.0


def _scale(one: Shape, two: Shape, side: tuple[float, float]) -> tuple[float, float]:
    """Cells in the width and height of the media: pixels of the first mask, or what makes `GRID` cells."""
    for shape in (one, two):
        if shape.mask:
            height, width, _ = shape.mask
            scale = width / (shape.box[2] - shape.box[0]), height / (shape.box[3] - shape.box[1])
            part = min(1.0, LARGEST_GRID / max(side[0] * scale[0], side[1] * scale[1]))
            return scale[0] * part, scale[1] * part
    cells = GRID / max(*side, 1e-9)
    return cells, cells


def _cells(shape: Shape, corner: Point, scale: tuple[float, float], size: tuple[int, int]) -> int:
    from PIL import Image, ImageDraw  # noqa: PLC0415 only areas need it

    picture = Image.new("1", size)

    def place(x: float, y: float) -> Point:
        return (x - corner[0]) * scale[0], (y - corner[1]) * scale[1]

    if shape.kind == "poly" or shape.corners:
        draw = ImageDraw.Draw(picture)
        draw.polygon([place(*point) for point in shape.corners or shape.points], fill=1)
        for hole in shape.holes:
            draw.polygon([place(*point) for point in hole], fill=0)
    else:
        left, top, right, bottom = map(round, (*place(*shape.box[:2]), *place(*shape.box[2:])))
        wide, high = max(1, right - left), max(1, bottom - top)
        picture.paste(_pixels(shape, wide, high) if shape.mask else 1, (left, top, left + wide, top + high))
    return int.from_bytes(picture.tobytes(), "big")


def _pixels(shape: Shape, wide: int, high: int) -> Image.Image:
    """The picture of a mask in a size."""
    from PIL import Image  # noqa: PLC0415 only areas need it

    height, width, counts = shape.mask or (1, 1, "")
    columns = Image.frombytes("L", (height, width), rle.pixels(rle.decode(counts)))
    found = columns.transpose(Image.Transpose.TRANSPOSE).convert("1", dither=Image.Dither.NONE)
    return found if found.size == (wide, high) else found.resize((wide, high), Image.Resampling.NEAREST)


def match(reference: Sequence[Shape], others: Sequence[Shape], threshold: float, reach: float) -> list[Pair]:
    """The pairs of the best assignment between the shapes of two layers on one frame.

    Args:
        reference: the shapes of one layer.
        others: the shapes of the other.
        threshold: the smallest similarity of a pair.
        reach: see `similarity`.
    """
    edges: dict[int, dict[int, float]] = defaultdict(dict)
    order = sorted(range(len(others)), key=lambda index: others[index].box[0])
    for index, shape in enumerate(reference):
        for other in order:
            if others[other].box[0] > shape.box[2] + reach:
                break
            found = similarity(shape, others[other], reach)
            if found >= threshold and found > 0:
                edges[index][other] = found
    return assign(edges)


def assign(edges: dict[int, dict[int, float]]) -> list[Pair]:
    """The pairs of rows and columns whose sum of weights is largest; weights are above 0."""
    return [pair for rows in _components(edges) for pair in _assign(rows, edges)]


def _components(edges: dict[int, dict[int, float]]) -> list[list[int]]:
    """The rows that compete for columns, group by group."""
    rows_of: dict[int, list[int]] = defaultdict(list)
    for row, columns in edges.items():
        for column in columns:
            rows_of[column].append(row)
    seen: set[int] = set()
    groups = []
    for first in edges:
        if first in seen:
            continue
        seen.add(first)
        group, waiting = [], [first]
        while waiting:
            row = waiting.pop()
            group.append(row)
            beside = {each for column in edges[row] for each in rows_of[column]} - seen
            seen |= beside
            waiting.extend(beside)
        groups.append(sorted(group))
    return groups


def _assign(rows: list[int], edges: dict[int, dict[int, float]]) -> list[Pair]:
    if len(rows) == 1 and len(edges[rows[0]]) == 1:
        ((column, weight),) = edges[rows[0]].items()
        return [Pair(rows[0], column, weight)]
    columns = sorted({column for row in rows for column in edges[row]})
    # one further column for each row, of weight 0: a row may stay without a partner
    weights = [[-edges[row].get(column, 0.0) for column in columns] + [0.0] * len(rows) for row in rows]
    chosen = _kuhn_munkres(weights)
    return [
        Pair(row, columns[place], edges[row][columns[place]])
        for row, place in zip(rows, chosen, strict=True)
        if place < len(columns) and columns[place] in edges[row]
    ]


def _kuhn_munkres(costs: list[list[float]]) -> list[int]:  # noqa: C901, PLR0912 one algorithm
    """The column of each row in the assignment of least cost; there are at least as many columns as rows. O(n²·m)."""
    count, width = len(costs), len(costs[0])
    row_price, column_price = [0.0] * (count + 1), [0.0] * (width + 1)
    row_of, before = [0] * (width + 1), [0] * (width + 1)
    for row in range(1, count + 1):
        row_of[0], column = row, 0
        least, used = [math.inf] * (width + 1), [False] * (width + 1)
        while True:
            used[column] = True
            current, delta, following = row_of[column], math.inf, 0
            for each in range(1, width + 1):
                if used[each]:
                    continue
                cost = costs[current - 1][each - 1] - row_price[current] - column_price[each]
                if cost < least[each]:
                    least[each], before[each] = cost, column
                if least[each] < delta:
                    delta, following = least[each], each
            for each in range(width + 1):
                if used[each]:
                    row_price[row_of[each]] += delta
                    column_price[each] -= delta
                else:
                    least[each] -= delta
            column = following
            if row_of[column] == 0:
                break
        while column:
            row_of[column] = row_of[before[column]]
            column = before[column]
    chosen = [0] * count
    for each in range(1, width + 1):
        if row_of[each]:
            chosen[row_of[each] - 1] = each - 1
    return chosen
