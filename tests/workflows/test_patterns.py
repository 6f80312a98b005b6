"""Patterns of conditions: they find what Python's own find, in time that grows with the text and no faster."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.errors import BadInput
from chalicelib.workflows import conditions, patterns

PATTERNS = [
    "a", "^a", "a$", "^a$", "^$", "", "a*b", "a+b?c", "(ab|cd)+", "a{2,3}", "a{2}", "a{2,}", "[a-c]x", "[^a-c]",
    r"\d+\.\d",
    r"^\w+\s\w+$", "a.c", "(a|b)*abb", "a??b", "x*", "(a*)*b", "(a?){3}c",
    r"\.mp4$", "^(left|right)_[0-9]{1,3}$", "(?:a|b)c", "[:.]", r"\[:",
]  # fmt: skip


@settings(max_examples=200)
@given(st.sampled_from(PATTERNS), st.text("abcdx .19_lefthrig[:\n", max_size=20))
def test_they_find_what_python_finds(pattern, text):
    end = r"\Z" if pattern.endswith("$") else ""  # Python's $ also stands before a last line end
    python = pattern.removesuffix("$") + end if end else pattern
    assert patterns.found(pattern, text) == (re.search(python, text) is not None)


@pytest.mark.parametrize(
    "pattern", ["(", "a**", "[z", r"(a)\1", "(?=a)", r"\bword", "(?i)a", "a{1,100000}", "[[:alpha:]]", "x" * 201]
)
def test_what_cannot_be_searched_for_in_linear_time_is_refused(pattern):
    with pytest.raises(BadInput, match="when: "):
        conditions.holds(f"'a' =~ '{pattern}'")


@pytest.mark.parametrize(("pattern", "text"), [(r"\d", "٣"), (r"\w", "é"), (r"[\s]", "\u00a0")])
def test_classes_are_of_ascii_as_in_go(pattern, text):
    assert not patterns.found(pattern, text)
    assert patterns.found(pattern.upper(), text)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("optional letters", lambda n: f"{'a' * n} =~ '{'a?' * 40}{'a' * 40}b'"),
        ("nested repetition", lambda n: f"{'a' * n} =~ '(a*)*b'"),
        ("alternatives", lambda n: f"{'a' * n} =~ '(a|a|aa)+$b'"),
        ("words", lambda n: " && ".join(["true"] * (n // 8))),
        ("spaces", lambda n: "true" + " " * n),
        ("brackets", lambda n: "(" * 10 + "true" + ")" * 10 + " || true" * (n // 10)),
        ("quotes", lambda n: "'" + "a" * n + "' == '" + "a" * 10 + "'"),
    ],
)
def test_time_grows_no_faster_than_the_condition(name, make):
    """Eight times the text takes at most about eight times as long; the square would be 64 times."""

    def seconds(text):
        best = 1e9
        for _ in range(3):
            begin = time.process_time()
            conditions.holds(text)
            best = min(best, time.process_time() - begin)
        return best

    small, large = seconds(make(480)), seconds(make(3840))
    assert large < max(0.002, small * 24), name
