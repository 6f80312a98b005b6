"""The bodies of commits: compressed JSON, in the row of the commit or in S3."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import msgspec
from isal import isal_zlib

from chalicelib.core.log.commits import Commit
from chalicelib.storage.dynamodb.tables import LogRow
from chalicelib.storage.objects import view_objects

LARGEST_BODY = 16_000
"""Bytes of a body that a row carries where the commit tells of `MANY` changes.

A transaction pays two write units for each KB, so that from 4 KB on a PUT to S3, which costs as much as 8 units, is
cheaper. It takes some 20 ms more. The local stack, where an object is a file that is synchronized with its folder,
keeps these bodies in rows.
"""
MANY = 100
"""More changes than one part of a bulk change has. Parts, and functions without access to S3, write bodies inline."""
LARGEST_IN_ROW = 350_000
"""Bytes of a body that still fits into a DynamoDB item of 400 KB."""
SHUN_SECONDS = 30.0
"""Seconds to avoid S3 after it did not answer, where a row can hold the body."""
_AHEAD = 16
"""The number of commits read ahead, their bodies fetched from S3 in parallel."""
_DEFLATE_LEVEL = 1  # ISA-L's level: a twelfth of the time of zlib's 5, and a sixth larger
_SHORT = 1_000
"""Bytes of a body up to which it is a write unit however it is compressed; level 1 first prepares a large buffer."""
_pool = ThreadPoolExecutor(8, thread_name_prefix="bodies")
_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Commit)
_shunned_until = 0.0


def row_of(commit: Commit, *, hurried: bool = False) -> LogRow:
    """The row of a commit, for the transaction of its change.

    Args:
        commit: the commit.
        hurried: readers may soon fill the number: keep the body in the row if it fits.
    """
    text = _encoder.encode(commit)
    body = isal_zlib.compress(text, 0 if len(text) <= _SHORT else _DEFLATE_LEVEL)
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


def decode(rows: Iterable[LogRow]) -> Iterator[Commit]:
    """The commits of rows, in order. Raises NotFound for a body that is missing in S3."""
    return (_decoder.decode(isal_zlib.decompress(body)) for body in _bodies(rows))


def _bodies(rows: Iterable[LogRow]) -> Iterator[bytes]:
    """The bodies of commits in order; those in S3 are fetched a few ahead."""
    waiting: deque[bytes | Future[bytes]] = deque()
    for found in rows:
        waiting.append(
            found.body
            if found.body is not None
            else _pool.submit(view_objects.get, int(found.project), found.object_key)
        )
        if len(waiting) > _AHEAD:
            yield _fetch(waiting.popleft())
    while waiting:
        yield _fetch(waiting.popleft())


def _fetch(body: bytes | Future[bytes]) -> bytes:
    return body.result() if isinstance(body, Future) else body
