"""The border of a circle on the Earth, by the parabola that SQL decides most of it with and by the formula itself."""

from __future__ import annotations

import math
import random

import duckdb
import pytest

from chalicelib.query import geodesy


def at(latitude: float, longitude: float, angle: float, azimuth: float) -> tuple[float, float]:
    """Longitude and latitude of the place at an angle and azimuth from another, on the sphere of reduced latitudes."""
    first = geodesy.reduced(latitude)
    sine = math.sin(first) * math.cos(angle) + math.cos(first) * math.sin(angle) * math.cos(azimuth)
    second = math.asin(max(-1.0, min(1.0, sine)))
    turn = math.atan2(
        math.sin(azimuth) * math.sin(angle) * math.cos(first), math.cos(angle) - math.sin(first) * math.sin(second)
    )
    return longitude + math.degrees(turn), math.degrees(math.atan(math.tan(second) / (1 - geodesy.FLATTENING)))


@pytest.mark.slow
def test_the_parabola_decides_nothing_otherwise_than_the_formula_and_leaves_little_undecided():
    rng = random.Random(5)
    undecided = total = 0
    for _ in range(400):
        latitude, longitude = rng.choice([rng.uniform(-90, 90), 0.0, 89.9, -90.0]), rng.uniform(-180, 180)
        km = rng.uniform(320, 17_800)
        flat, slope, bend, error = geodesy._border(latitude, km)
        center = geodesy.unit(longitude, latitude)
        for _ in range(40):
            angle = rng.uniform(km * 0.9999 / geodesy.EQUATOR_KM, km * 1.0001 / geodesy.POLE_KM)
            lon, lat = at(latitude, longitude, angle, rng.uniform(0, 2 * math.pi))
            other = geodesy.unit(lon, lat)
            near = sum(a * b for a, b in zip(center, other, strict=True))
            beyond = near - (flat + other[2] * (slope + other[2] * bend))
            total += 1
            if abs(beyond) <= error:
                undecided += 1
            else:
                assert (beyond > 0) == (geodesy.distance_km(longitude, latitude, lon, lat) <= km)
    assert undecided < total * 0.03


def test_weights_and_sums_of_sines_are_lamberts_formula():
    rng = random.Random(6)
    for _ in range(200):
        lon, lat, other_lon, other_lat = (rng.uniform(-80, 80) for _ in range(4))
        first, second = geodesy.reduced(lat), geodesy.reduced(other_lat)
        cosine = math.sin(first) * math.sin(second) + math.cos(first) * math.cos(second) * math.cos(
            math.radians(other_lon - lon)
        )
        angle, mean, difference = math.acos(cosine), (first + second) / 2, (second - first) / 2
        x = (angle - math.sin(angle)) * (math.sin(mean) * math.cos(difference) / math.cos(angle / 2)) ** 2
        y = (angle + math.sin(angle)) * (math.cos(mean) * math.sin(difference) / math.sin(angle / 2)) ** 2
        expected = geodesy.EQUATOR_KM * (angle - geodesy.FLATTENING / 2 * (x + y))
        assert abs(geodesy.distance_km(lon, lat, other_lon, other_lat) - expected) < 1e-6


@pytest.mark.slow
def test_sql_finds_the_places_of_a_circle_wherever_it_lies():
    database = duckdb.connect(":memory:")
    database.execute("CREATE TABLE places (i INT, p DOUBLE, pb DOUBLE, px FLOAT, py FLOAT, pz FLOAT)")
    rng = random.Random(7)
    for longitude, latitude in [(8.0, 48.0), (179.9, 1.0), (-179.9, -60.0), (0.0, 90.0), (5.0, -89.9), (90.0, 0.0)]:
        for km in (0.5, 30.0, 300.0, 5_000.0, 15_000.0, 20_100.0):
            near = [
                at(latitude, longitude, km / geodesy.EQUATOR_KM * rng.uniform(0.9, 1.1), rng.uniform(0, 2 * math.pi))
                for _ in range(20)
            ]
            places = [*near, (longitude, latitude), (longitude + 360, latitude), (rng.uniform(-180, 180), 89.0)]
            database.execute("DELETE FROM places")
            rows = [(n, *place, *geodesy.unit(*place)) for n, place in enumerate(places)]
            database.executemany("INSERT INTO places VALUES (?, ?, ?, ?, ?, ?)", rows)
            database.execute("INSERT INTO places (i) VALUES (99)")
            values: list[float] = []

            def bind(value: float, values: list[float] = values) -> str:
                values.append(value)
                return f"${len(values)}"

            condition = geodesy.within_sql("p", (longitude, latitude), km, bind)
            text = f"SELECT i FROM places WHERE {condition} ORDER BY i"
            found = [row[0] for row in database.execute(text, values).fetchall()]
            within = [geodesy.distance_km(*place, longitude, latitude) <= km for place in places]
            assert found == [n for n, is_within in enumerate(within) if is_within], (longitude, latitude, km)


def test_the_bounds_of_a_circle_hold_all_its_places():
    rng = random.Random(8)
    for _ in range(300):
        latitude, longitude = rng.choice([rng.uniform(-90, 90), 0.0, 90.0, -89.99]), rng.uniform(-180, 180)
        angle = rng.choice([rng.uniform(0, 0.01), rng.uniform(0, 4)])
        bounds = list(geodesy._box_sql("p", (longitude, latitude), angle, repr))
        place = at(latitude, longitude, min(angle, math.pi) * rng.uniform(0, 1), rng.uniform(0, 2 * math.pi))
        for axis, part in zip("xyz", geodesy.unit(*place), strict=True):
            for bound in bounds:
                if bound.startswith(f"p{axis} "):
                    for each in bound.split(" AND "):
                        _, sign, limit = each.removesuffix("::FLOAT").split(" ")
                        assert part >= float(limit) if sign == ">=" else part <= float(limit)
