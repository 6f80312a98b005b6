"""The distance between two places on the Earth, in closed form, so that SQL and Python can share it.

Lambert's formula on the WGS 84 spheroid: the great circle between reduced latitudes, corrected by the flattening.
Against an exact geodesic it is off by less than 10 m in 1,000 km, which no filter of annotations can notice; iterating
would need a function of our own inside the database, fifty times slower. The result is held between the great circles
at the polar and the equatorial radius, between which every geodesic lies; near the antipodes, where the correction has
a pole, that matters. The bounds also spare SQL the formula for nearly all places.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from chalicelib.query.layout import latitude as latitude_of

EQUATOR_KM = 6378.137
FLATTENING = 1 / 298.257223563
POLE_KM = EQUATOR_KM * (1 - FLATTENING)
_ANTIPODE = 1e-9
_SAME = 1e-18
_ROUNDING = 1e-14
"""More than the error of a cosine here: 1 m for a small circle."""


def reduced(latitude: float) -> float:
    """The reduced latitude, in radians, of a latitude in degrees."""
    return math.atan((1 - FLATTENING) * math.tan(math.radians(latitude)))


def distance_km(lon: float, lat: float, other_lon: float, other_lat: float) -> float:
    """The distance in kilometres between two places given in degrees."""
    first, second = reduced(lat), reduced(other_lat)
    half = (
        math.sin((second - first) / 2) ** 2
        + math.cos(first) * math.cos(second) * math.sin(math.radians(other_lon - lon) / 2) ** 2
    )
    half = min(max(half, 0.0), 1.0)
    angle = 2 * math.asin(math.sqrt(half))
    mean, difference = (first + second) / 2, (second - first) / 2
    x = (angle - math.sin(angle)) * (math.sin(mean) * math.cos(difference)) ** 2 / max(1 - half, _ANTIPODE)
    y = (angle + math.sin(angle)) * (math.cos(mean) * math.sin(difference)) ** 2 / max(half, _SAME)
    return max(POLE_KM * angle, EQUATOR_KM * (angle - FLATTENING / 2 * (x + y)))


def within_sql(column: str, place: tuple[float, float], km: float, value: Callable[[float], str]) -> str:
    """The condition that a column of places lies within a distance of a place; NULL where that is.

    Args:
        column: the column of the longitudes; the one of the latitudes is beside it (`layout.py`).
        place: longitude and latitude in degrees.
        km: the distance.
        value: makes a parameter of a value.
    """
    longitude, latitude = value(place[0]), value(reduced(place[1]))
    # A hair more and less than the exact bounds, so that rounding cannot decide otherwise than the formula would.
    more, less = km * (1 + 1e-9), km * (1 - 1e-9)
    # A degree of latitude is nowhere shorter than with the flattening counted twice.
    band = math.degrees(more / (POLE_KM * (1 - FLATTENING)))
    radians = f"radians({latitude_of(column)})"
    # The cosine of the angle at the Earth's centre, cheap and good enough for all but the narrow ring between
    # the bounds. No geodesic is longer than that angle's great circle at the equatorial radius. A CASE, for the
    # database tries the terms of an AND in any order.
    flat = 1 - FLATTENING
    near = (
        f"((sin({radians}) * {value(flat * math.sin(reduced(place[1])))}"
        f" + cos({radians}) * {value(math.cos(reduced(place[1])))} * cos(radians({column} - {longitude})))"
        f" / sqrt({flat**2!r} + {1 - flat**2!r} * cos({radians}) * cos({radians})))"
    )
    first = f"atan({flat!r} * tan({radians}))"
    half = (
        f"least(greatest(pow(sin(({latitude} - {first}) / 2), 2)"
        f" + cos({first}) * cos({latitude}) * pow(sin(radians({longitude} - {column}) / 2), 2), 0.0), 1.0)"
    )
    # The lambda names what the formula needs again and again: written out, it is planned for longer than it runs.
    angle, mean, difference = "(2 * asin(sqrt(p[1])))", f"((p[2] + {latitude}) / 2)", f"(({latitude} - p[2]) / 2)"
    x = f"({angle} - sin({angle})) * pow(sin({mean}) * cos({difference}), 2) / greatest(1 - p[1], {_ANTIPODE!r})"
    y = f"({angle} + sin({angle})) * pow(cos({mean}) * sin({difference}), 2) / greatest(p[1], {_SAME!r})"
    formula = f"greatest({POLE_KM!r} * {angle}, {EQUATOR_KM!r} * ({angle} - {FLATTENING / 2!r} * ({x} + {y})))"
    exact = f"list_transform([[{half}, {first}]], lambda p: {formula})[1] <= {value(km)}"
    return (
        f"({latitude_of(column)} BETWEEN {value(place[1] - band)} AND {value(place[1] + band)}"
        f" AND CASE WHEN {near} < {value(_cosine(more / POLE_KM) - _ROUNDING)} THEN false"
        f" WHEN {near} > {value(_cosine(less / EQUATOR_KM) + _ROUNDING)} THEN true ELSE {exact} END)"
    )


def _cosine(angle: float) -> float:
    """The cosine of an angle; below all others from a half turn on."""
    return -2.0 if angle >= math.pi else math.cos(angle)
