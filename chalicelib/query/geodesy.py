"""The distance between two places on the Earth, in closed form, so that SQL and Python can share it.

Lambert's formula on the WGS 84 spheroid: the great circle between reduced latitudes, corrected by the flattening.
Against an exact geodesic it is off by less than 10 m in 1,000 km, which no filter of annotations can notice; iterating
would need a function of our own inside the database, fifty times slower. The result is held between the great circles
at the polar and the equatorial radius, between which every geodesic lies; near the antipodes, where the correction has
a pole, that matters. The bounds also spare SQL the formula for nearly all places (`_box_sql`); for
the rest of them a parabola stands in for it, all but a few hundred metres wide (`_border`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from chalicelib.query.layout import latitude as latitude_of
from chalicelib.query.layout import vector as vector_of

EQUATOR_KM = 6378.137
FLATTENING = 1 / 298.257223563
POLE_KM = EQUATOR_KM * (1 - FLATTENING)
_ANTIPODE = 1e-9
_SAME = 1e-18
_ROUNDING = 1e-6
"""More than the error of a cosine made of floats of 32 bits: 9 km for a small circle, 10 m for one of 5,000 km."""
_STRAIGHT = 0.05, 2.8
"""Radians between which the border of a circle is given by `_border`: below, rounding counts for more than the
flattening; above, the formula is near its pole."""


def reduced(latitude: float) -> float:
    """The reduced latitude, in radians, of a latitude in degrees."""
    return math.atan((1 - FLATTENING) * math.tan(math.radians(latitude)))


@lru_cache(maxsize=16)
def unit(lon: float, lat: float) -> tuple[float, float, float]:
    """A place in degrees as a unit vector at its reduced latitude; a dot product is the cosine of the angle."""
    angle, turn = reduced(lat), math.radians(lon)
    return math.cos(angle) * math.cos(turn), math.cos(angle) * math.sin(turn), math.sin(angle)


def unit_sql(lon: str, lat: str) -> tuple[str, str, str]:
    """`unit` in SQL, from expressions for longitude and latitude."""
    angle, turn = f"atan({1 - FLATTENING!r} * tan(radians({lat})))", f"radians({lon})"
    return f"cos({angle}) * cos({turn})", f"cos({angle}) * sin({turn})", f"sin({angle})"


def distance_km(lon: float, lat: float, other_lon: float, other_lat: float) -> float:
    """The distance in kilometres between two places given in degrees."""
    first, second = reduced(lat), reduced(other_lat)
    half = (
        math.sin((second - first) / 2) ** 2
        + math.cos(first) * math.cos(second) * math.sin(math.radians(other_lon - lon) / 2) ** 2
    )
    half = min(max(half, 0.0), 1.0)
    angle = 2 * math.asin(math.sqrt(half))
    x, y = _weights(angle, half)
    shorter = x * (math.sin(first) + math.sin(second)) ** 2 + y * (math.sin(first) - math.sin(second)) ** 2
    return max(POLE_KM * angle, EQUATOR_KM * (angle - shorter))


def _weights(angle: float, half: float) -> tuple[float, float]:
    """The correction of an angle for the flattening, from the squares of the sum and difference of the sines."""
    x = (angle - math.sin(angle)) / max(1 - half, _ANTIPODE)
    y = (angle + math.sin(angle)) / max(half, _SAME)
    return x * FLATTENING / 8, y * FLATTENING / 8


def within_sql(column: str, place: tuple[float, float], km: float, value: Callable[[float], str]) -> str:
    """The SQL condition that a place is within a distance of another; not true where the column is NULL.

    Args:
        column: the column of the longitudes; those of the latitudes and vectors are beside it (`layout.py`).
        place: longitude and latitude in degrees.
        km: the distance in kilometres.
        value: makes a parameter of a value.
    """
    _, far, close = _cosines(km)
    # The cosine of the angle at the Earth's centre, cheap and good enough for all but the narrow ring between
    # the bounds. A CASE, for the database tries the terms of an AND in any order.
    near = _cosine_sql(column, place, value)
    decided = f"WHEN {near} < {value(far)}::FLOAT THEN false WHEN {near} > {value(close)}::FLOAT THEN true"
    if _STRAIGHT[0] < km / EQUATOR_KM < _STRAIGHT[1]:
        flat, slope, bend, error = map(value, _border(place[1], km))
        sine = vector_of(column)[2]
        beyond = f"{near} - ({flat} + {sine} * ({slope} + {sine} * {bend}))"
        decided += f" WHEN {beyond} > {error} THEN true WHEN {beyond} < -{error} THEN false"
    exact = f"CASE {decided} ELSE {_distance_sql(column, place, value)} <= {value(km)} END"
    bounds = _box_sql(column, place, _cosines(km).angle, value) or [f"{column} NOTNULL"]
    return f"({' AND '.join((*bounds, exact))})"


def _cosine_sql(column: str, place: tuple[float, float], value: Callable[[float], str]) -> str:
    """The cosine of the angle at the Earth's centre between a column's places and another, of 32 bits."""
    pairs = zip(vector_of(column), unit(*place), strict=True)
    return " + ".join(f"{each} * {value(part)}::FLOAT" for each, part in pairs)


class _Cosines(NamedTuple):
    """What the cosine of 32 bits of a place's angle from another says about a distance."""

    angle: float
    """The greatest angle of a place within it, in radians."""
    far: float
    """Below, a place is not within it."""
    close: float
    """Above, a place is within it."""


