"""How much each project's log has grown since its snapshot, for the compaction, and for the writers that outrun it.

    counters  (grown, project)   n: about how many changes no snapshot has

A container without the project's view applies these changes before its first answer, some 30 µs each, within the 20 s
of a request. So the number has a bound: from `SLOW_FROM` on bulk writes pause, and beyond `MOST` they wait until the
compaction has folded what there is, or are refused with 429.

A container learns the number from its own commits, at no cost. Only where it was large, it is read again.
"""

from __future__ import annotations

import time

from pynamodb.exceptions import DeleteError

from chalicelib.core.time import deadline
from chalicelib.errors import TooMany
from chalicelib.settings import settings
from chalicelib.storage.dynamodb.tables import CounterRow

GROWN = "grown"
"""The partition of the counters table with a row for each project whose log needs compaction."""
GROWN_BY = 50
"""Growth is recorded for each commit of at least this size, and for one in so many smaller ones."""
SLOW_FROM, MOST = 150_000, 300_000
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
_behind: set[int] = set()
"""The projects whose last known number is above `SLOW_FROM`."""


def note(project: int, seq: int, changes: int) -> None:
    """Record for the compaction how many changes a commit adds. If it fails, the next commit records it."""
    if changes < GROWN_BY and seq % GROWN_BY:
        return
    row = _row(project)
    row.update([CounterRow.n.add(max(changes, GROWN_BY))])
    _remember(project, int(row.n or 0))


def by_project() -> dict[int, int]:
    """About how many changes no snapshot has, by project."""
    return {int(found.sk): int(found.n or 0) for found in CounterRow.query(GROWN, consistent_read=True)}


def settle(project: int, changes: int) -> None:
    """Subtract the growth that a compaction handled."""
    noted = _row(project)
    try:
        noted.delete(CounterRow.n == changes)
    except DeleteError as failure:
        if failure.cause_response_code != _CONDITION:
            raise
        noted.update([CounterRow.n.add(-changes)])


def make_room(project: int) -> None:
    """Call it before a bulk write: it waits where the compaction is behind. It may be called again for the same write.

    Where calls do not wait (the local stack), the process follows its own writes, and this does nothing.

    Raises:
        TooMany: the compaction is too far behind, and the time to wait is over; nothing was changed.
    """
    if project not in _behind or not settings().calls_wait:
        return
    number = _look(project)
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
        number = _look(project)
    if number > SLOW_FROM:
        _sleep(LONGEST_PAUSE * (number - SLOW_FROM) / (MOST - SLOW_FROM))


def _look(project: int) -> int:
    try:
        number = int(CounterRow.get(*_row(project).key(), consistent_read=True).n or 0)
    except CounterRow.DoesNotExist:
        number = 0
    _remember(project, number)
    return number


def _remember(project: int, number: int) -> None:
    (_behind.add if number > SLOW_FROM else _behind.discard)(project)


def _row(project: int) -> CounterRow:
    return CounterRow(GROWN, f"{project:012d}")
