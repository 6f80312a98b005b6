"""Compaction: the log of a project folded into a snapshot, so that a cold container need not read all of it.

    1  the view of the snapshot before, and the commits after it
    2  the new files, then the pointer: from now on containers start here
    3  the commits below the snapshot get the time of their expiry; the snapshot's own stays, so that the log never
       ends below what a writer or a reader has seen

A crash changes nothing (1), leaves files that the next compaction's sweep removes (2), or leaves
commits that the next one marks (3). Two at once do no harm: the pointer moves once.

A container whose view is older than the oldest commit left notices the gap and starts from the snapshot. The retention
is longer than a container lives, so this is rare.
"""

from __future__ import annotations

import logging
import random
import time

from chalicelib.settings import settings
from chalicelib.storage.log import archive, log
from chalicelib.storage.view import snapshots
from chalicelib.storage.view.snapshot_records import Manifest, Pointer, current, mark, pointer

ENOUGH_CHANGES = 20_000
"""This many changes since the last snapshot make another worth while. It stores what changed only (decision 31)."""
_logger = logging.getLogger(__name__)


def run(seconds: float) -> list[int]:
    """Compact what has grown enough, and begin no more when the time is over; the projects it did."""
    end = time.monotonic() + seconds
    grown = list(log.growth().items())
    random.shuffle(grown)  # so that none waits for ever where there is never time for all
    done: list[int] = []
    failure: Exception | None = None
    for project, changes in grown:
        if time.monotonic() > end:
            break
        try:
            if compact(project, changes):
                done.append(project)
        except Exception as caught:
            _logger.exception("compaction of project %d failed", project)
            failure = caught
    if failure:
        raise failure
    return done


def compact(project: int, changes: int = 0, *, force: bool = False) -> bool:
    """Compact a project's log; whether it was worth while.

    Args:
        project: the project.
        changes: about how many changes there were since the last time, `log.growth`.
        force: compact it if it grew at all.

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
    worth_while = last > since if force else _is_worth_while(manifest, last, changes)
    if worth_while:
        snapshots.sweep(project)
        found = _fold(project, manifest, last) or pointer(project)
    if found:
        _expire(project, found)
    if worth_while and changes:
        log.settle_growth(project, changes)
    return worth_while


def _is_worth_while(manifest: Manifest | None, last: int, changes: int) -> bool:
    since = manifest.seq if manifest else 0
    return last - since >= settings().compact_commits or (last > since and changes >= ENOUGH_CHANGES)


def _fold(project: int, manifest: Manifest | None, last: int) -> Pointer | None:
    view = snapshots.begin(project)
    try:
        # 0: the snapshot is broken, and the log still whole
        if view.seq not in (0, manifest.seq if manifest else 0):
            return None  # another compaction was faster
        before = manifest.archive if manifest and view.seq else []
        segments = archive.write(project, before, snapshots.follow(view, last))
        return snapshots.save(view, segments)
    finally:
        view.close()


def _expire(project: int, found: Pointer) -> None:
    first = max(found.marked, log.first(project))
    if first < found.seq:
        log.expire(project, range(first, found.seq), int(time.time()) + settings().log_retention)
    if found.marked < found.seq:
        mark(project, found, found.seq)
