"""What a migration did so far, in one SQLite file, so that a run after an interruption continues.

The file has the kind of each object that was copied, its id at the source and its id at the target; how far the pages
of each kind were read; and every problem. The uploads of files have their journal in the same file.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from ..failures import Failure

_TABLES = """
CREATE TABLE IF NOT EXISTS copies (
    kind TEXT NOT NULL, source INTEGER NOT NULL, target INTEGER NOT NULL, PRIMARY KEY (kind, source)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS problems (
    kind TEXT NOT NULL, source INTEGER NOT NULL, is_refused INTEGER NOT NULL, reason TEXT NOT NULL,
    PRIMARY KEY (kind, source, reason)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""
_PARAMETERS_PER_STATEMENT = 900
"""Parameters of one statement of SQLite."""


class Ledger:
    """The file. Threads may share it."""

    def __init__(self, place: Path) -> None:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        place.touch(mode=0o600)  # its journal of uploads has presigned URLs
        self.place = place
        self._lock = threading.Lock()
        self._rows = sqlite3.connect(place, check_same_thread=False, isolation_level=None, timeout=30)
        self._rows.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;" + _TABLES)

    def close(self) -> None:
        """Close the file."""
        self._rows.close()

    def claim(self, migration: str) -> None:
        """Note between which projects this migration is.

        Raises:
            Failure: the file is that of another migration.
        """
        known = self.fact("migration")
        if known is not None and known != migration:
            raise Failure(f"{self.place} is the state of another migration: {known}. Give another file with --state.")
        self.store_fact("migration", migration)

    # --- copies ----------------------------------------------------------------------------------------------------

    def record(self, kind: str, copies: Mapping[int, int]) -> None:
        """Note the ids of copies, by the ids of what was copied; its problems are over."""
        with self._lock, self._rows:
            self._rows.execute("BEGIN")
            rows = [(kind, source, target) for source, target in copies.items()]
            self._rows.executemany("REPLACE INTO copies VALUES (?, ?, ?)", rows)
            self._rows.executemany(
                "DELETE FROM problems WHERE kind = ? AND source = ? AND is_refused", [each[:2] for each in rows]
            )

    def targets(self, kind: str, sources: Iterable[int | None]) -> dict[int, int]:
        """The ids of copies, by the ids of what was copied; what was not copied is left out."""
        wanted = list({each for each in sources if each is not None})
        found: dict[int, int] = {}
        with self._lock:
            for start in range(0, len(wanted), _PARAMETERS_PER_STATEMENT):
                some = wanted[start : start + _PARAMETERS_PER_STATEMENT]
                marks = ",".join("?" * len(some))
                query = f"SELECT source, target FROM copies WHERE kind = ? AND source IN ({marks})"  # noqa: S608
                found.update(self._rows.execute(query, (kind, *some)))
        return found

    def target(self, kind: str, source: int | None) -> int | None:
        """The id of one copy."""
        return self.targets(kind, [source]).get(source) if source is not None else None

    def count(self, kind: str) -> int:
        """How many were copied."""
        with self._lock:
            return int(self._rows.execute("SELECT count(*) FROM copies WHERE kind = ?", (kind,)).fetchone()[0])

    def sample(self, kind: str, most: int) -> dict[int, int]:
        """Copies evenly over the ids."""
        step = max(1, self.count(kind) // most)
        query = (
            "SELECT source, target FROM (SELECT source, target, row_number() OVER (ORDER BY source) AS place "
            "FROM copies WHERE kind = ?) WHERE place % ? = 0 LIMIT ?"
        )
        with self._lock:
            return dict(self._rows.execute(query, (kind, step, most)).fetchall())

    # --- problems --------------------------------------------------------------------------------------------------

    def refuse(self, kind: str, source: int, reason: str) -> None:
        """Note that an object could not come, and why."""
        self._problem(kind, source, reason, is_refused=True)

    def remark(self, kind: str, source: int, reason: str) -> None:
        """Note what an object lost on the way; 0 as the id means all of the kind."""
        self._problem(kind, source, reason, is_refused=False)

    def _problem(self, kind: str, source: int, reason: str, *, is_refused: bool) -> None:
        with self._lock:
            self._rows.execute("REPLACE INTO problems VALUES (?, ?, ?, ?)", (kind, source, is_refused, reason))

    def refused(self, kind: str) -> list[int]:
        """The ids of what could not come."""
        query = "SELECT DISTINCT source FROM problems WHERE kind = ? AND is_refused ORDER BY source"
        with self._lock:
            return [each[0] for each in self._rows.execute(query, (kind,))]

    def forgive(self, kind: str, sources: Collection[int]) -> None:
        """Forget that objects could not come, as they are tried again."""
        with self._lock, self._rows:
            self._rows.execute("BEGIN")
            self._rows.executemany(
                "DELETE FROM problems WHERE kind = ? AND source = ? AND is_refused", [(kind, each) for each in sources]
            )

    def problems(self) -> list[dict[str, Any]]:
        """All problems: `kind`, `id` at the source, `is_refused`, `reason`."""
        with self._lock:
            rows = self._rows.execute("SELECT kind, source, is_refused, reason FROM problems").fetchall()
        return [{"kind": k, "id": i, "is_refused": bool(r), "reason": why} for k, i, r, why in rows]

    # --- facts -----------------------------------------------------------------------------------------------------

    def fact(self, name: str) -> str | None:
        """What was noted under a name."""
        with self._lock:
            row = self._rows.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def store_fact(self, name: str, value: object) -> None:
        """Note a text or number under a name."""
        with self._lock:
            self._rows.execute("REPLACE INTO facts VALUES (?, ?)", (name, str(value)))
