"""Marks: an element, named by version and elemental id, has rows numbered 0, 1, 2 ….

Readers see the last. Invariant: of the rows of an element that were not deleted, exactly the one with the highest mark
has `latest` set.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec

from chalicelib.core.models.entities import Localization, State

Annotation = Localization | State
A = TypeVar("A", bound=Annotation)
Identity = tuple[int, str]
"""A version's id and an elemental id."""


def identity(row: Any) -> Identity:
    """The element that a row belongs to."""
    return row.version, row.elemental_id


def next_mark(rows: Iterable[Any]) -> int:
    """The mark of a row that is added to those of an element."""
    return max((row.mark + 1 for row in rows), default=0)


def settled(rows: Iterable[A]) -> list[A]:
    """Changed copies of the rows of one element whose `latest` breaks the invariant."""
    ordered = sorted(rows, key=lambda row: (row.mark, row.id))
    wanted = {row.id: row is ordered[-1] for row in ordered}
    return [msgspec.structs.replace(row, latest=wanted[row.id]) for row in ordered if row.latest != wanted[row.id]]
