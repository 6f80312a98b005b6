"""Bulk changes that move rows to other elements, or create new rows.

Most rows are alone: the only row of their element, moving to an unused name. One query of the view finds all of them;
they move in the largest possible commits, each of which fails if a name is taken in the meantime. The other rows move
in smaller commits, each planned with the rows of all elements that it touches.

A `Moves` processes the next rows of a list, in one commit; `resources/bulk/service.py` calls it until all are done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, cast

import msgspec

from chalicelib.access import view_queries
from chalicelib.access.scope import UNRESTRICTED
from chalicelib.access.view_queries import all_rows
from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Edit
from chalicelib.core.log.edits import unseen
from chalicelib.core.models.marks import Identity, identity, next_mark
from chalicelib.errors import Conflict
from chalicelib.query.operators import Op
from chalicelib.query.tree import Test
from chalicelib.resources.entities.service import Writer, plan_latest_flags, rows_of
from chalicelib.storage.dynamodb import entities, ids, steps
from chalicelib.storage.dynamodb.steps import Guard, RowChange
from chalicelib.storage.dynamodb.transactions import Transaction

Change = Callable[[Any], Any]
Logged = tuple[dict[str, Any], dict[str, Any]]
ROUNDS = 4
"""How often to look again for rows that are alone after a conflict."""
MOST_MOVED = steps.MOST_STEPS - 1
"""Rows that move in one commit if each is alone; one more row records the progress of the change."""
MOST_COPIED = MOST_MOVED // 2
"""Rows that are copied in one commit: each may have another row that is no longer the latest."""


class Named(msgspec.Struct, frozen=True):
    """A row's id and the name of its element."""

    id: int
    version: int
    elemental_id: str


decode_name = msgspec.json.Decoder(Named).decode


