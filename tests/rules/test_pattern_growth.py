"""Regular expressions that look at what a caller sends take time in proportion to its length.

Every expression of the package is found and run by the methods that its module calls, on texts that make backtracking
show: many repeats of what the expression may match, ended by what it does not.
"""

from __future__ import annotations

import contextlib
import importlib
import pkgutil
import re
import time
from collections.abc import Callable, Iterator
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

SHORT, LONG = 2_000, 16_000
MOST = 24.0
"""The longer text is 8 times as long: linear growth takes 8 times as long, quadratic 64."""
NOTICEABLE = 0.03
"""Seconds of processor time below which no growth is measured.

Of the longer text a linear expression needs far less, and a quadratic one several times as much.
"""
REPEATS = (
    *("a", " ", ".", "0", "-", "/", "<", "@", "%", "_", "{", "[", "é", "\t ", "a.", "a ", "a@", "/a", "1,", "::", "aA"),
    *("\\a", '"\\', '"a', "*{1,", "{{a", "&& ", "(a", "[1", ".a", "1e", ":-", "TO -", "AND -1 ", "steps.a", "https://a"),
)  # fmt: skip
ENDS = ("", "\n>!")
METHODS = ("fullmatch", "match", "search", "sub", "split", "finditer", "findall")
NOT_OF_CALLERS = {"chalicelib.http.openapi", "chalicelib.http.links", "chalicelib.api.catalogue"}
"""Modules whose expressions look at the package's own texts."""


def seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def grows_faster_than_linear(run: Callable[[str], object], repeat: str, end: str = "") -> bool:
    texts = [(repeat * size)[:size] + end for size in (SHORT, LONG)]
    if seconds(lambda: run(texts[1])) < NOTICEABLE:
        return False
    long = min(seconds(lambda: run(texts[1])) for _ in range(2))
    short = min(seconds(lambda: run(texts[0])) for _ in range(3))
    return long > NOTICEABLE and long > MOST * short


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


def run_all(pattern: re.Pattern[Any], methods: list[str], text: str) -> None:
    given: Any = text.encode() if isinstance(pattern.pattern, bytes) else text
    for method in methods:
        if method == "sub":
            pattern.sub(given[:0], given)
        elif (found := getattr(pattern, method)(given)) is not None and method == "finditer":
            list(found)


def test_every_expression_of_the_package_runs_in_linear_time():
    tried, slow = 0, []
    for name, pattern, methods in expressions():
        tried += 1
        run = lambda text, pattern=pattern, methods=methods: run_all(pattern, methods, text)  # noqa: E731
        slow += [
            f"{name} on repeats of {repeat!r}"
            for repeat in REPEATS
            if any(grows_faster_than_linear(run, repeat, end) for end in ENDS)
        ]
    assert tried > 40
    assert not slow


def test_a_quadratic_expression_is_noticed():
    assert grows_faster_than_linear(re.compile(r"\s*x").search, " ")


@pytest.mark.parametrize(
    "repeat",
    ["ab ", "a*", "(", "/a", '"\\', '"a', ":-1", "\\", "a:", "[a TO ", "NOT ", "-", "+", "a~", "/(a*)", "!a ", " /a"],
)
def test_search_strings_are_parsed_in_linear_time(repeat: str):
    def parse(text: str) -> None:
        with contextlib.suppress(BadInput):
            search_string.parse(text[: search_string.LONGEST_TEXT], "search")

    assert seconds(lambda: parse(repeat * 1_000)) < 2
    texts = [repeat * size for size in (250, 1_000)]
    short, long = (min(seconds(lambda text=text: parse(text)) for _ in range(2)) for text in texts)
    assert long < NOTICEABLE or long < MOST * short


@pytest.mark.parametrize("stars", [4, 60])
def test_a_wildcard_with_many_stars_matches_in_linear_time(stars: int):
    pattern = search_string._pattern("*a" * stars + "*zzz")
    with duckdb.connect(":memory:") as database:
        ask = "SELECT count(*) FROM range(50) WHERE regexp_full_match(repeat('a', 2000) || range, $1, 's')"
        assert seconds(lambda: database.execute(ask, [pattern]).fetchall()) < 2


def test_object_searches_have_no_patterns():
    """They are evaluated in Python for sections, where a pattern would backtrack."""
    shapes = {operator.shape for operator in operators.OPERATIONS}
    assert shapes.isdisjoint({"pattern", "edits"})
    encoded = "A" * object_search.LARGEST_ENCODED
    start = time.process_time()
    with pytest.raises(BadInput):
        object_search.decode(encoded, "encoded_search")
    assert time.process_time() - start < 2
    assert object_search.parse(Kind.FILE, {"method": "and", "operations": []})


@pytest.mark.parametrize("dtype", ["bool", "int", "float", "string", "datetime"])
def test_values_are_read_in_linear_time(dtype: str):
    def read(text: str) -> None:
        with contextlib.suppress(BadInput):
            wanted(dtype, text, "attribute")

    assert not any(grows_faster_than_linear(read, repeat, "!") for repeat in (*REPEATS, "2020-01-01T", "+00:", "1_"))
