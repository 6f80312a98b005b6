"""Disaster recovery: rebuild the snapshot of a project from the tables of records and entities alone.

Use it when a snapshot is broken, or the log has lost commits. It may run while the service does: concurrent writes are
in the log after the number that the rebuild began with, and are applied on top.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import msgspec

from chalicelib.core.kinds import TYPE_OF, DefinitionKind, Kind
from chalicelib.core.log.commits import Change, Commit
from chalicelib.core.models.definitions import Definitions
from chalicelib.errors import Conflict, NotFound
from chalicelib.storage.dynamodb import entities, records, retired
from chalicelib.storage.log import archive, log
from chalicelib.storage.view.deleted_definitions import DeletedDefinitions
from chalicelib.storage.view.snapshot import files as view_files
from chalicelib.storage.view.snapshot import snapshots
from chalicelib.storage.view.snapshot.snapshot_records import Segment, current, pointer
from chalicelib.storage.view.view import View

ROWS_PER_BATCH = 10_000


class _Typed(msgspec.Struct):
    type: int


def rebuild(project: int) -> View:
    """Rebuild a project's snapshot, from which containers start then; returns its view.

    Containers with the project in memory keep their view: if that is wrong, restart them.

    Raises:
        Conflict: a compaction was faster; try again.
    """
    first = _find_first_commit(project)
    definitions = records.definitions(project)
    view = view_files.build(definitions, first, _things(project, definitions))
    view.lost = _find_deleted(project)
    last = log.last(project, fresh=True)
    for _ in snapshots.follow(view, last):
        pass
    if not snapshots.save(view, _archive(project, view.seq), replace=True):
        raise Conflict("A newer snapshot was written meanwhile; try again.")
    return view


def _find_first_commit(project: int) -> int:
    """The number of the last commit. Where the log was lost, a commit is made from which it continues."""
    last = log.last(project, fresh=True)
    found = pointer(project)
    least = max(found.seq if found else 0, 1)
    if last < least:
        log.begin_at(project, least)
        return least
    return last


def _things(project: int, definitions: Definitions) -> Iterator[list[Change]]:
    waiting: defaultdict[Kind, list[Change]] = defaultdict(list)
    types = {kind: definitions.by_kind[TYPE_OF[kind]].keys() for kind in Kind}
    for kind, number, doc in entities.of_project(project):
        # Remaining rows of a deleted type were deleted with it; entities of a newer type are in newer commits.
        if msgspec.json.decode(doc, type=_Typed).type in types[kind]:
            waiting[kind].append(Change(kind, number, msgspec.Raw(doc)))
        if len(waiting[kind]) >= ROWS_PER_BATCH:
            yield waiting.pop(kind)
    yield from waiting.values()


def _find_deleted(project: int) -> DeletedDefinitions:
    """Definitions whose entities are still being tombstoned: later commits do not create these again."""
    lost = DeletedDefinitions()
    for entry in retired.current(project).entries:
        lost.record(entry.kind, entry.id, gone=True)
    if DefinitionKind.MEDIA_TYPE in lost.definitions:
        hidden = entities.of_project(project, retired=True)
        lost.media.update(number for kind, number, _ in hidden if kind is Kind.MEDIA)
    return lost


def _archive(project: int, upto: int) -> list[Segment]:
    """The archive, extended by the remaining commits after it."""
    try:
        manifest = current(project)
        before = manifest.archive if manifest else []
    except NotFound:
        before = archive.find(project)

    def commits() -> Iterator[Commit]:
        for commit in log.read_after(project, before[-1].last if before else 0):
            if commit.seq > upto:
                break
            yield commit

    return archive.write(project, before, commits())
