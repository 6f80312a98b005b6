"""How many steps a regular expression takes on a text, by a matcher that backtracks as Python's does and counts.

Steps do not depend on the machine or on what else it does, as seconds do. Characters, classes and positions are tested
by the compiled items of the expression itself; choices and repeats are walked here, in the order of `re`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from re import _compiler, _parser  # type: ignore[attr-defined]
from typing import Any

Continue = Callable[[int], int | None]
_DEEPEST = 100_000
_CHARACTERS = {"LITERAL", "NOT_LITERAL", "ANY", "IN"}
_ATOMIC = {"POSSESSIVE_REPEAT", "ATOMIC_GROUP"}


class TooManySteps(Exception):
    """The match took more steps than were allowed."""


class Steps:
    """An expression, with the steps that it took on the last text."""

    def __init__(self, pattern: re.Pattern[Any], most: float = float("inf")) -> None:
        self._tree = _parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
        self._flags = pattern.flags
        self._compiled: dict[Any, Any] = {}
        self._most = most
        self.taken = 0

    def run(self, method: str, text: Any) -> int:
        """The steps of a method of the expression on a text. Raises TooManySteps."""
        self._text, self.taken, self._groups = text, 0, dict[int, tuple[int, int]]()
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(_DEEPEST)
        try:
            if method in ("match", "fullmatch"):
                whole = method == "fullmatch"
                self._sequence(self._tree, 0, 0, lambda at: at if not whole or at == len(text) else None)
            else:
                self._scan(repeats=method != "search")
        finally:
            sys.setrecursionlimit(before)
        return self.taken

    def _scan(self, *, repeats: bool) -> None:
        start = 0
        while start <= len(self._text):
            end = self._sequence(self._tree, 0, start, lambda at: at)
            if end is not None and not repeats:
                return
            start = start + 1 if end is None else max(end, start + 1)

    def _step(self, count: int = 1) -> None:
        self.taken += count
        if self.taken > self._most:
            raise TooManySteps

    def _test(self, item: Any, key: Any = None) -> Any:
        """One item of the tree as an expression of its own."""
        key = key or id(item)
        if (found := self._compiled.get(key)) is None:
            single = _parser.SubPattern(self._tree.state, [item])
            found = self._compiled[key] = _compiler.compile(single, self._flags)
        return found

    def _sequence(  # noqa: PLR0911 a case for each kind of item
        self, items: Any, index: int, at: int, then: Continue
    ) -> int | None:
        if index == len(items):
            return then(at)
        self._step()
        item = items[index]
        name, value = str(item[0]), item[1]
        rest: Continue = lambda position: self._sequence(items, index + 1, position, then)  # noqa: E731
        if name in _CHARACTERS or name == "AT":
            found = self._test(item).match(self._text, at)
            return None if found is None else rest(found.end())
        if name == "BRANCH":
            return self._first(value[1], at, rest)
        if name == "SUBPATTERN":
            return self._group(value, at, rest)
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            return self._repeat(value, at, rest, is_greedy=name == "MAX_REPEAT")
        if name in _ATOMIC:
            end = self._whole(name, value, at)
            return None if end is None else rest(end)
        if name in ("ASSERT", "ASSERT_NOT"):
            return rest(at) if self._looks(value, at) is (name == "ASSERT") else None
        if name == "GROUPREF":
            start, end = self._groups.get(value, (0, 0))
            part = self._text[start:end]
            return rest(at + len(part)) if self._text[at : at + len(part)] == part else None
        raise NotImplementedError(name)

    def _first(self, branches: Any, at: int, rest: Continue) -> int | None:
        for branch in branches:
            if (end := self._sequence(branch, 0, at, rest)) is not None:
                return end
        return None

    def _group(self, value: Any, at: int, rest: Continue) -> int | None:
        number, _, _, inner = value

        def leave(end: int) -> int | None:
            if number is not None:
                self._groups[number] = (at, end)
            return rest(end)

        return self._sequence(inner, 0, at, leave)

    def _repeat(self, value: Any, at: int, rest: Continue, *, is_greedy: bool) -> int | None:
        least, most, inner = value
        if len(inner) == 1 and str(inner[0][0]) in _CHARACTERS:
            return self._repeat_character(least, most, inner[0], at, rest, is_greedy=is_greedy)

        def again(count: int, position: int, before: int) -> int | None:
            self._step()
            more: Callable[[], int | None] = lambda: (  # noqa: E731
                self._sequence(inner, 0, position, lambda end: again(count + 1, end, position))
                if count < most and (count < least or position != before)
                else None
            )
            if count < least:
                return more()
            first, second = (more, lambda: rest(position)) if is_greedy else (lambda: rest(position), more)
            end = first()
            return second() if end is None else end

        return again(0, at, -1)

    def _repeat_character(
        self, least: int, most: int, item: Any, at: int, rest: Continue, *, is_greedy: bool
    ) -> int | None:
        single = _parser.SubPattern(self._tree.state, [item])
        run = self._test((_parser.POSSESSIVE_REPEAT, (0, most, single)), key=(id(item), most))
        count = run.match(self._text, at).end() - at
        self._step(count)
        lengths = range(least, count + 1)
        for length in reversed(lengths) if is_greedy else lengths:
            self._step()
            if (end := rest(at + length)) is not None:
                return end
        return None

    def _whole(self, name: str, value: Any, at: int) -> int | None:
        """The end of what is taken once and given back never."""
        if name == "ATOMIC_GROUP":
            return self._sequence(value, 0, at, lambda end: end)
        least, most, inner = value
        count = 0
        while count < most and (end := self._sequence(inner, 0, at, lambda end: end)) is not None:
            count += 1
            if end == at:
                break
            at = end
        return at if count >= least or count == most else None

    def _looks(self, value: Any, at: int) -> bool:
        direction, inner = value
        start = at if direction > 0 else at - inner.getwidth()[0]
        return start >= 0 and self._sequence(inner, 0, start, lambda end: end) is not None
