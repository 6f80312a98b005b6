"""Regular expressions that look at what a caller sends take time in proportion to its length.

Every expression of the package is found and run by the methods that its module calls, on texts that make backtracking
show: many repeats of what the expression may match, ended by what it does not. Steps are counted, not seconds.
"""

from __future__ import annotations

import contextlib
import importlib
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import duckdb
import pytest

import chalicelib
from chalicelib.core.kinds import Kind
from chalicelib.errors import BadInput
from chalicelib.query import operators
from chalicelib.query.parsers import object_search, search_string
from chalicelib.query.values import wanted
from tests.rules.matching_steps import Steps, TooManySteps

SIZES = ((120, 480), (1_000, 4_000))
"""Characters of a shorter and a longer text. The second pair is tried where the first one grows, as up to a bound
(`{1,255}`) a linear expression does, too."""
MOST = 8.0
"""The longer text is 4 times as long: linear growth takes 4 times as many steps, quadratic 16."""
NOTICEABLE = 20
"""Steps of a character below which no growth is looked for."""
REPEATS = (
    *("a", " ", ".", "0", "-", "/", "<", "@", "%", "_", "{", "[", "é", "\t ", "a.", "a ", "a@", "/a", "1,", "::", "aA"),
    *("\\a", '"\\', '"a', "*{1,", "{{a", "&& ", "(a", "[1", ".a", "1e", ":-", "TO -", "AND -1 ", "steps.a", "https://a"),
)  # fmt: skip
ENDS = ("", "\n>!")
METHODS = ("fullmatch", "match", "search", "sub", "split", "finditer", "findall")
NOT_OF_CALLERS = {"chalicelib.http.openapi", "chalicelib.http.links", "chalicelib.api.catalogue"}
"""Modules whose expressions look at the package's own texts."""


def text_of(repeat: str, end: str, size: int) -> str:
    return (repeat * size)[:size] + end


def grows_faster_than_linear(count: Callable[[str], float], repeat: str, end: str = "") -> bool:
    """Whether what is counted on texts of repeats grows faster than they."""
    for short, long in SIZES:
        most = count(text_of(repeat, end, long))
        if most == inf:
            return True
        if most <= NOTICEABLE * long or most <= MOST * count(text_of(repeat, end, short)):
            return False
    return True


def steps(pattern: re.Pattern[Any], methods: list[str], text: str) -> float:
    """The steps of an expression; infinity for more than a thousand a character."""
    given: Any = text.encode() if isinstance(pattern.pattern, bytes) else text
    counter = Steps(pattern, most=1_000 * len(text))
    try:
        return sum(counter.run(method, given) for method in methods)
    except TooManySteps:
        return inf


def lines_run(run: Callable[[], object]) -> int:
    """The lines of Python that a call runs; what C does within one of them is not counted."""
    count = 0

    def trace(_frame: object, event: str, _value: object) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(before)
    return count


def expressions() -> Iterator[tuple[str, re.Pattern[Any], list[str]]]:
    for found in pkgutil.walk_packages(chalicelib.__path__, "chalicelib."):
        if found.name in NOT_OF_CALLERS:
            continue
        module = importlib.import_module(found.name)
        source = Path(module.__file__ or "").read_text()
        for name, value in vars(module).items():
            if not isinstance(value, re.Pattern):
                continue
            if used := [method for method in METHODS if f"{name}.{method}(" in source]:
                yield f"{found.name}.{name}", value, used


@pytest.mark.slow
def test_every_expression_of_the_package_runs_in_linear_time():
    tried, slow = 0, []
    for name, pattern, methods in expressions():
        tried += 1
        count = partial(steps, pattern, methods)
        slow += [
            f"{name} on repeats of {repeat!r}"
            for repeat in REPEATS
            if any(grows_faster_than_linear(count, repeat, end) for end in ENDS)
        ]
    assert tried > 40
    assert not slow


@pytest.mark.parametrize(
    ("text", "repeat"),
    [
        (r"(a|aa)+$", "a"),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in ((r"\s*x", " "), (r"(\w+,?)*!", "a"))),
    ],
)
def test_an_expression_that_backtracks_is_noticed(text: str, repeat: str):
    assert grows_faster_than_linear(partial(steps, re.compile(text), ["search"]), repeat, "\n>")


@pytest.mark.slow
@pytest.mark.parametrize("text", [r"[a-c]{1,255}x", r"^(?:a++)+x", r"^(?>a*)x", r"^a*$", r"(?<!a)a+x"])
def test_one_that_does_not_is_let_pass(text: str):
    assert not grows_faster_than_linear(partial(steps, re.compile(text), ["search"]), "a", "\n>")


def test_steps_are_those_of_a_matcher_that_finds_what_re_finds():
    text = "aab,ab;a  a1é_b,,"
    for pattern in (
        r"(a)(?:\1|b)",
        r"\b\w+?\b",
        r"[^,;]*+,",
        r"(?i)A{2}|(?=b).",
        r"^.(?!b)",
        r"(?<=,)a|\d$",
        r"(?>a+)b",
    ):
        ends = []
        counter = Steps(re.compile(pattern))
        counter.run("finditer", text)
        for start in range(len(text) + 1):
            found = re.compile(pattern).match(text, start)
            ends.append((counter._sequence(counter._tree, 0, start, lambda at: at), found and found.end()))
        assert [ours for ours, _ in ends] == [theirs for _, theirs in ends], pattern


@pytest.mark.parametrize(
    "repeat",
    ["ab ", "a*", "(", "/a", '"\\', '"a', ":-1", "\\", "a:", "[a TO ", "NOT ", "-", "+", "a~", "/(a*)", "!a ", " /a"],
)
def test_search_strings_are_parsed_in_linear_time(repeat: str):
    def parse(text: str) -> None:
        with contextlib.suppress(BadInput):
            search_string.parse(text[: search_string.LONGEST_TEXT], "search")

    short, long = (lines_run(partial(parse, repeat * size)) for size in (250, 1_000))
    assert long <= MOST * short


@pytest.mark.parametrize("stars", [4, 60])
def test_a_wildcard_with_many_stars_ends(stars: int):
    """One that backtracks would not end: it would take some 2000 ** stars steps."""
    pattern = search_string._pattern("*a" * stars + "*zzz")
    with duckdb.connect(":memory:") as database:
        ask = "SELECT count(*) FROM range(50) WHERE regexp_full_match(repeat('a', 2000) || range, $1, 's')"
        assert database.execute(ask, [pattern]).fetchall() == [(0,)]


def test_object_searches_have_no_patterns():
    """They are evaluated in Python for sections, where a pattern would backtrack."""
    shapes = {operator.shape for operator in operators.OPERATIONS}
    assert shapes.isdisjoint({"pattern", "edits"})
    with pytest.raises(BadInput):
        object_search.decode("A" * object_search.LARGEST_ENCODED, "encoded_search")
    assert object_search.parse(Kind.FILE, {"method": "and", "operations": []})


@pytest.mark.parametrize("dtype", ["bool", "int", "float", "string", "datetime"])
def test_values_are_read_in_linear_time(dtype: str):
    def read(text: str) -> None:
        with contextlib.suppress(BadInput):
            wanted(dtype, text, "attribute")

    def count(text: str) -> int:
        return lines_run(partial(read, text))

    assert not any(grows_faster_than_linear(count, repeat, "!") for repeat in (*REPEATS, "2020-01-01T", "+00:", "1_"))
