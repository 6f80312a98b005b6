"""A query is refused before it runs where it is estimated above the budget, and interrupted at the request's limit."""

from __future__ import annotations

import time
from typing import Any

import msgspec
import pytest

from chalicelib.core.kinds import Kind
from chalicelib.core.time.deadline import time_limit
from chalicelib.errors import BadInput, Unavailable
from chalicelib.query import check, parse
from chalicelib.query.cost import check_cost, estimate
from chalicelib.query.parsers.bodies import LocalizationIdQuery
from chalicelib.query.parsers.parameters import LocalizationQuery
from tests.query.query_rig import Rig, box, term

ROWS = 100_000


@pytest.fixture(scope="module")
def rig() -> Rig:
    return Rig(*(box(number, {"s": "a" * 40}) for number in range(1, 6)))


def check_search(rig: Rig, search: Any, rows: int = ROWS) -> None:
    parsed = parse(Kind.LOCALIZATION, LocalizationQuery(), LocalizationIdQuery(object_search=search))
    check_cost(check(parsed, rig.view.definitions), lambda _: rows)


def any_of(number: int, make: Any) -> dict[str, Any]:
    return {"method": "or", "operations": [make(each) for each in range(number)]}


@pytest.mark.parametrize(
    ("search", "part"),
    [
        (any_of(200, lambda each: term("n", "in", list(range(each, each + 4_000)))), "shorter lists"),
        (any_of(1_500, lambda each: term("g", "distance_lte", [10 + each, 1, 2])), "distances"),
        (any_of(2, lambda _: any_of(900, lambda each: term("s", "icontains", f"x{each}"))), "comparisons of text"),
    ],
    ids=["200 lists of 4,000 values", "1,500 distances", "1,800 texts"],
)
def test_an_expensive_query_is_refused_and_the_message_says_what_to_make_smaller(rig: Rig, search: Any, part: str):
    start = time.process_time()
    with pytest.raises(BadInput, match=part):
        check_search(rig, search)
    assert time.process_time() - start < 5


def test_wildcards_over_every_text_are_refused_by_what_they_cost_on_the_rows_of_the_project(rig: Rig):
    words = " ".join(f"*w{number}*" for number in range(600))
    query = check(parse(Kind.LOCALIZATION, LocalizationQuery(search=words)), rig.view.definitions)
    check_cost(query, lambda _: 1_000)
    with pytest.raises(BadInput, match="wildcards"):
        check_cost(query, lambda _: ROWS)


@pytest.mark.parametrize(
    "search",
    [
        any_of(200, lambda each: term("n", "eq", each)),
        term("n", "in", list(range(10_000))),
        any_of(40, lambda each: term("g", "distance_lte", [10, each, each])),
        any_of(100, lambda each: term("s", "icontains", f"x{each}")),
    ],
)
def test_an_ordinary_query_is_within_the_budget_of_a_large_project(rig: Rig, search: Any):
    check_search(rig, search, rows=1_000_000)


def test_the_estimate_counts_lists_joins_and_vectors(rig: Rig):
    search = term("$related_media", "search", term("site", "eq", "a"))
    body = {"float_array": [{"name": "v", "center": [0.0] * 500}], "object_search": search}
    asked = msgspec.convert(body, LocalizationIdQuery)
    query = check(parse(Kind.LOCALIZATION, LocalizationQuery(type=1), asked), rig.view.definitions)
    parts = estimate(query, lambda _: ROWS)
    assert {"float_array queries", "searches over related entities"} <= parts.keys()
    assert parts["float_array queries"] > 0.1


def test_a_statement_is_interrupted_at_the_limit_of_the_request(rig: Rig):
    endless = "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE (a.range * b.range) % 7 = 1"
    start = time.monotonic()
    with time_limit(0.2), pytest.raises(Unavailable, match="narrow it by"):
        rig.view.store.run(endless)
    assert time.monotonic() - start < 10
    assert rig.ask()  # the connection serves the next query


def test_a_statement_after_the_limit_is_not_begun(rig: Rig):
    with time_limit(-1), pytest.raises(Unavailable):
        rig.view.store.run("SELECT 1")
