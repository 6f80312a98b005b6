"""Change logs, read from the commits of a project's log.

The edits of a commit describe changes of the entities that they name. An entity that a commit changes, that none of its
edits names, and that no earlier commit has, was created by the commit, which holds its first values. If an earlier
commit has it, the service changed it without a description, for example by an import. An edit without members names
changes that no reader sees.

Commits that a snapshot has replaced keep the data needed here, their edits and the after-images that no edit names, in
the archive (`storage/log/archive.py`); a query for one entity reads only its part.

Entities of a deleted type or version have an entry of its commit until their rows are deleted (`unburied`), which then
have their own.

An entry's id is that of its first part, and has the number of its commit in it: a page begins at the commit of the last
entry before it, whose parts are merged again.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping

import msgspec
from msgspec import Struct

from chalicelib.access import view_queries
from chalicelib.access.scope import Scope
from chalicelib.access.view_queries import all_rows
from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Commit, Edit
from chalicelib.core.log.edits import first_values
from chalicelib.core.models.entities import STRUCT_OF
from chalicelib.core.resource import Timestamp
from chalicelib.resources.change_logs import unburied
from chalicelib.resources.change_logs.schemas import ChangeLog, describe_change
from chalicelib.storage.log import archive

LOGGED = (Kind.MEDIA, Kind.LOCALIZATION, Kind.STATE, Kind.LEAF)
NUMBERS_A_COMMIT = 10_000
"""Entry ids start at the commit's number times this, which exceeds the entries of any commit."""
_BULK = 90
"""An edit of at least this many entities is part of a bulk request, whose parts follow each other."""


class ChangeLogFilter(Struct, frozen=True, kw_only=True):
    """The requested author and entities; None for all."""

    user: int | None = None
    entity: int | None = None
    kind: Kind | None = None
    after: int = 0
    """The id of an entry: later ones only."""
    since: Timestamp | None = None
    before: Timestamp | None = None
    """Times of the commits: from, and before."""


class _Entry(Struct, kw_only=True):
    number: int
    commit: Commit
    edit: Edit


def list_changes(project: int, wanted: ChangeLogFilter, scope: Scope) -> Iterator[ChangeLog]:
    """The requested changes, oldest first, of entities that the caller may see."""
    visible = _visible(project, scope)
    about = None if wanted.entity is None else {wanted.entity}
    commits = archive.history(project, about, after=max(wanted.after // NUMBERS_A_COMMIT - 1, 0))
    entries = heapq.merge(
        _entries(commits, wanted, visible), _list_unburied(project, wanted, visible), key=lambda entry: entry.number
    )
    for entry in entries if wanted.entity is not None else _merge(entries):
        if entry.number <= wanted.after:
            continue
        yield ChangeLog(
            id=entry.number,
            project=project,
            user=entry.commit.user,
            modified_datetime=entry.commit.at,
            description_of_change=describe_change(entry.edit.old, entry.edit.new),
            change=entry.commit.seq,
        )


def _entries(commits: Iterable[Commit], wanted: ChangeLogFilter, visible: Mapping[Kind, set[int]]) -> Iterator[_Entry]:
    known: dict[Kind, set[int]] = {kind: set() for kind in Kind}
    for commit in commits:
        edits = [*_creations(commit, known, wanted), *commit.edits]
        if wanted.user is not None and commit.user != wanted.user:
            continue
        if (wanted.since and commit.at < wanted.since) or (wanted.before and commit.at >= wanted.before):
            continue
        for index, edit in enumerate(edits):
            if edit.new and edit.kind in LOGGED and _is_wanted(edit, wanted):
                if edit.kind in visible:
                    hidden = set(edit.ids) - visible[edit.kind]
                    if len(hidden) == len(set(edit.ids)):
                        continue
                    if hidden:  # values before are those of one entity, and it may be a hidden one
                        edit = Edit(edit.kind, edit.ids, {}, edit.new)  # noqa: PLW2901
                yield _Entry(number=commit.seq * NUMBERS_A_COMMIT + index, commit=commit, edit=edit)


def _list_unburied(project: int, wanted: ChangeLogFilter, visible: Mapping[Kind, set[int]]) -> Iterator[_Entry]:
    """The entries of entities whose definition was deleted, and whose rows are not deleted yet."""
    for commit, edits in unburied.list_edits(project):
        alone = msgspec.structs.replace(commit, changes=[], edits=edits)
        for entry in _entries([alone], wanted, visible):
            entry.number += NUMBERS_A_COMMIT // 2  # after those of the commit itself
            yield entry


def _is_wanted(edit: Edit, wanted: ChangeLogFilter) -> bool:
    return (wanted.kind in (None, edit.kind)) and (wanted.entity is None or wanted.entity in edit.ids)


def _creations(commit: Commit, known: dict[Kind, set[int]], wanted: ChangeLogFilter) -> Iterator[Edit]:
    """The creation entries of a commit, with values on request. Adds the changed entities to the known ones."""
    told = {(edit.kind, number) for edit in commit.edits for number in edit.ids}
    for change in commit.changes:
        if change.is_definition:
            continue
        kind = Kind(change.kind)
        is_new = change.id not in known[kind]
        known[kind].add(change.id)
        if is_new and not change.is_gone and (kind, change.id) not in told:
            edit = Edit(kind, [change.id], {}, {})
            if kind in LOGGED and _is_wanted(edit, wanted) and wanted.user in (None, commit.user):
                edit.new.update(first_values(msgspec.json.decode(change.doc, type=STRUCT_OF[kind])))
            yield edit
    for edit in commit.edits:
        known[edit.kind].update(edit.ids)


def _merge(entries: Iterable[_Entry]) -> Iterator[_Entry]:
    """The entries with the parts of each bulk request merged."""
    last: _Entry | None = None
    for entry in entries:
        edit = entry.edit
        if last is not None and _continues(entry, last):
            last.commit, last.edit = entry.commit, Edit(edit.kind, last.edit.ids + edit.ids, edit.old, edit.new)
            continue
        if last is not None:
            yield last
        last = entry
    if last is not None:
        yield last


def _continues(entry: _Entry, last: _Entry) -> bool:
    before, edit = last.edit, entry.edit
    return (
        len(before.ids) >= _BULK
        and (edit.kind, edit.old, edit.new) == (before.kind, before.old, before.new)
        and entry.commit.user == last.commit.user
        and entry.commit.seq == last.commit.seq + 1
    )


def _visible(project: int, scope: Scope) -> dict[Kind, set[int]]:
    """The entities that the caller may see, of kinds with restricted visibility."""
    if not (restricted := scope.terms(project)):
        return {}
    view = view_queries.current(project)
    return {kind: set(view_queries.ids(view, all_rows(kind), scope)) for kind in restricted}
