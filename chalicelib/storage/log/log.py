"""The log of a project: its commits in gapless order, the truth from which every view is derived.

A commit is appended by a conditional put of the number after the last, inside the transaction of the change it tells
of. Who loses the race takes the next number. Bodies are compressed JSON; a large one lies in S3, written before the row
that points to it; where S3 is down, in the row after all if it fits. One whose row was never written is removed by the
compaction's sweep.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import msgspec
from isal import isal_zlib
from pynamodb.exceptions import DeleteError, PynamoDBException, UpdateError

from chalicelib.core.commits import Change, Commit, Edit
from chalicelib.core.resource import now
from chalicelib.errors import NotFound, Unavailable
from chalicelib.storage.dynamodb.tables import CounterRow, LogRow
from chalicelib.storage.objects import objects

LARGEST_BODY = 16_000
"""Bytes of a body that a row carries where the commit tells of `MANY` changes.

A transaction pays two write units for each KB, so that from 4 KB on a PUT to S3, which costs as much as 8 units, is
cheaper. It takes some 20 ms more.
"""
MANY = 100
"""More than the parts of a bulk change have, of which each would wait for S3, or a function whose role knows no S3."""
LARGEST_IN_ROW = 350_000
"""Bytes of a body that still fits into a DynamoDB item of 400 KB."""
SHUN_SECONDS = 30.0
"""How long S3 is left alone after it did not answer, where a row can carry a body as well."""
_AHEAD = 16
"""How many commits are looked ahead, their bodies fetched from S3 side by side."""
HINT_SECONDS = 60.0
"""How long the last number seen may be trusted as a starting point.

Longer than a request, far shorter than the retention of commits: were an expired commit's number free again, a hint
older than the retention could write into the past.
"""

GROWN = "grown"
"""The partition of the counters table that has a row for each project whose log a compaction should look at."""
GROWN_BY = 50
"""The growth that is noted: by commits as large as this, and by every so many smaller ones."""
_CONDITION = "ConditionalCheckFailedException"

_DEFLATE_LEVEL = 1  # ISA-L's: a twelfth of the time of zlib's 5, and a sixth larger

_pool = ThreadPoolExecutor(8, thread_name_prefix="bodies")
_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Commit)
_hints: dict[int, tuple[int, float]] = {}
_shunned_until = 0.0
_locks: defaultdict[int, threading.Lock] = defaultdict(threading.Lock)


def lock(project: int) -> threading.Lock:
    """Held by this container's writers of a project in turn: they would only lose races against each other."""
    return _locks[project]


def last(project: int, *, fresh: bool = False) -> int:
    """The number of the last commit, 0 where there is none; from memory if seen lately and not `fresh`."""
    hint = _hints.get(project)
    if hint and not fresh and time.monotonic() - hint[1] < HINT_SECONDS:
        return hint[0]
    newest = next(iter(LogRow.query(project, scan_index_forward=False, limit=1, consistent_read=True)), None)
    number = int(newest.seq) if newest else 0
    seen(project, number)
    return number


def seen(project: int, seq: int) -> None:
    """Remember that a project's log goes at least up to `seq`."""
    _hints[project] = (seq, time.monotonic())


def row(commit: Commit, *, hurried: bool = False) -> LogRow:
    """The row of a commit, to be put into the transaction of its change.

    Args:
        commit: the commit.
        hurried: the number will soon be taken by others: leave out the way to S3 if the row can carry the body.
    """
    body = isal_zlib.compress(_encoder.encode(commit), _DEFLATE_LEVEL)
    dear = len(commit.changes) >= MANY and not hurried and not _is_shunned()
    if len(body) <= (LARGEST_BODY if dear else LARGEST_IN_ROW):
        return LogRow(commit.project, commit.seq, body=body)
    folder = f"commits/{commit.seq:012d}"
    if len(body) > LARGEST_IN_ROW:
        return LogRow(commit.project, commit.seq, object_key=objects.put_view_object(commit.project, folder, body))
    key = objects.try_view_object(commit.project, folder, body)
    if key is None:
        _shun()
        return LogRow(commit.project, commit.seq, body=body)
    return LogRow(commit.project, commit.seq, object_key=key)


