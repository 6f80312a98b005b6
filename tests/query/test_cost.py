"""A query is refused before it runs where it is estimated above the budget, and interrupted at the request's limit."""

from __future__ import annotations

import re
import threading
import time
from random import Random
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
from chalicelib.query.tree import Query
from chalicelib.query.values import fold, in_any_case
from chalicelib.storage.view.cache import resident
from tests.query.query_rig import Rig, box, term
from tests.query.query_worlds import change_of

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
        (any_of(500, lambda each: term("g", "polygon", [[each / 9, at % 50] for at in range(100)])), "polygons"),
        (any_of(2, lambda _: any_of(900, lambda each: term("s", "icontains", f"x{each}"))), "comparisons of text"),
    ],
    ids=["200 lists of 4,000 values", "1,500 distances", "500 polygons", "1,800 texts"],
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


LONG = "".join(Random(1).choices("abcd ", k=90_000))


@pytest.fixture(scope="module")
def long_texts() -> Rig:
    return Rig(*(box(number, {"s": LONG}) for number in range(1, 201)))


def check_words(rig: Rig, words: str) -> Query:
    query = check(parse(Kind.LOCALIZATION, LocalizationQuery(search=f"s:({words})")), rig.view.definitions)
    check_cost(query, rig.view.number_of, bytes_of=rig.view.text_bytes)
    return query


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (" OR ".join(f"*w{number}*" for number in range(900)), "wildcards"),
        ("*" + "a?" * 400 + "z*", "wildcards"),
        (" OR ".join(f"*b{number}??z*" for number in range(100)), "MB of memory"),
    ],
    ids=["900 patterns", "one pattern with 400 unknown characters", "100 patterns with unknown characters"],
)
def test_searches_of_long_texts_are_refused_by_their_bytes_whatever_their_rows(long_texts: Rig, words: str, part: str):
    with pytest.raises(BadInput, match=part):
        check_words(long_texts, words)


def test_texts_that_were_added_since_they_were_counted_are_part_of_the_estimate():
    rig = Rig(*(box(number, {"s": "a"}) for number in range(1, 6)))
    words = " OR ".join(f"*w{number}*" for number in range(900))
    check_words(rig, words)
    rig.view.apply_entities([change_of("localization", box(number, {"s": LONG})) for number in range(9, 49)])
    with pytest.raises(BadInput, match="wildcards"):
        check_words(rig, words)


def test_the_memory_of_a_search_does_not_grow_with_its_terms_times_the_length_of_texts(long_texts: Rig):
    query = check_words(long_texts, " OR ".join(f"*w{number}*" for number in range(6)))
    search = any_of(12, lambda each: term("s", "icontains", f"zz{each}"))
    texts = check(
        parse(Kind.LOCALIZATION, LocalizationQuery(), LocalizationIdQuery(object_search=search)),
        long_texts.view.definitions,
    )
    before, most, has_ended = resident(), [0], threading.Event()

    def watch() -> None:
        while not has_ended.wait(0.002):
            most[0] = max(most[0], resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    assert long_texts.view.count(query) == long_texts.view.count(texts) == 0
    has_ended.set()
    watcher.join()
    assert most[0] - before < 100_000_000, "18 terms over 18 MB of texts took 500 MB"


def test_any_case_means_what_folding_means():
    for number in (*range(1, 0x250), *range(0x370, 0x590), *range(0x1E00, 0x2200), 0x10400, 0x1E943):
        character = chr(number)
        pattern = re.escape(fold(character))
        assert re.fullmatch(in_any_case(pattern), character, re.DOTALL), hex(number)
        assert re.fullmatch(in_any_case(re.escape(character)), fold(character)) is None or fold(character) == character


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
