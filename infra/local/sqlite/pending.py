"""Rows that calls have written and that SQLite does not have yet: those of several calls are committed together.

A request makes several calls that write, and requests of several threads come at the same time. One transaction for all
of them, before the first of their answers, costs a fraction of one for each call. Who reads rows sees them here first.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from functools import cache
from itertools import chain

Key = tuple[int, bytes, bytes]
"""The number of a table, and a key of it as it is stored."""
PendingRow = tuple[int, bytes, bytes, bytes, int]
"""A row as it is stored: its key, the document and its checksum."""
MOST = 2_000
"""Rows that wait at most, so that a bulk write does not take memory for all of its rows."""
_AT_ONCE = 64
"""Rows of one statement at most. Each statement gives up Python's lock, and SQLite needs no Python within it."""
_DELETE = "DELETE FROM rows WHERE tab = ? AND pk = ? AND sk = ?"


class Pending:
    """The last state of rows that wait, by key. The caller holds the lock of the database."""

    def __init__(self) -> None:
        """Begin without rows."""
        self._rows: dict[Key, PendingRow | None] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def hold(self, removed: Iterable[Key], put: Iterable[PendingRow]) -> None:
        """Add the changes of one call."""
        for key in removed:
            self._rows[key] = None
        for row in put:
            self._rows[row[:3]] = row

    def find(self, keys: Iterable[Key]) -> dict[Key, bytes | None]:
        """The documents of those rows among these that wait; None where a removal waits."""
        rows = self._rows
        return {key: None if (row := rows[key]) is None else row[3] for key in keys if key in rows}

    def write(self, connection: sqlite3.Connection) -> None:
        """Write all into the open transaction of a connection. They wait on until `clear`."""
        write(connection, (key for key, row in self._rows.items() if row is None), filter(None, self._rows.values()))

    def clear(self) -> None:
        """Forget the rows: they are committed, or the table is emptied."""
        self._rows.clear()


def write(connection: sqlite3.Connection, removed: Iterable[Key], put: Iterable[PendingRow]) -> None:
    """Remove and put rows in the open transaction of a connection."""
    for key in removed:
        connection.execute(_DELETE, key)
    rows = sorted(put)
    for start in range(0, len(rows), _AT_ONCE):
        several = rows[start : start + _AT_ONCE]
        connection.execute(_put(len(several)), list(chain.from_iterable(several)))


@cache
def _put(rows: int) -> str:
    # REPLACE would remove the row and insert another, which changes two thirds more pages
    return (
        f"INSERT INTO rows VALUES {', '.join(['(?, ?, ?, ?, ?)'] * rows)} "  # noqa: S608 -- placeholders
        "ON CONFLICT DO UPDATE SET doc = excluded.doc, crc = excluded.crc"
    )
