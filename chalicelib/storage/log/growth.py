"""How much each project's log has grown since its snapshot, for the compaction, and for the writers that outrun it.

    counters  (grown, project)   n: about how many changes no snapshot has

A container without the project's view applies these changes before its first answer, some 50 µs each, within the 20 s
of a request. So the number has a bound: from `SLOW_FROM` on bulk writes pause, and beyond `MOST` they wait until the
compaction has folded what there is, or are refused with 429.

A container learns the number from its own commits, at no cost. Only where it was large, it is read again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING

from pynamodb.exceptions import DeleteError, PynamoDBException

from chalicelib.core.time import deadline
from chalicelib.errors import TooMany, Unavailable
from chalicelib.storage.dynamodb.tables import CounterRow

if TYPE_CHECKING:
    from chalicelib.storage.dynamodb.transactions import Transaction

GROWN = "grown"
"""The partition of the counters table with a row for each project whose log needs compaction."""
GROWN_BY = 50
"""Growth is recorded for each commit of at least this size, and for one in so many smaller ones."""
RECORDED_EARLY_FROM = 1_000
"""The growth from which a bulk change records it before its end."""
SLOW_FROM, MOST = 100_000, 200_000
"""Changes without a snapshot from which bulk writes pause, and beyond which they wait or are refused."""
LONGEST_PAUSE = 3.0
"""The pause of a bulk write, in seconds, just below `MOST`; in proportion from `SLOW_FROM` on."""
PATIENCE, PATIENCE_OF_WORKERS = 12.0, 300.0
"""Seconds that a bulk write beyond `MOST` waits before it is refused: of a request, and of other work."""
LOOK_EVERY = 1.0
"""Seconds between two looks of a write that waits."""
RETRY_AFTER = 15
"""Seconds after which a refused write may try again: the compaction begins within a minute, and takes ten seconds."""
_CONDITION = "ConditionalCheckFailedException"
_sleep = time.sleep
_waiting: ContextVar[dict[int, int] | None] = ContextVar("growth", default=None)
"""By project, the growth that is not recorded yet, inside `recording_together`."""
_behind: set[int] = set()
"""The projects whose last known number is above `SLOW_FROM`."""


def amount_of(seq: int, changes: int) -> int:
    """The number of changes that a commit adds to the recorded growth."""
    return max(changes, GROWN_BY) if changes >= GROWN_BY or seq % GROWN_BY == 0 else 0


def record(project: int, seq: int, changes: int) -> None:
    """Record for the compaction how many changes a commit adds. Where that fails, the compaction begins later."""
    growth = amount_of(seq, changes)
    if growth and (waiting := _waiting.get()) is not None:
        growth += waiting.pop(project, 0)
        if growth < RECORDED_EARLY_FROM:
            waiting[project] = growth
            return
    if growth:
        _record(project, growth)


@contextmanager
def recording_together() -> Iterator[None]:
    """Inside, `record` writes the growth by many commits of this thread in one call.

    Up to `RECORDED_EARLY_FROM` changes stay unrecorded where the process dies: the compaction then begins that much
    later.
    """
    waiting: dict[int, int] = {}
    token = _waiting.set(waiting)
    try:
        yield
    except Exception:
        _record_all(waiting)
        raise
    finally:
        _waiting.reset(token)
    _record_all(waiting)


def _record_all(waiting: dict[int, int]) -> None:
    with suppress(PynamoDBException, Unavailable):
        for project, growth in waiting.items():
            _record(project, growth)


def _record(project: int, growth: int) -> None:
    _remember(project, CounterRow.add(*_row(project).key(), growth))


def by_project() -> dict[int, int]:
    """About how many changes no snapshot has, by project."""
    return {int(found.sk): int(found.n or 0) for found in CounterRow.query(GROWN, consistent_read=True)}


def subtract_snapshot(project: int, growth: int, change: Transaction) -> None:
    """Subtract the commits that a new snapshot covers, in the transaction that makes it current.

    So it is subtracted once, wherever the compaction dies. Nothing is subtracted where nothing is recorded; the
    transaction fails with Conflict where that changes meanwhile.
    """
    if not growth:
        return
    row = _row(project)
    if _number_of(project) is None:
        change.check(row, CounterRow.pk.does_not_exist())
    else:
        change.update(row, [CounterRow.n.add(-growth)], CounterRow.n.exists())


def forget(project: int, left: int) -> None:
    """Remove the project from the compaction queue until its log grows again.

    Args:
        project: the project.
        left: what was recorded when that was known; after another commit nothing happens.
    """
    try:
        _row(project).delete(CounterRow.n == left)
    except DeleteError as failure:
        if failure.cause_response_code != _CONDITION:
            raise


def make_room(project: int, rows: int = GROWN_BY) -> None:
    """Call it before a write of many rows: it waits where the compaction is behind.

    Call it before anything that must not wait: a guard that others would move meanwhile, a message, a reserved id. It
    may be called again for the same write. Writes of fewer than `GROWN_BY` rows go on.

    Raises:
        TooMany: the compaction is too far behind, and the time to wait is over; nothing was changed.
    """
    if rows < GROWN_BY or project not in _behind:
        return
    number = _read_number(project)
    left = deadline.remaining()
    end = time.monotonic() + (PATIENCE_OF_WORKERS if left is None else min(PATIENCE, left))
    while number > MOST:
        if time.monotonic() >= end:
            raise TooMany(
                "The project grows faster than its snapshots are written; nothing was changed. Try again later.",
                f"About {number:,} changes have no snapshot yet; bulk writes wait beyond {MOST:,}.",
                retry_after=RETRY_AFTER,
            )
        _sleep(LOOK_EVERY)
        number = _read_number(project)
    if number > SLOW_FROM:
        _sleep(LONGEST_PAUSE * (number - SLOW_FROM) / (MOST - SLOW_FROM))


def has_room(project: int) -> bool:
    """Whether a large change may go on with its next part. It reads only where the compaction is behind."""
    return project not in _behind or _read_number(project) <= MOST


def _read_number(project: int) -> int:
    number = _number_of(project) or 0
    _remember(project, number)
    return number


def _number_of(project: int) -> int | None:
    row = CounterRow.find(*_row(project).key())
    return int(row.n or 0) if row else None


def _remember(project: int, number: int) -> None:
    (_behind.add if number > SLOW_FROM else _behind.discard)(project)


def _row(project: int) -> CounterRow:
    return CounterRow(GROWN, f"{project:012d}")
