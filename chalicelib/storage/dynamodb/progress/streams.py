"""Streams: how far each reader of a project's events has come, with a lease, so that one process at a time advances it.

    streams#<word>, <project>|<reader>      the document of a stream; `n` is its optimistic lock
    journal#<word>|<reader>, <time>|<...>   entries about what was done, in pages, which expire

All streams of a word are one partition: a schedule finds those that are behind with one query. A holder saves with the
lock; `wake` and `rewind` change the row under it, so that it reads the row again and misses nothing.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Struct
from pynamodb.exceptions import PutError

from chalicelib.core.records import padded
from chalicelib.core.time import clock
from chalicelib.core.time.retry import CONFLICTS
from chalicelib.errors import Conflict, Unavailable
from chalicelib.storage.dynamodb.tables import CounterRow
from chalicelib.storage.dynamodb.transactions import Transaction

_CONDITION = "ConditionalCheckFailedException"
ENTRIES_A_PAGE = 50


class Stream(Struct, kw_only=True):
    """The position of one reader in the events of one project.

    Times are seconds since 1970.
    """

    word: str
    project: int
    reader: int
    position: str
    """As `resources/events` gives it: all before it is done."""
    is_off: bool = False
    lease: str = ""
    """The name of the process that advances it; empty for none."""
    lease_until: float = 0.0
    is_woken: bool = False
    """Whether a wake-up came while it was leased."""
    rewind: str | None = None
    """A position to begin again from."""
    attempts: int = 0
    """Failed attempts on the event after the position."""
    failing_since: float | None = None
    next_at: float = 0.0
    """When to try again; 0 for at once."""
    n: int = 0

    @property
    def is_leased(self) -> bool:
        """Whether a process holds it."""
        return bool(self.lease) and self.lease_until > clock.seconds()


class LeaseLost(Exception):
    """The stream is deleted, or another process holds it."""


_decoder = msgspec.json.Decoder(Stream)


def add(word: str, project: int, reader: int, position: str) -> bool:
    """Begin a stream; returns False where there is one."""
    try:
        _put(Stream(word=word, project=project, reader=reader, position=position, n=1), CounterRow.pk.does_not_exist())
    except Conflict:
        return False
    return True


def every(word: str) -> Iterator[Stream]:
    """All streams of a word, by project."""
    return map(_decode, CounterRow.query(_pk(word), consistent_read=True))


def of_project(word: str, project: int) -> list[Stream]:
    """The streams of a project."""
    begins = CounterRow.sk.startswith(f"{padded(project)}|")
    return [_decode(row) for row in CounterRow.query(_pk(word), begins, consistent_read=True)]


def get(word: str, project: int, reader: int) -> Stream | None:
    """One stream, None where there is none."""
    row = CounterRow.find(_pk(word), _sk(project, reader))
    return _decode(row) if row else None


def lease(word: str, project: int, reader: int, seconds: float) -> Stream | None:
    """Lease a stream; None where it is off or gone, not due, or held: then its holder looks again before it ends."""
    for _ in CONFLICTS.attempts():
        found = get(word, project, reader)
        if found is None or found.is_off:
            return None
        if found.is_leased:
            if found.is_woken:
                return None
            found.is_woken = True
        elif found.next_at > clock.seconds() and found.rewind is None:
            return None
        else:
            found.lease, found.lease_until, found.is_woken = uuid.uuid4().hex, clock.seconds() + seconds, False
            _apply_rewind(found)
        mine = not found.is_woken
        try:
            _save(found)
        except Conflict:
            continue
        return found if mine else None
    raise Unavailable("The stream has too many concurrent updates. Retry.")


def extend_lease(stream: Stream, seconds: float) -> bool:
    """Save a leased stream and extend its lease; returns whether it was woken or rewound meanwhile.

    Raises:
        LeaseLost: it is no longer this process's.
    """
    stream.lease_until = clock.seconds() + seconds
    return _save_merged(stream)


def release(stream: Stream) -> bool:
    """Save a leased stream and give it back; where it was woken or rewound meanwhile, keep it and return False.

    Raises:
        LeaseLost: it is no longer this process's.
    """
    token, until = stream.lease, stream.lease_until
    stream.lease, stream.lease_until = "", 0.0
    try:
        _save(stream)
    except Conflict:
        stream.lease, stream.lease_until = token, until
        _save_merged(stream)
        return False
    return True


def change(word: str, project: int, reader: int, edited: Callable[[Stream], None]) -> Stream | None:
    """Change a stream, even if another process has its lease; returns the stored one, None if it does not exist."""
    for _ in CONFLICTS.attempts():
        found = get(word, project, reader)
        if found is None:
            return None
        edited(found)
        try:
            _save(found)
        except Conflict:
            continue
        return found
    raise Unavailable("The stream has too many concurrent updates. Retry.")


def remove(stream: Stream) -> None:
    """Delete a stream. Idempotent."""
    CounterRow(_pk(stream.word), _sk(stream.project, stream.reader)).delete()


def _save_merged(stream: Stream) -> bool:
    """Save; on a conflict take over what others may change under the holder, and save again."""
    was_disturbed = False
    for _ in CONFLICTS.attempts():
        try:
            _save(stream)
        except Conflict:
            now = get(stream.word, stream.project, stream.reader)
            if now is None or now.lease != stream.lease:
                raise LeaseLost(f"{stream.word} {stream.reader}") from None
            was_disturbed = True
            stream.n, stream.is_off, stream.rewind = now.n, now.is_off, now.rewind
            _apply_rewind(stream)
        else:
            return was_disturbed
    raise Unavailable("The stream has too many concurrent updates. Retry.")


def _apply_rewind(stream: Stream) -> None:
    if stream.rewind is not None:
        stream.position, stream.rewind = stream.rewind, None
        stream.attempts, stream.failing_since, stream.next_at = 0, None, 0.0


def _save(stream: Stream) -> None:
    stream.n += 1
    try:
        _put(stream, CounterRow.n == stream.n - 1)
    except Exception:
        stream.n -= 1
        raise


def _put(stream: Stream, condition: Any) -> None:
    row = CounterRow(_pk(stream.word), _sk(stream.project, stream.reader), n=stream.n, detail=_encode(stream))
    try:
        row.save(condition)
    except PutError as failure:
        if failure.cause_response_code != _CONDITION:
            raise Unavailable("The database refused the write; try again.", str(failure)) from failure
        raise Conflict("The stream was changed meanwhile.") from failure


def _encode(stream: Stream) -> str:
    return msgspec.json.encode(stream).decode()


def _decode(row: CounterRow) -> Stream:
    return _decoder.decode(row.detail)


def _pk(word: str) -> str:
    return f"streams#{word}"


def _sk(project: int, reader: int) -> str:
    return f"{padded(project)}|{padded(reader)}"


# --- once ------------------------------------------------------------------------------------------------------------


def claim(change: Transaction, name: str) -> None:
    """Add a claim to the transaction of what must happen once: it fails with Conflict where the name is claimed."""
    row = CounterRow(f"once#{name}", "@", n=1)
    change.put(row, CounterRow.pk.does_not_exist(), Conflict(f"{name} was done before."))


def is_claimed(name: str) -> bool:
    """Whether it happened."""
    return CounterRow.find(f"once#{name}", "@") is not None


# --- journal ---------------------------------------------------------------------------------------------------------


def append_journal(word: str, reader: int, entries: Iterable[dict[str, Any]], expires: int) -> None:
    """Add entries to the journal of a reader, in order, as few rows as possible; DynamoDB deletes them after a time."""
    waiting = list(entries)
    for start in range(0, len(waiting), ENTRIES_A_PAGE):
        page = waiting[start : start + ENTRIES_A_PAGE]
        sk = f"{time.time_ns():020d}|{uuid.uuid4().hex[:8]}"
        CounterRow(f"journal#{word}|{reader}", sk, detail=json.dumps(page), expires=expires).save()


def journal(word: str, reader: int, before: str | None = None) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The pages of a journal, newest first, each with its key; `before` is the key of the page to go on after."""
    begins = None if before is None else CounterRow.sk < before
    for row in CounterRow.query(f"journal#{word}|{reader}", begins, scan_index_forward=False, consistent_read=True):
        if not row.expires or row.expires > clock.seconds():
            yield row.sk, json.loads(row.detail)
