"""The scheduled tasks of a project, and the last commit that was searched for tasks.

due#{project}, {time}|{name}    a task; its name derives from its commit, so that finding it twice stores it once
due#{project}, @                `n` is the last commit that was searched
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
    """A task for entities of one kind: delete them for good, or move them to or from the archive."""

    action: Literal["purge", "archive"] = msgspec.field(name="what")
    kind: Kind
    ids: list[int]
    at: Timestamp
    """When the task is due."""
    name: str
    """Unique among the project's tasks of that time."""
    since: Timestamp | None = None
    """The time of the commit that it derives from; None for a task that an older release stored."""


_encode = msgspec.json.encode
_decoder = msgspec.json.Decoder(Task)


def add(project: int, task: Task) -> None:
    """Store a task."""
    RecordRow(f"due#{project}", f"{task.at}|{task.name}", doc=_encode(task)).save()


def until(project: int, moment: Timestamp) -> Iterator[Task]:
    """The due tasks, earliest first."""
    for row in RecordRow.query(f"due#{project}", RecordRow.sk < moment, consistent_read=True):
        yield _decoder.decode(row.doc)


def delete(project: int, task: Task) -> None:
    """Delete a task."""
    RecordRow(f"due#{project}", f"{task.at}|{task.name}").delete()


def last_searched(project: int) -> int:
    """The last commit that was searched; 0 at first."""
    row = RecordRow.find(f"due#{project}", "@")
    return int(row.n) if row else 0


def look_after(project: int, seq: int) -> None:
    """Store the last commit that was searched."""
    RecordRow(f"due#{project}", "@", n=seq).save()


def forget(project: int) -> None:
    """Delete all tasks of a project that is purged."""
    found = list(RecordRow.query(f"due#{project}", consistent_read=True))
    with RecordRow.batch_write() as batch:
        for row in found:
            batch.delete(row)
