"""Compaction: a snapshot of a project, so that a cold container need not read the whole log.

    1  load the view of the last snapshot, and apply the commits after it
    2  write the new files, then move the pointer: containers now start from the new snapshot
    3  set the expiry of commits below the snapshot; the snapshot's own commit stays, so that the log never ends below a
       number that a writer or a reader has seen

A crash in step 1 has no effect, in step 2 leaves files that the next sweep deletes, and in step 3 leaves commits that
the next compaction marks. Two compactions at once are safe: the pointer moves once.

A snapshot of another shape (`shapes.py`) is written anew, even if nothing was written since. Requests that open one
note it as growth.

A run goes on while a project has much that no snapshot has: an import may write much until the next
run. Parquet files are written a while at a time, so that no fold waits for those of a large project.

A container whose view is older than the oldest remaining commit detects the gap and restarts from the snapshot. This is
rare: the retention is longer than the life of a container.
"""

from __future__ import annotations

import logging
import math
import random
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from chalicelib.core.log.commits import Commit
from chalicelib.core.resource import timestamp
from chalicelib.core.time import clock
from chalicelib.settings import settings
from chalicelib.storage.log import archive, growth, log
from chalicelib.storage.view.snapshot import parquet_steps, snapshots
from chalicelib.storage.view.snapshot.renewals import Renewals, UnderWay
from chalicelib.storage.view.snapshot.snapshot_records import Manifest, Pointer, current, mark, pointer

ENOUGH_CHANGES = 20_000
"""This many changes since the last snapshot justify another. It stores only the changes (decision 31)."""
ENOUGH_AT_REST = 1_000
"""This many justify it where nobody has written for `REST_SECONDS`: who opens the project next need not apply them."""
REST_SECONDS = 60.0
FOLLOW_SECONDS = 120.0
"""The longest time, in seconds, that commits are applied before a snapshot is written; a crash loses no more."""
PRESSING = growth.SLOW_FROM // 2
"""With so many changes left, a project is compacted again in the same run."""
STEP_SECONDS = 60.0
"""The longest time, in seconds, for Parquet files or rows of a view made anew before the next project has its turn."""
_logger = logging.getLogger(__name__)
_renewals = Renewals(notes_growth=False)


@dataclass(frozen=True)
class StepOutcome:
    """The result of a step.

    Attributes:
        is_compacted: there is another snapshot, or another compaction made one.
        is_unfinished: the time ended before all was done; the next step goes on.
    """

    is_compacted: bool
    is_unfinished: bool


def run(seconds: float) -> list[int]:
    """Compact the projects that have grown enough, until the time is over; returns the compacted projects.

    Projects that have still, or again, much to compact after the others had their turn get another one, except those
    that failed.

    Raises:
        Exception: the last failure, after the turns of the others.
    """
    end = time.monotonic() + seconds
    done: list[int] = []
    failures: dict[int, Exception] = {}
    unfinished: set[int] = set()
    turns = growth.by_project()
    while turns and time.monotonic() <= end:
        is_progress, unfinished = _run_turns(turns, end, done, failures)
        if not is_progress:
            break
        turns = {
            project: changes
            for project, changes in growth.by_project().items()
            if project not in failures and (changes >= PRESSING or project in unfinished)
        }
    if failures:
        raise failures.popitem()[1]
    return done


def _run_turns(
    turns: dict[int, int], end: float, done: list[int], failures: dict[int, Exception]
) -> tuple[bool, set[int]]:
    """Give each project a step, noting failures; returns whether any had an effect, and which are unfinished."""
    is_progress = False
    unfinished: set[int] = set()
    for project, changes in _order_turns(turns):
        if time.monotonic() > end:
            break
        try:
            outcome = step(project, changes, end=min(end, time.monotonic() + STEP_SECONDS))
        except Exception as caught:
            _logger.exception("compaction of project %d failed", project)
            failures[project] = caught
            continue
        is_progress = is_progress or outcome.is_compacted or outcome.is_unfinished
        if outcome.is_compacted and project not in done:
            done.append(project)
        if outcome.is_unfinished:
            unfinished.add(project)
    return is_progress, unfinished


def _order_turns(turns: dict[int, int]) -> list[tuple[int, int]]:
    """In any order, so that none starves when the time is always too short, but those that writers wait for first."""
    found = list(turns.items())
    random.shuffle(found)
    return sorted(found, key=lambda each: each[1] < PRESSING)


