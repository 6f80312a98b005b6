"""Wildcards of search strings over rows in memory, as the queries of webhooks and rules have them."""

from __future__ import annotations

import itertools
import re
import time

import pytest

from chalicelib.query.evaluate import TESTS
from chalicelib.query.operators import Op
from chalicelib.query.parsers.search_string import LONGEST_WILD, _pattern

WORDS = ["".join(letters) for length in range(5) for letters in itertools.product("ab", repeat=length)]


@pytest.mark.parametrize("pieces", range(1, 5))
def test_they_match_what_the_plain_expression_matches(pieces):
    for parts in itertools.product(("a", "b", "*", "?", "ab"), repeat=pieces):
        pattern = _pattern("".join(parts))
        for word in WORDS:
            expected = re.fullmatch(pattern, word, re.DOTALL) is not None
            assert TESTS[Op.MATCHES](word, pattern) is expected, (parts, word)


def test_special_characters_stand_for_themselves():
    pattern = _pattern(r"(a.b)*[c]*\*d")
    assert TESTS[Op.MATCHES]("(a.b) x [c] y *d", pattern)
    assert not TESTS[Op.MATCHES]("(axb) x [c] y *d", pattern)
    assert not TESTS[Op.MATCHES]("(a.b) x [c] y d", pattern)


@pytest.mark.slow
@pytest.mark.parametrize("word", ["*a", "*?", "*a?", "*aaaaaaaaa"])
def test_time_does_not_explode_with_the_number_of_wildcards(word):
    pattern = _pattern(word * (LONGEST_WILD // len(word) - 1) + "*z")
    began = time.process_time()
    assert not TESTS[Op.MATCHES]("a" * 100_000 + "b", pattern)
    assert time.process_time() - began < 10  # a dozen wildcards took longer than the age of the universe


def test_texts_of_very_different_lengths_are_not_compared():
    began = time.process_time()
    for _ in range(100):
        assert not TESTS[Op.RESEMBLES]("a" * 100_000, ("b" * 500, 2))
    assert time.process_time() - began < 10
