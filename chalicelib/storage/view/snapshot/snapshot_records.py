"""The records of a project's snapshots: the pointer in the records table, the manifest beside the files.

    records  (project#14, snapshot)   seq and folder of the current snapshot, and the last commit with an expiry
    views    projects/14/snapshots/000000001234-…/manifest.json, definitions.json, localization/7/0.parquet …
             projects/14/archive/000000000001-000000001234-….parquet
             projects/14/snapshots/current.json      a copy of the manifest, for readers without the table

The pointer only moves forward: a snapshot older than the current one is discarded.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence

import msgspec

from chalicelib.core.keys.object_keys import view_prefix
from chalicelib.core.kinds import Kind
from chalicelib.core.resource import Timestamp
from chalicelib.core.time import clock
from chalicelib.errors import Conflict, NotFound
from chalicelib.query.layout import Layout
from chalicelib.storage.dynamodb.tables import RecordRow
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.log import growth
from chalicelib.storage.objects import objects, view_objects
from chalicelib.storage.view.database.devices import Extent
from chalicelib.storage.view.deleted_definitions import DeletedDefinitions
from chalicelib.storage.view.snapshot.files import Part

_SORT_KEY = "snapshot"
_encoder = msgspec.json.Encoder()


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """Commits `first` to `last` in one file (`archive.py`)."""

    key: str
    first: int
    last: int
    size: int
    """Its number of commits and of entities they created."""


class File(msgspec.Struct, frozen=True, kw_only=True):
    """A file of a view (`devices.py`), stored in ranges of objects."""

    size: int
    objects: list[str]
    """Keys relative to `projects/{project}/`."""
    ranges: list[tuple[int, int, int, int]]
    """Offset, length, which of the objects, and the offset in it."""

    @property
    def extents(self) -> list[Extent]:
        """The ranges, with keys."""
        return [Extent(start, length, self.objects[number], at) for start, length, number, at in self.ranges]

    @classmethod
    def from_extents(cls, size: int, extents: Sequence[Extent]) -> File:
        """A file of a given size from extents."""
        keys = sorted({extent.key for extent in extents})
        numbers = {key: number for number, key in enumerate(keys)}
        return cls(size=size, objects=keys, ranges=[(e.start, e.length, numbers[e.key], e.at) for e in extents])


class Database(msgspec.Struct, frozen=True, kw_only=True):
    """The view itself: a DuckDB database and the documents that its rows refer to."""

    file: File
    documents: File
    added: int
    """The number of documents in the file, including those without a row."""
    layout: Layout
    highest: dict[Kind, int]
    """By kind: no entity has an id above this."""
    blocks: dict[str, dict[str, list[int]]] = {}
    """Where the columns of each table lie in the file (`Store.block_map`); older snapshots lack it."""

    @property
    def keys(self) -> set[str]:
        """The objects that hold it."""
        return {*self.file.objects, *self.documents.objects}


class Dropped(msgspec.Struct, frozen=True, array_like=True):
    """An object that snapshots before this one referred to."""

    key: str
    when: int
    """When it ceased to be part of the current snapshot, in seconds since the epoch."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a snapshot. Keys are relative to `projects/{project}/`."""

    format: int
    shape: str
    """The fingerprint of the view's columns and documents (`shapes.py`)."""
    project: int
    seq: int
    """The last commit in the snapshot."""
    at: Timestamp
    rows: int
    definitions: str
    parts: list[Part]
    archive: list[Segment]
    lost: DeletedDefinitions = msgspec.field(default_factory=DeletedDefinitions)
    """What later commits cannot create again."""
    database: Database | None = None
    """The view as containers open it; None in a snapshot of format 2, which has `parts` only."""
    parts_seq: int = 0
    """The last commit in `parts`: in a large project they are written less often."""
    unexported: int = 0
    """Changes since that commit."""
    dropped: list[Dropped] = []
    """Objects kept for containers that still read them."""


class Pointer(msgspec.Struct, frozen=True, kw_only=True):
    """The pointer to the current snapshot."""

    seq: int
    folder: str
    """Relative to the folder of the project."""
    marked: int = 0
    """Commits below this number have an expiry."""


def stamp() -> str:
    """A unique part of a name that holds the time of its creation."""
    return f"{int(clock.seconds()):010d}-{uuid.uuid4().hex[:8]}"


def time_of(name: str) -> int:
    """The time in a name that ends with a `stamp`, in seconds; 0 where it has none."""
    parts = name.removesuffix(".parquet").split("-")
    return int(parts[-2]) if len(parts) > 1 and parts[-2].isdigit() else 0


def pointer(project: int) -> Pointer | None:
    """The pointer to the current snapshot, None without a snapshot."""
    row = RecordRow.find(*_key(project))
    return msgspec.json.decode(row.doc, type=Pointer) if row else None


def manifest_of(project: int, found: Pointer) -> Manifest:
    """The manifest of a snapshot. Raises NotFound where the snapshot is not the current one and was deleted."""
    body = view_objects.get(project, f"{view_prefix(project)}{found.folder}/manifest.json")
    return msgspec.json.decode(body, type=Manifest)


def current(project: int) -> Manifest | None:
    """The manifest of the current snapshot, None without a snapshot."""
    found = pointer(project)
    while found is not None:
        try:
            return manifest_of(project, found)
        except NotFound:
            newer = pointer(project)
            if newer == found:
                raise
            found = newer
    return None


def advance(manifest: Manifest, where: str, *, replace: bool = False, folded: int = 0) -> Pointer | None:
    """Make a snapshot the current one; None where the current one is as new, or newer if `replace`.

    The growth that is `folded` into it is settled in the same transaction.
    """
    before = pointer(manifest.project)
    while before is None or before.seq < manifest.seq or (replace and before.seq == manifest.seq):
        after = Pointer(seq=manifest.seq, folder=where, marked=before.marked if before else 0)
        if _swap(manifest.project, before, after, folded):
            key = view_prefix(manifest.project) + "snapshots/current.json"
            objects.write(key, _encoder.encode(manifest), "application/json")
            return after
        before = pointer(manifest.project)
    return None


def mark(project: int, before: Pointer, marked: int) -> None:
    """Record that commits below a number have an expiry. Does nothing if the pointer moved."""
    _swap(project, before, msgspec.structs.replace(before, marked=marked))


def forget(project: int) -> None:
    """Delete the pointer, for a purge."""
    RecordRow(*_key(project)).delete()


def _swap(project: int, before: Pointer | None, after: Pointer, folded: int = 0) -> bool:
    row = RecordRow(*_key(project), doc=_encoder.encode(after), n=after.seq)
    unchanged = RecordRow.doc == _encoder.encode(before) if before else RecordRow.pk.does_not_exist()
    change = Transaction()
    change.put(row, unchanged)
    growth.subtract_snapshot(project, folded, change)
    try:
        change.run()
    except Conflict:
        return False
    return True


def _key(project: int) -> tuple[str, str]:
    return f"project#{project}", _SORT_KEY
