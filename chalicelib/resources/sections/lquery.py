"""Patterns of section paths, as PostgreSQL's `lquery` writes them, matched label by label.

    a.b        the labels a and b
    *          any number of labels; `*{n}` n of them, `*{n,}` at least n, `*{,m}` at most m, `*{n,m}`
    a|b        one of several labels; `!a|b` any other label
    a@ a*      without regard to case; any label with this beginning

Adjacent stars are one, so a match takes at most (labels of the path)² steps, whatever the pattern.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate

from chalicelib.errors import BadInput

LONGEST_PATTERN = 2_000
"""Characters of a pattern."""
_STAR = re.compile(r"\*(?:\{(?:(?P<exact>\d{1,3})|(?P<low>\d{0,3}),(?P<high>\d{0,3}))\})?")
_WORD = re.compile(r"(?P<label>\w+)(?P<flags>[@%*]*)")


@dataclass(frozen=True)
class _Star:
    """Between `low` and `high` labels; any number from `low` on where `high` is None."""

    low: int
    high: int | None

    def __add__(self, other: _Star) -> _Star:
        high = None if self.high is None or other.high is None else self.high + other.high
        return _Star(self.low + other.low, high)

    def step(self, reached: list[int], labels: list[str]) -> list[int]:
        """The ends that follow from the sorted starts `reached`, sorted."""
        size = len(labels) + 1
        changes = [0] * (size + 1)  # +1 where a range of ends begins, -1 behind it
        for start in reached:
            first = min(start + self.low, size)
            changes[first] += 1
            changes[size if self.high is None else max(first, min(start + self.high + 1, size))] -= 1
        return [end for end, count in enumerate(accumulate(changes[:size])) if count]


@dataclass(frozen=True)
class _Label:
    """One label that one of the tests accepts, or that none accepts where `negated`."""

    tests: tuple[Callable[[str], bool], ...]
    negated: bool

    def step(self, reached: list[int], labels: list[str]) -> list[int]:
        """The ends that follow from the sorted starts `reached`, sorted."""
        return [start + 1 for start in reached if start < len(labels) and self._accepts(labels[start])]

    def _accepts(self, label: str) -> bool:
        return any(test(label) for test in self.tests) is not self.negated


class LabelPattern:
    """A parsed pattern. Raises BadInput: the text is not a pattern; the message names `match`."""

    def __init__(self, text: str) -> None:
        if len(text) > LONGEST_PATTERN:
            raise BadInput(f"match: a pattern may have at most {LONGEST_PATTERN} characters, not {len(text)}.")
        self._levels: list[_Star | _Label] = []
        for level in map(_level, text.split(".")):
            if isinstance(level, _Star) and self._levels and isinstance(self._levels[-1], _Star):
                self._levels[-1] += level
            else:
                self._levels.append(level)

    def matches(self, path: str) -> bool:
        """Whether the pattern matches the whole path."""
        labels = path.split(".")
        reached = [0]
        for level in self._levels:
            reached = level.step(reached, labels)
            if not reached:
                return False
        return reached[-1] == len(labels)


def _level(text: str) -> _Star | _Label:
    if star := _STAR.fullmatch(text):
        if star["exact"]:
            return _Star(int(star["exact"]), int(star["exact"]))
        low, high = int(star["low"] or 0), int(star["high"]) if star["high"] else None
        if high is not None and high < low:
            raise BadInput(f"match: {text!r}: the second number must not be below the first.")
        return _Star(low, high)
    words = [_WORD.fullmatch(word) for word in text.removeprefix("!").split("|")]
    tests = tuple(_test(word["label"], word["flags"]) for word in words if word)
    if len(tests) < len(words):
        raise BadInput(
            f"match: {text!r} is not a level. Levels are a label, `*`, `*{{n,m}}`, `a|b`, `!a`, `a@` or `a*`."
        )
    return _Label(tests, text.startswith("!"))


def _test(word: str, flags: str) -> Callable[[str], bool]:
    fold = str.lower if "@" in flags else str
    wanted = fold(word)
    if "*" in flags:
        return lambda label: fold(label).startswith(wanted)
    return lambda label: fold(label) == wanted
