"""What was found to be wrong with the local database, and the errors that say so.

Damage is found, not survived (`integrity.py`): each row has a checksum that is compared when it is read and when the
stack starts, and `sync` notes in a file beside the database up to where it has acknowledged, so that a log that was cut
or altered is not taken for a shorter one.
"""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path

from infra.emulator.sqlite.integrity import CannotStore, Damaged

log = logging.getLogger("limn.local.database")


class Problems:
    """The part of a database that remembers why it cannot be relied upon."""

    path: Path | None
    failure = ""
    """Why the last write failed; empty after one that succeeded."""
    damage = ""
    """What was found damaged while the stack runs."""

    def found_damaged(self, reason: str, path: Path | None = None) -> Damaged:
        """The error for an entry, or a file, that differs from its checksum; `problem` tells of it from now on."""
        damaged = Damaged(path or self.path, reason)
        self.damage = str(damaged)
        log.error("%s", self.damage)
        return damaged

    def found_full(self, reason: str) -> CannotStore:
        """The error for something that the disk did not take; `problem` tells of it until something is stored again."""
        self.failure = reason
        log.error("Nothing can be stored: %s", reason)
        return CannotStore(reason)

    def _failed(self, failure: sqlite3.DatabaseError) -> Exception:
        if isinstance(failure, sqlite3.IntegrityError | sqlite3.ProgrammingError | sqlite3.InterfaceError):
            return failure
        if not isinstance(failure, sqlite3.OperationalError):
            return self.found_damaged(str(failure))
        return self.found_full(f"{self.path}: {failure}")
