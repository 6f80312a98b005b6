"""`when` of a workflow's step: a condition over text, after variable substitution. Read in linear time.

heads == heads          bare words are text
5 > 3 && 'a b' != ''    if both sides are numbers, they compare as numbers
!(a =~ "^b") || true    `=~` searches for a regular expression
"""

from __future__ import annotations

import re
from collections.abc import Callable

from chalicelib.errors import BadInput
from chalicelib.workflows import patterns

MAX_CONDITION_LENGTH = 4096
_DEEPEST = 20
_TOKEN = re.compile(
    r"""\s*(?:(?P<text>'[^']*'|"[^"]*")|(?P<mark>&&|\|\||==|!=|<=|>=|=~|!~|[<>!()])|(?P<word>[^\s'"&|=!<>()]+))"""
)
_COMPARE: dict[str, Callable[[float | str, float | str], bool]] = {
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "<": lambda left, right: left < right,  # type: ignore[operator]
    "<=": lambda left, right: left <= right,  # type: ignore[operator]
    ">": lambda left, right: left > right,  # type: ignore[operator]
    ">=": lambda left, right: left >= right,  # type: ignore[operator]
}


def holds(text: str) -> bool:
    """Whether a condition is true. Raises BadInput: it cannot be parsed, or its value is neither true nor false."""
    if len(text) > MAX_CONDITION_LENGTH:
        raise BadInput(f"when: a condition may have {MAX_CONDITION_LENGTH} characters.")
    reader = _Reader(text, _tokens(text))
    value = reader.any_of(0)
    if reader.left:
        raise reader.refusal()
    return reader.truth(value)


def _tokens(text: str) -> list[tuple[str, str]]:
    found, at, end = [], 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            raise BadInput(f"when: {text[:200]!r} cannot be read at {text[at : at + 20]!r}.")
        kind = str(match.lastgroup)
        found.append((kind, match[kind]))
        at = match.end()
    return found


class _Reader:
    """Recursive descent: or, and, not, comparison, value."""

    def __init__(self, text: str, tokens: list[tuple[str, str]]) -> None:
        self._text = text
        self.left = tokens[::-1]
        """The unread tokens, the next one last."""

    def refusal(self) -> BadInput:
        return BadInput(f"when: {self._text[:200]!r} is not a condition that is true or false.")

    def truth(self, value: float | str | bool) -> bool:
        if isinstance(value, bool):
            return value
        if value in ("true", "false"):
            return value == "true"
        raise self.refusal()

    def _mark(self, *wanted: str) -> str:
        if self.left and self.left[-1][0] == "mark" and self.left[-1][1] in wanted:
            return self.left.pop()[1]
        return ""

    def any_of(self, depth: int) -> float | str | bool:
        value = self._all_of(depth)
        while self._mark("||"):
            right = self._all_of(depth)
            value = self.truth(value) | self.truth(right)
        return value

    def _all_of(self, depth: int) -> float | str | bool:
        value = self._negation(depth)
        while self._mark("&&"):
            right = self._negation(depth)
            value = self.truth(value) & self.truth(right)
        return value

    def _negation(self, depth: int) -> float | str | bool:
        if depth > _DEEPEST:
            raise self.refusal()
        if self._mark("!"):
            return not self.truth(self._negation(depth + 1))
        return self._comparison(depth)

    def _comparison(self, depth: int) -> float | str | bool:
        left = self._value(depth)
        mark = self._mark(*_COMPARE, "=~", "!~")
        if not mark:
            return left
        right = self._value(depth)
        if mark in ("=~", "!~"):
            return (mark == "=~") == self._found(str(right), _plain(left))
        if isinstance(left, float) and isinstance(right, float):
            return _COMPARE[mark](left, right)
        return _COMPARE[mark](_plain(left), _plain(right))

    def _found(self, pattern: str, text: str) -> bool:
        try:
            return patterns.found(pattern, text)
        except patterns.PatternRefused as refusal:
            raise BadInput(f"when: {refusal}.") from None

    def _value(self, depth: int) -> float | str | bool:
        if self._mark("("):
            value = self.any_of(depth + 1)
            if not self._mark(")"):
                raise self.refusal()
            return value
        if not self.left or self.left[-1][0] == "mark":
            raise self.refusal()
        kind, text = self.left.pop()
        if kind == "text":
            return text[1:-1]
        try:
            return float(text)
        except ValueError:
            return text


def _plain(value: float | str | bool) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else value
