"""Bulk changes that bring rows into other elements, or make new rows (`spec/4` §§10.3 and 10.5).

Most rows are alone: the only row of their element, on the way to a name that nobody has. The view tells which they
are, all at once; they go in commits as large as can be, each of which fails should a name be taken in the meantime.
The others go in smaller commits, each planned among the rows of all elements it touches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from chalicelib.domain.changes import unseen
from chalicelib.domain.commits import Edit
from chalicelib.domain.kinds import Kind
from chalicelib.domain.marks import Identity, identity, next_mark
from chalicelib.errors import Conflict
from chalicelib.query.operators import Op
from chalicelib.query.tree import Test
from chalicelib.services import asking
from chalicelib.services.annotations import Writer, all_rows, rows_of, settling
from chalicelib.storage import entities, ids, steps
from chalicelib.storage.steps import Guard, Step

Change = Callable[[Any], Any]
Told = tuple[dict[str, Any], dict[str, Any]]
ROUNDS = 4
"""How often those that are alone are looked for again after somebody was faster."""


class Named(msgspec.Struct, frozen=True):
    """A row's id and what names its element."""

    id: int
    version: int
    elemental_id: str


_decode = msgspec.json.Decoder(Named).decode


def parts(numbers: Sequence[int], size: int) -> list[Sequence[int]]:
    """The ids in pieces of at most a size."""
    return [numbers[start : start + size] for start in range(0, len(numbers), size)]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One change of many rows.

    Attributes:
        kind: their kind; writer: who changes them.
        change: from a row to the changed row.
        told: what the change log says of each: fields before and after, of the first of them.
        version: the version they come to, where that changes.
        renamed: whether all get one elemental id.
    """

    kind: Kind
    writer: Writer
    change: Change
    told: Told
    version: int | None
    renamed: bool

    def move(self, numbers: Sequence[int]) -> None:
        """Change the rows themselves; each is the latest mark of the element it comes into."""
        left = self._alone(numbers, self._move_alone, steps.LARGEST, staying=True)
        for part in parts(left, steps.LARGEST // 3):
            steps.again(lambda part=part: self._move_some(part))  # type: ignore[misc]

    def copy(self, numbers: Sequence[int]) -> None:
        """Make changed copies, each the latest mark of its element; the originals keep their content."""
        left = self._alone(numbers, self._copy_alone, steps.LARGEST // 2, staying=False)
        for part in parts(left, steps.LARGEST // 2):
            steps.again(lambda part=part: self._copy_some(part))  # type: ignore[misc]

    # --- rows that are alone ---------------------------------------------------------------------------------------

    def _alone(
        self, numbers: Sequence[int], do: Callable[[Sequence[int], Guard], None], size: int, *, staying: bool
    ) -> list[int]:
        """Do all rows that are alone; returns the others."""
        left = list(numbers)
        for _ in range(ROUNDS):
            guard = steps.guard(self.writer.project)
            alone = self._find_alone(left, staying=staying)
            done: set[int] = set()
            try:
                for part in parts(alone, size):
                    do(part, guard)
                    guard = Guard(guard.project, guard.n + 1)
                    done.update(part)
            except Conflict:
                left = [number for number in left if number not in done]
            else:
                return [number for number in left if number not in done]
        return left

    def _find_alone(self, numbers: Sequence[int], *, staying: bool) -> list[int]:
        """Those of the rows that are the only one of their element, and come into one that has none (or stay there)."""
        if self.renamed:
            return []
        view = asking.current(self.writer.project)
        within = Test("id", Op.IN, tuple(numbers))
        first = (Test("latest", Op.EQ, value=True), Test("mark", Op.EQ, 0))
        rows = [_decode(each) for each in asking.documents(view, all_rows(self.kind, within, *first))]
        if self.version is None:
            return [row.id for row in rows]
        names = Counter(row.elemental_id for row in rows)
        there = (Test("version", Op.EQ, self.version), Test("elemental_id", Op.IN, tuple(names)))
        taken = {_decode(each).elemental_id for each in asking.documents(view, all_rows(self.kind, *there))}
        return [
            row.id
            for row in rows
            if (staying and row.version == self.version)
            or (names[row.elemental_id] == 1 and row.elemental_id not in taken)
        ]

    def _move_alone(self, part: Sequence[int], guard: Guard) -> None:
        rows = self._still_alone(part)
        done = [Step(self.kind, row, self.change(row.entity)) for row in rows]
        edits = [Edit(self.kind, [step.after.id for step in done], *self.told)]
        steps.apply(self.writer.project, done, user=self.writer.user, edits=edits, guarded=guard)

    def _copy_alone(self, part: Sequence[int], guard: Guard) -> None:
        rows = self._still_alone(part)
        numbers = ids.reserve(self.kind, len(rows))
        done: list[Step] = []
        edits: list[Edit] = []
        for row, number in zip(rows, numbers, strict=True):
            copy = msgspec.structs.replace(self.change(row.entity), id=number)
            if self.version is None:
                done.append(Step(self.kind, row, msgspec.structs.replace(row.entity, latest=False)))
                copy = msgspec.structs.replace(copy, mark=1)
            done.append(Step(self.kind, None, copy))
        if self.version is None:
            edits.append(Edit(self.kind, [*part, *numbers], *self.told))
        steps.apply(self.writer.project, done, user=self.writer.user, edits=edits, guarded=guard)

    def _still_alone(self, part: Sequence[int]) -> list[entities.Stored[Any]]:
        rows = list(entities.many(self.kind, part).values())
        if len(rows) < len(part) or not all(row.entity.latest and row.entity.mark == 0 for row in rows):
            raise Conflict("Somebody else changed some of these first.")
        return rows

    # --- rows among others -----------------------------------------------------------------------------------------

    def _move_some(self, part: Sequence[int]) -> None:
        guard = steps.guard(self.writer.project)
        before = entities.many(self.kind, part)
        after = {number: self.change(row.entity) for number, row in before.items()}
        stay = {number: identity(row.entity) == identity(after[number]) for number, row in before.items()}
        elements = [*(identity(row.entity) for row in before.values()), *map(identity, after.values())]
        done: list[Step] = []
        flips: list[Step] = []
        for element, rows in rows_of(self.kind, self.writer.project, elements).items():
            others = [row for row in rows if row.entity.id not in before]
            mine = _of(element, after.values())
            made = {row.id: row for row in mine if stay[row.id]}
            first = next_mark([*(row.entity for row in others), *made.values()])
            made |= _numbered([row for row in mine if not stay[row.id]], first)
            flipped, rewritten = settling(self.kind, others, made.values())
            flips += flipped
            done += [Step(self.kind, before[number], row) for number, row in (made | rewritten).items()]
        edits = [Edit(self.kind, [step.after.id for step in done], *self.told)] if done else []
        self._commit(done, flips, edits, guard)

    def _copy_some(self, part: Sequence[int]) -> None:
        guard = steps.guard(self.writer.project)
        before = list(entities.many(self.kind, part).values())
        if not before:
            return
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
        done: list[Step] = []
        flips: list[Step] = []
        for element, rows in rows_of(self.kind, self.writer.project, map(identity, copies)).items():
            made = _numbered(_of(element, copies), next_mark(row.entity for row in rows))
            flipped, rewritten = settling(self.kind, rows, made.values())
            flips += flipped
            done += [Step(self.kind, None, row) for row in (made | rewritten).values()]
        edits = [Edit(self.kind, [number for pair in marks for number in pair], *self.told)] if marks else []
        self._commit(done, flips, edits, guard)

    def _commit(self, done: list[Step], flips: list[Step], edits: list[Edit], guard: Guard) -> None:
        told = {number for edit in edits for number in edit.ids}
        if hidden := [step.after.id for step in flips if step.after.id not in told]:
            edits = [*edits, unseen(self.kind, hidden)]
        steps.apply(self.writer.project, [*done, *flips], user=self.writer.user, edits=edits, guarded=guard)


def _of(element: Identity, rows: Iterable[Any]) -> list[Any]:
    return [row for row in rows if identity(row) == element]


def _numbered(rows: Iterable[Any], first: int) -> dict[int, Any]:
    """The rows with the marks from `first` on, by id."""
    return {row.id: msgspec.structs.replace(row, mark=mark, latest=True) for mark, row in enumerate(rows, first)}
