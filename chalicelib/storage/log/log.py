"""The log of a project: its commits in gapless order, the source of every view.

A commit is appended by a conditional put of the next number, inside the transaction of its change. A writer that loses
the race takes the next number. Bodies are compressed JSON. A large body is stored in S3 before the row that points to
it; where S3 is unavailable, it is stored in the row if it fits. A body whose row was never written is removed by the
compaction's sweep.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar

import msgspec
from isal import isal_zlib
from pynamodb.exceptions import DeleteError, PutError, PynamoDBException, UpdateError

from chalicelib.core.commits import Change, Commit, Edit, Note, Operation
from chalicelib.core.resource import now
from chalicelib.core.retry import LOG
from chalicelib.errors import NotFound, Unavailable
from chalicelib.storage.dynamodb.tables import CounterRow, LogRow
from chalicelib.storage.objects import view_objects

LARGEST_BODY = 16_000
"""Bytes of a body that a row carries where the commit tells of `MANY` changes.

A transaction pays two write units for each KB, so that from 4 KB on a PUT to S3, which costs as much as 8 units, is
cheaper. It takes some 20 ms more.
"""
MANY = 100
"""More changes than one part of a bulk change has. Parts, and functions without access to S3, write bodies inline."""
LARGEST_IN_ROW = 350_000
"""Bytes of a body that still fits into a DynamoDB item of 400 KB."""
SHUN_SECONDS = 30.0
"""Seconds to avoid S3 after it did not answer, where a row can hold the body."""
_AHEAD = 16
"""The number of commits read ahead, their bodies fetched from S3 in parallel."""
HINT_SECONDS = 60.0
"""How long, in seconds, the last number seen is trusted as a starting point.

Longer than a request, far shorter than the retention of commits: were an expired commit's number free again, a hint
older than the retention could write into the past.
"""

GROWN = "grown"
"""The partition of the counters table with a row for each project whose log needs compaction."""
GROWN_BY = 50
"""Growth is recorded for each commit of at least this size, and for one in so many smaller ones."""
_CONDITION = "ConditionalCheckFailedException"

_DEFLATE_LEVEL = 1  # ISA-L's level: a twelfth of the time of zlib's 5, and a sixth larger

_pool = ThreadPoolExecutor(8, thread_name_prefix="bodies")
_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Commit)
_hints: dict[int, tuple[int, float]] = {}
_NO_HINT = (0, 0.0)
_watched: set[int] = set()
"""The projects whose last known commit carries the mark of `watch`."""
_shunned_until = 0.0
_operation: ContextVar[Operation | None] = ContextVar("operation", default=None)
_locks: defaultdict[int, threading.Lock] = defaultdict(threading.Lock)


def lock(project: int) -> threading.Lock:
    """Locks of this container's writers, by project: without them they lose races against each other."""
    return _locks[project]


def last(project: int, *, fresh: bool = False) -> int:
    """The number of the last commit, 0 for an empty log; from memory if read lately and not `fresh`."""
    hint = _hints.get(project)
    if hint and not fresh and time.monotonic() - hint[1] < HINT_SECONDS:
        return hint[0]
    newest = next(iter(LogRow.query(project, scan_index_forward=False, limit=1, consistent_read=True)), None)
    number = int(newest.seq) if newest else 0
    seen(project, number, watched=newest is not None and bool(newest.watched))
    return number


def seen(project: int, seq: int, *, watched: bool | None = None) -> None:
    """Remember that a project's log reaches at least `seq`, and whether that commit is marked as watched, if known."""
    if watched:
        _watched.add(project)  # before the number: a writer that takes the next one must know of the mark
    elif watched is not None:
        _watched.discard(project)
    _hints[project] = (seq, time.monotonic())


def is_watched(project: int) -> bool:
    """Whether the last known commit of a project is marked: a webhook is notified of its commits (`watch`)."""
    return project in _watched


