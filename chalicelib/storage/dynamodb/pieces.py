"""Which pieces of a transcode are done: a row for each with its result, and their number, in one transaction.

    pieces#{job}, {index}    what the piece came to, until the job is over; other groups have pieces#{job}.{group}
    pieces#{job}, @          (counters) how many there are

A piece that was encoded twice, because its message came twice, counts once. The pieces of each group of renditions are
counted for themselves, as are the groups that are shown.
"""

from __future__ import annotations

import time

from chalicelib.errors import Conflict
from chalicelib.storage.dynamodb.tables import CounterRow, RecordRow
from chalicelib.storage.dynamodb.transactions import Transaction

KEPT = 14 * 86400
"""Seconds after which rows that were not removed expire."""
SHOWN = 9
"""The group whose pieces are the groups that are shown."""
_GROUPS = (0, 1)


def finish(job: str, index: int, result: bytes, *, group: int = 0) -> int:
    """Note that a piece is done and what it came to; how many of its group are done so far, at least itself."""
    end = int(time.time()) + KEPT
    change = Transaction()
    noted = Conflict("The piece was done before.")
    row = RecordRow(_key(job, group), f"{index:06d}", doc=result, expires=end)
    change.put(row, RecordRow.pk.does_not_exist(), noted)
    change.update(_counter(job, group), actions=[CounterRow.n.add(1), CounterRow.expires.set(end)])
    try:
        change.run()
    except Conflict as conflict:
        if conflict is not noted:
            raise
    return count_of_group(job, group)


def is_done(job: str, index: int, *, group: int = 0) -> bool:
    """Whether a piece is done."""
    try:
        RecordRow.get(_key(job, group), f"{index:06d}", consistent_read=True, attributes_to_get=["pk", "sk"])
    except RecordRow.DoesNotExist:
        return False
    return True


def count(job: str) -> int:
    """How many pieces are done, of all groups."""
    return sum(count_of_group(job, group) for group in _GROUPS)


def count_of_group(job: str, group: int) -> int:
    """How many pieces of a group are done."""
    try:
        return int(CounterRow.get(*_counter(job, group).key(), consistent_read=True).n)
    except CounterRow.DoesNotExist:
        return 0


def results(job: str, *, group: int = 0) -> dict[int, bytes]:
    """What the pieces of a group that are done came to, by index."""
    rows = RecordRow.query(_key(job, group), consistent_read=True)
    return {int(row.sk): row.doc for row in rows}


def remove(job: str) -> None:
    """Forget the pieces of a job."""
    for group in (*_GROUPS, SHOWN):
        with RecordRow.batch_write() as batch:
            for row in list(RecordRow.query(_key(job, group), consistent_read=True)):
                batch.delete(row)
        _counter(job, group).delete()


def _key(job: str, group: int) -> str:
    return f"pieces#{job}.{group}" if group else f"pieces#{job}"


def _counter(job: str, group: int) -> CounterRow:
    return CounterRow(_key(job, group), "@")
