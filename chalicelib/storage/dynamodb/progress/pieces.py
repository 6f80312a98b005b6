"""Finished pieces of a transcode: a row for each with its result, and a counter, written in one transaction.

    pieces#{job}, {index}    the result of the piece, until the job is over; other groups have pieces#{job}.{group}
    pieces#{job}, @          (counters) the number of finished pieces

A piece that is encoded twice, because its message was delivered twice, counts once. Each group of renditions has its
own count, as has the set of groups that are shown.
"""

from __future__ import annotations

from chalicelib.core.time import clock
from chalicelib.errors import Conflict
from chalicelib.storage.dynamodb.tables import CounterRow, RecordRow
from chalicelib.storage.dynamodb.transactions import Transaction

KEPT = 14 * 86400
"""TTL in seconds of rows that were not deleted."""
SHOWN = 9
"""The group that counts the groups that are shown."""
_GROUPS = (0, 1)


def finish(job: str, index: int, result: bytes, *, group: int = 0) -> int:
    """Record a finished piece and its result; returns how many of its group are finished, at least 1."""
    end = int(clock.seconds()) + KEPT
    change = Transaction()
    noted = Conflict("The piece was done before.")
    row = RecordRow(_key(job, group), f"{index:06d}", doc=result, expires=end)
    change.put(row, RecordRow.pk.does_not_exist(), noted)
    change.update(_counter(job, group), actions=[CounterRow.n.add(1), CounterRow.expires.set(end)])
    change.run_unless(noted)
    return count_of_group(job, group)


def is_done(job: str, index: int, *, group: int = 0) -> bool:
    """Whether a piece is finished."""
    try:
        RecordRow.get(_key(job, group), f"{index:06d}", consistent_read=True, attributes_to_get=["pk", "sk"])
    except RecordRow.DoesNotExist:
        return False
    return True


def count(job: str) -> int:
    """The number of finished pieces, of all groups."""
    return sum(count_of_group(job, group) for group in _GROUPS)


def count_of_group(job: str, group: int) -> int:
    """The number of finished pieces of a group."""
    return CounterRow.value(*_counter(job, group).key())


def results(job: str, *, group: int = 0) -> dict[int, bytes]:
    """The results of the finished pieces of a group, by index."""
    rows = RecordRow.query(_key(job, group), consistent_read=True)
    return {int(row.sk): row.doc for row in rows}


def remove(job: str) -> None:
    """Delete the rows of the pieces of a job."""
    for group in (*_GROUPS, SHOWN):
        with RecordRow.batch_write() as batch:
            for row in list(RecordRow.query(_key(job, group), consistent_read=True)):
                batch.delete(row)
        _counter(job, group).delete()


def _key(job: str, group: int) -> str:
    return f"pieces#{job}.{group}" if group else f"pieces#{job}"


def _counter(job: str, group: int) -> CounterRow:
    return CounterRow(_key(job, group), "@")
