"""Remove jobs: cancelled ones, those of a deleted project, and old finished ones.

    mark       the run is stopping: no operation shows it
    stop       its engine ends it; if the engine is unavailable or a handover is in progress, the schedule tries again
    forget     the record and the files are deleted; at once if the engine was deleted

Each step is idempotent, and a process may crash after any of them.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime, timedelta

import msgspec

from chalicelib.core.models.jobs import JOB
from chalicelib.core.time import clock
from chalicelib.errors import LimnError, NotFound
from chalicelib.resources.entities import object_cleanup
from chalicelib.resources.jobs import status_sync
from chalicelib.resources.jobs.engines.base import EngineUnavailable, WorkflowRefused
from chalicelib.resources.jobs.runs import ACTIVE, RUN, Run
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import credentials, records
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.objects import objects

SECONDS = 5.0
"""Maximum time for calls to engines in one request."""
LOOK_BACK_DAYS = 30
"""Maximum outage of the schedule after which every finished job is still found."""
_THREADS = 8
_logger = logging.getLogger("limn.jobs")


def remove(runs: Iterable[Run], seconds: float = SECONDS) -> None:
    """Cancel and remove runs: they disappear at once; an unavailable engine stops them later."""
    with ThreadPoolExecutor(_THREADS) as pool:
        stopping = [run for run in pool.map(mark_stopping, runs) if run is not None]
    stop(stopping, seconds)


def stop(runs: Sequence[Run], seconds: float = SECONDS) -> None:
    """Stop runs that are stopping, and remove those that their engine has stopped."""
    end = time.monotonic() + seconds
    away: set[int | None] = set()

    def end_one(run: Run) -> Run | None:
        if time.monotonic() > end or run.cluster in away or run.lease > clock.seconds():
            return None
        try:
            if not run.is_final or run.cluster is not None:
                status_sync.engine_of(run.cluster, run.organization).stop(run)
        except (EngineUnavailable, LimnError):
            away.add(run.cluster)
            return None
        except WorkflowRefused:
            pass  # its engine is gone, and the run with it
        except Exception:  # of one job: the others are stopped; the next minute tries it again
            _logger.exception("job %s was not stopped", run.uid)
            return None
        return run

    with ThreadPoolExecutor(_THREADS) as pool:
        forget([run for run in pool.map(end_one, runs) if run is not None])


def forget(runs: Sequence[Run]) -> None:
    """Remove runs with their files; the last run of a launch also removes the files that the launch shares."""
    groups = list({run.gid: run for run in runs}.values())
    going = {run.uid for run in runs}
    notes = {run.gid: _release_manifest(run) for run in groups if not _others(run, going)}
    with ThreadPoolExecutor(_THREADS) as pool:
        list(pool.map(_forget_one, runs))
    for run in groups:
        if run.gid in notes:
            object_cleanup.delete_released(run.project, notes[run.gid], [status_sync.manifest_key(run)])
        elif not _others(run, set()):  # the others went at the same time
            objects.remove([status_sync.manifest_key(run)])


def sweep(seconds: float) -> int:
    """Stop runs that were deleted while their engine was unavailable, and remove old ones. Returns how many."""
    end = time.monotonic() + seconds
    stopping = [run for run in records.list_linked(RUN, "active", ACTIVE) if run.is_stopping]
    stop(stopping, seconds / 2)
    return len(stopping) + expire(clock.utc_now(), end - time.monotonic())


def expire(moment: datetime, seconds: float = SECONDS) -> int:
    """Remove jobs, transcodes too, that finished more than `job_days` ago. Returns how many.

    Each call checks the first such day and one earlier day, another each minute, to recover from an outage of the
    schedule.
    """
    count = 0
    for days in (1, 2 + moment.minute % LOOK_BACK_DAYS):
        day = (moment - timedelta(days=settings().job_days + days)).date().isoformat()
        runs, transcodes = records.list_linked(RUN, "day", day), records.list_linked(JOB, "day", day)
        remove(runs, seconds / 2)
        for job in transcodes:
            records.discard(JOB, job.uid)
        count += len(runs) + len(transcodes)
    return count


def mark_stopping(run: Run) -> Run | None:
    """Mark a run as stopping. Returns the run after that, None if it does not exist."""

    def mark(current: Run) -> Run:
        return msgspec.structs.replace(current, is_stopping=True, active=ACTIVE, finished_on=None)

    def end_token(change: Transaction, _before: Run, after: Run) -> None:
        credentials.remove(change, [after.credential])

    try:
        return records.edit(RUN, run.uid, mark, also=end_token)
    except NotFound:
        return None


def _others(run: Run, going: set[str]) -> bool:
    """Whether a launch has runs that remain."""
    return any(other.uid not in going for other in records.list_linked(RUN, "gid", run.gid))


def _release_manifest(run: Run) -> str:
    """Record that the manifest of a launch is deleted, so that it is deleted after a crash too. Returns the record."""
    return object_cleanup.release(run.project, [status_sync.manifest_key(run)], within=object_cleanup.GRACE)


def _forget_one(run: Run) -> None:
    objects.remove(list(objects.under(run.folder)))
    with suppress(NotFound):
        change = Transaction()
        records.drop(change, RUN, records.get(RUN, run.uid))
        credentials.remove(change, [run.credential])
        change.run()
