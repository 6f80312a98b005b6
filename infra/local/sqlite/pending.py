"""Rows that calls have written and that their table does not have yet: those of several calls are committed together.

A request makes several calls that write, and requests of several threads come at the same time. One transaction for all
of them, before the first of their answers, costs a fraction of one for each call. Who reads rows sees them here first.

Many rows, as of a bulk change of entities, lie on hundreds of pages of the table, each of which would have to be on the
disk before the answer. Those of tables that are read by key alone, without sort keys, are stored as one document first,
the journal, and written into their table between requests. After a crash that is done before anything else.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain, islice

from infra.local.sqlite.documents import PUT, Documents
from infra.local.sqlite.integrity import checksum

Key = tuple[int, bytes, bytes]
"""The number of a table, and a key of it as it is stored."""
PendingRow = tuple[int, bytes, bytes, bytes, int]
"""A row as it is stored: its key, the document and its checksum."""
MOST = 2_000
"""Rows that wait at most, so that a bulk write does not take memory for all of its rows."""
MANY = 100
"""Rows of one commit from which on they are stored in the journal first."""
A_PART = 100
"""Rows that are written into the table at once between requests: a millisecond or two."""
_AT_ONCE = 64
"""Rows of one statement at most. Each statement gives up Python's lock, and SQLite needs no Python within it."""
_DELETE = "DELETE FROM rows WHERE tab = ? AND pk = ? AND sk = ?"


class Pending:
    """The last state of rows that wait, by key. The caller holds the lock of the database, and commits.

    Attributes:
        fresh: rows that are in no file yet.
        journaled: rows of the journal that are not in their table yet. While there are any, all others without sort
            keys go into the journal too, so that it is in order.
    """

    def __init__(self, journal: Documents) -> None:
        """Begin without rows."""
        self._journal = journal
        self._entries = 0
        self.fresh: dict[Key, PendingRow | None] = {}
        self.journaled: dict[Key, PendingRow | None] = {}

    def __len__(self) -> int:
        return len(self.fresh) + len(self.journaled)

    def hold(self, removed: Iterable[Key], put: Iterable[PendingRow]) -> None:
        """Add the changes of one call."""
        for key in removed:
            self.fresh[key] = None
        for row in put:
            self.fresh[row[:3]] = row

    def find(self, keys: Iterable[Key], *, with_fresh: bool = True) -> dict[Key, bytes | None]:
        """The documents of those rows among these that wait; None where a removal waits."""
        fresh, journaled = self.fresh if with_fresh else {}, self.journaled
        found = {}
        for key in keys:
            if key in fresh:
                found[key] = _document(fresh[key])
            elif key in journaled:
                found[key] = _document(journaled[key])
        return found

    @property
    def _is_for_journal(self) -> bool:
        return bool(self.journaled) or len(self.fresh) >= MANY

    def write_fresh(self, connection: sqlite3.Connection, sql: str, values: Sequence[object]) -> None:
        """Write the fresh rows where they belong, in the open transaction, and what one statement more writes."""
        if not self._is_for_journal:
            self.write(connection)
        else:
            _write_all(connection, {key: row for key, row in self.fresh.items() if key[2]})
            if rows := [(*key, _document(row)) for key, row in self.fresh.items() if not key[2]]:
                connection.execute(PUT, self._journal.row(f"{self._entries:020}", rows))
        if sql:
            connection.execute(sql, values)

    def wrote_fresh(self) -> None:
        """That is committed."""
        if self._is_for_journal:
            self.journaled.update((key, row) for key, row in self.fresh.items() if not key[2])
            self._entries += 1
        self.fresh.clear()

    def write(self, connection: sqlite3.Connection) -> None:
        """Write all into the table, in the open transaction. They wait on until `clear`."""
        several = {**self.journaled, **self.fresh}
        _write_all(connection, several)
        if self.journaled:
            connection.execute(*self._journal.clearing)

    def clear(self) -> None:
        """Forget the rows: they are in the table, or it is emptied."""
        self.fresh.clear()
        self.journaled.clear()

    def part(self) -> list[Key]:
        """Some of the rows of the journal."""
        return list(islice(self.journaled, A_PART))

    def write_part(self, connection: sqlite3.Connection, keys: list[Key]) -> None:
        """Write some rows of the journal into the table; call `forget` once that is committed."""
        _write_all(connection, {key: self.journaled[key] for key in keys})
        if len(keys) == len(self.journaled):
            connection.execute(*self._journal.clearing)

    def forget(self, keys: list[Key]) -> None:
        """These rows of the journal are in the table."""
        for key in keys:
            del self.journaled[key]

    def restore(self, connection: sqlite3.Connection) -> None:
        """Write what a process that died left in the journal into the table, in the open transaction."""
        entries = self._journal.items()
        for _, rows in entries:
            removed = [(tab, pk, sk) for tab, pk, sk, doc in rows if doc is None]
            write(connection, removed, [(*row, checksum(*row)) for row in rows if row[3] is not None])
        if entries:
            connection.execute(*self._journal.clearing)


def _document(row: PendingRow | None) -> bytes | None:
    return None if row is None else row[3]


def _write_all(connection: sqlite3.Connection, rows: dict[Key, PendingRow | None]) -> None:
    write(connection, (key for key, row in rows.items() if row is None), filter(None, rows.values()))


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
