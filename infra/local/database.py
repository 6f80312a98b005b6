"""The one SQLite database that holds the state of the local stack: rows, messages, mail, the index of objects.

Every AWS call that writes is one transaction, committed before the call is answered; calls are committed in the order
they were made, so a process that dies leaves what a crash between two AWS calls leaves, and nothing else. A commit
survives the death of the process as it is. Before an answer leaves the machine, `sync` writes the log of the database
(WAL) through to the disk, once for all that were committed meanwhile, so what was acknowledged survives a loss of
power.

Other parts of the local stack keep what they want to find after a restart in `Documents`:

    jobs = database.current().documents("batch/jobs")
    jobs.put("id", {"status": "RUNNING"})  # one transaction, or part of one that is open

Damage is found, not survived (`integrity.py`): each row has a checksum that is compared when it is read and when the
stack starts, and `sync` notes in a file beside the database up to where it has acknowledged, so that a log that was cut
or altered is not taken for a shorter one.
"""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from infra.local import integrity
from infra.local.integrity import CannotStore, Damaged, checksum
from infra.local.recent import Recent

NAME = "limn.sqlite"
CHECKPOINT_SECONDS = 2.0
"""The least time between two transfers of the log into the database."""
RESERVE = 4 * 1024 * 1024
"""Bytes; where fewer are free on the disk, `problem` says so."""
PAGE = 100
"""Rows that a walk reads at once."""
PAGE_SIZE = 8192
"""Bytes of a page of a new database. In pages of 4096, rows of more than 1,000 bytes take a page of their own each."""
VERSION = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS rows (
    tab INTEGER NOT NULL, pk BLOB NOT NULL, sk BLOB NOT NULL, doc BLOB NOT NULL, crc INTEGER NOT NULL,
    PRIMARY KEY (tab, pk, sk)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS documents (
    space BLOB NOT NULL, key BLOB NOT NULL, doc BLOB NOT NULL, crc INTEGER NOT NULL, PRIMARY KEY (space, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS messages (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, queue TEXT NOT NULL, due REAL NOT NULL, delayed REAL NOT NULL,
    doc BLOB NOT NULL, crc INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS messages_due ON messages (queue, due, number);
"""
pack = msgspec.msgpack.Encoder().encode
unpack: Callable[[bytes], Any] = msgspec.msgpack.Decoder().decode
log = logging.getLogger("limn.local.database")


class Database:
    """The database of one stack; in memory where no directory is given. Its methods may be called by any thread."""

    def __init__(self, directory: Path | None = None) -> None:
        """Open or create it.

        Raises:
            Damaged: something of it is not what was stored. Nothing was changed.
            CannotStore: there is no room for it.
        """
        self.lock = threading.RLock()
        self.recent = Recent(lambda: self._depth > 0)
        self.directory = directory
        self.path = None if directory is None else directory / NAME
        self.failure = ""
        """Why the last write failed; empty after one that succeeded."""
        self.damage = ""
        """What was found damaged while the stack runs."""
        self._depth = 0
        self._commits = self._durable = 0
        self._syncing = threading.Lock()
        self._wal = self._mark = -1
        self._closing = threading.Event()
        self._written = threading.Event()
        self._checkpointer: threading.Thread | None = None
        if directory is not None:
            directory.mkdir(parents=True, exist_ok=True)
        acknowledged = 0 if self.path is None else integrity.read_acknowledged(self.path)
        self.state = self.documents("state")
        self._number = 0
        try:
            with integrity.keep_log(self._log_path()):
                self._connection = self._connect()
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
            self._checkpointer = threading.Thread(target=self._checkpoint, name="checkpoint", daemon=True)
            self._checkpointer.start()

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

    def write_many(self, sql: str, values: list[tuple[Any, ...]]) -> None:
        """Run one statement for each of some values, as part of the transaction that is open."""
        try:
            self._connection.executemany(sql, values)
        except sqlite3.DatabaseError as failure:
            raise self._failed(failure) from failure

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
        if self._wal < 0 or self._durable >= wanted:
            return
        with self._syncing:
            if self._durable >= wanted:
                return
            with self.lock:
                self.state.put("acknowledged", self._number + 1)
                self._number += 1
                number, reached = self._number, self._commits
            try:
                os.fdatasync(self._wal)
                integrity.write_acknowledged(self._mark, number)
            except OSError as failure:
                self.failure = str(failure)
                raise CannotStore(f"{self._log_path()}: {failure}") from failure
            self._durable = reached

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
        self._closing.set()
        self._written.set()
        if self._checkpointer is not None:
            self._checkpointer.join()
            self._checkpointer = None
        with self.lock:
            try:
                self.sync()
            except (CannotStore, Damaged):
                log.warning("The last writes stay in %s until there is room.", self._log_path())
            self._connection.close()
            if self._wal >= 0:
                os.close(self._wal)
                os.close(self._mark)
                self._wal = -1

    # -------------------------------------------------------------------------------------------------- inside

    def _connect(self) -> sqlite3.Connection:
        place = ":memory:" if self.path is None else str(self.path)
        connection = sqlite3.connect(
            place, isolation_level=None, check_same_thread=False, cached_statements=256, timeout=30
        )
        connection.execute("PRAGMA synchronous = NORMAL")  # `sync` does the rest
        connection.execute("PRAGMA wal_autocheckpoint = 0")  # a thread of its own does it
        connection.execute("PRAGMA cache_size = -65536")
        return connection

    def _open(self, acknowledged: int) -> None:
        """Check what is there, then make what is missing; nothing is written before the check."""
        run = self._connection.execute
        if self.path is not None:
            if not self.path.exists() or not self.path.stat().st_size:
                run(f"PRAGMA page_size = {PAGE_SIZE}")
            run("PRAGMA journal_mode = WAL")
        version = run("PRAGMA user_version").fetchone()[0]
        if version > VERSION:
            raise Damaged(self.path, f"version {version} is of a newer release, and this one reads {VERSION}")
        if run("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone():
            integrity.check(self._connection, self.path)
            self._number = int(self.state.get("acknowledged") or 0)
        if self._number < acknowledged:
            what = f"it ends at write {self._number}, and write {acknowledged} was acknowledged"
            raise Damaged(self._log_path(), what)
        with self.transaction():
            for statement in _SCHEMA.split(";"):
                run(statement)
            run(f"PRAGMA user_version = {VERSION}")

    def _log_path(self) -> Path:
        return Path(f"{self.path}-wal")

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

    def found_damaged(self, what: str, path: Path | None = None) -> Damaged:
        """The error for an entry, or a file, that differs from its checksum; `problem` tells of it from now on."""
        damaged = Damaged(path or self.path, what)
        self.damage = str(damaged)
        log.error("%s", self.damage)
        return damaged

    def found_full(self, what: str) -> CannotStore:
        """The error for something that the disk did not take; `problem` tells of it until something is stored again."""
        self.failure = what
        log.error("Nothing can be stored: %s", what)
        return CannotStore(what)

    def _failed(self, failure: sqlite3.DatabaseError) -> Exception:
        if isinstance(failure, sqlite3.IntegrityError | sqlite3.ProgrammingError | sqlite3.InterfaceError):
            return failure
        if not isinstance(failure, sqlite3.OperationalError):
            return self.found_damaged(str(failure))
        return self.found_full(f"{self.path}: {failure}")

    def _checkpoint(self) -> None:
        """Transfer the log into the database while others write, so that neither a write nor a start has to wait."""
        connection = self._connect()
        while True:
            self._written.wait()
            if self._closing.wait(CHECKPOINT_SECONDS):
                break
            self._written.clear()
            try:
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            except sqlite3.Error:
                log.exception("The log could not be transferred into the database")
        connection.close()


class Documents:
    """Documents (any value that MessagePack takes) by key, in one space of the database."""

    def __init__(self, database: Database, space: str) -> None:
        self._database, self._space = database, space.encode()

    def get(self, key: str) -> Any:
        """The document with this key; None where there is none."""
        found = self._database.one("SELECT doc, crc FROM documents WHERE space = ? AND key = ?", self._space, _raw(key))
        return None if found is None else self._intact(_raw(key), *found)

    def put(self, key: str, value: Any) -> None:
        """Store a document, in the place of the one with the same key."""
        doc = pack(value)
        crc = checksum(0, self._space, _raw(key), doc)
        self._database.write("INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?)", self._space, _raw(key), doc, crc)

    def delete(self, key: str) -> None:
        """Remove a document; one that is not there is no error."""
        self._database.write("DELETE FROM documents WHERE space = ? AND key = ?", self._space, _raw(key))

    def items(self) -> list[tuple[str, Any]]:
        """All documents with their keys, in order of the keys."""
        found = self._database.read("SELECT key, doc, crc FROM documents WHERE space = ? ORDER BY key", self._space)
        return [(key.decode("utf-8", "surrogatepass"), self._intact(key, doc, crc)) for key, doc, crc in found]

    def clear(self) -> None:
        """Remove all documents of the space."""
        self._database.write("DELETE FROM documents WHERE space = ?", self._space)

    def __len__(self) -> int:
        return int(self._database.one("SELECT count(*) FROM documents WHERE space = ?", self._space)[0])

    def _intact(self, key: bytes, doc: bytes, crc: int) -> Any:
        if checksum(0, self._space, key, doc) != crc:
            raise self._database.found_damaged(f"the document {key!r} differs from its checksum")
        return unpack(doc)


def _raw(key: str) -> bytes:
    return key.encode("utf-8", "surrogatepass")


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
