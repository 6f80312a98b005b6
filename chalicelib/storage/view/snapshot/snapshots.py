"""Snapshots: the view of a project at a commit in S3, from which a cold container begins.

    begin(project)     the view of the current snapshot, or an empty one; the log continues from there
    save(view, …)      writes a snapshot and makes it the current one
    sweep(project)     deletes files that no current snapshot refers to

A snapshot is the view's own database and documents, as two files whose ranges are stored in objects (`devices.py`).
Opening it reads almost nothing: blocks are fetched when a query needs them. Writing one stores only the ranges that
have changed; the others stay in the objects of earlier snapshots. The same data is stored beside it as Parquet, for
other programs.

The pointer makes a snapshot the current one; it moves when everything is written. Until then, and after a crash, only
`sweep` sees its objects.
"""

from __future__ import annotations

import logging
import math
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from chalicelib.core.keys.object_keys import view_prefix
from chalicelib.core.log.commits import Commit
from chalicelib.core.models.definitions import Definitions
from chalicelib.core.resource import now
from chalicelib.core.time import clock
from chalicelib.errors import NotFound
from chalicelib.storage.dynamodb import retired
from chalicelib.storage.log import log
from chalicelib.storage.objects import objects, view_objects
from chalicelib.storage.view.database.devices import Device, Extent, overlaid, pool
from chalicelib.storage.view.database.engine import HEADERS, engine
from chalicelib.storage.view.database.store import Store
from chalicelib.storage.view.deleted_definitions import DeletedDefinitions
from chalicelib.storage.view.snapshot import files, shapes
from chalicelib.storage.view.snapshot.files import Part
from chalicelib.storage.view.snapshot.renewal import renew
from chalicelib.storage.view.snapshot.snapshot_records import (
    Database,
    Dropped,
    File,
    Manifest,
    Pointer,
    Segment,
    advance,
    current,
    manifest_of,
    pointer,
    stamp,
    time_of,
)
from chalicelib.storage.view.state import ViewState
from chalicelib.storage.view.view import View

KEPT_SECONDS = 24 * 3600
"""How long files stay after the current snapshot ceased to refer to them: containers may be reading or writing them."""
COMMITS_PER_TRANSACTION = 256
"""The number of commits applied in one transaction."""
SPARSE = 2
ROWS_KEPT = 100_000
"""Documents are rewritten where there are this many times more of them than rows, plus a fixed number."""
MOST_OBJECTS = 8
"""A file stored in more objects than this is rewritten, except for its largest object."""
ROWS_EXPORTED = 100_000
"""Up to this many rows, Parquet files are written with every snapshot; beyond, in steps (`parquet_steps.py`)."""
_AHEAD = 3
"""How many files are fetched while one is loaded; bounds the disk space."""
_encode = msgspec.json.Encoder().encode
_logger = logging.getLogger(__name__)


def begin(project: int, make: Callable[[int, Manifest], View] | None = None) -> View:
    """The view of the current snapshot, or an empty one.

    Args:
        project: its id.
        make: makes the view of a snapshot; by default `read`.

    Raises:
        NotFound: a file of it is missing; `maintenance/rebuild.py` makes another.
    """
    found = pointer(project)
    while found is not None:
        try:
            return (make or read)(project, manifest_of(project, found))
        except NotFound:
            newer = pointer(project)
            if newer == found:
                if log.first(project) == 1:
                    _logger.exception("snapshot of project %d is incomplete, reading its whole log", project)
                    break
                raise
            found = newer
    return View(project)


def read(project: int, manifest: Manifest) -> View:
    """The view of a snapshot, rebuilt where it has another shape. Raises NotFound where a file of it is missing."""
    view = open_view(project, manifest)
    return renew(view) if manifest.database is not None and is_other(manifest) else view


def is_other(manifest: Manifest) -> bool:
    """Whether a snapshot lacks a database of this code's shape, so that its view is rebuilt."""
    return manifest.database is None or not shapes.is_usable(manifest.shape, manifest.database.layout)


def open_view(project: int, manifest: Manifest) -> View:
    """The view of a snapshot in its own shape. Raises NotFound where a file of it is missing."""
    body = view_objects.get(project, f"{view_prefix(project)}{manifest.definitions}")
    definitions = files.definitions_of(project, body)
    if manifest.database is None:
        with tempfile.TemporaryDirectory(prefix="limn-") as place:
            view = files.replay(definitions, manifest.seq, _fetch_files(project, manifest.parts, Path(place)))
    else:
        view = _open(definitions, manifest, manifest.database)
    view.lost = manifest.lost
    return view


def _size(project: int, key: str) -> int | None:
    return objects.size(view_prefix(project) + key)


