"""Matching shapes of one frame of two layers: pure functions without numpy, which functions lack.

Boxes are compared by intersection over union (IoU), polygons by the IoU of their areas on a grid, dots and lines by
distance. The assignment maximizes the sum of similarities over pairs at or above the threshold (Kuhn-Munkres).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

GRID = 256
"""Cells on the longer side of the box around two polygons, on which their areas are compared."""
Point = tuple[float, float]


@dataclass(slots=True)
class Shape:
    """One localization as it is compared. Lengths are relative to the media's width and height.

    Attributes:
        id: its id.
        kind: `box`, `line`, `dot` or `poly`.
        label: its class; empty for none.
        box: left, top, right, bottom of its bounds.
        points: corners of a polygon, or ends of a line.
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
        reach: the distance of dots, and the mean distance of the ends of lines, at which the similarity becomes 0.
    """
    if one.kind != two.kind:
        return 0.0
    if one.kind == "dot":
        return max(0.0, 1 - math.dist(one.box[:2], two.box[:2]) / reach)
    if one.kind == "line":
        return max(0.0, 1 - _distance_of_lines(one.points, two.points) / reach)
    if one.kind == "poly":
        return _overlap_of_polygons(one, two)
    return overlap_of_boxes(one.box, two.box)


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


def _overlap_of_polygons(one: Shape, two: Shape) -> float:
    if overlap_of_boxes(one.box, two.box) == 0:
        return 0.0
    left, top = min(one.box[0], two.box[0]), min(one.box[1], two.box[1])
    side = max(one.box[2], two.box[2]) - left, max(one.box[3], two.box[3]) - top
    scale = GRID / max(*side, 1e-9)
    size = (max(1, math.ceil(side[0] * scale)), max(1, math.ceil(side[1] * scale)))
    first, second = (_cells(shape, left, top, scale, size) for shape in (one, two))
    shared, union = (first & second).bit_count(), (first | second).bit_count()
    return shared / union if union else 0.0


def _cells(shape: Shape, left: float, top: float, scale: float, size: tuple[int, int]) -> int:
    from PIL import Image, ImageDraw  # noqa: PLC0415 only polygons need it

    picture = Image.new("1", size)
    corners = [((x - left) * scale, (y - top) * scale) for x, y in shape.points]
    ImageDraw.Draw(picture).polygon(corners, fill=1)
    return int.from_bytes(picture.tobytes(), "big")


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