def compact(project: int, changes: int = 0, *, force: bool = False, end: float = math.inf) -> bool:
    """Compact a project's log by one `step`, with its arguments; returns whether there is another snapshot."""
    return step(project, changes, force=force, end=end).is_compacted


def step(project: int, changes: int = 0, *, force: bool = False, end: float = math.inf) -> StepOutcome:
    """Compact a project's log if it has grown enough or its snapshot has another shape.

    What does not fit into the time is left to the next step: rows of a view that is made anew (kept in this container),
    the commits after those that were folded, and the Parquet files of a large project.

    Args:
        project: the project.
        changes: about how many changes there were since the last compaction, `growth.by_project`.
        force: compact even after a single change.
        end: the value of `time.monotonic()` after which no rows are made anew and no Parquet file is begun.

    Raises:
        Gap: the log does not reach back to the snapshot; `maintenance/rebuild.py` repairs it.
    """
    last = log.last(project, fresh=True)
    found = pointer(project)
    if last == 0:
        growth.forget(project, changes)
        return StepOutcome(is_compacted=False, is_unfinished=False)
    manifest = current(project)
    since = manifest.seq if manifest else 0
    is_other = manifest is not None and snapshots.is_other(manifest)
    worth_while = is_other or (last > since if force else _is_worth_while(project, manifest, last, changes))
    folded = 0
    if worth_while:
        snapshots.sweep(project)
        follow_end = math.inf if force else time.monotonic() + FOLLOW_SECONDS
        found, folded = _fold(project, manifest, last, follow_end, end)
    is_folded = found is not None and found.seq >= last
    if found:
        _expire(project, found)
    exported = parquet_steps.write_step(project, end)
    if is_folded and exported is not False:
        growth.forget(project, changes - folded)
    return StepOutcome(
        is_compacted=worth_while and found is not None,
        is_unfinished=exported is False or (worth_while and not is_folded),
    )


def _is_worth_while(project: int, manifest: Manifest | None, last: int, changes: int) -> bool:
    since = manifest.seq if manifest else 0
    if last - since >= settings().compact_commits or (last > since and changes >= ENOUGH_CHANGES):
        return True
    return last > since and changes >= ENOUGH_AT_REST and _is_at_rest(project, last)


def _is_at_rest(project: int, last: int) -> bool:
    found = log.find(project, last)
    return found is not None and found.at <= timestamp(clock.utc_now() - timedelta(seconds=REST_SECONDS))


def _fold(
    project: int, manifest: Manifest | None, last: int, follow_end: float, end: float
) -> tuple[Pointer | None, int]:
    """Write a snapshot; returns the current pointer, None while rows of its view are left, and the growth in it."""
    since = manifest.seq if manifest else 0
    try:
        view = _renewals.begin(project, end - time.monotonic())
    except UnderWay:
        return None, 0
    try:
        # 0: the snapshot is broken, and the log still complete
        if view.seq not in (0, since):
            return pointer(project), 0  # another compaction was faster
        before = manifest.archive if manifest and view.seq else []
        counted = _Counted(snapshots.follow(view, last, follow_end), since)
        segments = archive.write(project, before, counted)
        is_other = manifest is not None and snapshots.is_other(manifest)
        found = snapshots.save(view, segments, replace=is_other, folded=counted.growth)
        return found or pointer(project), counted.growth if found else 0
    finally:
        view.close()


class _Counted:
    """Commits, whose growth is counted as they are read: that of those after the last snapshot."""

    def __init__(self, commits: Iterable[Commit], since: int) -> None:
        self._commits, self._since = commits, since
        self.growth = 0

    def __iter__(self) -> Iterator[Commit]:
        """The commits."""
        for commit in self._commits:
            if commit.seq > self._since:  # others were settled: a broken snapshot is made again from the whole log
                self.growth += growth.amount_of(commit.seq, len(commit.changes))
            yield commit


def _expire(project: int, found: Pointer) -> None:
    first = max(found.marked, log.first(project))
    if first < found.seq:
        log.expire(project, range(first, found.seq), int(clock.seconds()) + settings().log_retention)
    if found.marked < found.seq:
        mark(project, found, found.seq)
