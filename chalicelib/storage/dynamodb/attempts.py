"""Rate counters: attempts within a period, one counter row per key.

Each count is one conditional update, so parallel requests never pass a limit together. Keys are stored as hashes:
addresses and user names do not appear in the table. Rows expire by TTL.
"""

from __future__ import annotations

import hashlib

from pynamodb.exceptions import UpdateError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib.core.time import clock
from chalicelib.core.time.retry import CONFLICTS
from chalicelib.errors import LimnError, Unavailable
from chalicelib.storage.dynamodb.tables import CounterRow
from chalicelib.storage.dynamodb.transactions import Transaction


def count(key: str, limit: int, seconds: int, *, extend: bool = False, by: int = 1) -> int | None:
    """Count one attempt, or several at once.

    Args:
        key: what is attempted.
        limit: attempts allowed per period.
        seconds: length of a period, from its first attempt, or with `extend` from its last one.
        extend: whether each attempt, refused or not, restarts the period.
        by: how many attempts; the last one may be above the limit.

    Returns:
        the number of this attempt in its period, from 1; None where the limit was reached before.

    Raises:
        Unavailable: DynamoDB does not answer.
    """
    for _ in CONFLICTS.attempts():
        now = int(clock.seconds())
        row = _row(key)
        ends = CounterRow.expires.set(now + seconds if extend else CounterRow.expires | (now + seconds))
        below_limit = CounterRow.pk.does_not_exist() | ((CounterRow.expires > now) & (CounterRow.n < limit))
        if _update(row, [CounterRow.n.add(by), ends], below_limit):
            return int(row.n)
        over = CounterRow.expires <= now
        if _update(row, [CounterRow.n.set(by), CounterRow.expires.set(now + seconds)], over):
            return by
        at_limit = (CounterRow.expires > now) & (CounterRow.n >= limit)
        unchanged = CounterRow.expires.set(now + seconds if extend else CounterRow.expires)
        if _update(row, [unchanged], at_limit):
            return None
    raise Unavailable("The database is too busy; nothing was changed. Try again.")


def give_back(key: str) -> None:
    """Uncount one attempt."""
    _update(_row(key), [CounterRow.n.add(-1)], CounterRow.n > 0)


def clear(key: str) -> None:
    """Reset the counter of a key."""
    _row(key).delete()


def allow_once(key: str, seconds: int) -> None:
    """Let `take_once` succeed for a key, once, within some seconds. Raises Unavailable: DynamoDB does not answer."""
    _update(_row(key), [CounterRow.n.set(0), CounterRow.expires.set(int(clock.seconds()) + seconds)], None)


def take_once(key: str) -> bool:
    """Whether `allow_once` was called for a key, its time has not passed, and this is the first call."""
    now = int(clock.seconds())
    return _update(_row(key), [CounterRow.expires.set(0)], CounterRow.expires > now)


def take_within(change: Transaction, key: str, otherwise: LimnError) -> None:
    """Add `take_once` to a transaction, which fails with an error where it would be false."""
    change.update(_row(key), [CounterRow.expires.set(0)], CounterRow.expires > int(clock.seconds()), otherwise)


def seconds_left(key: str) -> int:
    """Seconds until the period of a key ends, at least 1."""
    row = CounterRow.find(*_row(key).key())
    return max(1, int(row.expires) - int(clock.seconds())) if row else 1


def _row(key: str) -> CounterRow:
    return CounterRow(f"attempts|{hashlib.sha256(key.encode()).hexdigest()}", "@")


def _update(row: CounterRow, actions: list[Action], condition: Condition | None) -> bool:
    try:
        row.update(actions=actions, condition=condition)
    except UpdateError as failure:
        if failure.cause_response_code == "ConditionalCheckFailedException":
            return False
        raise Unavailable("The database refused the write; nothing was changed.", str(failure)) from failure
    return True
