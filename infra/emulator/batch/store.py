"""The jobs of the local queue, in one SQLite file: what was acknowledged is there after a crash."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from infra.emulator.sqlite.integrity import Damaged

PENDING, RUNNABLE, STARTING = "PENDING", "RUNNABLE", "STARTING"
RUNNING, SUCCEEDED, FAILED = "RUNNING", "SUCCEEDED", "FAILED"
ENDED = (SUCCEEDED, FAILED)
ACTIVE = (STARTING, RUNNING)

_TABLES = """
CREATE TABLE IF NOT EXISTS definitions (name TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS jobs (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    status TEXT NOT NULL,
    request TEXT NOT NULL,
    definition TEXT NOT NULL,
    reason TEXT,
    exit_code INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,
    interruptions INTEGER NOT NULL DEFAULT 0,
    created REAL NOT NULL,
    started REAL,
    stopped REAL
);
CREATE INDEX IF NOT EXISTS jobs_by_status ON jobs (status, number);
CREATE INDEX IF NOT EXISTS jobs_by_name ON jobs (name);
CREATE TABLE IF NOT EXISTS needs (job TEXT NOT NULL, need TEXT NOT NULL, PRIMARY KEY (need, job)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS needs_by_job ON needs (job);
"""
_REMEDY = (
    "It holds only the steps of jobs on this machine; all other data is whole. Move it away, with the files of its "
    "name that end with -wal and -shm: a start makes a new one, and steps that had not ended are lost."
)
_COLUMNS = (
    "id, name, status, request, definition, reason, exit_code, attempts, interruptions, created, started, stopped"
)

_SELECT = f"SELECT {_COLUMNS} FROM jobs"  # noqa: S608 nothing from outside


@dataclass(frozen=True, kw_only=True)
class Job:
    """A job. Times are in seconds since 1970."""

    id: str
    name: str
    status: str
    request: dict[str, Any]
    """The body of SubmitJob."""
    definition: dict[str, Any]
    """The job definition it was submitted with."""
    reason: str | None = None
    exit_code: int | None = None
    attempts: int = 0
    """How many attempts have ended."""
    interruptions: int = 0
    """How often the service stopped while it ran."""
    created: float = field(default_factory=time.time)
    started: float | None = None
    stopped: float | None = None

    @property
    def most_attempts(self) -> int:
        """How often it is tried."""
        return int((self.request.get("retryStrategy") or {}).get("attempts") or 1)


class JobStore:
    """The jobs and definitions of one local stack. Safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        """Open the file. Raises Damaged."""
        self._lock = threading.RLock()
        self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        try:
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.executescript(_TABLES)
            self._connection.execute(f"{_SELECT} LIMIT 1").fetchall()
        except sqlite3.DatabaseError as failure:
            self._connection.close()
            raise Damaged(path, str(failure), _REMEDY) from failure

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def define(self, body: dict[str, Any]) -> None:
        """Keep a job definition; one of the same name is replaced."""
        with self._transaction() as rows:
            rows.execute("REPLACE INTO definitions VALUES (?, ?)", (body["jobDefinitionName"], json.dumps(body)))

    def definition(self, name: str) -> dict[str, Any] | None:
        """A job definition by its name."""
        with self._lock:
            row = self._connection.execute("SELECT body FROM definitions WHERE name = ?", (name,)).fetchone()
        return json.loads(row[0]) if row else None

    def add(self, job: Job, needs: list[str]) -> None:
        """Add a job that waits for others: PENDING while they run, FAILED where one of them failed.

        Raises:
            KeyError: a job that it waits for does not exist.
        """
        with self._transaction() as rows:
            for need in needs:
                if not rows.execute("SELECT 1 FROM jobs WHERE id = ?", (need,)).fetchone():
                    raise KeyError(need)
            rows.execute(
                "INSERT INTO jobs (id, name, status, request, definition, created) VALUES (?, ?, ?, ?, ?, ?)",
                (job.id, job.name, PENDING, json.dumps(job.request), json.dumps(job.definition), job.created),
            )
            rows.executemany("INSERT OR IGNORE INTO needs VALUES (?, ?)", [(job.id, need) for need in needs])
            for need in needs:
                self._release(rows, need)
            if not needs:
                rows.execute("UPDATE jobs SET status = ? WHERE id = ?", (RUNNABLE, job.id))

    def get(self, job: str) -> Job | None:
        """A job by its id."""
        with self._lock:
            row = self._connection.execute(f"{_SELECT} WHERE id = ?", (job,)).fetchone()
        return _job(row) if row else None

    def named(self, pattern: str) -> list[Job]:
        """Jobs of a name; `*` at its end stands for any text. In the order of submission."""
        start, star, _ = pattern.partition("*")
        where = "name >= ? AND name < ?" if star else "name = ? AND ? = ?"
        values = (start, start + "\U0010ffff") if star else (start, "", "")
        query = f"{_SELECT} WHERE {where} ORDER BY number"
        with self._lock:
            return [_job(row) for row in self._connection.execute(query, values)]

    def runnable(self, most: int) -> list[Job]:
        """The jobs that may start, first submitted first."""
        query = f"{_SELECT} WHERE status = ? ORDER BY number LIMIT ?"
        with self._lock:
            return [_job(row) for row in self._connection.execute(query, (RUNNABLE, most))]

    def start(self, job: str) -> bool:
        """Take a runnable job to be run; False where it is not runnable any more."""
        with self._transaction() as rows:
            query = "UPDATE jobs SET status = ?, started = ?, stopped = NULL WHERE id = ? AND status = ?"
            return rows.execute(query, (RUNNING, time.time(), job, RUNNABLE)).rowcount == 1

    def retry(self, job: str, attempts: int, reason: str | None) -> None:
        """Put a job back whose attempt failed."""
        with self._transaction() as rows:
            query = "UPDATE jobs SET status = ?, attempts = ?, reason = ? WHERE id = ? AND status = ?"
            rows.execute(query, (RUNNABLE, attempts, reason, job, RUNNING))

    def end(self, job: str, status: str, reason: str | None, exit_code: int | None = None) -> list[str]:
        """End a job, and those that wait for it in vain; the ids of all that ended now."""
        with self._transaction() as rows:
            query = (
                "UPDATE jobs SET status = ?, reason = ?, exit_code = ?, stopped = ?, attempts = attempts + 1 "
                "WHERE id = ? AND status NOT IN (?, ?)"
            )
            if rows.execute(query, (status, reason, exit_code, time.time(), job, *ENDED)).rowcount == 0:
                return []
            return [job, *self._release(rows, job)]

    def interrupted(self) -> list[Job]:
        """Put back the jobs that ran when the service stopped; as they were before."""
        query = f"{_SELECT} WHERE status IN (?, ?) ORDER BY number"
        with self._transaction() as rows:
            found = [_job(row) for row in rows.execute(query, ACTIVE)]
            rows.execute(
                "UPDATE jobs SET status = ?, interruptions = interruptions + 1 WHERE status IN (?, ?)",
                (RUNNABLE, *ACTIVE),
            )
        return found

    def counts(self) -> dict[str, int]:
        """How many jobs there are of each status."""
        with self._lock:
            return dict(self._connection.execute("SELECT status, count(*) FROM jobs GROUP BY status"))

    def forget(self, before: float) -> list[str]:
        """Remove the jobs that ended before a time, and definitions without jobs; the ids of the jobs."""
        with self._transaction() as rows:
            query = "SELECT id FROM jobs WHERE status IN (?, ?) AND stopped < ?"
            gone = [row[0] for row in rows.execute(query, (*ENDED, before))]
            for job in gone:
                rows.execute("DELETE FROM jobs WHERE id = ?", (job,))
                rows.execute("DELETE FROM needs WHERE need = ? OR job = ?", (job, job))
        return gone

    def _release(self, rows: sqlite3.Connection, need: str) -> list[str]:
        """Let go what waits for a job that ended; the ids of the jobs that failed with it."""
        failed: list[str] = []
        waiting = [need]
        while waiting:
            ended = waiting.pop()
            status = rows.execute("SELECT status FROM jobs WHERE id = ?", (ended,)).fetchone()[0]
            if status not in ENDED:
                continue
            heirs = [row[0] for row in rows.execute("SELECT job FROM needs WHERE need = ?", (ended,))]
            for heir in heirs:
                if status == FAILED:
                    query = "UPDATE jobs SET status = ?, reason = ?, stopped = ? WHERE id = ? AND status = ?"
                    values = (FAILED, "Dependent Job failed", time.time(), heir, PENDING)
                    if rows.execute(query, values).rowcount:
                        failed.append(heir)
                        waiting.append(heir)
                    continue
                query = (
                    "UPDATE jobs SET status = ? WHERE id = ? AND status = ? AND NOT EXISTS "
                    "(SELECT 1 FROM needs JOIN jobs AS other ON other.id = needs.need "
                    "WHERE needs.job = jobs.id AND other.status != ?)"
                )
                rows.execute(query, (RUNNABLE, heir, PENDING, SUCCEEDED))
        return failed

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")


def _job(row: tuple[Any, ...]) -> Job:
    values = dict(zip(_COLUMNS.split(", "), row, strict=True))
    values["request"], values["definition"] = json.loads(values["request"]), json.loads(values["definition"])
    return Job(**values)
