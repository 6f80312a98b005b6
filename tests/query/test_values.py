"""What values count as."""

# ruff: noqa: DTZ001 instants are naive UTC here

from __future__ import annotations

from datetime import datetime

import duckdb
import msgspec
import pytest

from chalicelib.errors import BadInput
from chalicelib.query.geodesy import distance_km
from chalicelib.query.values import fold, instant, stored, wanted


@pytest.mark.slow
def test_fold_is_what_the_database_does_to_every_character():
    characters = [chr(code) for code in range(1, 0x20000) if not 0xD800 <= code <= 0xDFFF]
    rows = duckdb.execute(
        "SELECT lower(c) FROM (SELECT unnest(from_json(?, '[\"VARCHAR\"]')) AS c)",
        [msgspec.json.encode(characters).decode()],
    ).fetchall()
    assert [fold(character) for character in characters] == [row[0] for row in rows]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2020-01-02", datetime(2020, 1, 2)),
        ("2020", datetime(2020, 1, 1)),
        ("2020-03", datetime(2020, 3, 1)),
        ("2020-01-02 03:04", datetime(2020, 1, 2, 3, 4)),
        ("January 2020", None),
        ("03/04/2026", None),
        ("26-03-04", None),
        ("01.03.2026", None),
        ("2026-02-30", None),
        ("9999-12-31T23:59:59-10:00", None),
        ("2020-01-02T03:04:05.678Z", datetime(2020, 1, 2, 3, 4, 5, 678000)),
        ("2020-01-02T03:04:05+02:00", datetime(2020, 1, 2, 1, 4, 5)),
        ("10:30", None),
        ("x", None),
        ("", None),
        ("0001-01-01T00:00:00+10:00", None),
    ],
)
def test_instants(text, moment):
    assert instant(text) == moment


@pytest.mark.parametrize(
    ("dtype", "value", "kept"),
    [
        ("int", 10**30, None),
        ("int", "12", 12),
        ("int", "1.5", None),
        ("int", 1.9, 1),
        ("float", float("inf"), None),
        ("float", "2.5", 2.5),
        ("bool", "TRUE", True),
        ("bool", 1, None),
        ("string", 5, "5"),
        ("string", [1, {"a": None}], '[1,{"a":null}]'),
        ("geopos", [1, "2"], (1.0, 2.0)),
        ("geopos", [1], None),
        ("float_array", [1, 2.5], (1.0, 2.5)),
        ("float_array", [1, "x"], None),
        ("float_array", [1e300], None),
        ("datetime", 5, None),
        ("int", None, None),
    ],
)
def test_stored(dtype, value, kept):
    assert stored(dtype, value) == kept


def test_bad_values_are_named():
    with pytest.raises(BadInput, match=r"attribute of n: .*x.* is not an integer"):
        wanted("int", "x", "attribute of n")


@pytest.mark.parametrize(
    ("one", "other", "km"),
    [
        # Geodesics on WGS 84, from the literature.
        ((-5.714722222, 50.066388889), (-3.07, 58.643888889), 969.954),
        ((151.2095, -33.8688), (-0.1278, 51.5074), 16993.0),
        ((0.0, 0.0), (0.0, 90.0), 10001.966),
        ((0.0, 0.0), (1.0, 0.0), 111.3195),
        ((0.0, 0.0), (0.0, 0.0), 0.0),
    ],
)
def test_distances(one, other, km):
    assert distance_km(*one, *other) == pytest.approx(km, rel=1e-3 if km > 16000 else 3e-5, abs=1e-6)
