"""Count the entities whose values a change of an attribute's definition would make invalid.

Their values stay as they are: they are refused when an entity is next written with them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from chalicelib.access import view_queries
from chalicelib.access.scope import UNRESTRICTED
from chalicelib.core.kinds import Kind
from chalicelib.core.values.attributes import AttributeType
from chalicelib.query.operators import Op
from chalicelib.query.tree import Compare, Query, Test, Tree, both, either
from chalicelib.storage.dynamodb import records

Effect = tuple[str, int]
"""What is no longer valid, in words, and the number of entities it is true of."""
_NUMBERS = ("int", "float")


def effects(kind: Kind | None, project: int, number: int, before: AttributeType, after: AttributeType) -> list[Effect]:
    """The effects of a change on the visible entities of a type, or on sections (`kind` None); none where all fit.

    Args:
        kind: the kind of the type's entities.
        project: the project's id.
        number: the id of the type, or of the project.
        before: the definition that entities have now.
        after: the definition after the change.
    """
    return [
        (words, found)
        for words, where, fails in _rules(before, after)
        if (found := _count(kind, project, number, where, before.name, fails))
    ]


def sentence(found: Sequence[Effect], kind: Kind | None) -> str:
    """Effects in words: `3 media have the choice 'red', 2 media have no value`."""
    noun = "section" if kind is None else kind.value
    plural = {"media": "media", "leaf": "leaves"}.get(noun, f"{noun}s")
    return " and ".join(
        f"{count} {noun if count == 1 else plural} {'has' if count == 1 else 'have'} {words}" for words, count in found
    )


class _Rule:
    """A value that is no longer valid, for sections, which the view does not have."""

    def __init__(self, *, absent: bool = False, among: Iterable[str] = (), low: Any = None, high: Any = None) -> None:
        self.absent, self.among, self.low, self.high = absent, frozenset(among), low, high

    def __call__(self, value: Any) -> bool:
        if value is None:
            return self.absent
        if isinstance(value, str):
            return value in self.among
        return (self.low is not None and value < self.low) or (self.high is not None and value > self.high)


def _rules(before: AttributeType, after: AttributeType) -> Iterator[tuple[str, Tree, _Rule]]:
    name = before.name
    if before.dtype == after.dtype == "enum":
        for choice in before.choices or ():
            if choice not in (after.choices or ()):
                yield f"the choice {choice!r}", Compare(name, "eq", choice), _Rule(among=[choice])
    if after.required and not before.required:
        yield "no value", Compare(name, "attribute_null", "true"), _Rule(absent=True)
    if before.dtype in _NUMBERS and after.dtype in _NUMBERS:
        low = after.minimum if after.minimum is not None and after.minimum != before.minimum else None
        high = after.maximum if after.maximum is not None and after.maximum != before.maximum else None
        if low is not None or high is not None:
            bounds = [
                *([Compare(name, "attribute_lt", _text(low, before.dtype, math.ceil))] if low is not None else ()),
                *([Compare(name, "attribute_gt", _text(high, before.dtype, math.floor))] if high is not None else ()),
            ]
            yield "a value outside of the new bounds", either(*bounds), _Rule(low=low, high=high)


def _text(bound: float, dtype: str, whole: Callable[[float], int]) -> str:
    return str(whole(bound)) if dtype == "int" else repr(bound)


def _count(kind: Kind | None, project: int, number: int, where: Tree, name: str, fails: _Rule) -> int:
    if kind is None:
        sections = records.definitions(project).sections.values()
        return sum(fails(section.attributes.get(name)) for section in sections)
    query = Query(kind=kind, where=both(Test("type", Op.EQ, number), where), type=number, merge=False)
    return view_queries.count(view_queries.current(project), query, UNRESTRICTED)
