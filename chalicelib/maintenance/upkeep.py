"""Scheduled upkeep: purge deleted entities, archive and restore media, remove leftovers.

Tasks are derived from the log: each commit is read once, and its tasks are stored with their due times
(`storage/log/scheduled_tasks.py`). So writes cost nothing extra, and an idle project costs two reads.

    a deletion               30 days later the rows are deleted, and the objects that no other entity names
    archive requested        a week later the files are moved, and from then on every hour until they are
    restore requested        at once, and every hour until it is complete

Every step may be interrupted and run again, and two concurrent runs are safe.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial

import msgspec

from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Change, Commit, Edit
from chalicelib.core.models.accounts import ORGANIZATION, PROJECT
from chalicelib.core.resource import now, timestamp
from chalicelib.core.time import clock
from chalicelib.core.time.parts import Parts
from chalicelib.resources.bucket_sources import service as bucket_sources_service
from chalicelib.resources.entities import object_cleanup
from chalicelib.resources.exports import service as exports_service
from chalicelib.resources.media.files import archiving
from chalicelib.resources.notifications import service as notifications_service
from chalicelib.resources.temporary_files import service as temporary_files_service
from chalicelib.resources.temporary_files.schemas import TEMPORARY_FILE
from chalicelib.resources.uploads import tus, unclaimed
from chalicelib.settings import settings
from chalicelib.storage.audit import chain
from chalicelib.storage.dynamodb import entities, ids, records
from chalicelib.storage.dynamodb.progress import cursors
from chalicelib.storage.log import archive, log, scheduled_tasks
from chalicelib.storage.log.scheduled_tasks import Task

CHECK_INTERVAL = timedelta(minutes=55)
"""Seconds until the next check of a pending task; a little less than the schedule's hour."""
SHOWN = timedelta(days=1)
"""Seconds for which an expired temporary file is still listed as expired."""
_COMMITS_PER_CHECK = 500
"""Commits between two checks of the deadline."""
_CHAINS_PER_CHECK = 10
"""Audit logs that one run looks at: with 24 runs a day, 43,000 organizations within `chain.RESTING`."""


class _Moving(msgspec.Struct):
    archive_state: str = "live"


_moving = msgspec.json.Decoder(_Moving)


def run(seconds: float) -> int:
    """Run the due tasks of as many projects as time allows, resuming after the last; returns their number.

    Raises:
        Exception: the last error; the other parts and projects were handled.
    """
    end, parts = time.monotonic() + seconds, Parts()
    parts.run("the sweep of resumable uploads", tus.sweep)
    parts.run("the sweep of unclaimed uploads", unclaimed.sweep)
    parts.run("the checkpoint of audit logs", _check_in)
    parts.run("the daily digests", notifications_service.order_digests)
    last = ids.last(PROJECT.name)
    start = cursors.position("upkeep")
    count = 0
    for step in range(last):
        if time.monotonic() > end:
            break
        number = (start + step) % last + 1
        parts.run(f"the upkeep of project {number}", partial(look_after, number))
        count += 1
        cursors.reach("upkeep", number)
    parts.finish()
    return count


def _check_in() -> None:
    """Continue the audit logs of the next organizations, where they are at rest."""
    last = ids.last(ORGANIZATION.name)
    start = cursors.position("audit")
    for step in range(min(last, _CHAINS_PER_CHECK)):
        number = (start + step) % last + 1
        chain.check_in(number)
        cursors.reach("audit", number)


def look_after(project: int) -> None:
    """Run the project's due tasks. Raises the last error of a part; the other parts were run."""
    found = records.maybe(PROJECT, project)
    if found is None or found.deleted is not None:
        return
    parts = Parts()
    parts.run("the search for tasks", partial(find, project))
    for task in list(scheduled_tasks.until(project, now())):
        parts.run(f"the task {task.name} of project {project}", partial(_do, project, task))
    parts.run("the removal of objects", partial(object_cleanup.sweep, project))
    past = timestamp(clock.utc_now() - SHOWN)
    for file in records.list_children(TEMPORARY_FILE, project):
        if file.eol_datetime <= past:
            parts.run(f"the removal of temporary file {file.id}", partial(temporary_files_service.remove, file))
    parts.run("the sweep of exports", partial(exports_service.sweep, project))
    parts.run("the sweep of bucket sources", partial(bucket_sources_service.sweep, project))
    parts.finish()


def find(project: int) -> None:
    """Store the tasks of a project's new commits."""
    seen = scheduled_tasks.last_searched(project)
    last = log.last(project, fresh=True)
    if last <= seen:
        return
    for count, commit in enumerate(archive.history(project, after=seen), 1):
        for task in tasks_of(commit):
            scheduled_tasks.add(project, task)
        if count % _COMMITS_PER_CHECK == 0:
            scheduled_tasks.look_after(project, commit.seq)
        last = max(last, commit.seq)
    scheduled_tasks.look_after(project, last)


def tasks_of(commit: Commit) -> Iterator[Task]:
    """The tasks to schedule for a commit."""
    at = datetime.fromisoformat(commit.at)
    kept = timedelta(seconds=settings().deleted_retention)
    found: defaultdict[tuple[str, Kind], list[int]] = defaultdict(list)
    for what, kind, numbers in (*map(_of_change, commit.changes), *map(_of_edit, commit.edits)):
        found[what, kind] += numbers
    for (what, kind), numbers in found.items():
        name = f"{commit.seq:012d}|{what}|{kind}"
        if what == "deleted":
            yield msgspec.structs.replace(_task("purge", kind, numbers, at + kept, name), since=commit.at)
        elif what == "to_archive":
            yield _task("archive", kind, numbers, at + archiving.PATIENCE, name)
        elif what == "to_live":
            yield _task("archive", kind, numbers, at, name)


def _of_change(change: Change) -> tuple[str, Kind, list[int]]:
    if change.is_definition:
        return "", Kind.MEDIA, []
    kind = Kind(change.kind)
    if change.is_gone:
        return "deleted", kind, [change.id]
    return _moving.decode(change.doc).archive_state if kind is Kind.MEDIA else "", kind, [change.id]


def _of_edit(edit: Edit) -> tuple[str, Kind, list[int]]:
    if edit.new.get("_deleted") is True:
        return "deleted", edit.kind, edit.ids
    return str(edit.new.get("_archive_state", "")), edit.kind, edit.ids


def _task(action: str, kind: Kind, numbers: list[int], at: datetime, name: str) -> Task:
    wanted = list(dict.fromkeys(numbers))
    return Task(action=action, kind=kind, ids=wanted, at=timestamp(at), name=name)  # type: ignore[arg-type]


def _do(project: int, task: Task) -> None:
    if task.action == "purge":
        # What was restored and deleted again has a task of its own for its later deletion.
        rows = entities.get_deleted(task.kind, task.ids)
        gone = [number for number, row in rows.items() if task.since is None or row.deleted <= task.since]
        if gone:
            object_cleanup.purge(project, task.kind, gone, whole=False)
    elif waiting := archiving.advance(task.ids):
        later = timestamp(clock.utc_now() + CHECK_INTERVAL)
        scheduled_tasks.add(project, msgspec.structs.replace(task, ids=waiting, at=later))
    scheduled_tasks.delete(project, task)
