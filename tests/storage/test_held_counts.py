"""Counts from held numbers of values are those of DuckDB, whatever was changed between them."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from chalicelib.core.kinds import DefinitionKind, Kind
from chalicelib.core.log.commits import GONE, Change
from chalicelib.core.models.definitions import LocalizationType
from chalicelib.query import check, evaluate, parse
from chalicelib.query.parsers.parameters import LocalizationQuery, MediaQuery
from chalicelib.query.tree import Query
from chalicelib.storage.view import held_counts
from tests.query.query_rig import BOX, OTHER_BOX, Rig, box, media, statements_of_views, type_of, types
from tests.query.query_worlds import SEEDS, change_of, commit
from tests.sweeps import examples

HELD: list[dict[str, Any]] = [
    *({"attribute": [f"e::{value}"]} for value in ("a", "B", "none")),
    *({"attribute": [f"b::{value}"]} for value in ("true", "false")),
    {"attribute_contains": ["s::Ä"]},
    {"attribute_contains": ["s::x"], "start": 2, "stop": 9},
    {"attribute": ["e::a"], "attribute_gt": ["n::4"]},
    {"attribute": ["e::B"], "attribute_gt": ["n::4"]},
    {"attribute": ["e::a", "b::true"], "type": BOX},
    {"attribute": ["e::a"], "show_deleted": True},
]
"""Questions whose counts are held."""
TEXTS = ["x", "aX", "ä", "Äx", "ß\U0001f600", ""]


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_counts, "LEAST_ROWS", 0)
    monkeypatch.setattr(held_counts, "RANGE", 8)
    monkeypatch.setattr(held_counts, "RANGES_AT_ONCE", 2)


def made(rng: Random, number: int) -> Any:
    attributes = {"e": rng.choice("aB"), "b": rng.random() < 0.5, "n": rng.randrange(9), "s": rng.choice(TEXTS)}
    attributes = {name: value for name, value in attributes.items() if rng.random() < 0.9}
    hidden = {"latest": rng.random() < 0.9, "variant_deleted": rng.random() < 0.1}
    type_ = OTHER_BOX if rng.random() < 0.1 else BOX
    return box(number, {"s": 5} if type_ == OTHER_BOX else attributes, type=type_, **hidden)


def rig_of(rng: Random, rows: int = 40) -> Rig:
    return Rig(media(1), *(made(rng, number) for number in range(1, rows + 1)))


def change(rig: Rig, rng: Random, *numbers: int) -> None:
    """Create, change or remove boxes."""
    boxes = {each.id: each for each in rig.world.things[Kind.LOCALIZATION]}
    changes = []
    for number in numbers:
        boxes.pop(number, None)
        if rng.random() < 0.7:
            boxes[number] = made(rng, number)
        changes.append(
            change_of("localization", boxes[number]) if number in boxes else Change("localization", number, GONE)
        )
    rig.world.things[Kind.LOCALIZATION] = list(boxes.values())
    rig.view.apply([commit(rig.view.seq + 1, changes)])


def query_of(rig: Rig, **given: Any) -> Query:
    return check(parse(Kind.LOCALIZATION, LocalizationQuery(**given)), rig.view.definitions)


def counted(rig: Rig, **given: Any) -> int:
    """The count of a question, which is that of the plain meaning."""
    query = query_of(rig, **given)
    found = rig.view.count(query)
    assert found == len(evaluate.ids(query, rig.world.things)), given
    return found


def count_all(rig: Rig, times: int = 1) -> list[int]:
    return [counted(rig, **given) for _ in range(times) for given in HELD]


def hold(rig: Rig) -> None:
    """Ask until all is held."""
    count_all(rig, 6)


@pytest.mark.slow
@examples(4, 200, SEEDS)
def test_changes_are_followed(seed: int):
    rng = Random(seed)
    rig = rig_of(rng)
    count_all(rig, held_counts.FIRST_COUNTS)
    for _ in range(12):
        count_all(rig)
        change(rig, rng, *rng.sample(range(1, 60), rng.choice([0, 1, 1, 2, 9])))
        if rng.random() < 0.1:
            rig.view.compress()
    hold(rig)


def test_held_counts_need_no_statement(monkeypatch):
    rig = rig_of(Random(1))
    hold(rig)
    statements = statements_of_views(monkeypatch)
    assert any(count_all(rig))
    assert statements == []


def test_a_change_has_its_range_and_the_new_rows_counted(monkeypatch):
    rng = Random(2)
    rig = rig_of(rng)
    hold(rig)
    change(rig, rng, 20)
    statements = statements_of_views(monkeypatch)
    counted(rig, **HELD[0])
    assert [text for text in statements if "GROUP BY" in text] == statements[:1]
    assert len(statements) == 2
    counted(rig, **HELD[1])
    assert len(statements) == 3
    assert "rowid >=" in statements[2]


def test_first_counts_are_left_to_duckdb_and_ranges_are_counted_by_and_by(monkeypatch):
    rig = rig_of(Random(3))
    statements = statements_of_views(monkeypatch)
    grouped = []
    for _ in range(6):
        before = len(statements)
        counted(rig, **HELD[0])
        grouped.append(sum("GROUP BY" in text for text in statements[before:]))
    assert grouped == [0, 0, 2, 2, 1, 0]


def test_changes_all_over_wait_for_a_question_without_changes_before(monkeypatch):
    rng = Random(10)
    rig = rig_of(rng)
    hold(rig)
    statements = statements_of_views(monkeypatch)
    grouped = []
    for numbers in [(1, 11, 21, 31), (2, 12, 22, 32), (), (), ()]:
        if numbers:
            change(rig, rng, *numbers)
        before = len(statements)
        counted(rig, **HELD[0])
        grouped.append(sum("GROUP BY" in text for text in statements[before:]))
    assert grouped == [0, 0, 2, 2, 0]


@pytest.mark.parametrize(
    "given",
    [
        {"attribute": ["e::a"], "after": 3},
        {"attribute": ["e::a"], "media_id": [1]},
        {"attribute": ["e::a"], "related_attribute": ["site::x"]},
        {"attribute": ["e::a"], "exclude_parents": True},
        {"attribute": ["n::3"]},
        {"attribute_null": ["e::true"]},
        {},
    ],
)
def test_any_other_count_is_left_to_duckdb(given, monkeypatch):
    rig = rig_of(Random(4))
    statements = statements_of_views(monkeypatch)
    for _ in range(5):
        counted(rig, **given)
    assert not any("GROUP BY" in text for text in statements)


def test_a_small_table_and_a_column_of_many_values_are_left_to_duckdb(monkeypatch):
    rig = rig_of(Random(5))
    for name, value in (("LEAST_ROWS", 41), ("_MOST_VALUES", 1), ("_MOST_ENTRIES", 3)):
        with monkeypatch.context() as context:
            context.setattr(held_counts, name, value)
            rig.view.compress()
            count_all(rig, 5)
            assert rig.view._held_counts.memory == 0


def test_the_columns_asked_last_are_held(monkeypatch):
    monkeypatch.setattr(held_counts, "_MOST_HELD", 2)
    monkeypatch.setattr(held_counts, "_MOST_KNOWN", 3)
    rig = rig_of(Random(6))
    count_all(rig, 4)
    for given in (HELD[0], HELD[3], HELD[5]):
        for _ in range(6):
            counted(rig, **given)
    assert len(rig.view._held_counts._held) == 2
    statements = statements_of_views(monkeypatch)
    counted(rig, **HELD[5])
    assert statements == []


def test_many_changed_rows_end_what_is_held(monkeypatch):
    monkeypatch.setattr(held_counts, "MOST_STALE", 3)
    rng = Random(7)
    rig = rig_of(rng)
    hold(rig)
    change(rig, rng, *range(50, 70))
    assert rig.view._held_counts.memory > 0, "new rows leave the ranges as they are"
    change(rig, rng, *range(5, 10))
    assert rig.view._held_counts.memory == 0
    hold(rig)


def test_another_meaning_of_columns_ends_what_is_held():
    rig = rig_of(Random(8))
    hold(rig)
    type_ = type_of(LocalizationType, BOX, types(e="enum", b="bool", n="int", s="string", more="string"), dtype="box")
    rig.view.apply([commit(rig.view.seq + 1, [change_of(DefinitionKind.LOCALIZATION_TYPE.value, type_)])])
    assert rig.view._held_counts.memory == 0
    hold(rig)


def test_a_deleted_type_takes_its_boxes_along():
    rig = rig_of(Random(9))
    hold(rig)
    rig.view.apply([commit(rig.view.seq + 1, [Change(DefinitionKind.LOCALIZATION_TYPE.value, OTHER_BOX, GONE)])])
    rig.world.things[Kind.LOCALIZATION] = [
        each for each in rig.world.things[Kind.LOCALIZATION] if each.type != OTHER_BOX
    ]
    hold(rig)


def test_media_are_counted_by_value_too(monkeypatch):
    rig = Rig(*(media(number, attributes={"site": "ab"[number % 2]}) for number in range(1, 30)))
    query = check(parse(Kind.MEDIA, MediaQuery(attribute=["site::a"])), rig.view.definitions)
    assert [rig.view.count(query) for _ in range(6)] == [14] * 6
    statements = statements_of_views(monkeypatch)
    assert rig.view.count(query) == 14
    assert statements == []
