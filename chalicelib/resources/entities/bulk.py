"""Bulk changes of any entity: edits of attributes, and deletion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Edit
from chalicelib.core.log.edits import differences
from chalicelib.core.values.attribute_values import converter
from chalicelib.core.values.revisions import up_to_date
from chalicelib.resources.bulk.changes import BulkChange
from chalicelib.resources.bulk.service import Handler, Handlers, Note
from chalicelib.resources.entities.service import plan_removal, type_of
from chalicelib.storage.dynamodb import entities
from chalicelib.storage.dynamodb.steps import RowChange

Rewrite = Callable[[Any], Any]
"""From an entity to its changed copy; None to leave it unchanged."""


def rewrite_attributes(change: BulkChange, of: Any) -> Rewrite:
    """Apply an `edit`, `move` or `copy` to each localization, state or leaf of the type `of`."""
    merge = converter(of.attribute_types).merge
    attributes, reset, nulls = change.attributes, change.reset, change.nulls

    def rewrite(row: Any) -> Any:
        if not (attributes or reset or nulls):
            return msgspec.structs.replace(row, **change.fixed)
        row = up_to_date(row, of.revisions)
        return msgspec.structs.replace(row, attributes=merge(row.attributes, attributes, reset, nulls), **change.fixed)

    return rewrite


class RewriteRows(Handler):
    """A change of rows in place: a subclass defines the change of each row."""

    def rewrite(self, row: Any) -> Any:
        """The changed copy of a row; None to leave it unchanged."""
        raise NotImplementedError

    def edits(self, done: list[RowChange]) -> list[Edit]:
        """The entries of the change log for the rows that changed."""
        return [Edit(self.change.kind, [step.after.id for step in done], *self.change.logged)]

    def do(self, left: list[int], most: int) -> tuple[int, bool]:
        """Rewrite the rows of one part."""
        part = left[:most]
        done = []
        for row in entities.many(self.change.kind, part).values():
            after = self.rewrite(row.entity)
            if after is not None and entities.differs(row.entity, after):
                done.append(RowChange(self.change.kind, row, after))
        return self.apply(done, self.edits(done), len(part))


class EditAttributes(RewriteRows):
    """Sets attributes and built-in members."""

    def __init__(self, change: BulkChange, note: Note) -> None:
        super().__init__(change, note)
        self._rewrite = rewrite_attributes(change, type_of(change.kind, change.project, change.type))

    def rewrite(self, row: Any) -> Any:
        """The row with its new values."""
        return self._rewrite(row)

    def edits(self, done: list[RowChange]) -> list[Edit]:
        """One entry with all members that changed in any of the rows, so that the old values of each are kept."""
        pairs = [differences(step.before.entity, step.after) for step in done if step.before]
        old = {name: value for was, _ in reversed(pairs) for name, value in was.items()}
        new = {name: value for _, now in pairs for name, value in now.items()}
        olds: list[dict[str, object] | None] = [was for was, _ in pairs]
        numbers = [step.after.id for step in done]
        return [Edit(self.change.kind, numbers, old, new, olds if new and len(olds) > 1 else None)]


class Delete(Handler):
    """Deletes entities that nothing depends on."""

    def do(self, left: list[int], most: int) -> tuple[int, bool]:
        """Delete the rows of one part."""
        part = left[:most]
        done, edits = plan_removal(
            self.change.kind, self.change.project, entities.many(self.change.kind, part).values()
        )
        return self.apply(done, edits, len(part))


HANDLERS: Handlers = {
    ("delete", Kind.LEAF): Delete,
    ("edit", Kind.LOCALIZATION): EditAttributes,
    ("edit", Kind.STATE): EditAttributes,
    ("edit", Kind.LEAF): EditAttributes,
}
"""The verbs of this slice."""
