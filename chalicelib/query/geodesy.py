"""The distance between two places on the Earth, in closed form, so that SQL and Python can share it.

Lambert's formula on the WGS 84 spheroid: the great circle between reduced latitudes, corrected by the flattening.
Against an exact geodesic it is off by less than 10 m in 1,000 km, which no filter of annotations can notice; iterating
would need a function of our own inside the database, fifty times slower. Near the antipodes, where the correction has
a pole, the result is held at half a meridian.
"""

from __future__ import annotations

import math

EQUATOR_KM = 6378.137
FLATTENING = 1 / 298.257223563
FARTHEST_KM = 20003.931
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
    return max(0.0, min(EQUATOR_KM * (angle - FLATTENING / 2 * (x + y)), FARTHEST_KM))


def distance_sql(column: str, longitude: str, latitude: str) -> str:
    """The same in SQL, of a column `[longitude, latitude]` and the places of two parameters.

    Those are the other longitude in degrees and the other latitude, `reduced`.
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
    return f"greatest(0.0, least({EQUATOR_KM!r} * ({angle} - {FLATTENING / 2!r} * ({x} + {y})), {FARTHEST_KM!r}))"
