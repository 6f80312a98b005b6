"""Disaster recovery: the snapshot of a project made anew from the tables of records and entities alone.

For when a snapshot is broken, or the log has lost commits. It may run while the service does: what is written
meanwhile is in the log behind the number that the rebuild began with, and is applied on top.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import msgspec

from chalicelib.core.commits import Change, Commit
from chalicelib.core.definitions import Definitions
from chalicelib.core.kinds import TYPE_OF, DefinitionKind, Kind
from chalicelib.errors import Conflict, NotFound
from chalicelib.storage.dynamodb import entities, records, retired
from chalicelib.storage.log import archive, log
from chalicelib.storage.view import files as view_files
from chalicelib.storage.view import snapshots
from chalicelib.storage.view.deleted_definitions import Lost
from chalicelib.storage.view.snapshot_records import Segment, current, pointer
from chalicelib.storage.view.view import View

AT_ONCE = 10_000


class _Typed(msgspec.Struct):
    type: int


def rebuild(project: int) -> View:
    """Make a project's snapshot anew and have containers start from it; the view it was made from.

    Containers that have the project in memory keep their view: if it is wrong, start new ones.

    Raises:
        Conflict: a compaction was faster; try again.
    """
    first = _beginning(project)
    definitions = records.definitions(project)
    view = view_files.built(definitions, first, _things(project, definitions))
    view.lost = _lost(project)
    last = log.last(project, fresh=True)
    for _ in snapshots.follow(view, last):
        pass
    if not snapshots.save(view, _archive(project, view.seq), replace=True):
        raise Conflict("A newer snapshot was written meanwhile; try again.")
    return view


def _beginning(project: int) -> int:
    """The number of the last commit. Where the log was lost, the one it has to go on from is made."""
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
        # What is left of a type that is deleted was deleted with it; what has a newer one is in newer commits.
        if msgspec.json.decode(doc, type=_Typed).type in types[kind]:
            waiting[kind].append(Change(kind, number, msgspec.Raw(doc)))
        if len(waiting[kind]) >= AT_ONCE:
            yield waiting.pop(kind)
    yield from waiting.values()


def _lost(project: int) -> Lost:
    """What went with a definition and is still being buried: commits to come do not bring it back."""
    lost = Lost()
    for entry in retired.of(project).entries:
        lost.note(entry.what, entry.id, gone=True)
    if DefinitionKind.MEDIA_TYPE in lost.definitions:
        hidden = entities.of_project(project, retired=True)
        lost.media.update(number for kind, number, _ in hidden if kind is Kind.MEDIA)
    return lost


def _archive(project: int, upto: int) -> list[Segment]:
    """The archive, with what commits there still are behind it."""
    try:
        manifest = current(project)
        before = manifest.archive if manifest else []
    except NotFound:
        before = archive.found(project)

    def commits() -> Iterator[Commit]:
        for commit in log.read_after(project, before[-1].last if before else 0):
            if commit.seq > upto:
                break
            yield commit

    return archive.write(project, before, commits())
