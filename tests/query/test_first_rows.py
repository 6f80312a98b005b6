"""Sorted lists of large tables: a bound from a sample changes no answer, and spares sorting nearly all rows."""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec
import pytest

from chalicelib.core.kinds import Kind
from chalicelib.query import check, evaluate, parse
from chalicelib.query.compiler import first_rows
from chalicelib.query.parsers.parameters import LocalizationQuery
from tests.query.query_rig import OTHER_BOX, Rig, box, media, statements_of_views
from tests.query.query_worlds import change_of, commit

ROWS = 160
SORTS = (
    "n",
    "-n",
    "f",
    "-f",
    "s",
    "-s",
    "t",
    "-t",
    "b",
    "g",
    "-$frame",
    "$frame",
    "-$u",
    "$u",
    "-$id",
    "$created_datetime",
    "-$x",
)


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The text of each statement of views, of tables that count as large."""
    monkeypatch.setattr(first_rows, "LEAST_ROWS", 0)
    monkeypatch.setattr(first_rows, "RANGE", 8)
    return statements_of_views(monkeypatch)


def rig_of(rng: Random) -> Rig:
    def attributes() -> dict[str, Any]:
        made = {
            "n": rng.choice([rng.randrange(9), rng.randrange(9), None]),
            "f": rng.random(),
            "s": rng.choice(["a", "B", "ä", None]),
            "b": rng.random() < 0.5,
            "t": f"2026-01-{rng.randrange(1, 29):02d}T00:00:00",
            "g": [rng.uniform(-180, 180), rng.uniform(-90, 90)],
        }
        return {name: value for name, value in made.items() if value is not None}

    boxes = [
        box(
            number,
            attributes() if rng.random() < 0.9 else {"s": 5},
            frame=rng.randrange(5),
            u=rng.choice([None, rng.random(), 0.5]),
            type=1 if rng.random() < 0.95 else OTHER_BOX,
            x=rng.random(),
        )
        for number in range(1, ROWS)
    ]
    return Rig(media(1), *boxes)


def listed(rig: Rig, **given: Any) -> list[int]:
    """The ids of a list, which are those of the plain meaning."""
    query = check(parse(Kind.LOCALIZATION, LocalizationQuery(**given)), rig.view.definitions)
    found = [msgspec.json.decode(document)["id"] for document in rig.view.documents(query)]
    assert found == evaluate.ids(query, rig.world.things), given
    return found


@pytest.mark.slow
@pytest.mark.parametrize("better", [10, 1])
def test_bounded_lists_are_those_of_the_plain_meaning(
    statements: list[str], better: int, monkeypatch: pytest.MonkeyPatch
):
    rng = Random(better)
    rig = rig_of(rng)
    monkeypatch.setattr(first_rows, "_LEAST_BETTER", better)
    monkeypatch.setattr(first_rows, "_MARGIN", 3 if better > 1 else 0)
    outcomes = set()
    for sort in SORTS:
        for given in ({}, {"attribute_gt": ["n::3"]}, {"attribute": ["b::true"]}, {"type": 1}):
            start = rng.choice([0, 0, 3])
            statements.clear()
            listed(rig, sort_by=[sort], start=start, stop=start + rng.choice([1, 5, 40]), **given)
            bounded = [text for text in statements if "UNION ALL" in text]
            outcomes.add((bool(bounded), sum("ORDER BY" in text for text in statements) - len(bounded)))
    # Without a bound; with one that enough rows meet; with the best of the sample, with one that too few do.
    assert outcomes == {(False, 1), (True, 1)} | ({(True, 2)} if better == 1 else set())


def test_a_list_that_few_rows_can_be_in_is_not_bounded(statements: list[str]):
    rig = rig_of(Random(1))
    listed(rig, sort_by=["-n"], stop=5, media_id=[1])
    listed(rig, sort_by=["-n", "f"], stop=5)
    listed(rig, sort_by=["-n"])
    assert not [text for text in statements if "rowid" in text]


def test_a_bound_follows_what_changes(statements: list[str]):
    rig = rig_of(Random(2))
    assert listed(rig, sort_by=["-f"], stop=3)
    better = [box(number, {"f": 100.0 + number}) for number in (7, 500, 501)]
    rig.view.apply([commit(rig.view.seq + 1, [change_of("localization", each) for each in better])])
    boxes = rig.world.things[Kind.LOCALIZATION]
    boxes[:] = [*(each for each in boxes if each.id != 7), *better]
    assert listed(rig, sort_by=["-f"], stop=3) == [501, 500, 7]
    assert any("UNION ALL" in text for text in statements)
