"""The distance between two places on the Earth, in closed form, so that SQL and Python can share it.

Lambert's formula on the WGS 84 spheroid: the great circle between reduced latitudes, corrected by the flattening.
Against an exact geodesic it is off by less than 10 m in 1,000 km, which no filter of annotations can notice; iterating
would need a function of our own inside the database, fifty times slower. The result is held between the great circles
at the polar and the equatorial radius, between which every geodesic lies; near the antipodes, where the correction has
a pole, that matters. The same bounds spare SQL the formula for all but the places near the edge of the circle.
"""

from __future__ import annotations

import math

EQUATOR_KM = 6378.137
FLATTENING = 1 / 298.257223563
POLE_KM = EQUATOR_KM * (1 - FLATTENING)
_ANTIPODE = 1e-9
_SAME = 1e-18


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


def within_sql(column: str, longitude: str, latitude: str, km: tuple[str, str, str]) -> str:
    """The condition that a column `[longitude, latitude]` lies within a distance of a place.

    Args:
        column: the column.
        longitude: the parameter of the place's longitude in degrees.
        latitude: that of its latitude, `reduced`.
        km: the parameters of the distance, and of `haversine` of it at the polar and at the equatorial radius.
    """
    first = f"atan({1 - FLATTENING!r} * tan(radians({column}[2])))"
    half = (
        f"least(greatest(pow(sin(({latitude} - {first}) / 2), 2)"
        f" + cos({first}) * cos({latitude}) * pow(sin(radians({longitude} - {column}[1]) / 2), 2), 0.0), 1.0)"
    )
    angle = f"(2 * asin(sqrt({half})))"
    mean, difference = f"(({first} + {latitude}) / 2)", f"(({latitude} - {first}) / 2)"
    x = f"({angle} - sin({angle})) * pow(sin({mean}) * cos({difference}), 2) / greatest(1 - {half}, {_ANTIPODE!r})"
    y = f"({angle} + sin({angle})) * pow(cos({mean}) * sin({difference}), 2) / greatest({half}, {_SAME!r})"
    distance = f"greatest({POLE_KM!r} * {angle}, {EQUATOR_KM!r} * ({angle} - {FLATTENING / 2!r} * ({x} + {y})))"
    exact, outside, inside = km
    # Of a NULL column half is 0: least and greatest pass over NULLs.
    return (
        f"CASE WHEN {column} IS NULL THEN NULL WHEN {half} > {outside} THEN false WHEN {half} < {inside} THEN true"
        f" ELSE {distance} <= {exact} END"
    )


def haversine(km: float, radius_km: float) -> float:
    """The square of the sine of half the angle that a distance spans on a sphere; above 1 where it spans the sphere."""
    angle = km / radius_km / 2
    return 2.0 if angle >= math.pi / 2 else math.sin(angle) ** 2
