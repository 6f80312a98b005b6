"""Atomic changes of several rows that depend on each other: the marks of an element, a track and its members.

Callers read the rows, make a `Step` of each, and pass them to `apply`, which writes all or none, with one commit.
`again` retries from fresh reads where another writer was faster:

    def attempt() -> Localization:
        newest = entities.get_stored(kind, number)
        ...
        steps.apply(project, [Step(kind, newest, retired), Step(kind, None, made)], user=caller.id)
        return made

    return steps.retry_on_conflict(attempt)

    elements#<project>   in the counters: the number of commits that created elements named by clients, or moved leaves
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import GONE, Change, Edit, Touched
from chalicelib.core.log.edits import touched, with_olds
from chalicelib.core.models.entities import Entity
from chalicelib.core.time.retry import CONFLICTS
from chalicelib.errors import Conflict
from chalicelib.storage.dynamodb import entities
from chalicelib.storage.dynamodb.entities import Stored
from chalicelib.storage.dynamodb.tables import CounterRow
from chalicelib.storage.dynamodb.transactions import TooLarge, Transaction

T = TypeVar("T")

MOST_STEPS = 98
"""Most steps of one `apply`: a transaction also holds the commit and a guard."""
MOST_REWRITTEN = 90
"""Most rewrites that are part of one `create`."""
_encoder = msgspec.json.Encoder()


class RowChange(msgspec.Struct, frozen=True):
    """The change of one row: a creation without `before`, a deletion without `after`, else a rewrite."""

    kind: Kind
    before: Stored[Any] | None
    after: Any


@dataclass(frozen=True)
class Guard:
    """The number of a project's commits that created elements named by clients, moved leaves, or changed bases."""

    project: int
    n: int


def guard(project: int) -> Guard:
    """Take it before checking whether an element exists; pass it to `create` or `apply` where it does not.

    Of two writers that both found a name free and both use it, the second gets a Conflict.
    """
    return Guard(project, CounterRow.value(f"elements#{project}"))


def retry_on_conflict(attempt: Callable[[], T]) -> T:
    """The result of an attempt, retried while another writer is faster.

    Raises:
        Conflict: every attempt lost against another writer; nothing was changed.
    """
    return CONFLICTS.call(attempt, Conflict)


def in_parts(numbers: Sequence[int], do: Callable[[Sequence[int]], None]) -> None:
    """Apply a function to many items in order, in parts; a part is retried while another writer is faster.

    Raises:
        Conflict: every attempt at one part lost against another writer; the parts before it are done.
    """
    as_large(numbers, lambda part: retry_on_conflict(lambda: do(part)), MOST_STEPS)


def as_large(things: Sequence[T], do: Callable[[Sequence[T]], None], most: int) -> None:
    """Apply a function to many items in order, in parts as large as a transaction takes.

    Raises:
        TooLarge: one item alone is too large; the parts before it are done. The same holds for other errors of `do`.
    """
    start = 0
    while start < len(things):
        part = things[start : start + most]
        try:
            do(part)
        except TooLarge:
            if len(part) == 1:
                raise
            most = len(part) // 2
        else:
            start += len(part)


def apply(
    project: int,
    steps: Sequence[RowChange],
    *,
    user: int | None,
    edits: list[Edit],
    guarded: Guard | None = None,
    also: Callable[[Transaction], None] | None = None,
) -> None:
    """Write at most `LARGEST` steps atomically with one commit; rows that `also` adds count, too.

    Raises:
        Conflict: a row changed since it was read, or elements were created since the guard was taken.
    """
    if not steps:
        return
    change = Transaction()
    changes = [_add(change, step) for step in steps]
    pairs: dict[Kind, dict[int, tuple[Any, Any]]] = {}
    for step in steps:
        row: Any = step.before.entity if step.before else None
        pairs.setdefault(step.kind, {})[(step.after or row).id] = (row, step.after)
    edits = [with_olds(edit, pairs.get(edit.kind, {})) for edit in edits]
    add_guard(change, guarded)
    if also:
        also(change)
    change.log(project, user, changes, edits, _past(steps), _find_touched(steps))
    change.run()


def _find_touched(steps: Sequence[RowChange]) -> Touched | None:
    """What rewrites of one kind change, so that views write no other columns (decision 315); None for other steps."""
    if len({step.kind for step in steps}) > 1:
        return None
    pairs = [(step.before.entity, step.after) for step in steps if step.before and step.after is not None]
    return touched(pairs) if len(pairs) == len(steps) else None


def _past(steps: Sequence[RowChange]) -> list[Change]:
    """The documents of the rows that steps delete."""
    gone = ((step.kind, step.before.entity) for step in steps if step.before and step.after is None)
    return [Change(kind, row.id, msgspec.Raw(_encoder.encode(row))) for kind, row in gone]


def create(
    kind: Kind,
    created: Sequence[Entity],
    *,
    user: int | None,
    rewritten: Sequence[RowChange],
    edits: list[Edit],
    guarded: Guard | None = None,
) -> None:
    """Store new entities as `entities.create` does, with at most `MOST_REWRITTEN` other steps in the same commit.

    Raises:
        Conflict: as for `apply`; nothing was created.
    """

    def also(change: Transaction) -> list[Change]:
        add_guard(change, guarded)
        return [_add(change, step) for step in rewritten]

    entities.create(kind, created, user=user, edits=edits, also=also)


def _add(change: Transaction, step: RowChange) -> Change:
    if step.after is None:
        if step.before is None:
            raise AssertionError("A step is before or after.")
        entities.tombstone(change, step.kind, step.before)
        return Change(step.kind, step.before.entity.id, GONE)
    doc = _encoder.encode(step.after)
    if step.before is None:
        entities.insert(change, step.kind, step.after, doc)
    else:
        entities.rewrite(change, step.kind, step.before, step.after, doc)
    return Change(step.kind, step.after.id, msgspec.Raw(doc))


def add_guard(change: Transaction, guarded: Guard | None) -> None:
    """Make a transaction fail with Conflict where another one has had the project's guard since this was taken."""
    if guarded is None:
        return
    row = CounterRow(f"elements#{guarded.project}", "@", n=guarded.n + 1)
    unmoved = CounterRow.n == guarded.n if guarded.n else CounterRow.pk.does_not_exist()
    change.put(row, unmoved, Conflict("Another request created or moved some of these at the same time."))
