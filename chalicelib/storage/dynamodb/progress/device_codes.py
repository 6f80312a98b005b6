"""Sign-ins of devices that wait for a person, by the hash of the code that the person types.

    device#{hash}, @     n: 0 until the person has answered, then 1; deleted by its TTL

The document is the caller's. An expired row counts as none.
"""

from __future__ import annotations

from pynamodb.exceptions import PutError
from pynamodb.expressions.condition import Condition

from chalicelib.core.time import clock
from chalicelib.errors import LimnError, Unavailable
from chalicelib.storage.dynamodb.tables import RecordRow
from chalicelib.storage.dynamodb.transactions import Transaction

_WAITS, _ANSWERED = 0, 1


def add(key: str, doc: bytes, seconds: int) -> bool:
    """Store a new row for some seconds; false where the key is taken."""
    now = int(clock.seconds())
    free = RecordRow.pk.does_not_exist() | (RecordRow.expires <= now)
    return _put(RecordRow(f"device#{key}", "@", doc=doc, n=_WAITS, expires=now + seconds), free)


def read(key: str) -> RecordRow | None:
    """The row of a key."""
    row = RecordRow.find(f"device#{key}", "@")
    return row if row is not None and row.expires > clock.seconds() else None


def answer(row: RecordRow, doc: bytes) -> bool:
    """Replace the document of a row that waits, once; false where it was answered before."""
    return _put(RecordRow(**{**row.attribute_values, "doc": doc, "n": _ANSWERED}), RecordRow.n == _WAITS)


def use(change: Transaction, row: RecordRow, otherwise: LimnError) -> None:
    """Add the removal of an answered row to a transaction, which fails with an error where it is gone."""
    change.delete(row, RecordRow.n == _ANSWERED, otherwise)


def _put(row: RecordRow, condition: Condition) -> bool:
    try:
        row.save(condition=condition)
    except PutError as failure:
        if failure.cause_response_code == "ConditionalCheckFailedException":
            found = RecordRow.find(*row.key())
            # written by us: the response was lost, and botocore repeated the call
            return found is not None and (found.doc, found.n) == (row.doc, row.n)
        raise Unavailable("The database refused the write; nothing was changed.", str(failure)) from failure
    return True
