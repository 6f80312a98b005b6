"""DynamoDB's rows on disk: a log of committed changes, written behind and compacted when it has grown.

A frame is a length, a checksum and the changes of one call, so that what a transaction wrote is read back whole or not
at all. A torn frame at the end, which a killed process leaves, is cut off.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
from moto.core import DEFAULT_ACCOUNT_ID
from moto.dynamodb.models import dynamodb_backends

from infra.local.dynamo_rows import LOCK, Change, Rows, key_of, listeners, unpack

HEADER = struct.Struct("<II")
SNAPSHOT_FRAME = 1000
WORTH_COMPACTING = 64 * 1024 * 1024
"""A log below this many bytes is not rewritten while the stack runs."""

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[tuple[str, bytes, bool]]).decode

Entry = tuple[str, bytes, bool]
"""Table, packed row, and whether it is there (or was removed)."""


class RowLog:
    """The log of all tables of one region."""

    def __init__(self, path: Path, region: str) -> None:
        self.path, self.region = path, region
        self._pending: list[list[Entry]] = []
        self._file: BinaryIO | None = None
        self._live_bytes = 0
        self._incomplete = True
        """The log lacks rows that the tables have: it must be written anew before it is continued."""

    def load(self) -> int:
        """Put the logged rows into the tables that exist, and return how many there are."""
        tables = self._tables()
        loaded: list[Rows] = []
        good = 0
        with LOCK:
            self._incomplete = any(rows.count for rows in tables.values())
            for changes, end in self._frames():
                good = end
                for table, row, present in changes:
                    rows = tables.get(table)
                    if rows is not None:
                        rows.store(*_key(rows, row), row if present else None)
            loaded = list(tables.values())
        if self.path.exists() and self.path.stat().st_size > good:
            os.truncate(self.path, good)
        return sum(rows.count for rows in loaded)

    def open(self) -> None:
        """Listen to changes from now on. Call it right after `load`. A second call does nothing."""
        if self._file is not None:
            return
        listeners.append(self._listen)
        if self.path.exists() and not self._incomplete and not self._is_bloated(1):
            self._file = self.path.open("ab")
        else:
            self.compact()

    def flush(self, first: Callable[[], None] = lambda: None) -> None:
        """Write what has changed since the last time, after what it depends on has been written by `first`."""
        with LOCK:
            pending, self._pending = self._pending, []
        first()
        if self._file is None or not pending:
            return
        for changes in pending:
            _write(self._file, changes)
        self._file.flush()
        if self._is_bloated(WORTH_COMPACTING):
            self.compact()

    def compact(self) -> None:
        """Write all rows anew and replace the log with them."""
        with LOCK:
            self._pending = []
            snapshot = [(rows.table, row) for rows in self._tables().values() for _, _, row in rows.snapshot()]
        temporary = self.path.with_suffix(".new")
        with temporary.open("wb") as file:
            for start in range(0, len(snapshot), SNAPSHOT_FRAME):
                _write(file, [(table, row, True) for table, row in snapshot[start : start + SNAPSHOT_FRAME]])
            self._live_bytes = file.tell()
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self.path)
        if self._file is not None:
            self._file.close()
        self._file = self.path.open("ab")

    def close(self) -> None:
        """Write the rest and stop listening."""
        self.flush()
        if self._listen in listeners:
            listeners.remove(self._listen)
        if self._file is not None:
            self._file.close()
            self._file = None

    def _listen(self, changes: list[Change]) -> None:
        entries: list[Entry] = []
        for rows, _, _, old, new in changes:
            row = new if new is not None else old
            if row is not None:
                entries.append((rows.table, row, new is not None))
        self._pending.append(entries)

    def _is_bloated(self, least: int) -> bool:
        size = self.path.stat().st_size
        if self._live_bytes == 0:
            with LOCK:
                self._live_bytes = sum(len(row) for rows in self._tables().values() for _, _, row in rows.snapshot())
        return size > max(least, 2 * self._live_bytes)

    def _tables(self) -> dict[str, Rows]:
        tables = dynamodb_backends[DEFAULT_ACCOUNT_ID][self.region].tables
        return {name: table.items for name, table in tables.items() if isinstance(table.items, Rows)}

    def _frames(self) -> Iterator[tuple[list[Entry], int]]:
        """Every intact frame and where it ends."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            end = 0
            while len(header := file.read(HEADER.size)) == HEADER.size:
                length, checksum = HEADER.unpack(header)
                payload = file.read(length)
                if len(payload) < length or zlib.crc32(payload) != checksum:
                    return
                end += HEADER.size + length
                yield _decode(payload), end


def _write(file: BinaryIO, changes: list[Entry]) -> None:
    payload = _encode(changes)
    file.write(HEADER.pack(len(payload), zlib.crc32(payload)))
    file.write(payload)


def _key(rows: Rows, row: bytes) -> tuple[Any, Any]:
    native = unpack(row)
    partition = key_of(rows.hash_type, native[rows.hash_name][rows.hash_type])
    if rows.range_name is None:
        return partition, None
    return partition, key_of(rows.range_type, native[rows.range_name][rows.range_type])
