"""The log of a project: its commits in gapless order, the source of every view.

A commit is appended by a conditional put, inside the transaction of its change, under a number that its writer took as
a ticket (`tickets.py`). Readers get commits in order and without holes. A large body is stored in S3 (`bodies.py`)
before the row that points to it; where S3 is unavailable, it is stored in the row if it fits. A body whose row was
never written is removed by the compaction's sweep.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar

import msgspec
from pynamodb.exceptions import PutError, PynamoDBException, UpdateError

from chalicelib.core.context import holding
from chalicelib.core.log.commits import Change, Commit, Edit, Note, Operation, Touched
from chalicelib.core.log.commits_read import note_written
from chalicelib.core.resource import now
from chalicelib.core.time import clock
from chalicelib.core.time.retry import LOG, Retry
from chalicelib.errors import NotFound, Unavailable
from chalicelib.storage.dynamodb.tables import LogRow
from chalicelib.storage.log import growth, tickets
from chalicelib.storage.log.bodies import decode, row_of
from chalicelib.storage.log.tickets import Ticket

HINT_SECONDS = 60.0
"""How long, in seconds, the last number seen counts as lately read."""
HOLE_SECONDS = 0.25
"""How long, in seconds, a reader waits for the writer of a number before it fills it: far longer than a transaction."""
HOLES = Retry(most=1, first=0.01, longest=0.05)
"""The pauses of a reader that waits."""
_MOST_LOOKS = 1000
SETTLED_EVERY = 64
"""Each commit with a multiple of this number checks for holes before it, so that readers look no further back."""

_CONDITION = "ConditionalCheckFailedException"

_hints: dict[int, tuple[int, float]] = {}
_NO_HINT = (0, 0.0)
_watched: set[int] = set()
"""The projects whose last known ticket carries the mark of `watch`."""
_operation: ContextVar[Operation | None] = ContextVar("operation", default=None)
_locks: defaultdict[int, threading.Lock] = defaultdict(threading.Lock)


def lock(project: int) -> threading.Lock:
    """Locks of this container's writers, by project: without them they lose races against each other."""
    return _locks[project]


def last(project: int, *, fresh: bool = False) -> int:
    """The number of the last commit, 0 for an empty log; from memory if read lately and not `fresh`.

    There are no holes up to it: events after this number are events after this call.
    """
    hint = _hints.get(project)
    if hint and not fresh and time.monotonic() - hint[1] < HINT_SECONDS:
        return hint[0]
    number = 0
    if state := tickets.state(project):
        number = state.settled
        _note_mark(project, is_watched=state.is_watched)
        for found in rows_after(project, number):
            number = int(found.seq)
    elif newest := tickets.last_written(project):  # of an older release, which left no holes
        number = int(newest.seq)
        _note_mark(project, is_watched=bool(newest.watched))
    seen(project, number)
    return number


def seen(project: int, seq: int) -> None:
    """Remember that a project's log reaches at least `seq`."""
    _hints[project] = (seq, time.monotonic())


def _note_mark(project: int, *, is_watched: bool) -> None:
    (_watched.add if is_watched else _watched.discard)(project)


def is_watched(project: int) -> bool:
    """Whether the last known ticket of a project is marked: a webhook is notified of its commits (`watch`)."""
    return project in _watched


def take_ticket(project: int) -> Ticket:
    """The number of the next commit. Take it after reading the rows that the commit changes."""
    ticket = tickets.take_ticket(project)
    _note_mark(project, is_watched=ticket.is_watched)
    return ticket


def give_up(project: int, ticket: Ticket) -> None:
    """Fill the number of a ticket that is not used, so that readers need not wait for it."""
    with contextlib.suppress(PynamoDBException, Unavailable):
        fill(project, ticket.seq)


def note_commit(project: int, ticket: Ticket, changes: int) -> None:
    """Record a commit that was made, and do the work due at intervals of commits. Failures are retried later."""
    note_written(ticket.seq)
    seen(project, ticket.seq)
    with contextlib.suppress(PynamoDBException, Unavailable):
        growth.record(project, ticket.seq, changes)
        if ticket.seq % SETTLED_EVERY == 0:
            _close_holes(project, ticket.settled)
            tickets.mark_complete(project, ticket.seq)


def watch(project: int, *, on: bool = True) -> int:
    """Mark a project's log, or take the mark away, and make an empty commit; returns its number.

    Tickets carry the mark, so that every later writer knows of it, and a project without one costs no call. When this
    returns, writers with an earlier ticket have committed, or will take another.
    """
    ticket = tickets.take_marked(project, watched=on)
    fill(project, ticket.seq)
    _note_mark(project, is_watched=on)
    if on:
        _close_holes(project, ticket.settled)
    seen(project, ticket.seq)
    return ticket.seq


def commit_of(
    project: int,
    seq: int,
    user: int | None,
    changes: list[Change],
    edits: list[Edit],
    past: Sequence[Change] = (),
    notes: Sequence[Note] = (),
    touched: Touched | None = None,
) -> Commit:
    """A commit with the current time."""
    found = Commit(project=project, seq=seq, at=now(), user=user, changes=changes, edits=edits, touched=touched)
    operation = _operation.get()
    if not (past or notes or operation):
        return found
    return msgspec.structs.replace(found, past=list(past), notes=list(notes), operation=operation)


def new_operation(project: int) -> Operation:
    """A bulk change of a project that begins now."""
    return Operation(uuid.uuid4().hex, last(project))


def part_of(operation: Operation | None) -> contextlib.AbstractContextManager[None]:
    """Inside, the commits of this thread are parts of a bulk change."""
    return holding(_operation, operation)