def _open(definitions: Definitions, manifest: Manifest, database: Database) -> View:
    project = manifest.project
    cache = engine().cache

    def fetch(key: str, offset: int, length: int) -> bytes:
        return objects.read_range(view_prefix(project) + key, offset, length)

    # Check this first: a request that finds a file missing halfway could only fail.
    for key, size in zip(database.keys, pool.map(lambda key: _size(project, key), database.keys), strict=True):
        if size is None:
            raise NotFound.of("object", key)
    file = Device(cache, fetch, database.file.extents, database.file.size, first=HEADERS)
    documents = Device(cache, fetch, database.documents.extents, database.documents.size)
    store = Store(file, documents, database.blocks)
    store.documents.added = database.added
    state = ViewState(definitions, seq=manifest.seq, layout=database.layout, highest=dict(database.highest))
    return View(project, state, store)


def _fetch_files(project: int, parts: list[Part], place: Path) -> Iterator[tuple[Part, Path]]:
    """The files of a snapshot in order; each exists until the next one is requested."""

    def fetch(number: int) -> Path:
        path = place / f"{number}.parquet"
        objects.download(view_prefix(project) + parts[number].key, path)
        return path

    with ThreadPoolExecutor(_AHEAD, thread_name_prefix="snapshot") as pool:
        under_way = [pool.submit(fetch, number) for number in range(min(_AHEAD, len(parts)))]
        for number, part in enumerate(parts):
            path = under_way[number].result()
            if len(under_way) < len(parts):
                under_way.append(pool.submit(fetch, len(under_way)))
            yield part, path
            path.unlink()


def save(view: View, segments: list[Segment], *, replace: bool = False, folded: int = 0) -> Pointer | None:
    """Write the snapshot of a view and make it the current one. No commits may be applied to the view meanwhile.

    Args:
        view: the view.
        segments: the archive of all commits up to it.
        replace: also replace a current one of the same commit.
        folded: the recorded growth (`storage/log/growth.py`) of the commits since the current one.

    Returns:
        The new pointer, None where there is a newer snapshot.
    """
    project = view.project
    before = _before(project)
    rows = view.rows
    if view.store.documents.added > SPARSE * rows + ROWS_KEPT:
        view = files.copy(view)
    where = f"snapshots/{view.seq:012d}-{stamp()}"
    database = _store_database(view)
    unexported = (before.unexported if before else 0) + view.changes
    if rows <= ROWS_EXPORTED:
        parts, parts_seq, unexported = _export(view, where), view.seq, 0
    else:
        parts, parts_seq = (before.parts, before.parts_seq) if before else ([], 0)
    definitions = f"{where}/definitions.json"
    _write(project, definitions, files.definitions_json(view.definitions), "application/json")
    manifest = Manifest(
        format=shapes.FORMAT,
        shape=shapes.shape_of(view.state.layout),
        project=project,
        seq=view.seq,
        at=now(),
        rows=rows,
        definitions=definitions,
        parts=parts,
        parts_seq=parts_seq,
        unexported=unexported,
        archive=segments,
        lost=view.lost if retired.current(project).entries else DeletedDefinitions(),
        database=database,
        dropped=_list_dropped(before, database),
    )
    _write(project, f"{where}/manifest.json", _encode(manifest), "application/json")
    return advance(manifest, where, replace=replace, folded=folded)


def _before(project: int) -> Manifest | None:
    try:
        return current(project)
    except NotFound:
        return None


def _write(project: int, key: str, body: bytes | BinaryIO, content_type: str = "application/octet-stream") -> None:
    objects.write(view_prefix(project) + key, body, content_type)


def _store_database(view: View) -> Database:
    """Store the ranges of a view's files that are not in objects yet."""
    view.compress()
    view.store.documents.seal()
    return Database(
        file=_store_file(view, view.store.database, "database"),
        documents=_store_file(view, view.store.documents.device, "documents"),
        added=view.store.documents.added,
        layout=view.state.layout,
        highest=view.state.highest,
        blocks=view.store.block_map(),
    )


def _store_file(view: View, device: Device, suffix: str) -> File:
    extents = device.extents
    if written := device.written_ranges():
        extents = overlaid(extents, _store_ranges(view, device, written, suffix), device.size)
    keys = Counter[str]()
    for extent in extents:
        keys[extent.key] += extent.length
    if len(keys) > MOST_OBJECTS:
        largest, _ = keys.most_common(1)[0]
        small = [(extent.start, extent.length) for extent in extents if extent.key != largest]
        extents = overlaid(extents, _store_ranges(view, device, small, suffix), device.size)
    return File.from_extents(device.size, extents)


