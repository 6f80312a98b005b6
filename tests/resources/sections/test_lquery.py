from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.errors import BadInput
from chalicelib.resources.sections.lquery import LONGEST_PATTERN, LabelPattern

levels = st.one_of(
    st.sampled_from(["a", "b", "A@", "a*", "!a", "a|b", "!a|b*"]),
    st.just("*"),
    st.builds(lambda low, more: f"*{{{low},{low + more}}}", st.integers(0, 3), st.integers(0, 2)),
    st.builds("*{{{}}}".format, st.integers(0, 2)),
)


def expected(levels: list[str], labels: list[str]) -> bool:
    """The meaning by trying every split of the labels."""
    if not levels:
        return not labels
    first, rest = levels[0], levels[1:]
    if first.startswith("*"):
        low, high = bounds(first, len(labels))
        return any(expected(rest, labels[count:]) for count in range(low, min(high, len(labels)) + 1))
    if not labels:
        return False
    accepted = any(accepts(word, labels[0]) for word in first.removeprefix("!").split("|"))
    return accepted is not first.startswith("!") and expected(rest, labels[1:])


def bounds(star: str, most: int) -> tuple[int, int]:
    if star == "*":
        return 0, most
    low, _, high = star[2:-1].partition(",")
    return int(low), int(high or low)


def accepts(word: str, label: str) -> bool:
    if word.endswith("@"):
        return label.lower() == word[:-1].lower()
    return label.startswith(word[:-1]) if word.endswith("*") else label == word


@given(
    st.lists(levels, min_size=1, max_size=5), st.lists(st.sampled_from(["a", "b", "A", "ab"]), min_size=1, max_size=5)
)
def test_a_pattern_matches_what_trying_every_split_matches(pattern, labels):
    assert LabelPattern(".".join(pattern)).matches(".".join(labels)) == expected(pattern, labels)


@pytest.mark.parametrize("pattern", ["*.{}" * 12, "*.a.{}" * 60, "a*.*.{}" * 30, "*{{0,99}}.{}" * 90, "!zzz.*.{}" * 60])
def test_hostile_patterns_match_in_polynomial_time(pattern):
    """Each of these takes a backtracking matcher longer than the age of the universe."""
    text = pattern.replace("{}", "").replace("{{", "{").replace("}}", "}") + "zzz"
    assert not LabelPattern(text[:LONGEST_PATTERN]).matches(".".join(itertools.repeat("a", 60)))


@pytest.mark.parametrize("text", ["", "a.", "a b", "*{}", "*{x}", "*{2,1}", "*{1000}", "(", "a|", "!", "a.b" * 1000])
def test_other_text_is_refused(text):
    with pytest.raises(BadInput, match="match:"):
        LabelPattern(text)
