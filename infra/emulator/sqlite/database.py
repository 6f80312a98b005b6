"""The one SQLite database that holds the state of the local stack: rows, messages, mail, the index of objects.

Every AWS call that writes is one transaction, so a process that dies leaves what a crash between two AWS calls leaves,
and nothing else. A commit survives the death of the process as it is. Before an answer leaves the machine, `sync`
writes the log of the database (WAL) through to the disk, once for all requests that wait for it, so what was
acknowledged survives a loss of power.

Other parts of the local stack keep what they want to find after a restart in `Documents`:

    jobs = database.current().documents("batch/jobs")
    jobs.put("id", {"status": "RUNNING"})  # one transaction, or part of one that is open
"""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any

from infra.emulator.sqlite import documents, integrity, sqlite_file
from infra.emulator.sqlite.documents import Documents
from infra.emulator.sqlite.integrity import CannotStore, Damaged
from infra.emulator.sqlite.problems import Problems

NAME = "limn.sqlite"
RESERVE = 4 * 1024 * 1024
"""Bytes; where fewer are free on the disk, `problem` says so."""
PAGE = 100
"""Rows that a walk reads at once."""
pack, unpack = documents.pack, documents.unpack
log = logging.getLogger("limn.local.database")


Key = tuple[int, bytes, bytes]
"""The number of a table, and a key of it as it is stored."""
Row = tuple[int, bytes, bytes, bytes, int]
"""A row as it is stored: its key, the document and its checksum."""
_ROWS_PER_STATEMENT = 64
"""Rows of one statement at most. Each statement gives up Python's lock, and SQLite needs no Python within it."""
_DELETE = "DELETE FROM rows WHERE tab = ? AND pk = ? AND sk = ?"
# REPLACE would remove the row and insert another, which changes two thirds more pages
_REPLACING = "ON CONFLICT DO UPDATE SET doc = excluded.doc, crc = excluded.crc"


