"""Limits on numbers of records, which requests at the same time do not pass together.

    records.create(WEBHOOK, webhook)    holds the limits that `core/record_limits.py` declares for webhooks

Near a limit, what counts and then creates is done under a guard: a counter row that every such creation raises, on the
condition that it is still as it was before the count. Far from the limit no guard is taken, and a count serves for some
seconds and for the next creations of this process.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar

from chalicelib.core.record_limits import MEGABYTES, Most
from chalicelib.core.records import RecordKind
from chalicelib.core.text.names import with_article
from chalicelib.core.time import clock
from chalicelib.core.time.retry import CONFLICTS
from chalicelib.errors import BadInput, Conflict, TooMany
from chalicelib.storage.dynamodb.record_rows import Key, begin_of_links, home
from chalicelib.storage.dynamodb.tables import CounterRow, RecordRow, connection
from chalicelib.storage.dynamodb.transactions import Transaction

R = TypeVar("R")
GUARDED_BELOW = 500
"""With more room than this no guard is taken: fewer requests than that create records of a project at once."""
_KEPT_SECONDS = 24 * 3600
"""A guard row is of use while a request runs; then it expires."""
_TRUSTED_SECONDS = 20.0
_TRUSTED_PART = 50
"""Recount after using 1/50 of the remaining quota: other processes use it at the same time."""
_MOST_COUNTS = 10_000
_losers = threading.RLock()
"""Serializes threads that lost a race: together they would lose again."""
Check = Callable[[], int]
"""Counts, and returns for how many more there is room; raises where there is none."""


class Moved(Conflict):
    """Another creation near the limit was faster; after another count it may succeed."""


class Full(BadInput):
    """There is no room for another record."""


@dataclass(frozen=True)
class CountGuard:
    """The state of a guard, from before the count. `moved` is raised where another creation was faster."""

    name: str
    n: int
    moved: Moved

    def add(self, change: Transaction) -> None:
        """Let a transaction fail with `moved` where the guard was raised since, and raise it."""
        unmoved = CounterRow.n == self.n if self.n else CounterRow.pk.does_not_exist()
        row = CounterRow(f"limit#{self.name}", "@", n=self.n + 1, expires=int(clock.seconds()) + _KEPT_SECONDS)
        change.put(row, unmoved, self.moved)


def read_guard(name: str) -> CountGuard:
    """The guard of a limit; take it before the count."""
    n = CounterRow.value(f"limit#{name}")
    return CountGuard(name, n, Moved("Others created as many as there was room for at the same time. Try again."))


def run(name: str, check: Check, write: Callable[[CountGuard | None], R]) -> R:
    """The result of `write`, which adds the guard that it gets to its transaction.

    Args:
        name: what is limited, such as `types|4`.
        check: counts.
        write: creates; called again, after another count, where another creation was faster.

    Raises:
        Moved: every attempt lost against another creation.
    """
    last = None
    for attempt in CONFLICTS.attempts():
        with _losers if attempt else nullcontext():
            guard = None
            if check() <= GUARDED_BELOW:
                guard = read_guard(name)
                check()
            try:
                return write(guard)
            except Moved as moved:
                last = moved
    raise last or AssertionError(name)


def retry_lost_creation(write: Callable[[], R]) -> R:
    """The result of `write`, a transaction with new records; repeated where other creations near a limit were faster.

    Raises:
        Moved: every attempt lost against another creation.
    """
    return run("records", lambda: GUARDED_BELOW + 1, lambda _: write())


def room_at_work(works: Iterable[Any], user: int, most: int, refusal: str) -> int:
    """How many more of `most` works a user may have unfinished among some. Raises TooMany, with `refusal`, for none."""
    left = most - len([each for each in works if each.user == user and not each.is_finished])
    if left <= 0:
        raise TooMany(refusal, retry_after=60)
    return left


# --- of a kind of record ---------------------------------------------------------------------------------------------


@dataclass
class _Count:
    number: int
    megabytes: int
    at: float
    used: int = 0
    """Creations of this process since."""

    def is_good_for(self, number: int) -> bool:
        """Whether one more may be created by it, where at most a number may be there."""
        left = number - self.number - self.used
        return (
            left > GUARDED_BELOW and self.used < left // _TRUSTED_PART and time.monotonic() - self.at < _TRUSTED_SECONDS
        )


_counts: dict[Key, _Count] = {}
"""The last counts, by parent and kind."""


def enforce(change: Transaction, kind: RecordKind[R], record: R) -> None:
    """Let a transaction that creates a record hold the limits of its kind; near one it gets a guard.

    Raises:
        Full: there is no room; `run` of the transaction raises Moved where another creation was faster (`again`).
    """
    for most, place in _places(kind, record):
        left = change.rooms.get(place)
        if left is None:
            counted, guard = _earlier_count(most, place), None
            if counted is None:
                guard = read_guard("|".join(place))
                counted = _count_again(most, place)
            left = _room_of(kind, most, counted)
            if guard is not None and left <= GUARDED_BELOW:
                guard.add(change)
        if left <= 0:
            raise _full(kind, most)
        if place in _counts:
            _counts[place].used += 1
        change.rooms[place] = left - 1


def check(kind: RecordKind[R], record: R) -> None:
    """Raise Full where the limit of records is reached. Call it before what cannot be undone, such as a mail."""
    for most, place in _places(kind, record):
        if _room(kind, most, place) <= 0:
            raise _full(kind, most)


def check_growth(kind: RecordKind[R], record: R) -> None:
    """Raise Full where a record may not grow, since all of its kind take as much as they may."""
    for most, place in _places(kind, record):
        if most.link is None and not most.may_grow:
            _room(kind, most, place)


def _places(kind: RecordKind[R], record: R) -> Iterable[tuple[Most, Key]]:
    """The limits of a kind that count a record, each with the begin of the keys of the rows to count."""
    for most in kind.limits:
        if most.link is not None:
            if (value := getattr(record, most.link)) is not None:
                yield most, begin_of_links(kind, kind.links[most.link], value)
        elif kind.parent is not None:
            yield most, home(kind, getattr(record, kind.parent[0]), most.begins(record) if most.begins else "")


def _earlier_count(most: Most, place: Key) -> _Count | None:
    """An earlier count, where it serves."""
    counted = _counts.get(place)
    return counted if counted is not None and counted.is_good_for(most.number) else None


def _count_again(most: Most, place: Key) -> _Count:
    counted = _count(place, most.number)
    if len(_counts) >= _MOST_COUNTS:
        _counts.clear()
    _counts[place] = counted
    return counted


def _room_of(kind: RecordKind[Any], most: Most, counted: _Count) -> int:
    """For how many more there is room; 0 and less for none. Raises Full where the records take too many bytes."""
    if counted.megabytes > MEGABYTES:
        raise Full(f"The {kind.plural} of one {most.owner} may take {MEGABYTES} MB together. Delete some first.")
    return most.number - counted.number - counted.used


def _room(kind: RecordKind[Any], most: Most, place: Key) -> int:
    """For how many more there is room. Raises as `_room_of`."""
    return _room_of(kind, most, _earlier_count(most, place) or _count_again(most, place))


def _full(kind: RecordKind[Any], most: Most) -> Full:
    return Full(
        f"{with_article(most.owner).capitalize()} may have at most {most.number:,} {kind.plural}. Delete one first."
    )


def _count(place: Key, enough: int) -> _Count:
    """Count rows without reading them. DynamoDB reads a megabyte for each answer, so answers are megabytes."""
    asked: dict[str, Any] = {
        "TableName": RecordRow.Meta.table_name,
        "Select": "COUNT",
        "KeyConditionExpression": "pk = :h AND begins_with(sk, :r)",
        "ExpressionAttributeValues": {":h": {"S": place[0]}, ":r": {"S": place[1]}},
        "ConsistentRead": True,
    }
    number = full = 0
    while number <= enough and full <= MEGABYTES:
        answer = connection().call("Query", **asked)
        number += answer["Count"]
        if "LastEvaluatedKey" not in answer:
            break
        full += 1
        asked["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
    return _Count(number, full, time.monotonic())