def read_after(project: int, seq: int) -> Iterator[Commit]:
    """The commits after `seq`, in order; one consistent query, usually with no result."""
    for commit in decode(rows_after(project, seq)):
        if commit.seq >= _hints.get(project, _NO_HINT)[0]:
            seen(project, commit.seq)
        yield commit


def rows_after(project: int, seq: int, most: int | None = None) -> Iterator[LogRow]:
    """The rows after `seq`, in order, up to the last one that is there now, or `most`; holes are waited for and filled.

    Numbers are missing only where the commits have expired.
    """
    expected = seq + 1
    for found in LogRow.select(project, "#r > :0", seq, most=most):
        if found.seq > expected:
            yield from _missing(project, expected, int(found.seq))
        yield found
        expected = int(found.seq) + 1


def _close_holes(project: int, seq: int) -> None:
    """Wait for the holes after a number, and fill those that stay."""
    for _ in rows_after(project, seq):
        pass


def _missing(project: int, low: int, high: int) -> Iterable[LogRow]:
    """The rows from `low` up to before `high`, which a query did not find; without those that have expired."""
    state = tickets.state(project)
    # Read before the rows: what is missing up to there has expired, and what settles from now on is found.
    settled = state.settled if state else tickets.last_expired(project)
    end = time.monotonic() + HOLE_SECONDS
    for attempt in range(_MOST_LOOKS):
        found = LogRow.query(project, LogRow.seq.between(low, high - 1), consistent_read=True)
        there = {int(row.seq): row for row in found}
        holes = [number for number in range(max(low, settled + 1), high) if number not in there]
        if not holes:
            return there.values()
        if time.monotonic() < end:
            HOLES.pause(attempt + 1)
        else:
            for number in holes:
                fill(project, number)
    raise Unavailable("The log of the project cannot be read; try again.")


def fill(project: int, seq: int) -> None:
    """Put an empty commit under a number, unless there is a commit.

    Raises:
        Unavailable: DynamoDB does not answer.
    """
    for _ in LOG.attempts():
        try:
            row_of(Commit(project=project, seq=seq, at=now(), user=None, changes=[])).save(LogRow.seq.does_not_exist())
        except PutError as failure:
            if failure.cause_response_code == _CONDITION:
                return
            if failure.cause_response_code != "TransactionConflictException":  # its writer is about to commit
                raise Unavailable("The database refused the write; try again.", str(failure)) from failure
        else:
            return
    raise Unavailable("The database is too busy; try again.")


def find(project: int, seq: int) -> Commit | None:
    """One commit; None where it is not kept any more, or does not exist yet."""
    return next(iter(decode(LogRow.query(project, LogRow.seq == seq, consistent_read=True))), None)


class Expired(Exception):
    """Commits that were asked for are no longer kept."""


def follow(project: int, seq: int, most: int) -> Iterator[Commit]:
    """Up to `most` commits after `seq`, in order and without a gap; one consistent query.

    Raises:
        Expired: the next commit's time is over. DynamoDB removes such commits in any order, at any time.
    """
    yield from decode(_check_kept(itertools.islice(rows_after(project, seq, most), most), seq))


def _check_kept(rows: Iterable[LogRow], seq: int) -> Iterator[LogRow]:
    moment = clock.seconds()
    for number, found in enumerate(rows, seq + 1):
        if found.seq != number or (found.expires is not None and found.expires <= moment):
            raise Expired
        yield found


def first(project: int) -> int:
    """The number of the oldest remaining commit, 0 for an empty log."""
    oldest = next(iter(LogRow.query(project, limit=1, consistent_read=True)), None)
    return int(oldest.seq) if oldest else 0


def begin_at(project: int, seq: int) -> None:
    """Make an empty commit with a given number, so that a lost log continues after the last known commit."""
    commit = Commit(project=project, seq=seq, at=now(), user=None, changes=[])
    row_of(commit).save(LogRow.seq.does_not_exist())
    tickets.raise_to(project, seq)
    tickets.mark_complete(project, seq)
    _hints.pop(project, None)


# --- compaction -----------------------------------------------------------------------------------------------------


def expire(project: int, numbers: range, when: int) -> None:
    """Let DynamoDB remove commits some time after an instant, in seconds. Missing commits are no error."""
    if numbers:
        tickets.mark_complete(project, numbers[-1])

    def one(seq: int) -> None:
        try:
            LogRow(project, seq).update([LogRow.expires.set(when)], LogRow.seq.exists())
        except UpdateError as failure:
            if failure.cause_response_code != _CONDITION:
                raise

    with ThreadPoolExecutor(8, thread_name_prefix="expire") as pool:
        for _ in pool.map(one, numbers):
            pass


# --- purge ----------------------------------------------------------------------------------------------------------


def oldest(project: int, count: int) -> list[Commit]:
    """The first remaining commits, for a purge. A commit whose body is missing in S3 counts as empty."""
    found: list[Commit] = []
    for row in LogRow.query(project, limit=count, consistent_read=True):
        try:
            found += decode([row])
        except NotFound:
            found.append(Commit(project=project, seq=int(row.seq), at="", user=None, changes=[]))
    return found


def forget(project: int, numbers: Iterable[int]) -> None:
    """Delete commits, for a purge: the log can no longer be followed. Readers take what is missing for expired."""
    numbers = list(numbers)
    tickets.mark_complete(project, max(numbers, default=0))
    with LogRow.batch_write() as batch:
        for number in numbers:
            batch.delete(LogRow(project, number))
    _hints.pop(project, None)
