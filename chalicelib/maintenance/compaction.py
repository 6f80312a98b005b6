"""Compaction: a snapshot of a project, so that a cold container need not read the whole log.

    1  load the view of the last snapshot, and apply the commits after it
    2  write the new files, then move the pointer: containers now start from the new snapshot
    3  set the expiry of commits below the snapshot; the snapshot's own commit stays, so that the log never ends below a
       number that a writer or a reader has seen

A crash in step 1 has no effect, in step 2 leaves files that the next sweep deletes, and in step 3 leaves commits that
the next compaction marks. Two compactions at once are safe: the pointer moves once.

A snapshot of another shape (`shapes.py`) is written anew, even if nothing was written since. Requests that open one
note it as growth.

A container whose view is older than the oldest remaining commit detects the gap and restarts from the snapshot. This is
rare: the retention is longer than the life of a container.
"""

from __future__ import annotations

import logging
import math
import random
import time

from chalicelib.settings import settings
from chalicelib.storage.log import archive, log
from chalicelib.storage.view.snapshot import parquet_steps, snapshots
from chalicelib.storage.view.snapshot.renewals import Renewals, UnderWay
from chalicelib.storage.view.snapshot.snapshot_records import Manifest, Pointer, current, mark, pointer

ENOUGH_CHANGES = 20_000
"""This many changes since the last snapshot justify another. It stores only the changes (decision 31)."""
FOLLOW_SECONDS = 120.0
"""The longest time, in seconds, that commits are applied before a snapshot is written: what it holds is not lost."""
_logger = logging.getLogger(__name__)
_renewals = Renewals(notes_growth=False)


def run(seconds: float) -> list[int]:
    """Compact the projects that have grown enough, until the time is over; returns the compacted projects."""
    end = time.monotonic() + seconds
    grown = list(log.growth().items())
    random.shuffle(grown)  # so that no project starves when the time is always too short
    done: list[int] = []
    failure: Exception | None = None
    for project, changes in grown:
        if time.monotonic() > end:
            break
        try:
            if compact(project, changes, end=end):
                done.append(project)
        except Exception as caught:
            _logger.exception("compaction of project %d failed", project)
            failure = caught
    if failure:
        raise failure
    return done


def compact(project: int, changes: int = 0, *, force: bool = False, end: float = math.inf) -> bool:
    """Compact a project's log if it has grown enough or its snapshot has another shape; returns whether it did.

    What does not fit into the time is left to the next call: rows of a view that is made anew (kept in this container),
    the commits after those that were folded, and the Parquet files of a large project.

    Args:
        project: the project.
        changes: about how many changes there were since the last compaction, `log.growth`.
        force: compact even after a single change.
        end: the value of `time.monotonic()` after which no rows are made anew and no Parquet file is begun.

    Raises:
        Gap: the log does not reach back to the snapshot; `maintenance/rebuild.py` repairs it.
    """
    last = log.last(project, fresh=True)
    found = pointer(project)
    if last == 0:
        log.settle_growth(project, changes)
        return False
    manifest = current(project)
    since = manifest.seq if manifest else 0
    is_other = manifest is not None and snapshots.is_other(manifest)
    worth_while = is_other or (last > since if force else _is_worth_while(manifest, last, changes))
    if worth_while:
        snapshots.sweep(project)
        follow_end = math.inf if force else time.monotonic() + FOLLOW_SECONDS
        found = _fold(project, manifest, last, follow_end, end)
    if found:
        _expire(project, found)
    exported = parquet_steps.write_step(project, end)
    is_complete = found is not None and found.seq >= last if worth_while else bool(exported)
    if changes and is_complete and exported is not False:
        log.settle_growth(project, changes)
    return worth_while and found is not None


def _is_worth_while(manifest: Manifest | None, last: int, changes: int) -> bool:
    since = manifest.seq if manifest else 0
    return last - since >= settings().compact_commits or (last > since and changes >= ENOUGH_CHANGES)


def _fold(project: int, manifest: Manifest | None, last: int, follow_end: float, end: float) -> Pointer | None:
    """Write a snapshot; returns the pointer to the current one, None while rows of its view are left."""
    try:
        view = _renewals.begin(project, end - time.monotonic())
    except UnderWay:
        return None
    try:
        # 0: the snapshot is broken, and the log still complete
        if view.seq not in (0, manifest.seq if manifest else 0):
            return pointer(project)  # another compaction was faster
        before = manifest.archive if manifest and view.seq else []
        segments = archive.write(project, before, snapshots.follow(view, last, follow_end))
        is_other = manifest is not None and snapshots.is_other(manifest)
        return snapshots.save(view, segments, replace=is_other) or pointer(project)
    finally:
        view.close()


def _expire(project: int, found: Pointer) -> None:
    first = max(found.marked, log.first(project))
    if first < found.seq:
        log.expire(project, range(first, found.seq), int(time.time()) + settings().log_retention)
    if found.marked < found.seq:
        mark(project, found, found.seq)
