"""The history of one entity or definition: who changed what, with old and new values.

It reads the archive of commits, so it reaches back to the creation. An annotation's history is that of its element:
all marks that still exist.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from chalicelib.access import view_queries
from chalicelib.access.scope import UNRESTRICTED, Scope
from chalicelib.access.view_queries import all_rows
from chalicelib.core.kinds import DefinitionKind, Kind
from chalicelib.core.log.commits import Commit, Edit
from chalicelib.core.log.edits import of_one
from chalicelib.core.models.entities import STRUCT_OF
from chalicelib.core.resource import Resource, Timestamp
from chalicelib.errors import NotFound
from chalicelib.query.operators import Op
from chalicelib.query.tree import Test
from chalicelib.resources.events.events import definition, document_of, public_values
from chalicelib.resources.events.service import sees_definition
from chalicelib.storage.log import archive
from chalicelib.storage.objects import owners

KINDS: tuple[Kind | DefinitionKind, ...] = (*Kind, *DefinitionKind)
_GONE = ("_deleted", "_variant_deleted")


class HistoryEntry(Resource, kw_only=True):
    """One change."""

    change: Annotated[int, Meta(description="The number of its commit: `POST /rest/Restore` undoes a deletion by it.")]
    id: Annotated[int, Meta(description="The row that changed: a localization or state has a row for each mark.")]
    time: Timestamp
    user: Annotated[int | None, Meta(description="Id of the author; null for the service.")]
    action: Annotated[Literal["created", "updated", "deleted", "restored"], Meta(description="What happened.")]
    old: Annotated[dict[str, Any] | None, Meta(description="The members that changed, before; null for a creation.")]
    new: Annotated[dict[str, Any] | None, Meta(description="The same members after; null for a deletion.")]


def history(project: int, kind: Kind | DefinitionKind, number: int, scope: Scope, after: int) -> Iterator[HistoryEntry]:
    """The changes of an entity or definition after a commit, oldest first.

    Raises:
        NotFound: the caller sees no such entity or definition; also where it was purged with its history.
    """
    if isinstance(kind, DefinitionKind):
        if not sees_definition(project, kind, number, scope):
            raise NotFound.of(kind.replace("_", " ").capitalize(), number)
        return _of_definition(project, kind, number, after)
    return _of_entity(project, kind, _rows(project, kind, number, scope), after)


def _rows(project: int, kind: Kind, number: int, scope: Scope) -> set[int]:
    """The ids of an entity: for an annotation those of all marks of its element."""
    found: dict[int, Any] = {each: row for each, (row, _) in owners.get_owners(kind, [number]).items()}
    if number in found and (found[number].project != project or not scope.visible_ids(project, kind, [number])):
        raise NotFound.of(kind.capitalize(), number)
    if not found:
        if scope.hides(project):
            raise NotFound.of(kind.capitalize(), number)
        return {number}
    row = found[number]
    if not kind.is_annotation:
        return {number}
    element = Test("elemental_id", Op.EQ, row.elemental_id), Test("version", Op.EQ, row.version)
    others = view_queries.ids(view_queries.current(project), all_rows(kind, *element), UNRESTRICTED)
    return {number, *scope.visible_ids(project, kind, others)}


def _of_entity(project: int, kind: Kind, numbers: set[int], after: int) -> Iterator[HistoryEntry]:
    struct = STRUCT_OF[kind]
    for commit in archive.history(project, numbers, after):
        told: set[int] = set()
        for edit in commit.edits:
            mine = numbers.intersection(edit.ids) if edit.kind is kind else set()
            told |= mine
            if edit.new and mine:
                yield from _of_edit(commit, edit, sorted(mine), struct)
        for change in commit.changes:
            if change.kind == kind and change.id in numbers - told and not change.is_gone:
                made = public_values(msgspec.json.decode(change.doc, type=struct))
                yield _entry(commit, change.id, "created", None, made)


def _of_edit(commit: Commit, edit: Edit, numbers: list[int], struct: Any) -> Iterator[HistoryEntry]:
    if "_id" in edit.new or any(name in edit.new for name in _GONE):
        numbers = numbers[-1:]  # one change of the element, which names several of its rows
    for number in numbers:
        own = of_one(edit, number)
        is_gone = [edit.new[name] for name in _GONE if name in edit.new]
        if is_gone:
            action = "deleted" if is_gone[0] else "restored"
            yield _entry(commit, number, action, None, None)
            continue
        is_known = len(own.ids) == 1 or "_id" in edit.new
        old = document_of(struct, own.old) if is_known else None
        yield _entry(commit, number, "updated", old, document_of(struct, own.new))


def _of_definition(project: int, kind: DefinitionKind, number: int, after: int) -> Iterator[HistoryEntry]:
    for commit in archive.history(project, {number}, after):
        past = {change.id: change for change in commit.past if change.kind == kind}
        for change in commit.changes:
            if change.kind == kind and change.id == number:
                action, old, new, _ = definition(change, past.get(number))
                yield _entry(commit, number, action, old, new)


def _entry(commit: Commit, number: int, action: Any, old: Any, new: Any) -> HistoryEntry:
    return HistoryEntry(change=commit.seq, id=number, time=commit.at, user=commit.user, action=action, old=old, new=new)
