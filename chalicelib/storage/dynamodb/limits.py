"""Limits on numbers of records, which requests at the same time do not pass together.

    limits.create(WEBHOOK, webhook, guard=f"webhooks|project|{project}", check=room)

Near a limit, what counts and then creates is done under a guard: a counter row that every such creation raises, on the
condition that it is still as it was before the count. Far from the limit no guard is taken.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from chalicelib.core.records import RecordKind
from chalicelib.core.time.retry import CONFLICTS
from chalicelib.errors import Conflict, LimnError, TooMany
from chalicelib.storage.dynamodb import records
from chalicelib.storage.dynamodb.tables import CounterRow
from chalicelib.storage.dynamodb.transactions import Transaction

R = TypeVar("R")
FAR = 500
"""With more room than this no guard is taken: fewer requests than that create records of a project at once."""
_KEPT_SECONDS = 24 * 3600
"""A guard row is of use while a request runs; then it expires."""
Check = Callable[[], int]
"""Counts, and returns for how many more there is room; raises where there is none."""


@dataclass(frozen=True)
class Guard:
    """The state of a guard, from before the count. `moved` is raised where another creation was faster."""

    name: str
    n: int
    moved: Conflict

    def add(self, change: Transaction) -> None:
        """Let a transaction fail with `moved` where the guard was raised since, and raise it."""
        unmoved = CounterRow.n == self.n if self.n else CounterRow.pk.does_not_exist()
        row = CounterRow(f"limit#{self.name}", "@", n=self.n + 1, expires=int(time.time()) + _KEPT_SECONDS)
        change.put(row, unmoved, self.moved)


def take(name: str) -> Guard:
    """The guard of a limit; take it before the count."""
    try:
        n = int(CounterRow.get(f"limit#{name}", "@", consistent_read=True).n)
    except CounterRow.DoesNotExist:
        n = 0
    return Guard(name, n, Conflict("Others created as many as there was room for at the same time."))


def run(name: str, check: Check, write: Callable[[Guard | None], R]) -> R:
    """The result of `write`, which adds the guard that it gets to its transaction.

    Args:
        name: what is limited, such as `webhooks|project|4`.
        check: counts.
        write: creates; called again, after another count, where another creation was faster.

    Raises:
        Conflict: every attempt lost against another creation.
    """
    if check() > FAR:
        return write(None)
    for _ in CONFLICTS.attempts():
        guard = take(name)
        check()
        try:
            return write(guard)
        except Conflict as conflict:
            if conflict is not guard.moved:
                raise
    raise guard.moved


def room_at_work(works: Iterable[Any], user: int, most: int, refusal: str) -> int:
    """How many more of `most` works a user may have unfinished among some. Raises TooMany, with `refusal`, for none."""
    left = most - len([each for each in works if each.user == user and not each.is_finished])
    if left <= 0:
        raise TooMany(refusal, retry_after=60)
    return left


def create(
    kind: RecordKind[Any],
    record: R,
    *,
    guard: str,
    check: Check,
    user: int | None = None,
    taken: LimnError | None = None,
) -> R:
    """Store a new record if there is room; raises as `records.create` and `run`."""

    def write(held: Guard | None) -> R:
        change = Transaction()
        records.add(change, kind, record, user=user, taken=taken)
        if held is not None:
            held.add(change)
        change.run()
        return record

    return run(guard, check, write)