def _shun() -> None:
    """For a while leave S3 alone where a row can carry the body: it was down, and each try takes seconds."""
    global _shunned_until  # noqa: PLW0603 one per container
    _shunned_until = time.monotonic() + SHUN_SECONDS


def _is_shunned() -> bool:
    return time.monotonic() < _shunned_until


def commit_of(project: int, seq: int, user: int | None, changes: list[Change], edits: list[Edit]) -> Commit:
    """A commit made now."""
    return Commit(project=project, seq=seq, at=now(), user=user, changes=changes, edits=edits)


def read_after(project: int, seq: int) -> Iterator[Commit]:
    """The commits after `seq`, in order; one consistent query, usually of nothing."""
    for body in _bodies(LogRow.query(project, LogRow.seq > seq, consistent_read=True)):
        commit = _decoder.decode(isal_zlib.decompress(body))
        seen(project, commit.seq)
        yield commit


def _bodies(rows: Iterable[LogRow]) -> Iterator[bytes]:
    """The bodies of commits in order; those in S3 are fetched a few ahead."""
    waiting: deque[bytes | Future[bytes]] = deque()
    for found in rows:
        waiting.append(
            found.body
            if found.body is not None
            else _pool.submit(objects.get_view_object, int(found.project), found.object_key)
        )
        if len(waiting) > _AHEAD:
            yield _fetched(waiting.popleft())
    while waiting:
        yield _fetched(waiting.popleft())


def _fetched(body: bytes | Future[bytes]) -> bytes:
    return body.result() if isinstance(body, Future) else body


def first(project: int) -> int:
    """The number of the oldest commit that is left, 0 where there is none."""
    oldest = next(iter(LogRow.query(project, limit=1, consistent_read=True)), None)
    return int(oldest.seq) if oldest else 0


def begin_at(project: int, seq: int) -> None:
    """Make an empty commit, so that a log that was lost goes on behind what is known of it."""
    commit = Commit(project=project, seq=seq, at=now(), user=None, changes=[])
    row(commit).save(LogRow.seq.does_not_exist())
    _hints.pop(project, None)


# --- compaction -----------------------------------------------------------------------------------------------------


def note_growth(project: int, seq: int, changes: int) -> None:
    """Note for the compaction how much a commit adds: often enough, and if it fails the next one does."""
    if changes < GROWN_BY and seq % GROWN_BY:
        return
    with contextlib.suppress(PynamoDBException, Unavailable):
        CounterRow(GROWN, f"{project:012d}").update([CounterRow.n.add(max(changes, GROWN_BY))])


def growth() -> dict[int, int]:
    """About how many changes there were since the last `settle_growth`, by project."""
    return {int(found.sk): int(found.n or 0) for found in CounterRow.query(GROWN, consistent_read=True)}


def settle_growth(project: int, changes: int) -> None:
    """Take away what a compaction dealt with."""
    noted = CounterRow(GROWN, f"{project:012d}")
    try:
        noted.delete(CounterRow.n == changes)
    except DeleteError as failure:
        if failure.cause_response_code != _CONDITION:
            raise
        noted.update([CounterRow.n.add(-changes)])


def expire(project: int, numbers: Iterable[int], when: int) -> None:
    """Let DynamoDB remove commits some time after an instant, in seconds; those that are gone are no error."""

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
    """The first commits that are left, for a purge. One whose body is gone from S3 already counts as empty."""
    found = []
    for commit in LogRow.query(project, limit=count, consistent_read=True):
        try:
            body = commit.body if commit.body is not None else objects.get_view_object(project, commit.object_key)
        except NotFound:
            found.append(Commit(project=project, seq=int(commit.seq), at="", user=None, changes=[]))
        else:
            found.append(_decoder.decode(isal_zlib.decompress(body)))
    return found


def forget(project: int, numbers: Iterable[int]) -> None:
    """Remove commits, for a purge: nobody can follow the log any more."""
    with LogRow.batch_write() as batch:
        for number in numbers:
            batch.delete(LogRow(project, number))
    _hints.pop(project, None)
