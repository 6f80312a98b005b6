"""The file of the local stack's database: its tables, connections to it, and the transfer of its log (WAL) into it."""

from __future__ import annotations

import logging
import sqlite3
import threading
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from infra.emulator.sqlite.integrity import OfNewerRelease

CHECKPOINT_SECONDS = 2.0
"""The least time between two transfers of the log into the database."""
PAGE_SIZE = 8192
"""Bytes of a page of a new database. In pages of 4096, rows of more than 1,000 bytes take a page of their own each."""
VERSION = 2
SCHEMA = """
CREATE TABLE IF NOT EXISTS rows (
    tab INTEGER NOT NULL, pk BLOB NOT NULL, sk BLOB NOT NULL, doc BLOB NOT NULL, crc INTEGER NOT NULL,
    PRIMARY KEY (tab, pk, sk)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS documents (
    space BLOB NOT NULL, key BLOB NOT NULL, doc BLOB NOT NULL, crc INTEGER NOT NULL, PRIMARY KEY (space, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS messages (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, queue TEXT NOT NULL, due REAL NOT NULL, delayed REAL NOT NULL,
    doc BLOB NOT NULL, crc INTEGER NOT NULL, tenant TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS messages_due ON messages (queue, due, number);
CREATE INDEX IF NOT EXISTS messages_tenants ON messages (queue, tenant, due, number);
"""
LONG_LOG = 16 * 1024 * 1024 // PAGE_SIZE
"""Pages of a log that is not continued after a transfer."""
_CHECKPOINT = "PRAGMA wal_checkpoint(PASSIVE)"
log = logging.getLogger("limn.local.database")


def connect(path: Path | None) -> sqlite3.Connection:
    """A connection to the file, or to a database in memory."""
    place = ":memory:" if path is None else str(path)
    connection = sqlite3.connect(
        place, isolation_level=None, check_same_thread=False, cached_statements=256, timeout=30
    )
    connection.execute("PRAGMA synchronous = NORMAL")  # `sync` does the rest
    connection.execute("PRAGMA wal_autocheckpoint = 0")  # a thread of its own does it
    connection.execute("PRAGMA cache_size = -8192")  # the kernel keeps pages, too
    return connection


def begin(connection: sqlite3.Connection, path: Path | None) -> None:
    """Set up a connection, and a new file. Raises OfNewerRelease: a newer release wrote the file."""
    run = connection.execute
    if path is not None:
        if not path.exists() or not path.stat().st_size:
            run(f"PRAGMA page_size = {PAGE_SIZE}")
        run("PRAGMA journal_mode = WAL")
    version = run("PRAGMA user_version").fetchone()[0]
    if version > VERSION:
        raise OfNewerRelease(path, version, VERSION)


def make_tables(connection: sqlite3.Connection) -> None:
    """Make the tables that are missing, within a transaction."""
    columns = [row[1] for row in connection.execute("PRAGMA table_info(messages)")]
    if columns and "tenant" not in columns:  # of an earlier release, which can still open what this one wrote
        connection.execute("ALTER TABLE messages ADD COLUMN tenant TEXT NOT NULL DEFAULT ''")
    for statement in SCHEMA.split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {VERSION}")


class Checkpoints:
    """A thread that transfers the log into the database while others write: neither a write nor a start has to wait.

    What is written meanwhile stays in the log, so a log that is always written to would grow without end, and to
    synchronize a file that grows takes twice as long as one that is written over. So the rest of a long log is
    transferred while writers wait, for some milliseconds: SQLite then begins at its front again.
    """

    def __init__(self, path: Path, written: threading.Event, lock: AbstractContextManager[Any]) -> None:
        """Begin.

        Args:
            path: of the database.
            written: set when something was written.
            lock: held by everybody who reads and writes.
        """
        self._path, self._written, self._lock = path, written, lock
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="checkpoint", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End, and wait for the transfer that runs."""
        self._closing.set()
        self._written.set()
        self._thread.join()

    def _run(self) -> None:
        connection = connect(self._path)
        while True:
            self._written.wait()
            if self._closing.wait(CHECKPOINT_SECONDS):
                break
            self._written.clear()
            if self._closing.is_set():  # `stop` came before `clear`, which took its wake-up away
                break
            try:
                transfer(connection, self._lock)
            except sqlite3.Error:
                log.exception("The log could not be transferred into the database")
        connection.close()


def transfer(connection: sqlite3.Connection, lock: AbstractContextManager[Any]) -> None:
    """Transfer the log into the database; all of a long one, with the lock that writers hold."""
    _, pages, _ = connection.execute(_CHECKPOINT).fetchone()
    if pages >= LONG_LOG:
        with lock:
            connection.execute(_CHECKPOINT).fetchone()
