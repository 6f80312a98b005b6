"""Regular expressions of conditions, searched in time proportional to pattern times text.

Python's own search backtracks, which takes exponential time for `a?a?a?…aaa`. Here a pattern is compiled into states,
and a text is read once with the set of possible states. Groups, alternatives, classes, repetitions and anchors are
supported, as in Go's expressions, which Argo uses. References and assertions are not: they cannot be searched this way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

MAX_PATTERN_CHARACTERS = 200
MOST_STATES = 2_000
_CATEGORIES = {
    _constants.CATEGORY_DIGIT: r"\d",
    _constants.CATEGORY_NOT_DIGIT: r"\D",
    _constants.CATEGORY_SPACE: r"\s",
    _constants.CATEGORY_NOT_SPACE: r"\S",
    _constants.CATEGORY_WORD: r"\w",
    _constants.CATEGORY_NOT_WORD: r"\W",
}
_NAMED_CLASS = re.compile(r"\[:\^?\w+:\]")
_STARTS = (_constants.AT_BEGINNING, _constants.AT_BEGINNING_STRING)
_ENDS = (_constants.AT_END, _constants.AT_END_STRING)


class PatternRefused(ValueError):
    """A pattern that cannot be parsed, or has an unsupported element; the message says which."""


@dataclass(slots=True)
class _State:
    """A state: `takes` a character and continues, or continues without one, optionally only at the start or end."""

    takes: Callable[[str], bool] | None = None
    at: str = ""
    next: list[int] = field(default_factory=list)


def found(pattern: str, text: str) -> bool:
    """Whether a pattern occurs in a text. Raises PatternRefused."""
    states = _compiled(pattern)
    last = len(text)
    current: set[int] = set()
    for index in range(last + 1):
        _reach(states, [0, *current], current, at_start=index == 0, at_end=index == last)
        if 1 in current:
            return True
        if index < last:
            character = text[index]
            moved: set[int] = set()
            for number in current:
                takes = states[number].takes
                if takes is not None and takes(character):
                    moved.update(states[number].next)
            current = moved
    return False


def _reach(states: list[_State], begin: Iterable[int], reached: set[int], *, at_start: bool, at_end: bool) -> None:
    """Add to `reached` the states that can be reached without a character."""
    waiting = list(begin)
    seen = set()
    while waiting:
        number = waiting.pop()
        if number in seen:
            continue
        seen.add(number)
        reached.add(number)
        state = states[number]
        if state.takes is None and (not state.at or (at_start if state.at == "start" else at_end)):
            waiting.extend(state.next)


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> list[_State]:
    """The states of a pattern: 0 begins, 1 is the match."""
    if len(pattern) > MAX_PATTERN_CHARACTERS:
        raise PatternRefused(f"a pattern may have {MAX_PATTERN_CHARACTERS} characters")
    if _NAMED_CLASS.search(pattern):  # Python reads it as a set of these characters
        raise PatternRefused("classes such as [:alpha:] are not supported in patterns; write a-zA-Z")
    try:
        tree = _parser.parse(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise PatternRefused(f"{pattern[:100]!r} is not a regular expression: {error}") from None
    if tree.state.flags & (re.IGNORECASE | re.MULTILINE | re.DOTALL | re.VERBOSE):
        raise PatternRefused("flags within a pattern are not supported")
    compiler = _Compiler()
    compiler.sequence(tree, 0, 1)
    return compiler.states


class _Compiler:
    def __init__(self) -> None:
        self.states = [_State(), _State()]

    def _add(self, **more: Any) -> int:
        if len(self.states) >= MOST_STATES:
            raise PatternRefused(f"a pattern may expand to {MOST_STATES} states")
        self.states.append(_State(**more))
        return len(self.states) - 1

    def sequence(self, items: Any, start: int, end: int) -> None:
        """Connect one state to another through a sequence."""
        for operation, argument in items:
            middle = self._add()
            self._one(operation, argument, start, middle)
            start = middle
        self.states[start].next.append(end)

    def _one(self, operation: Any, argument: Any, start: int, end: int) -> None:
        match operation:
            case _constants.BRANCH:
                for option in argument[1]:
                    inner = self._add()
                    self.states[start].next.append(inner)
                    self.sequence(option, inner, end)
            case _constants.SUBPATTERN:
                if argument[1] or argument[2]:
                    raise PatternRefused("flags within a pattern are not supported")
                self.sequence(argument[3], start, end)
            case _constants.MAX_REPEAT | _constants.MIN_REPEAT:
                least, most, inner_items = argument
                self._repeat(least, most, inner_items, start, end)
            case _constants.AT:
                if argument not in (*_STARTS, *_ENDS):
                    raise PatternRefused("word boundaries are not supported in patterns")
                where = "start" if argument in _STARTS else "end"
                self.states[start].next.append(self._add(at=where, next=[end]))
            case _:
                self.states[start].next.append(self._add(takes=_taker(operation, argument), next=[end]))

    def _repeat(self, least: int, most: Any, items: Any, start: int, end: int) -> None:
        for _ in range(least):
            middle = self._add()
            self.sequence(items, start, middle)
            start = middle
        if most is _constants.MAXREPEAT:
            loop = self._add(next=[end])
            self.states[start].next.append(loop)
            again = self._add()
            self.states[loop].next.append(again)
            self.sequence(items, again, loop)
            return
        for _ in range(most - least):
            self.states[start].next.append(end)
            middle = self._add()
            self.sequence(items, start, middle)
            start = middle
        self.states[start].next.append(end)


def _taker(operation: Any, argument: Any) -> Callable[[str], bool]:
    """A predicate for the characters that an item matches."""
    match operation:
        case _constants.LITERAL:
            return lambda character: ord(character) == argument
        case _constants.NOT_LITERAL:
            return lambda character: ord(character) != argument
        case _constants.ANY:
            return lambda character: character != "\n"
        case _constants.IN:
            negated = argument[0][0] is _constants.NEGATE
            options = [_option(*item) for item in argument[negated:]]
            return lambda character: any(option(character) for option in options) != negated
        case _:
            raise PatternRefused(f"{str(operation).lower()} is not supported in patterns")


def _option(operation: Any, argument: Any) -> Callable[[str], bool]:
    match operation:
        case _constants.RANGE:
            low, high = argument
            return lambda character: low <= ord(character) <= high
        case _constants.CATEGORY:
            expression = re.compile(_CATEGORIES[argument], re.ASCII)  # as in Go
            return lambda character: expression.match(character) is not None
        case _:
            return _taker(operation, argument)
