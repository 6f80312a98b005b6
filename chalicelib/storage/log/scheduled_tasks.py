"""What is to be done in a project when its time comes, and up to which commit that was found out.

due#{project}, {time}|{name}    a task; its name follows from the commit that gave rise to it, so that finding it
                                twice makes one of it
due#{project}, @                `n` is the last commit that was looked at
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec
from msgspec import Struct

from chalicelib.core.kinds import Kind
from chalicelib.core.resource import Timestamp
from chalicelib.storage.dynamodb.tables import RecordRow


class Task(Struct, frozen=True, kw_only=True):
    """Something to be done with entities of one kind: removed for good, or moved to or from the archive."""

    what: Literal["purge", "archive"]
    kind: Kind
    ids: list[int]
    at: Timestamp
    """From when on."""
    name: str
    """Of no other task of the project at that time."""


_encode = msgspec.json.encode
_decoder = msgspec.json.Decoder(Task)


def add(project: int, task: Task) -> None:
    """Note a task."""
    RecordRow(f"due#{project}", f"{task.at}|{task.name}", doc=_encode(task)).save()


def until(project: int, moment: Timestamp) -> Iterator[Task]:
    """The tasks whose time has come, earliest first."""
    for row in RecordRow.query(f"due#{project}", RecordRow.sk < moment, consistent_read=True):
        yield _decoder.decode(row.doc)


def done(project: int, task: Task) -> None:
    """Forget a task."""
    RecordRow(f"due#{project}", f"{task.at}|{task.name}").delete()


def looked_at(project: int) -> int:
    """The last commit that was looked at; 0 at first."""
    try:
        return int(RecordRow.get(f"due#{project}", "@", consistent_read=True).n)
    except RecordRow.DoesNotExist:
        return 0


def look_after(project: int, seq: int) -> None:
    """Note that commits up to one were looked at."""
    RecordRow(f"due#{project}", "@", n=seq).save()


def forget(project: int) -> None:
    """Forget everything of a project that is purged."""
    found = list(RecordRow.query(f"due#{project}", consistent_read=True))
    with RecordRow.batch_write() as batch:
        for row in found:
            batch.delete(row)