class Database(Problems):
    """The database of one stack; in memory where no directory is given. Its methods may be called by any thread."""

    def __init__(self, directory: Path | None = None) -> None:
        """Open or create it.

        Raises:
            Damaged: something of it is not what was stored. Nothing was changed.
            CannotStore: there is no room for it.
        """
        self.lock = threading.RLock()
        self.directory = directory
        self.path = None if directory is None else directory / NAME
        self._depth = 0
        self._commits = self._synchronized = 0
        self._synchronizing = threading.Lock()
        self._wal = self._mark = -1
        self._written = threading.Event()
        self._checkpoints: sqlite_file.Checkpoints | None = None
        if directory is not None:
            directory.mkdir(parents=True, exist_ok=True)
        acknowledged = 0 if self.path is None else integrity.read_acknowledged(self.path)
        self.state = self.documents("state")
        self._number = 0
        try:
            with integrity.keep_log(self._log_path()):
                self._connection = sqlite_file.connect(self.path)
                try:
                    self._open(acknowledged)
                except BaseException:
                    self._connection.close()
                    raise
        except sqlite3.DatabaseError as failure:
            raise integrity.refusal(self.path, failure) from failure
        if self.path is not None:
            self._wal = os.open(self._log_path(), os.O_RDWR | os.O_CREAT, 0o600)
            self._mark = os.open(self.path.with_name(integrity.ACKNOWLEDGED), os.O_WRONLY | os.O_CREAT, 0o600)
            integrity.write_acknowledged(self._mark, self._number)
            os.fsync(self._mark)
            self._checkpoints = sqlite_file.Checkpoints(self.path, self._written, self.lock)

    # ------------------------------------------------------------------------------------------------------ use

    def read(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        with self.lock:
            try:
                return self._connection.execute(sql, values).fetchall()
            except sqlite3.DatabaseError as failure:
                raise self._failed(failure) from failure

    def one(self, sql: str, *values: Any) -> Any:
        """The first row of a query, or None."""
        with self.lock:
            try:
                return self._connection.execute(sql, values).fetchone()
            except sqlite3.DatabaseError as failure:
                raise self._failed(failure) from failure

    def walk(self, sql: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, read as they are asked for; the lock must be held."""
        try:
            cursor = self._connection.execute(sql, values)
            while rows := cursor.fetchmany(PAGE):
                yield from rows
        except sqlite3.DatabaseError as failure:
            raise self._failed(failure) from failure

    def write(self, sql: str, *values: Any) -> int:
        """Run one statement, as a transaction of its own or as part of the one that is open; how many rows it met."""
        with self.lock:
            met = self._execute(sql, *values).rowcount
            if not self._depth:
                self._committed()
            return met

    def change_rows(self, removed: Sequence[Key], put: Sequence[Row]) -> None:
        """Remove and put rows of tables, all or none: as part of the open transaction, or as one of their own."""
        if len(removed) + len(put) == 1:
            self._change_rows(removed, put)
            return
        with self.transaction():
            self._change_rows(removed, put)

    def _change_rows(self, removed: Sequence[Key], put: Sequence[Row]) -> None:
        for key in removed:
            self.write(_DELETE, *key)
        rows = sorted(put)
        for start in range(0, len(rows), _ROWS_PER_STATEMENT):
            several = rows[start : start + _ROWS_PER_STATEMENT]
            values = ", ".join(["(?, ?, ?, ?, ?)"] * len(several))
            self.write(f"INSERT INTO rows VALUES {values} {_REPLACING}", *chain.from_iterable(several))  # noqa: S608 -- placeholders

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is written within is committed at the end, or not at all where an exception ends it. May nest."""
        with self.lock:
            inner = f"s{self._depth}" if self._depth else ""
            self._execute(f"SAVEPOINT {inner}" if inner else "BEGIN IMMEDIATE")
            self._depth += 1
            try:
                yield
            except BaseException:
                self._depth -= 1
                self._roll_back(inner)
                raise
            self._depth -= 1
            try:
                self._execute(f"RELEASE {inner}" if inner else "COMMIT")
            except BaseException:
                self._roll_back(inner)
                raise
            if not inner:
                self._committed()

    def documents(self, space: str) -> Documents:
        """A space of documents by key."""
        return Documents(self, space)

    def sync(self) -> None:
        """Make everything committed so far survive a loss of power. Call it before each answer.

        Raises:
            CannotStore: the disk did not take it.
        """
        wanted = self._commits
        if self._wal < 0 or wanted <= self._synchronized:
            return
        with self._synchronizing:  # who waited finds that another thread has done it
            if wanted > self._synchronized:
                self._synchronized = self._synchronize()

    def problem(self) -> str:
        """Why nothing can be stored at the moment; empty where all is well. Tries again where the last write failed."""
        if self.failure:
            try:
                # more than one page, so that the log has to grow
                self.state.put("probe", os.urandom(65536))
                self.state.delete("probe")
                self.sync()
            except (CannotStore, Damaged) as failure:
                return str(failure)
        if self.damage or self.failure or self.directory is None:
            return self.damage or self.failure
        left = shutil.disk_usage(self.directory).free
        return f"only {left // 1024} KB are free on the disk of {self.directory}" if left < RESERVE else ""

    def clear(self) -> None:
        """Remove all data."""
        with self.transaction():
            for name in ("rows", "documents", "messages"):
                self.write(f"DELETE FROM {name}")  # noqa: S608 -- a constant

    def close(self) -> None:
        """Transfer the log into the database, and close it. A full disk leaves the log for the next start."""
        if self._checkpoints is not None:
            self._checkpoints.stop()
            self._checkpoints = None
        try:
            self.sync()  # without the lock: another thread that synchronizes waits for it
        except (CannotStore, Damaged):
            log.warning("The last writes stay in %s until there is room.", self._log_path())
        with self.lock:
            self._connection.close()
            if self._wal >= 0:
                os.close(self._wal)
                os.close(self._mark)
                self._wal = -1

    # -------------------------------------------------------------------------------------------------- inside

    def _open(self, acknowledged: int) -> None:
        """Check existing files, then create missing ones; nothing is written before the check."""
        run = self._connection.execute
        sqlite_file.begin(self._connection, self.path)
        if run("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone():
            integrity.check(self._connection, self.path)
            self._number = int(self.state.get("acknowledged") or 0)
        if self._number < acknowledged:
            what = f"it ends at write {self._number}, and write {acknowledged} was acknowledged"
            raise Damaged(self._log_path(), what)
        with self.transaction():
            sqlite_file.make_tables(self._connection)
            self._apply_journal()

    def _apply_journal(self) -> None:
        """Write what a process of an earlier commit left in its journal into the tables; the open transaction."""
        journal = self.documents("journal")
        entries = [rows for _, rows in journal.items()]
        for rows in entries:
            removed = [(tab, pk, sk) for tab, pk, sk, doc in rows if doc is None]
            self._change_rows(removed, [(*row, integrity.checksum(*row)) for row in rows if row[3] is not None])
        if entries:
            journal.clear()

    def _log_path(self) -> Path:
        return Path(f"{self.path}-wal")

    def _synchronize(self) -> int:
        with self.lock:
            # on a full disk what is committed is written through all the same; a cut of the log is found up to the
            # number that the database has
            with suppress(CannotStore):
                self.state.put("acknowledged", self._number + 1)
                self._number += 1
            reached, number = self._commits, self._number
        try:
            os.fdatasync(self._wal)
            integrity.write_acknowledged(self._mark, number)
        except OSError as failure:
            self.failure = str(failure)
            raise CannotStore(f"{self._log_path()}: {failure}") from failure
        return reached

    def _committed(self) -> None:
        self._commits += 1
        self.failure = ""
        if not self._written.is_set():
            self._written.set()

    def _execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        try:
            return self._connection.execute(sql, values)
        except sqlite3.DatabaseError as failure:
            raise self._failed(failure) from failure

    def _roll_back(self, inner: str) -> None:
        # SQLite has rolled back on its own where the disk is full
        if self._connection.in_transaction:
            if inner:
                self._connection.execute(f"ROLLBACK TO {inner}")
                self._connection.execute(f"RELEASE {inner}")
            else:
                self._connection.execute("ROLLBACK")


_current: list[Database] = []


def current() -> Database:
    """The database of the AWS that runs in this process; one in memory where `start` was not given a directory."""
    if not _current:
        _current.append(Database())
    return _current[-1]


def start(directory: Path | None) -> None:
    """Open the database that `current` gives from now on. Raises as `Database`."""
    stop()
    _current.append(Database(directory))


def stop() -> None:
    """Close the current database."""
    while _current:
        _current.pop().close()
