"""How damage of the local database is found: checksums of its entries, and the file of acknowledgements beside it."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from isal.isal_zlib import crc32

ACKNOWLEDGED = "acknowledged"
"""The file with the number of the last acknowledged synchronization, in decimal."""
_NO_DAMAGE = ("full", "disk I/O", "unable to open", "readonly", "locked")
"""What SQLite says when the disk, not the data, is the matter."""
_CHECKED = (
    ("rows", "SELECT tab, pk, sk, doc, crc FROM rows"),
    ("documents", "SELECT 0, space, key, doc, crc FROM documents"),
    ("messages", "SELECT 0, CAST(id AS BLOB), CAST(queue AS BLOB), doc, crc FROM messages"),
)
"""Every entry as what `checksum` takes, and its checksum."""


RESTORE = (
    "Nothing was changed. Put the whole folder back from a backup, or start empty with FRESH=1; "
    "docs/guides/own-machine.md says what else can be done."
)


class Damaged(Exception):
    """Stored data is damaged: the file, the fault, and the remedy."""

    def __init__(self, path: Path | None, reason: str, remedy: str = RESTORE) -> None:
        super().__init__(f"{path or 'The database in memory'} is damaged: {reason}.")
        self.path, self.remedy = path, remedy


class OfNewerRelease(Damaged):
    """Nothing is damaged: the data is in a form that only a newer release reads."""

    def __init__(self, path: Path | None, version: int, known: int) -> None:
        super().__init__(path, "", "")
        said = (
            f"{path} has version {version}, of a newer release; this one reads version {known}. Its data is whole: "
            "start the newer release again. To use this one, put the backup from before the upgrade in its place, or "
            "name another folder with LIMN_HOME."
        )
        self.args = (said,)


class CannotStore(Exception):
    """Nothing can be stored at the moment; the call had no effect."""


def checksum(table: int, first: bytes, second: bytes, doc: bytes) -> int:
    """The checksum of a document in a table under a key of two parts."""
    return crc32(doc, crc32(second, crc32(first, table)))


def refusal(path: Path | None, failure: sqlite3.DatabaseError) -> CannotStore | Damaged:
    """The error for a database that SQLite does not open."""
    if any(word in str(failure) for word in _NO_DAMAGE):
        return CannotStore(f"{path}: {failure}")
    return Damaged(path, str(failure))


def check(connection: sqlite3.Connection, path: Path | None) -> None:
    """Have SQLite look at its own structure, and compare every entry with its checksum. Raises Damaged."""
    found = [line for (line,) in connection.execute("PRAGMA integrity_check(3)")]
    if found != ["ok"]:
        raise Damaged(path, "; ".join(found).replace("\n", " "))
    for name, sql in _CHECKED:
        for table, first, second, doc, crc in connection.execute(sql):
            if checksum(table, first, second, doc) != crc:
                entry = b" ".join((first, second)).decode("utf-8", "backslashreplace")
                raise Damaged(path, f"the entry {entry!r} of {name} differs from its checksum")


@contextmanager
def keep_log(path: Path) -> Iterator[None]:
    """Leave the log as it was if the database is refused: SQLite would remove what follows a damaged place."""
    kept = Path(f"{path}.kept")
    if not path.exists():
        yield
        return
    kept.unlink(missing_ok=True)
    try:
        kept.hardlink_to(path)
    except OSError:
        shutil.copyfile(path, kept)
    try:
        yield
    except BaseException:
        kept.replace(path)
        raise
    kept.unlink()


def read_acknowledged(database: Path) -> int:
    """The number in the file of acknowledgements beside a database; 0 where there is none.

    Raises:
        Damaged: it holds something else, or the database is missing.
    """
    path = database.with_name(ACKNOWLEDGED)
    if not path.exists():
        return 0
    text = path.read_bytes()
    number = text[:20]
    if not number.isdigit() or text != _line(int(number)):
        raise Damaged(path, "it does not hold a number and its checksum")
    if not database.exists():
        raise Damaged(database, "it is missing")
    return int(number)


def write_acknowledged(file: int, number: int) -> None:
    """Write a number into the open file of acknowledgements, of one length: it is never seen half written."""
    os.pwrite(file, _line(number), 0)


def _line(number: int) -> bytes:
    text = b"%020d" % number
    return text + b" %08x\n" % crc32(text)
