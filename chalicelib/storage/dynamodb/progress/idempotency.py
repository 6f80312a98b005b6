"""Keys of requests that may be repeated: each is carried out once, whatever is lost between client and service.

    idempotency#{user}, {hash of the key}     a row of the table of records, deleted by its TTL

A request takes its key by a conditional put, with a holder of its own. Its first transaction writes into the row that
it changed something, on the condition that it still holds the key: a request that was given up changes nothing later.
Its answer is put when it is known. A request that dies leaves one of two states: it changed nothing, and the key is
free again `HELD_SECONDS` after it was taken; or it changed something, and no other request with the key is carried out.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass

from pynamodb.exceptions import DeleteError, PutError
from pynamodb.expressions.condition import Condition

from chalicelib.core.context import holding
from chalicelib.core.time import clock
from chalicelib.errors import Conflict, Unavailable
from chalicelib.storage.dynamodb.tables import RecordRow

KEPT_SECONDS = 24 * 3600
"""How long a key is remembered."""
HELD_SECONDS = 60
"""How long a request without an answer may still be running: more than the longest life of a function of the API."""
LARGEST_ANSWER = 300_000
"""Bytes of an answer that are kept."""
_CONDITION = "ConditionalCheckFailedException"


@dataclass
class Hold:
    """A key that this request holds; `has_changed` once one of its transactions was written."""

    row: RecordRow
    has_changed: bool = False

    @property
    def mine(self) -> Condition:
        """The condition that no other request has taken the key since."""
        mine: Condition = RecordRow.home_sk == self.row.home_sk
        return mine

    def mark(self) -> tuple[RecordRow, Condition, Conflict]:
        """What a transaction adds to note that the request changed something."""
        lost = Conflict("Another request has taken this Idempotency-Key; nothing was changed.")
        return RecordRow(**{**self.row.attribute_values, "n": 1}), self.mine, lost


@dataclass(frozen=True)
class Earlier:
    """An earlier request with the key: its fingerprint, its answer if it is kept, and its state."""

    fingerprint: str
    answer: bytes | None
    has_changed: bool
    seconds_left: int
    """Seconds for which it may still be running; 0 where it is not."""


_HELD: ContextVar[Hold | None] = ContextVar("idempotency", default=None)


def key_of_request() -> Hold | None:
    """The key of this request, as long as none of its transactions was written."""
    found = _HELD.get()
    return found if found is not None and not found.has_changed else None


def claim(user: int, key: str, fingerprint: str) -> Hold | Earlier:
    """Claim a key for a request.

    Args:
        user: the id of the caller.
        key: the hash of the key.
        fingerprint: what the request asks, as a hash.

    Raises:
        Unavailable: DynamoDB does not answer; nothing was changed.
    """
    now = int(clock.seconds())
    row = RecordRow(
        f"idempotency#{user}", key, home_pk=fingerprint, home_sk=uuid.uuid4().hex, n=0, expires=now + KEPT_SECONDS
    )
    abandoned = (
        RecordRow.doc.does_not_exist() & (RecordRow.n == 0) & (RecordRow.expires < now + KEPT_SECONDS - HELD_SECONDS)
    )
    free = RecordRow.pk.does_not_exist() | (RecordRow.expires < now) | abandoned
    for _ in range(3):
        try:
            row.save(condition=free)
        except PutError as failure:
            if failure.cause_response_code != _CONDITION:
                raise Unavailable("The database refused the write; nothing was changed.", str(failure)) from failure
        else:
            return Hold(row)
        found = RecordRow.find(*row.key())
        if found is not None and found.home_sk == row.home_sk:
            return Hold(row)  # taken by us: the response was lost, and botocore repeated the call
        if found is not None:
            values = found.attribute_values
            left = max(0, int(found.expires) - KEPT_SECONDS + HELD_SECONDS - now)
            return Earlier(found.home_pk, values.get("doc"), bool(found.n), left)
    raise Unavailable("The database is too busy; nothing was changed. Try again.")


@contextmanager
def marking(hold: Hold) -> Iterator[None]:
    """Inside, the first transaction marks the key."""
    with holding(_HELD, hold):
        yield


def finish(hold: Hold, answer: bytes) -> None:
    """Keep the answer. Where that fails, a repeated request learns that the first was carried out."""
    row = RecordRow(**{**hold.row.attribute_values, "doc": answer, "n": int(hold.has_changed)})
    with suppress(PutError, Unavailable):
        row.save(condition=hold.mine)


def rows_of(user: int) -> Iterator[RecordRow]:
    """The keys that a user's requests took, with the answers that are kept for them."""
    return RecordRow.select(f"idempotency#{user}")


def remove(row: RecordRow) -> None:
    """Forget a key and its answer."""
    try:
        row.delete()
    except DeleteError as failure:
        raise Unavailable("The database refused the write; try again.", str(failure)) from failure


def release(hold: Hold) -> None:
    """Free the key of a refused request that changed nothing, as its row says."""
    with suppress(DeleteError, Unavailable):
        hold.row.delete(condition=hold.mine & (RecordRow.n == 0))