def _cosines(km: float) -> _Cosines:
    """What cosines say about a distance: no geodesic is longer than its angle's great circle at the equatorial radius.

    Slightly wider and narrower than the exact bounds, so that rounding cannot contradict the formula.
    """
    more, less = km * (1 + 1e-9), km * (1 - 1e-9)
    return _Cosines(more / POLE_KM, _cosine(more / POLE_KM) - _ROUNDING, _cosine(less / EQUATOR_KM) + _ROUNDING)


def _box_sql(column: str, place: tuple[float, float], angle: float, value: Callable[[float], str]) -> list[str]:
    """Bounds of the parts of the unit vectors within an angle of a place's, in radians, where there are any.

    Comparisons with a constant are part of the database's scan: each next column is read only where the one before
    fits, and row groups whose places lie elsewhere are not read at all. There are no exceptions at poles and at 180°.
    The bounds come in the order of how few places fit: on a sphere, each part is equally distributed.
    """
    found: list[tuple[float, float, str, float]] = []
    for each, part in zip(vector_of(column), unit(*place), strict=True):
        turn = math.acos(min(max(part, -1.0), 1.0))
        low = math.cos(turn + angle) - _ROUNDING if turn + angle < math.pi else -1.0
        high = math.cos(turn - angle) + _ROUNDING if turn > angle else 1.0
        if low > -1:
            found.append((high - low, 1 - low, f"{each} >=", low))
        if high < 1:
            found.append((high - low, high + 1, f"{each} <=", high))
    return [f"{text} {value(bound)}::FLOAT" for _, _, text, bound in sorted(found)]


def _distance_sql(column: str, place: tuple[float, float], value: Callable[[float], str]) -> str:
    longitude, latitude, sine = value(place[0]), value(reduced(place[1])), value(math.sin(reduced(place[1])))
    first = f"atan({1 - FLATTENING!r} * tan(radians({latitude_of(column)})))"
    half = (
        f"least(greatest(pow(sin(({latitude} - {first}) / 2), 2)"
        f" + cos({first}) * cos({latitude}) * pow(sin(radians({longitude} - {column}) / 2), 2), 0.0), 1.0)"
    )
    # The lambda names repeated subexpressions: written out, planning takes longer than running.
    angle = "(2 * asin(sqrt(p[1])))"
    x = f"({angle} - sin({angle})) * pow({sine} + p[2], 2) / greatest(1 - p[1], {_ANTIPODE!r})"
    y = f"({angle} + sin({angle})) * pow({sine} - p[2], 2) / greatest(p[1], {_SAME!r})"
    formula = f"greatest({POLE_KM!r} * {angle}, {EQUATOR_KM!r} * ({angle} - {FLATTENING / 8!r} * ({x} + {y})))"
    return f"list_transform([[{half}, sin({first})]], lambda p: {formula})[1]"


@lru_cache(maxsize=16)
def _border(latitude: float, km: float) -> tuple[float, float, float, float]:
    """The cosine of the angle of places on the border of a circle, as a parabola of the sine of their latitude.

    The formula takes from an angle what depends on that and, quadratically, on the sine of the other place's reduced
    latitude; with the weights at the circle's own angle, all is a parabola.

    Returns:
        Its three coefficients, and more than it is off by anywhere on the border.
    """
    sine, angle = math.sin(reduced(latitude)), km / EQUATOR_KM
    x, y = _weights(angle, math.sin(angle / 2) ** 2)
    flat = math.cos(angle) - math.sin(angle) * (x + y) * sine**2
    slope = -2 * math.sin(angle) * (x - y) * sine
    bend = -math.sin(angle) * (x + y)
    worst = 0.0
    low, high = _folded(reduced(latitude) - angle), _folded(reduced(latitude) + angle)
    # The maximum distance between the border and the circle.
    low, high = max(low - 2 * FLATTENING * angle, -math.pi / 2), min(high + 2 * FLATTENING * angle, math.pi / 2)
    for step in range(_STEPS + 1):
        other = math.sin(low + (high - low) * step / _STEPS)
        found = angle
        for _ in range(_TURNS):
            x, y = _weights(found, math.sin(found / 2) ** 2)
            found = angle + x * (sine + other) ** 2 + y * (sine - other) ** 2
        found = min(found, km / POLE_KM)
        worst = max(worst, abs(math.cos(found) - (flat + other * (slope + other * bend))))
    return flat, slope, bend, 1.5 * worst + 2 * _ROUNDING


_STEPS = 32
_TURNS = 8
"""Each iteration reduces the error about a hundredfold."""


def _folded(latitude: float) -> float:
    """Normalize a latitude in radians that crossed a pole."""
    if abs(latitude) <= math.pi / 2:
        return latitude
    return math.copysign(math.pi, latitude) - latitude


def _cosine(angle: float) -> float:
    """The cosine of an angle; below all others from a half turn on."""
    return -2.0 if angle >= math.pi else math.cos(angle)
