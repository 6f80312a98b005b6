"""Bulk changes of localizations and states: tombstones, pruning, and rows that move or are copied to other elements."""

from __future__ import annotations

from typing import Any

import msgspec

from chalicelib.access import view_queries
from chalicelib.access.scope import UNRESTRICTED, Scope
from chalicelib.access.view_queries import all_rows
from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Edit
from chalicelib.core.log.edits import tombstoned
from chalicelib.core.permissions import Level
from chalicelib.query.operators import Op
from chalicelib.query.tree import Test
from chalicelib.resources.annotations import reassign, tracks
from chalicelib.resources.bulk.changes import BulkChange
from chalicelib.resources.bulk.service import Handler, Handlers, Note
from chalicelib.resources.entities import bulk as entities_bulk
from chalicelib.resources.entities.bulk import RewriteRows, rewrite_attributes
from chalicelib.resources.entities.service import Writer, has_earlier, plan_removal, type_of
from chalicelib.storage.dynamodb import entities
from chalicelib.storage.dynamodb.steps import RowChange


def writer_of(change: BulkChange) -> Writer:
    """The author of a change, whose permissions were checked before the change was stored."""
    return Writer(project=change.project, user=change.user, level=Level.EDIT, scope=UNRESTRICTED)


class Tombstone(RewriteRows):
    """Turns rows into tombstones in place."""

    def check(self, scope: Scope) -> None:
        """Check the rows, and the localizations that only these states contain."""
        super().check(scope)
        check_children(self.change, scope)

    def prepare(self) -> None:
        """Delete the localizations that only these states contain."""
        delete_children(self.change)

    def rewrite(self, row: Any) -> Any:
        """The row as a tombstone."""
        return None if row.variant_deleted else msgspec.structs.replace(row, **self.change.fixed)

    def edits(self, done: list[RowChange]) -> list[Edit]:
        """One entry for the deletions, with the same old value for each: rows need not be compared to find it."""
        edit = tombstoned(self.change.kind, [step.after.id for step in done])
        return [msgspec.structs.replace(edit, olds=[edit.old] * len(done))]


class Prune(Handler):
    """Deletes rows, lower ids first; the latest remaining mark of each element becomes its latest again."""

    def order(self) -> None:
        """Sort the ids."""
        self.change.numbers.sort()

    def check(self, scope: Scope) -> None:
        """Check the rows, and the localizations that only these states contain."""
        super().check(scope)
        check_children(self.change, scope)

    def prepare(self) -> None:
        """Delete the localizations that only these states contain."""
        delete_children(self.change)

    def do(self, left: list[int], most: int) -> tuple[int, bool]:
        """Delete the rows of one part."""
        part = left[:most]
        rows = list(entities.many(self.change.kind, part).values())
        if has_earlier(rows):
            part = part[: reassign.MOST_COPIED]
            rows = [row for row in rows if row.entity.id in set(part)]
        done, edits = plan_removal(self.change.kind, self.change.project, rows)
        return self.apply(done, edits, len(part))


class Reassign(Handler):
    """Moves rows, or copies of them, to other elements."""

    def __init__(self, change: BulkChange, note: Note) -> None:
        super().__init__(change, note)
        self._moves = reassign.Moves(
            kind=change.kind,
            writer=writer_of(change),
            change=rewrite_attributes(change, type_of(change.kind, change.project, change.type)),
            logged=change.logged,
            version=change.fixed.get("version"),
            renamed="elemental_id" in change.fixed,
            staying=change.verb == "move",
            also=note,
        )

    def check(self, scope: Scope) -> None:
        """Check the rows, and the rows of their new elements."""
        super().check(scope)
        change = self.change
        view = view_queries.current(change.project)
        rows = all_rows(change.kind, Test("id", Op.IN, tuple(change.numbers)))
        found = [reassign.decode_name(each) for each in view_queries.documents(view, rows, UNRESTRICTED)]
        versions = Test("version", Op.IN, tuple({change.fixed.get("version", row.version) for row in found}))
        names = Test(
            "elemental_id", Op.IN, tuple({change.fixed.get("elemental_id", row.elemental_id) for row in found})
        )
        view_queries.check_reach(change.project, all_rows(change.kind, versions, names), scope)

    def order(self) -> None:
        """Sort rows that are the only row of their element first."""
        self.change.numbers = self._moves.order(self.change.numbers)

    def do(self, left: list[int], most: int) -> tuple[int, bool]:
        """Move or copy the rows of one batch."""
        return self._moves.next(left if self._moves.looks else left[:most], most)


def check_children(change: BulkChange, scope: Scope) -> None:
    """Raise Forbidden if the caller may not write a localization that is deleted with its state."""
    if change.children is not None:
        states = tracks.parental(change.project, change.numbers)
        within = Test("id", Op.IN, tuple(tracks.children(change.project, states)))
        view_queries.check_reach(change.project, all_rows(Kind.LOCALIZATION, within), scope)


def delete_children(change: BulkChange) -> None:
    """Delete the localizations that only the states of a change contain, if the type of the states requires it."""
    if change.children is not None:
        states = tracks.parental(change.project, change.numbers)
        tracks.delete_children(writer_of(change), states, prune=change.children == "prune")


HANDLERS: Handlers = {
    **entities_bulk.HANDLERS,
    ("copy", Kind.LOCALIZATION): Reassign,
    ("copy", Kind.STATE): Reassign,
    ("move", Kind.LOCALIZATION): Reassign,
    ("move", Kind.STATE): Reassign,
    ("prune", Kind.LOCALIZATION): Prune,
    ("prune", Kind.STATE): Prune,
    ("tombstone", Kind.LOCALIZATION): Tombstone,
    ("tombstone", Kind.STATE): Tombstone,
}
"""The verbs of this slice."""
