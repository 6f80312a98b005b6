"""Counts of places within a distance in large tables are those of the plain meaning."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from chalicelib.core.kinds import Kind
from chalicelib.query import check, evaluate, geodesy, parse
from chalicelib.query.compiler import circles
from chalicelib.query.parsers.parameters import LocalizationQuery
from chalicelib.query.tree import Query
from tests.query.query_rig import OTHER_BOX, Rig, box, media, statements_of_views
from tests.query.test_geodesy import at

CENTER = 48.0, 8.0
"""Latitude and longitude."""


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The text of each statement of views, of tables that count as large."""
    monkeypatch.setattr(circles, "LEAST_ROWS", 0)
    return statements_of_views(monkeypatch)


def rig_of(places: list[tuple[float, float]]) -> Rig:
    """A box at each longitude and latitude, and some without a place."""
    boxes = [
        box(number, {"g": list(place), "b": number % 3 == 0}, variant_deleted=number % 10 == 9)
        for number, place in enumerate(places, 1)
    ]
    return Rig(media(1), *boxes, box(len(boxes) + 1, {"n": 1}), box(len(boxes) + 2, {"s": 5}, type=OTHER_BOX))


def query_of(rig: Rig, center: tuple[float, float], km: float, **more: Any) -> Query:
    given = {"attribute_distance": [f"g::{km!r}::{center[0]!r}::{center[1]!r}"], **more}
    return check(parse(Kind.LOCALIZATION, LocalizationQuery(**given)), rig.view.definitions)


def agree(rig: Rig, center: tuple[float, float], km: float, **more: Any) -> int:
    """The count, which is that of the plain meaning."""
    query = query_of(rig, center, km, **more)
    found = rig.view.count(query)
    assert found == len(evaluate.ids(query, rig.world.things)), (center, km, more)
    return found


def around(rng: Random, center: tuple[float, float], km: float, width: float) -> tuple[float, float]:
    """A place about as far from a center, as longitude and latitude."""
    angle = km / geodesy.EQUATOR_KM * rng.uniform(1 - width, 1 + width)
    lon, lat = at(*center, angle, rng.uniform(0, 2 * math.pi))
    return (lon + 180) % 360 - 180, lat


@pytest.mark.slow
@pytest.mark.parametrize("center", [CENTER, (0.0, 180.0), (-60.0, -179.9), (90.0, 0.0), (-89.9, 5.0), (0.0, 0.0)])
def test_counts_are_those_of_the_plain_meaning(statements: list[str], center: tuple[float, float]):
    rng = Random(str(center))
    wholes = 0
    for km in (20.0, 30.0, 300.0, 5_000.0):
        rig = rig_of([around(rng, center, km, rng.choice([0.1, 0.01, 1e-6])) for _ in range(60)])
        statements.clear()
        found = agree(rig, center, km)
        wholes += 0 < found < 60
        assert any("FILTER" in text for text in statements)
        assert agree(rig, center, km, attribute=["b::true"]) <= found
        agree(rig, center, km, show_deleted=True)
        agree(rig, center, km / 1000)
    assert wholes


@pytest.mark.parametrize("is_spread", [True, False])
def test_both_forms_of_the_condition_find_the_same(
    statements: list[str], monkeypatch: pytest.MonkeyPatch, is_spread: bool
):
    monkeypatch.setattr(circles, "_is_spread", lambda *_: is_spread)
    rng = Random(1)
    rig = rig_of([around(rng, CENTER, 300, 0.02) for _ in range(80)])
    agree(rig, CENTER, 300.0)
    [text] = [text for text in statements if "FILTER" in text]
    assert ("<=" in text.partition("variant_deleted")[2]) is not is_spread


def test_the_middle_of_the_table_says_whether_places_are_spread(statements: list[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(circles, "RANGE", 4)
    there, elsewhere = (8.0, 48.0), (-100.0, -20.0)
    for places, is_spread in (([there] * 20, True), ([there] * 8 + [elsewhere] * 12, False)):
        rig = rig_of(places)
        agree(rig, CENTER, 20.0)
        text = [text for text in statements if "FILTER" in text][-1]
        assert ("<=" in text.partition("variant_deleted")[2]) is not is_spread


def test_places_at_the_border_are_read(statements: list[str]):
    rig = rig_of([(8.5, 48.25), (9.0, 48.0), (8.0, 49.0)])
    km = geodesy.distance_km(8.5, 48.25, CENTER[1], CENTER[0])
    assert agree(rig, CENTER, km) == 1
    assert any("rowid IN" in text for text in statements)
    assert agree(rig, CENTER, math.nextafter(km, 0)) == 0
    statements.clear()
    assert agree(rig, CENTER, km + 1) == 1
    assert not any("rowid IN" in text for text in statements)


def test_many_rows_at_one_place_on_the_border_are_left_to_the_plain_count(
    statements: list[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(circles, "MOST_UNREAD", 5)
    km = geodesy.distance_km(8.5, 48.25, CENTER[1], CENTER[0])
    assert agree(rig_of([(8.5, 48.25)] * 10), CENTER, km) == 9
    assert not any("rowid IN" in text for text in statements)


@pytest.mark.parametrize(
    "change",
    [
        lambda patch: patch.setattr(circles, "LEAST_ROWS", 100),
        lambda patch: patch.setattr(circles, "MOST_KM", 200),
        lambda patch: patch.setattr(circles, "LEAST_KM", 400),
        lambda patch: patch.setattr(circles, "MOST_UNDECIDED", 2),
    ],
)
def test_any_other_circle_is_left_to_the_plain_count(
    statements: list[str], monkeypatch: pytest.MonkeyPatch, change: Callable[[pytest.MonkeyPatch], None]
):
    rng = Random(2)
    rig = rig_of([around(rng, CENTER, 300, 1e-4) for _ in range(20)])
    change(monkeypatch)
    agree(rig, CENTER, 300.0)
    assert any("asin" in text for text in statements)
    statements.clear()
    agree(rig, CENTER, 150.0, media_id=[1])
    assert not any("FILTER" in text for text in statements)


def test_vectors_of_32_bits_give_their_places():
    rng = Random(3)
    for _ in range(500):
        place = rng.uniform(-180, 180), rng.choice([rng.uniform(-90, 90), 90.0, -89.9999, 0.0])
        found = geodesy.place_of(*array("f", geodesy.unit(*place)))
        assert geodesy.distance_km(*place, *found) < geodesy.PLACED_KM / 4