def watch(project: int, *, on: bool = True) -> int:
    """Mark a project's log, or take the mark away, by an empty commit; returns its number.

    Each commit repeats the mark of the one before it. A writer of commit n+1 has read or written commit n, so that
    every writer of every container knows of the mark, and a project without one costs no call and no byte.
    """
    for attempt in LOG.attempts():
        seq = last(project, fresh=True) + 1
        made = row(Commit(project=project, seq=seq, at=now(), user=None, changes=[]), hurried=attempt > 0)
        made.watched = 1 if on else None
        try:
            made.save(LogRow.seq.does_not_exist())
        except PutError as failure:
            if failure.cause_response_code != _CONDITION:
                raise Unavailable("The database refused the write; try again.", str(failure)) from failure
        else:
            seen(project, seq, watched=on)
            return seq
    raise Unavailable("Too many writers on this project; try again.")


def row(commit: Commit, *, hurried: bool = False) -> LogRow:
    """The row of a commit, for the transaction of its change, with the mark of the commit before.

    Args:
        commit: the commit.
        hurried: other writers will soon take the number: keep the body in the row if it fits.
    """
    made = _row(commit, hurried=hurried)
    if is_watched(commit.project):
        made.watched = 1
    return made


def _row(commit: Commit, *, hurried: bool) -> LogRow:
    body = isal_zlib.compress(_encoder.encode(commit), _DEFLATE_LEVEL)
    dear = len(commit.changes) >= MANY and not hurried and not _is_shunned()
    if len(body) <= (LARGEST_BODY if dear else LARGEST_IN_ROW):
        return LogRow(commit.project, commit.seq, body=body)
    folder = f"commits/{commit.seq:012d}"
    if len(body) > LARGEST_IN_ROW:
        return LogRow(commit.project, commit.seq, object_key=view_objects.put(commit.project, folder, body))
    key = view_objects.try_put(commit.project, folder, body)
    if key is None:
        _shun()
        return LogRow(commit.project, commit.seq, body=body)
    return LogRow(commit.project, commit.seq, object_key=key)


def _shun() -> None:
    """Avoid S3 for a while where a row can hold the body: it was unavailable, and each attempt takes seconds."""
    global _shunned_until  # noqa: PLW0603 one per container
    _shunned_until = time.monotonic() + SHUN_SECONDS


def _is_shunned() -> bool:
    return time.monotonic() < _shunned_until


def commit_of(
    project: int,
    seq: int,
    user: int | None,
    changes: list[Change],
    edits: list[Edit],
    past: Sequence[Change] = (),
    notes: Sequence[Note] = (),
) -> Commit:
    """A commit with the current time."""
    found = Commit(project=project, seq=seq, at=now(), user=user, changes=changes, edits=edits)
    operation = _operation.get()
    if not (past or notes or operation):
        return found
    return msgspec.structs.replace(found, past=list(past), notes=list(notes), operation=operation)


@contextlib.contextmanager
def part_of(operation: Operation | None) -> Iterator[None]:
    """Inside, the commits of this thread are parts of a bulk change."""
    token = _operation.set(operation)
    try:
        yield
    finally:
        _operation.reset(token)


def read_after(project: int, seq: int) -> Iterator[Commit]:
    """The commits after `seq`, in order; one consistent query, usually with no result."""
    for body, watched in _bodies(LogRow.query(project, LogRow.seq > seq, consistent_read=True)):
        commit = _decoder.decode(isal_zlib.decompress(body))
        if commit.seq >= _hints.get(project, _NO_HINT)[0]:
            seen(project, commit.seq, watched=watched)
        yield commit


def find(project: int, seq: int) -> Commit | None:
    """One commit; None where it is not kept any more, or does not exist yet."""
    return next(iter(_decode(LogRow.query(project, LogRow.seq == seq, consistent_read=True))), None)


def _decode(rows: Iterable[LogRow]) -> Iterator[Commit]:
    return (_decoder.decode(isal_zlib.decompress(body)) for body, _ in _bodies(rows))