@dataclass(kw_only=True)
class Moves:
    """One change of many rows.

    Attributes:
        kind: their kind.
        writer: the author of the change.
        change: from a row to the changed row.
        logged: the change log entry of the first row of each commit: fields before and after.
        version: the new version, if it changes.
        renamed: whether all get one elemental id.
        staying: whether the rows themselves move; otherwise copies move, and the rows keep their content.
        also: adds to each transaction, given the number of its rows.
    """

    kind: Kind
    writer: Writer
    change: Change
    logged: Logged
    version: int | None
    renamed: bool
    staying: bool
    also: Callable[[Transaction, int], None]
    _guard: Guard | None = None
    _alone: frozenset[int] = frozenset()
    _rounds: int = 0

    def order(self, numbers: Sequence[int]) -> list[int]:
        """The rows in processing order: rows that are alone first."""
        self._begin_round(numbers)
        return [
            *(each for each in numbers if each in self._alone),
            *(each for each in numbers if each not in self._alone),
        ]

    @property
    def looks(self) -> bool:
        """Whether `next` needs all remaining rows, not just the first."""
        return self._guard is None

    def next(self, numbers: Sequence[int], most: int = MOST_MOVED) -> tuple[int, bool]:
        """Process the first of the remaining rows, at most `most`.

        Returns:
            how many were processed, and whether there was anything to commit.

        Raises:
            Conflict: another request changed the rows first; nothing was changed.
            TooLarge: the commit must hold fewer rows.
        """
        if self._guard is None:
            self._begin_round(numbers)
        alone = self._first_marks(numbers, min(most, MOST_MOVED if self.staying else MOST_COPIED), alone=True)
        try:
            if alone:
                (self._move_alone if self.staying else self._copy_alone)(alone, cast("Guard", self._guard))
                self._guard = Guard(cast("Guard", self._guard).project, cast("Guard", self._guard).n + 1)
                return len(alone), True
            others = self._first_marks(
                numbers, min(most, MOST_MOVED // 3 if self.staying else MOST_COPIED), alone=False
            )
            return len(others), (self._move_some if self.staying else self._copy_some)(others)
        except Conflict:
            self._guard = None
            raise

    # --- rows that are alone ---------------------------------------------------------------------------------------

    def _first_marks(self, numbers: Sequence[int], size: int, *, alone: bool) -> Sequence[int]:
        """The first rows that are all alone, or all not alone, up to the limit."""
        first = numbers[:size]
        return list(takewhile(lambda number: (number in self._alone) == alone, first))

    def _begin_round(self, numbers: Sequence[int]) -> None:
        """Find the rows that are alone; after repeated conflicts, treat none as alone."""
        self._rounds += 1
        self._guard = steps.guard(self.writer.project)
        self._alone = frozenset(self._find_alone(numbers) if self._rounds <= ROUNDS else ())

    def _find_alone(self, numbers: Sequence[int]) -> list[int]:
        """The rows that are the only one of their element, and whose new element is empty or unchanged."""
        if self.renamed:
            return []
        view = view_queries.current(self.writer.project)
        within = Test("id", Op.IN, tuple(numbers))
        first = (Test("latest", Op.EQ, value=True), Test("mark", Op.EQ, 0))
        rows = [
            decode_name(each)
            for each in view_queries.documents(view, all_rows(self.kind, within, *first), UNRESTRICTED)
        ]
        if self.version is None:
            return [row.id for row in rows]
        names = Counter(row.elemental_id for row in rows)
        there = (Test("version", Op.EQ, self.version), Test("elemental_id", Op.IN, tuple(names)))
        taken = {
            decode_name(each).elemental_id
            for each in view_queries.documents(view, all_rows(self.kind, *there), UNRESTRICTED)
        }
        return [
            row.id
            for row in rows
            if (self.staying and row.version == self.version)
            or (names[row.elemental_id] == 1 and row.elemental_id not in taken)
        ]

    def _move_alone(self, part: Sequence[int], guard: Guard) -> None:
        rows = self._still_alone(part)
        done = [RowChange(self.kind, row, self.change(row.entity)) for row in rows]
        self._apply(done, [Edit(self.kind, [step.after.id for step in done], *self.logged)], guard, len(part))

    def _copy_alone(self, part: Sequence[int], guard: Guard) -> None:
        rows = self._still_alone(part)
        numbers = ids.reserve(self.kind, len(rows))
        done: list[RowChange] = []
        edits: list[Edit] = []
        for row, number in zip(rows, numbers, strict=True):
            copy = msgspec.structs.replace(self.change(row.entity), id=number)
            if self.version is None:
                done.append(RowChange(self.kind, row, msgspec.structs.replace(row.entity, latest=False)))
                copy = msgspec.structs.replace(copy, mark=1)
            done.append(RowChange(self.kind, None, copy))
        if self.version is None:
            edits.append(Edit(self.kind, [*part, *numbers], *self.logged))
        self._apply(done, edits, guard, len(part))

    def _still_alone(self, part: Sequence[int]) -> list[entities.Stored[Any]]:
        rows = list(entities.many(self.kind, part).values())
        if len(rows) < len(part) or not all(row.entity.latest and row.entity.mark == 0 for row in rows):
            raise Conflict("Another request changed some of these first.")
        return rows

    # --- rows among others -----------------------------------------------------------------------------------------

    def _move_some(self, part: Sequence[int]) -> bool:
        guard = steps.guard(self.writer.project)
        before = entities.many(self.kind, part)
        after = {number: self.change(row.entity) for number, row in before.items()}
        stay = {number: identity(row.entity) == identity(after[number]) for number, row in before.items()}
        elements = [*(identity(row.entity) for row in before.values()), *map(identity, after.values())]
        done: list[RowChange] = []
        flips: list[RowChange] = []
        for element, rows in rows_of(self.kind, self.writer.project, elements).items():
            others = [row for row in rows if row.entity.id not in before]
            mine = _rows_of(element, after.values())
            made = {row.id: row for row in mine if stay[row.id]}
            first = next_mark([*(row.entity for row in others), *made.values()])
            made |= _rows_from([row for row in mine if not stay[row.id]], first)
            flipped, rewritten = plan_latest_flags(self.kind, others, made.values())
            flips += flipped
            done += [RowChange(self.kind, before[number], row) for number, row in (made | rewritten).items()]
        edits = [Edit(self.kind, [step.after.id for step in done], *self.logged)] if done else []
        return self._commit(done, flips, edits, guard, len(part))

    def _copy_some(self, part: Sequence[int]) -> bool:
        guard = steps.guard(self.writer.project)
        before = list(entities.many(self.kind, part).values())
        if not before:
            return False
        numbers = ids.reserve(self.kind, len(before))
        copies = [
            msgspec.structs.replace(self.change(row.entity), id=number)
            for row, number in zip(before, numbers, strict=True)
        ]
        marks = [
            (row.entity.id, copy.id)
            for row, copy in zip(before, copies, strict=True)
            if identity(row.entity) == identity(copy)
        ]
        done: list[RowChange] = []
        flips: list[RowChange] = []
        for element, rows in rows_of(self.kind, self.writer.project, map(identity, copies)).items():
            made = _rows_from(_rows_of(element, copies), next_mark(row.entity for row in rows))
            flipped, rewritten = plan_latest_flags(self.kind, rows, made.values())
            flips += flipped
            done += [RowChange(self.kind, None, row) for row in (made | rewritten).values()]
        edits = [Edit(self.kind, [number for pair in marks for number in pair], *self.logged)] if marks else []
        return self._commit(done, flips, edits, guard, len(part))

    def _commit(
        self, done: list[RowChange], flips: list[RowChange], edits: list[Edit], guard: Guard, count: int
    ) -> bool:
        told = {number for edit in edits for number in edit.ids}
        if hidden := [step.after.id for step in flips if step.after.id not in told]:
            edits = [*edits, unseen(self.kind, hidden)]
        return self._apply([*done, *flips], edits, guard, count)

    def _apply(self, done: list[RowChange], edits: list[Edit], guard: Guard, count: int) -> bool:
        steps.apply(
            self.writer.project,
            done,
            user=self.writer.user,
            edits=edits,
            guarded=guard,
            also=lambda change: self.also(change, count),
        )
        return bool(done)


def _rows_of(element: Identity, rows: Iterable[Any]) -> list[Any]:
    return [row for row in rows if identity(row) == element]


def _rows_from(rows: Iterable[Any], first: int) -> dict[int, Any]:
    """The rows with the marks from `first` on, by id."""
    return {row.id: msgspec.structs.replace(row, mark=mark, latest=True) for mark, row in enumerate(rows, first)}
