"""Which pieces of a transcode are done: a row for each with its result, and their number, in one transaction.

    pieces#{job}, {index}    what the piece came to, until the job is through
    pieces#{job}, @          (counters) how many there are

A piece that was encoded twice, because its message came twice, counts once.
"""

from __future__ import annotations

import time

from chalicelib.errors import Conflict
from chalicelib.storage.dynamodb.tables import CounterRow, RecordRow
from chalicelib.storage.dynamodb.transactions import Transaction

KEPT = 14 * 86400
"""Seconds after which what nobody removed is forgotten."""
_BATCH = 25


def finish(job: str, index: int, result: bytes) -> int:
    """Note that a piece is done and what it came to; the number of pieces done so far, at least its own."""
    end = int(time.time()) + KEPT
    change = Transaction()
    noted = Conflict("The piece was done before.")
    row = RecordRow(f"pieces#{job}", f"{index:06d}", doc=result, expires=end)
    change.put(row, RecordRow.pk.does_not_exist(), noted)
    change.update(_counter(job), actions=[CounterRow.n.add(1), CounterRow.expires.set(end)])
    try:
        change.run()
    except Conflict as conflict:
        if conflict is not noted:
            raise
    return count(job)


def is_done(job: str, index: int) -> bool:
    """Whether a piece is done."""
    try:
        RecordRow.get(f"pieces#{job}", f"{index:06d}", consistent_read=True, attributes_to_get=["pk", "sk"])
    except RecordRow.DoesNotExist:
        return False
    return True


def count(job: str) -> int:
    """How many pieces are done."""
    try:
        return int(CounterRow.get(*_counter(job).key(), consistent_read=True).n)
    except CounterRow.DoesNotExist:
        return 0


def results(job: str) -> dict[int, bytes]:
    """What the pieces that are done came to, by index."""
    rows = RecordRow.query(f"pieces#{job}", consistent_read=True)
    return {int(row.sk): row.doc for row in rows}


def remove(job: str) -> None:
    """Forget the pieces of a job."""
    with RecordRow.batch_write() as batch:
        for row in list(RecordRow.query(f"pieces#{job}", consistent_read=True)):
            batch.delete(row)
    _counter(job).delete()


def _counter(job: str) -> CounterRow:
    return CounterRow(f"pieces#{job}", "@")
