"""The one SQLite database that holds the state of the local stack: rows, messages, mail, the index of objects.

Every AWS call that writes is one transaction, and calls are committed in the order they were made, so a process that
dies leaves what a crash between two AWS calls leaves, and nothing else. The rows that a request writes may wait
(`committing_later`, `pending.py`): they are committed with those of other requests, before anything else is written and
before a query reads. A commit survives the death of the process as it is. Before an answer leaves the machine, `sync`
commits and writes the log of the database (WAL) through to the disk, once for all that were made meanwhile, so what was
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
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from infra.local.sqlite import documents, integrity, pending, sqlite_file
from infra.local.sqlite.documents import Documents
from infra.local.sqlite.integrity import CannotStore, Damaged
from infra.local.sqlite.pending import Key, Pending, PendingRow
from infra.local.sqlite.problems import Problems
from infra.local.sqlite.recent import Recent
from infra.local.sqlite.rounds import Rounds

NAME = "limn.sqlite"
RESERVE = 4 * 1024 * 1024
"""Bytes; where fewer are free on the disk, `problem` says so."""
PAGE = 100
"""Rows that a walk reads at once."""
pack, unpack = documents.pack, documents.unpack
log = logging.getLogger("limn.local.database")


class _Thread(threading.local):
    commits_later = False
    has_written = True
    """Since the last `committing_later`; true for threads that never used it."""


class Database(Problems):
    """The database of one stack; in memory where no directory is given. Its methods may be called by any thread."""

    def __init__(self, directory: Path | None = None) -> None:
        """Open or create it.

        Raises:
            Damaged: something of it is not what was stored. Nothing was changed.
            CannotStore: there is no room for it.
        """
        self.lock = threading.RLock()
        self.recent = Recent(lambda: self._depth > 0, lambda: len(self._pending.fresh) > 0)
        self.directory = directory
        self.path = None if directory is None else directory / NAME
        self._depth = 0
        self._pending = Pending(self.documents("journal"))
        self._thread = _Thread()
        self._commits = 0
        self._rounds = Rounds(self._synchronize)
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
            self._checkpoints = sqlite_file.Checkpoints(self.path, self._written, self.lock, self._commit_late)

    # ------------------------------------------------------------------------------------------------------ use

    def read(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        with self.lock:
            self._commit_for_reader()
            return self.read_committed(sql, values)

    def read_committed(self, sql: str, values: Iterable[Any]) -> list[tuple[Any, ...]]:
        """All rows of a query for rows that do not wait for a commit (`find_waiting`). The lock must be held."""
        try:
            return self._connection.execute(sql, tuple(values)).fetchall()
        except sqlite3.DatabaseError as failure:
            raise self._failed(failure) from failure

    def one(self, sql: str, *values: Any) -> Any:
        """The first row of a query, or None."""
        with self.lock:
            self._commit_for_reader()
            try:
                return self._connection.execute(sql, values).fetchone()
            except sqlite3.DatabaseError as failure:
                raise self._failed(failure) from failure

    def walk(self, sql: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, read as they are asked for; the lock must be held."""
        self._commit_for_reader()
        try:
            cursor = self._connection.execute(sql, values)
            while rows := cursor.fetchmany(PAGE):
                yield from rows
        except sqlite3.DatabaseError as failure:
            raise self._failed(failure) from failure

    def write(self, sql: str, *values: Any) -> int:
        """Run one statement, as a transaction of its own or as part of the one that is open; how many rows it met."""
        self._thread.has_written = True
        with self.lock:
            self._commit_fresh()
            met = self._execute(sql, *values).rowcount
            if not self._depth:
                self._committed()
            return met

    def change_rows(self, removed: Sequence[Key], put: Sequence[PendingRow]) -> None:
        """Remove and put rows of tables, all or none: as part of the open transaction, now, or with later calls."""
        self._thread.has_written = True
        with self.lock:
            if self._thread.commits_later and not self._depth:
                self._hold(removed, put)
                return
            for key in removed:
                self.recent.forget(key)
            for row in put:
                self.recent.forget(row[:3])
            self._commit_pending()
            is_one = self._depth or len(removed) + len(put) == 1
            scope: AbstractContextManager[None] = nullcontext() if is_one else self.transaction()
            with scope:
                try:
                    pending.write(self._connection, removed, put)
                except sqlite3.DatabaseError as failure:
                    raise self._failed(failure) from failure
                if not self._depth:
                    self._committed()

    def find_waiting(self, keys: Iterable[Key]) -> dict[Key, bytes | None]:
        """The rows among these that wait to be written into their table; None for one that is removed.

        A thread that does not commit later sees what is committed only, so that whatever it does is no ahead of that.
        The lock must be held.
        """
        if not self._pending:
            return {}
        if not self._thread.commits_later:
            self._commit_for_reader()
            if self._pending.fresh:
                self.recent.clear()  # it may hold them
        return self._pending.find(keys, with_fresh=self._thread.commits_later)

    def settle(self) -> None:
        """Write all rows into tables without sort keys, before a query of one. Raises CannotStore for the journal."""
        with self.lock, suppress(CannotStore) if not self._pending.journaled else nullcontext():
            self._commit_pending()

    def write_journal(self) -> bool:
        """Write some rows of the journal into their tables, between requests; whether there are more."""
        with self.lock, suppress(CannotStore, Damaged):
            if keys := self._pending.part():
                self._commit(lambda connection: self._pending.write_part(connection, keys))
                self._pending.forget(keys)
            return bool(self._pending.journaled)
        return False

    @contextmanager
    def committing_later(self) -> Iterator[None]:
        """Inside, what this thread writes into tables may wait for its `sync`, to be committed together with others."""
        # without a directory `sync` does nothing
        self._thread.commits_later = self.directory is not None
        self._thread.has_written = False
        try:
            yield
        finally:
            self._thread.commits_later = False

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is written within is committed at the end, or not at all where an exception ends it. May nest."""
        with self.lock:
            self._commit_pending()
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
            CannotStore: the disk did not take it, and this thread did not only read since `committing_later`.
        """
        with nullcontext() if self._thread.has_written else suppress(CannotStore):
            if self._wal >= 0:
                self._rounds.wait_for(self._commits)

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
            self.recent.clear()
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
            with suppress(CannotStore):
                self._commit_pending()
            self._connection.close()
            if self._wal >= 0:
                os.close(self._wal)
                os.close(self._mark)
                self._wal = -1

    # -------------------------------------------------------------------------------------------------- inside

    def _open(self, acknowledged: int) -> None:
        """Check what is there, then make what is missing; nothing is written before the check."""
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
            self._pending.restore(self._connection)

    def _log_path(self) -> Path:
        return Path(f"{self.path}-wal")

    def _synchronize(self) -> int:
        with self.lock:
            number = self._number + 1
            self._commit_fresh(documents.PUT, self.state.row("acknowledged", number))
            self._number, reached = number, self._commits
        try:
            os.fdatasync(self._wal)
            integrity.write_acknowledged(self._mark, number)
        except OSError as failure:
            self.failure = str(failure)
            raise CannotStore(f"{self._log_path()}: {failure}") from failure
        return reached

    def _hold(self, removed: Sequence[Key], put: Sequence[PendingRow]) -> None:
        if self.failure or len(self._pending) >= pending.MOST:
            self._commit_pending()
        for key in removed:
            self.recent.forget(key)
        for row in put:
            self.recent.replace(row[:3], row[3])
        self._pending.hold(removed, put)
        self._commits += 1
        if not self._written.is_set():
            self._written.set()

    def _commit_pending(self) -> None:
        """Write all rows that wait into their tables."""
        if self._pending:
            self._commit(self._pending.write)
            self._pending.clear()

    def _commit_fresh(self, sql: str = "", values: Sequence[Any] = ()) -> None:
        """Commit the rows that are in no file, few of them into their tables, and what one statement more writes."""
        if self._pending.fresh or sql:
            self._commit(lambda connection: self._pending.write_fresh(connection, sql, values))
            self._pending.wrote_fresh()

    def _commit(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """One transaction. Where it fails, the rows wait on."""
        self._execute("BEGIN IMMEDIATE")
        try:
            work(self._connection)
            self._connection.execute("COMMIT")
        except BaseException as failure:
            self._roll_back("")
            if isinstance(failure, sqlite3.DatabaseError):
                raise self._failed(failure) from failure
            raise
        self._committed()

    def _commit_for_reader(self) -> None:
        # on a full disk readers go on; they do not see what nobody was given an answer to
        with suppress(CannotStore):
            self._commit_fresh()

    def _commit_late(self) -> None:
        with self.lock:
            self._commit_for_reader()
        while self.write_journal():
            pass

    def _committed(self) -> None:
        self._commits += 1
        if self.failure:
            self.recent.clear()  # while rows waited for room, readers kept what was before them
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