def _store_ranges(view: View, device: Device, ranges: list[tuple[int, int]], suffix: str) -> list[Extent]:
    """Store ranges of a file, one after the other, in an object; returns their new extents."""
    key = f"blocks/{view.seq:012d}-{stamp()}.{suffix}"
    _write(view.project, key, cast("BinaryIO", _Ranges(device, ranges)))
    offsets = accumulate((length for _, length in ranges), initial=0)
    return [Extent(start, length, key, at) for (start, length), at in zip(ranges, offsets, strict=False)]


class _Ranges:
    """Ranges of a device as a file that is read from beginning to end."""

    def __init__(self, device: Device, ranges: list[tuple[int, int]]) -> None:
        self._device = device
        self._left = deque(ranges)

    def read(self, length: int = -1) -> bytes:
        """The next bytes; empty at the end."""
        found = bytearray()
        while self._left and (length < 0 or len(found) < length):
            start, size = self._left.popleft()
            taken = size if length < 0 else min(size, length - len(found))
            found += self._device.read(start, taken)
            if taken < size:
                self._left.appendleft((start + taken, size - taken))
        return bytes(found)


def _export(view: View, where: str) -> list[Part]:
    """Write a view as Parquet."""
    parts: list[Part] = []
    with tempfile.TemporaryDirectory(prefix="limn-") as place:
        for part, _, path in files.write(view, Path(place)):
            parts.append(store_part(view.project, part, path, where))
    return parts


def store_part(project: int, part: Part, path: Path, where: str) -> Part:
    """Store a Parquet file in a folder of a project, and delete it here; returns the part with its key."""
    placed = msgspec.structs.replace(part, key=f"{where}/{part.key}")
    with path.open("rb") as file:
        _write(project, placed.key, file, "application/vnd.apache.parquet")
    path.unlink()
    return placed


def replace_parts(project: int, parts: list[Part], parts_seq: int, exported: int) -> None:
    """Give the current snapshot other Parquet files.

    Args:
        project: the project.
        parts: the files.
        parts_seq: the last commit in them.
        exported: the changes that older files lacked and these have.
    """
    while found := pointer(project):
        manifest = manifest_of(project, found)
        where = f"snapshots/{manifest.seq:012d}-{stamp()}"
        definitions = f"{where}/definitions.json"
        body = view_objects.get(project, f"{view_prefix(project)}{manifest.definitions}")
        _write(project, definitions, body, "application/json")
        unexported = max(0, manifest.unexported - exported)
        manifest = msgspec.structs.replace(
            manifest, definitions=definitions, parts=parts, parts_seq=parts_seq, unexported=unexported
        )
        _write(project, f"{where}/manifest.json", _encode(manifest), "application/json")
        if advance(manifest, where, replace=True):
            return


def _list_dropped(before: Manifest | None, database: Database) -> list[Dropped]:
    """Objects that containers may still read though this snapshot does not refer to them."""
    if before is None:
        return []
    kept = [each for each in before.dropped if each.when > clock.seconds() - KEPT_SECONDS]
    old = before.database.keys if before.database else set()
    return kept + [Dropped(key, int(clock.seconds())) for key in sorted(old - database.keys)]


def sweep(project: int) -> None:
    """Delete objects that neither the current snapshot refers to nor any container can still read or write."""
    found = pointer(project)
    if found is None:
        return
    manifest = manifest_of(project, found)
    kept = {segment.key for segment in manifest.archive}
    kept |= {each.key for each in manifest.dropped if each.when > clock.seconds() - KEPT_SECONDS}
    kept |= manifest.database.keys if manifest.database else set()
    folders = {found.folder, *("/".join(part.key.split("/")[:2]) for part in manifest.parts)}
    whole = view_prefix(project)
    oldest = log.first(project)
    gone = []
    for key in objects.under(whole):
        kind, own, *rest = key.path.removeprefix(whole.path).split("/")
        if kind == "snapshots":
            stale = bool(rest) and f"{kind}/{own}" not in folders and _is_old(own)
        elif kind in ("archive", "blocks"):
            stale = f"{kind}/{own}" not in kept and _is_old(own)
        else:  # the body of a commit that has expired, or that lost the race for its number
            stale = kind == "commits" and own.isdigit() and int(own) < oldest
        if stale:
            gone.append(key)
    if gone:
        objects.remove(gone)


def _is_old(name: str) -> bool:
    return time_of(name) < clock.seconds() - KEPT_SECONDS


def follow(view: View, upto: int, end: float = math.inf) -> Iterator[Commit]:
    """Apply commits to a view up to a number, or until `time.monotonic()` is `end`; yields the applied commits."""
    waiting: list[Commit] = []
    for commit in log.read_after(view.project, view.seq):
        if commit.seq > upto:
            break
        waiting.append(commit)
        if len(waiting) >= COMMITS_PER_TRANSACTION:
            view.apply(waiting)
            yield from waiting
            waiting = []
            if time.monotonic() > end:
                return
    view.apply(waiting)
    yield from waiting
