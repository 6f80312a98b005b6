"""Bulk changes that are undone: attributes and layers of annotations get the values that they had before.

A row whose values were changed since stays as it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Commit, Edit
from chalicelib.core.log.edits import changed, of_one
from chalicelib.core.models.definitions import Definitions
from chalicelib.core.values.revisions import up_to_date
from chalicelib.errors import Gone
from chalicelib.resources.annotations.bulk import Reassign
from chalicelib.resources.bulk.changes import BulkChange
from chalicelib.resources.bulk.service import Handlers, Note
from chalicelib.resources.entities.bulk import RewriteRows
from chalicelib.resources.entities.service import Writer, type_of
from chalicelib.storage.dynamodb import entities
from chalicelib.storage.dynamodb.steps import RowChange

LAYER = "_version"
_BY_THE_WAY = frozenset({"_modified_by", "_created_by"})
"""Members of entries that are no values to return to: authors."""


class Before(Struct):
    """What a row had before some changes, and what they gave it: attributes by name, the layer as `_version`."""

    old: dict[str, Any]
    new: dict[str, Any]


Values = defaultdict[tuple[Kind, int], Before]


def values_of(commits: Iterable[Commit]) -> Values:
    """The values before and after some commits (oldest first), of the rows whose attributes or layer changed."""
    found: Values = defaultdict(lambda: Before({}, {}))
    for commit in commits:
        for edit in commit.edits:
            if edit.kind.is_annotation and _is_reversible(edit):
                for number in edit.ids:
                    before, one = found[edit.kind, number], of_one(edit, number)
                    for name in one.new.keys() - _BY_THE_WAY:
                        before.old.setdefault(name, one.old[name])
                        before.new[name] = one.new[name]
    return found


def _is_reversible(edit: Edit) -> bool:
    names = edit.new.keys() - _BY_THE_WAY
    return bool(names) and all(name == LAYER or not name.startswith("_") for name in names)


def plan(writer: Writer, values: Values, definitions: Definitions) -> tuple[list[BulkChange], int]:
    """The bulk changes that undo others, and how many rows stay because they were changed since.

    Raises:
        Gone: the layer to return to was deleted.
    """
    groups: defaultdict[tuple[Kind, int, int | None], dict[int, Before]] = defaultdict(dict)
    skipped = 0
    for kind in (Kind.LOCALIZATION, Kind.STATE):
        wanted = {number: before for (of, number), before in values.items() if of is kind}
        for row in _rows(kind, wanted):
            before = wanted[row.id]
            if row.project != writer.project or not _is_as_left(row, before, definitions, kind):
                continue
            layer = before.old.get(LAYER)
            if layer is not None and layer not in definitions.versions:
                raise Gone(f"The {kind} {row.id} cannot return: its version was deleted.")
            groups[kind, row.type, layer][row.id] = before
        skipped += len(wanted) - sum(len(rows) for (of, _, _), rows in groups.items() if of is kind)
    changes = []
    for (kind, type_, layer), rows in groups.items():
        fixed = writer.authorship() | ({} if layer is None else {"version": layer})
        logged = ({}, {}) if layer is None else ({LAYER: next(iter(rows.values())).new[LAYER]}, {LAYER: layer})
        verb = "undo" if layer is None else "return"
        numbers = {number: msgspec.structs.asdict(before) for number, before in rows.items()}
        changes.append(writer.bulk_change(kind, verb, rows, type=type_, fixed=fixed, logged=logged, values=numbers))
    return changes, skipped


def _rows(kind: Kind, numbers: Mapping[int, Before]) -> Iterator[Any]:
    order = sorted(numbers)
    for start in range(0, len(order), entities.ROWS_A_READ):
        part = order[start : start + entities.ROWS_A_READ]
        yield from (row.entity for row in entities.many(kind, part).values())


def _is_as_left(row: Any, before: Before, definitions: Definitions, kind: Kind) -> bool:
    """Whether a row still has the values that a change gave it, those of attributes that there are still."""
    of = definitions.types(kind).get(row.type)
    if of is None or not row.latest or row.variant_deleted:
        return False
    current = up_to_date(row, of.revisions)
    return all(
        row.version == value if name == LAYER else current.attributes.get(name) == value
        for name, value in before.new.items()
        if name == LAYER or of.attribute(name) is not None
    )


def _rewriter(change: BulkChange) -> Callable[[Any], Any]:
    """From a row to the row with its earlier attributes, and in its earlier layer."""
    of = type_of(change.kind, change.project, change.type)

    def rewrite(row: Any) -> Any:
        row = up_to_date(row, of.revisions)
        old = change.values[row.id]["old"]
        earlier = {name: value for name, value in old.items() if name != LAYER and of.attribute(name) is not None}
        return msgspec.structs.replace(row, attributes={**row.attributes, **earlier}, **change.fixed)

    return rewrite


class Undo(RewriteRows):
    """Sets attributes to what they were."""

    def __init__(self, change: BulkChange, note: Note) -> None:
        super().__init__(change, note)
        self._rewrite = _rewriter(change)

    def rewrite(self, row: Any) -> Any:
        """The row with its earlier attributes."""
        return self._rewrite(row)

    def edits(self, done: list[RowChange]) -> list[Edit]:
        """One entry for each row: their values differ."""
        return [changed(self.change.kind, step.before.entity, step.after) for step in done if step.before]


class Return(Reassign):
    """Moves rows back to their layer, with their earlier attributes."""

    def __init__(self, change: BulkChange, note: Note) -> None:
        super().__init__(change, note)
        self._moves.change = _rewriter(change)
        self._moves.staying = True


HANDLERS: Handlers = {
    **{("undo", kind): Undo for kind in (Kind.LOCALIZATION, Kind.STATE)},
    **{("return", kind): Return for kind in (Kind.LOCALIZATION, Kind.STATE)},
}
"""The verbs that undo changes of values."""