class Expired(Exception):
    """Commits that were asked for are no longer kept."""


def follow(project: int, seq: int, most: int) -> Iterator[Commit]:
    """Up to `most` commits after `seq`, in order and without a gap; one consistent query.

    Raises:
        Expired: the next commit's time is over. DynamoDB removes such commits in any order, at any time.
    """
    rows = LogRow.query(project, LogRow.seq > seq, consistent_read=True, limit=most)
    yield from _decode(_check_kept(rows, seq))


def _check_kept(rows: Iterable[LogRow], seq: int) -> Iterator[LogRow]:
    moment = time.time()
    for number, found in enumerate(rows, seq + 1):
        if found.seq != number or (found.expires is not None and found.expires <= moment):
            raise Expired
        yield found


def _bodies(rows: Iterable[LogRow]) -> Iterator[tuple[bytes, bool]]:
    """The bodies of commits in order, each with its mark; those in S3 are fetched a few ahead."""
    waiting: deque[tuple[bytes | Future[bytes], bool]] = deque()
    for found in rows:
        body = (
            found.body
            if found.body is not None
            else _pool.submit(view_objects.get, int(found.project), found.object_key)
        )
        waiting.append((body, bool(found.watched)))
        if len(waiting) > _AHEAD:
            yield _fetch(*waiting.popleft())
    while waiting:
        yield _fetch(*waiting.popleft())


def _fetch(body: bytes | Future[bytes], watched: bool) -> tuple[bytes, bool]:
    return body.result() if isinstance(body, Future) else body, watched


def first(project: int) -> int:
    """The number of the oldest remaining commit, 0 for an empty log."""
    oldest = next(iter(LogRow.query(project, limit=1, consistent_read=True)), None)
    return int(oldest.seq) if oldest else 0


def begin_at(project: int, seq: int) -> None:
    """Make an empty commit with a given number, so that a lost log continues after the last known commit."""
    commit = Commit(project=project, seq=seq, at=now(), user=None, changes=[])
    row(commit).save(LogRow.seq.does_not_exist())
    _hints.pop(project, None)
    _watched.discard(project)


# --- compaction -----------------------------------------------------------------------------------------------------


def note_growth(project: int, seq: int, changes: int) -> None:
    """Record for the compaction how many changes a commit adds. If it fails, the next commit records it."""
    if changes < GROWN_BY and seq % GROWN_BY:
        return
    with contextlib.suppress(PynamoDBException, Unavailable):
        CounterRow(GROWN, f"{project:012d}").update([CounterRow.n.add(max(changes, GROWN_BY))])


def growth() -> dict[int, int]:
    """About how many changes there were since the last `settle_growth`, by project."""
    return {int(found.sk): int(found.n or 0) for found in CounterRow.query(GROWN, consistent_read=True)}


def settle_growth(project: int, changes: int) -> None:
    """Subtract the growth that a compaction handled."""
    noted = CounterRow(GROWN, f"{project:012d}")
    try:
        noted.delete(CounterRow.n == changes)
    except DeleteError as failure:
        if failure.cause_response_code != _CONDITION:
            raise
        noted.update([CounterRow.n.add(-changes)])


def expire(project: int, numbers: Iterable[int], when: int) -> None:
    """Let DynamoDB remove commits some time after an instant, in seconds. Missing commits are no error."""

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
    found = []
    for commit in LogRow.query(project, limit=count, consistent_read=True):
        try:
            body = commit.body if commit.body is not None else view_objects.get(project, commit.object_key)
        except NotFound:
            found.append(Commit(project=project, seq=int(commit.seq), at="", user=None, changes=[]))
        else:
            found.append(_decoder.decode(isal_zlib.decompress(body)))
    return found


def forget(project: int, numbers: Iterable[int]) -> None:
    """Delete commits, for a purge: the log can no longer be followed."""
    with LogRow.batch_write() as batch:
        for number in numbers:
            batch.delete(LogRow(project, number))
    _hints.pop(project, None)
