"""Whether a place is inside of a polygon on the map, in closed form, so that SQL and Python can share it.

Edges are straight in degrees of longitude and latitude, as in GeoJSON, and the last vertex is joined to the first. What
an odd number of edges encloses is inside. A polygon across the meridian of 180° has longitudes beyond it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from chalicelib.query.layout import latitude as latitude_of

FEWEST, MOST = 3, 100
"""Vertices."""
_TURN = 360.0
_HALF = 180.0
Vertex = tuple[float, float]
"""Longitude and latitude in degrees."""


class _Edge(NamedTuple):
    """An edge from its southern to its northern end; one along a parallel bounds nothing."""

    south: float
    north: float
    longitude: float
    """Longitude of the southern end, in degrees."""
    slope: float
    """Degrees of longitude per degree of latitude."""


def contains(place: Vertex, polygon: Sequence[Vertex]) -> bool:
    """Whether a place is inside of a polygon. Of its border, the south and the west belong to it."""
    longitude, latitude = place
    edges = list(_edges(polygon))
    west, east = min(each for each, _ in polygon), max(each for each, _ in polygon)
    return any(
        west <= longitude + turn <= east
        and sum(
            edge.south <= latitude < edge.north
            and longitude + turn < edge.longitude + (latitude - edge.south) * edge.slope
            for edge in edges
        )
        % 2
        == 1
        for turn in _turns(polygon)
    )


def contains_sql(column: str, polygon: Sequence[Vertex], value: Callable[[float], str]) -> str:
    """The SQL condition that a place is inside of a polygon; not true where the column is NULL.

    Args:
        column: the column of the longitudes; that of the latitudes is beside it (`layout.py`).
        polygon: the vertices.
        value: makes a parameter of a value.
    """
    north_south = latitude_of(column)
    edges = list(_edges(polygon))
    if not edges:
        return f"({column} NOTNULL AND false)"
    west, east = min(each for each, _ in polygon), max(each for each, _ in polygon)
    south, north = value(min(each.south for each in edges)), value(max(each.north for each in edges))
    parts = []
    for turn in _turns(polygon):
        longitude = f"({column} + {value(turn)})"
        # a CASE, for the database tries the terms of an AND in any order
        crossed = " + ".join(
            f"CASE WHEN {north_south} >= {value(edge.south)} AND {north_south} < {value(edge.north)} AND {longitude} < "
            f"{value(edge.longitude)} + ({north_south} - {value(edge.south)}) * {value(edge.slope)} THEN 1 ELSE 0 END"
            for edge in edges
        )
        inside = (
            f"CASE WHEN {longitude} BETWEEN {value(west)} AND {value(east)} THEN ({crossed}) % 2 = 1 ELSE false END"
        )
        parts.append(inside)
    return f"({north_south} >= {south} AND {north_south} < {north} AND ({' OR '.join(parts)}))"


def _edges(polygon: Sequence[Vertex]) -> Iterator[_Edge]:
    for one, two in zip(polygon, (*polygon[1:], polygon[0]), strict=True):
        (west, south), (east, north) = sorted((one, two), key=lambda vertex: vertex[1])
        if south < north:
            yield _Edge(south, north, west, (east - west) / (north - south))


def _turns(polygon: Sequence[Vertex]) -> list[float]:
    """What is added to the longitude of a place, which is within 180°, to meet the polygon."""
    west, east = min(each for each, _ in polygon), max(each for each, _ in polygon)
    return [turn for turn in (0.0, _TURN, -_TURN) if west <= _HALF + turn and east >= turn - _HALF]
