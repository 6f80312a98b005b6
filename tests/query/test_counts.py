"""How entities are counted; that the numbers are right is held by `test_sql_means_meaning.py`."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.core.kinds import Kind
from chalicelib.query import check, parse
from chalicelib.query.compiler import counts
from chalicelib.query.operators import Op
from chalicelib.query.parsers.parameters import LocalizationQuery
from chalicelib.query.tree import AttributeTest, Case
from tests.query.query_rig import BOX, Rig, box, media


@pytest.fixture(scope="module")
def rig() -> Rig:
    boxes = [box(n, {"e": "ab"[n % 2], "b": n % 3 == 0, "n": n, "s": None if n == 4 else f"x{n}"}) for n in range(1, 9)]
    return Rig(media(1), *boxes)


def text_of(rig: Rig, **given: Any) -> str:
    query = check(parse(Kind.LOCALIZATION, LocalizationQuery(**given)), rig.view.definitions)
    return counts.count(query, rig.view.state.layout).text


@pytest.mark.parametrize(
    "given", [{"attribute": ["e::a"]}, {"attribute": ["b::true"]}, {"attribute_contains": ["e::A"]}]
)
def test_a_test_of_a_text_or_flag_is_counted(rig: Rig, given: dict[str, Any]):
    assert "count_if" in text_of(rig, **given)
    assert "count_if" in text_of(rig, **given, attribute_gt=["n::3"])
    assert rig.ask(**given)
    assert rig.ask(**given, attribute_gt=["n::3"])
    assert rig.ask(**given, attribute_gt=["n::1000"]) == []


@pytest.mark.parametrize(
    "given", [{}, {"attribute": ["n::3"]}, {"attribute_gt": ["n::3"]}, {"attribute_null": ["s::true"]}]
)
def test_any_other_test_is_a_filter(rig: Rig, given: dict[str, Any]):
    assert "count_if" not in text_of(rig, **given)
    assert rig.ask(**given)


def test_one_of_several_tests_is_counted(rig: Rig):
    text = text_of(rig, attribute=["e::a", "b::true"], type=BOX)
    assert text.count("count_if") == 1
    assert rig.ask(attribute=["e::a", "b::true"], type=BOX) == [6]


@pytest.mark.parametrize("count", [3, 5_000])
def test_conditions_with_long_lists_are_no_keys_of_held_counts(count: int):
    listed = AttributeTest("s", (Case((BOX,), "string", Op.IN, tuple(f"{n:0100}" for n in range(count))),))
    assert counts.reads_all_rows(listed, Kind.LOCALIZATION) is (count == 3)
