"""What must be known to remove objects that several media share, and what is still to be looked at.

    clones#<project>, <media>|<clone>    the files of that clone may lie in the folder of that media; `doc` is when it
                                         was written, which is before the clone is
    released#<project>, <uuid>           keys that something may have ceased to name; `doc` lists them
    released#<project>, <time>|<uuid>    keys that something names soon or, if it dies, never: looked at from then on

Both are hints and no more: whether an object is still needed is read from the documents of those who may name it.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from chalicelib.core.entities import STRUCT_OF, File, Media
from chalicelib.core.kinds import Kind
from chalicelib.core.records import padded
from chalicelib.core.resource import Timestamp, now
from chalicelib.storage.dynamodb.tables import EntityRow, RecordRow
from chalicelib.storage.dynamodb.transactions import Transaction

_READ_AT_ONCE = 100
_encode = msgspec.json.encode


def share(pairs: Iterable[tuple[int, int, int]]) -> None:
    """Note clones before they are made: (project, media whose folder it is, clone)."""
    with RecordRow.batch_write() as rows:
        for project, media, clone in dict.fromkeys(pairs):
            rows.save(RecordRow(f"clones#{project}", f"{padded(media)}|{padded(clone)}", doc=_encode(now())))


def clones(project: int, media: int) -> dict[int, Timestamp]:
    """The clones whose files may lie in the folder of a media, and when they were noted."""
    found = RecordRow.query(f"clones#{project}", RecordRow.sk.startswith(f"{padded(media)}|"), consistent_read=True)
    return {int(row.sk.partition("|")[2]): msgspec.json.decode(row.doc) for row in found}


def has_clones(project: int) -> bool:
    """Whether files of a project may be those of any clone."""
    return any(True for _ in RecordRow.query(f"clones#{project}", consistent_read=True, limit=1))


def unshare(project: int, media: int, clone: int) -> None:
    """Forget a clone."""
    RecordRow(f"clones#{project}", f"{padded(media)}|{padded(clone)}").delete()


def release(change: Transaction, project: int, keys: Iterable[str], *, after: Timestamp | None = None) -> str:
    """Make the note that keys may be needed no more, or not `after` some time, part of a transaction; its name."""
    note = f"{after}|{uuid.uuid4()}" if after else str(uuid.uuid4())
    change.put(RecordRow(f"released#{project}", note, doc=_encode(sorted(set(keys)))))
    return note


def released(project: int) -> Iterator[tuple[str, list[str]]]:
    """The notes of a project whose time has come, and the keys they name."""
    moment = now()
    for row in RecordRow.query(f"released#{project}", consistent_read=True):
        if "|" in row.sk and row.sk > moment:
            continue
        yield row.sk, msgspec.json.decode(row.doc)


def forget(project: int, note: str, change: Transaction | None = None) -> None:
    """Remove a note, as part of a transaction where one is given."""
    row = RecordRow(f"released#{project}", note)
    if change is None:
        row.delete()
    else:
        change.delete(row)


def kept(kind: Kind, numbers: Iterable[int]) -> dict[int, tuple[Media | File, bool]]:
    """Entities as their rows stand, by id, and whether they were deleted: also those that no reader sees."""
    keys = [f"{kind}#{number}" for number in dict.fromkeys(numbers)]
    found: dict[int, tuple[Media | File, bool]] = {}
    for start in range(0, len(keys), _READ_AT_ONCE):
        for row in EntityRow.batch_get(keys[start : start + _READ_AT_ONCE], consistent_read=True):
            entity: Any = msgspec.json.decode(row.doc, type=STRUCT_OF[kind])
            found[entity.id] = (entity, row.deleted is not None)
    return found
