"""The archive of commits older than the snapshot, as far as the change log needs them, in Parquet.

A segment holds consecutive commits, each with its entries, the entities it created or deleted without an entry
(`core/log/edits.py`), and its definitions before and after; commits without any are left out. Segments are immutable: a
compaction adds one, which repeats the last segment while that is small.

    for commit in history(project):              all commits, oldest first, archived or still in the log
    for commit in history(project, about={42}):  at least those that concern an entity with this id, of any kind
    find_commit(project, 17)                     one commit
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import msgspec

from chalicelib.core.keys.object_keys import view_prefix
from chalicelib.core.log.commits import Change, Commit, Edit, Operation
from chalicelib.errors import NotFound
from chalicelib.storage.log import log
from chalicelib.storage.objects import objects
from chalicelib.storage.view.snapshot.snapshot_records import Segment, current, stamp

LARGEST_SEGMENT = 50_000
"""Rows and changes from which on a segment is full."""
_COLUMNS = (
    "seq BIGINT, modified_datetime VARCHAR, modified_by BIGINT, edits VARCHAR, created VARCHAR, past VARCHAR, "
    "operation VARCHAR"
)
"""Older segments lack the last two."""
_ROWS_PER_BATCH = 500
_encode = msgspec.json.Encoder().encode
_edits = msgspec.json.Decoder(list[Edit])
_changes = msgspec.json.Decoder(list[Change])
_operations = msgspec.json.Decoder(Operation | None)


def essence(commit: Commit) -> Commit:
    """A commit without the documents of entities that the change log does not read, and without notes."""
    told = {(edit.kind.value, number) for edit in commit.edits for number in edit.ids}
    left = [change for change in commit.changes if change.is_definition or (change.kind, change.id) not in told]
    past = [change for change in commit.past if change.is_definition]
    return msgspec.structs.replace(commit, changes=left, past=past, notes=[])


def history(project: int, about: Collection[int] | None = None, after: int = 0) -> Iterator[Commit]:
    """The `essence` of every commit that has one, in order.

    Args:
        project: the project.
        about: leave out commits that concern no entity with one of these ids; some may remain.
        after: leave out the commits up to this one.
    """
    manifest = current(project)
    archived = manifest.archive if manifest else []
    for segment in archived:
        if segment.last > after:
            yield from (commit for commit in read(project, segment, about) if commit.seq > after)
    for commit in log.read_after(project, max(after, archived[-1].last if archived else 0)):
        found = essence(commit)
        if (found.changes or found.edits) and (about is None or _tells_of(found, about)):
            yield found


def find_commit(project: int, seq: int) -> Commit | None:
    """The `essence` of one commit; None where it has none, or does not exist."""
    commit = log.find(project, seq)
    if commit is not None:
        return essence(commit)
    manifest = current(project)
    for segment in manifest.archive if manifest else []:
        if segment.first <= seq <= segment.last:
            return next((each for each in read(project, segment) if each.seq == seq), None)
    return None


def write(project: int, before: list[Segment], commits: Iterable[Commit]) -> list[Segment]:
    """Archive commits that follow the existing segments; returns all segments."""
    writer = _Writer(project, list(before))
    for commit in commits:
        writer.add(commit)
    return writer.finish()


class _Writer:
    def __init__(self, project: int, segments: list[Segment]) -> None:
        import duckdb  # noqa: PLC0415 as in view.py

        self._project = project
        self._segments = segments
        self._database = duckdb.connect(":memory:")
        self._database.execute(f"CREATE TABLE commits ({_COLUMNS})")
        self._waiting: list[tuple[int, str, int | None, str, str, str, str]] = []
        self._first = segments[-1].last + 1 if segments else 1
        self._last = self._first - 1
        self._size = 0
        self._continues = bool(segments) and segments[-1].size < LARGEST_SEGMENT

    def add(self, commit: Commit) -> None:
        """Add the next commit."""
        self._last = commit.seq
        found = essence(commit)
        if found.changes or found.edits:
            self._size += 1 + len(found.changes)
            edits, changes, past, operation = (
                _encode(each).decode() for each in (found.edits, found.changes, found.past, found.operation)
            )
            self._waiting.append((commit.seq, commit.at, commit.user, edits, changes, past, operation))
        if len(self._waiting) >= _ROWS_PER_BATCH:
            self._append()
        if self._size >= LARGEST_SEGMENT:
            self._store()

    def finish(self) -> list[Segment]:
        """Write the last segment."""
        if self._last >= self._first:
            self._store()
        self._database.close()
        return self._segments

    def _append(self) -> None:
        if self._waiting:
            appender = self._database.appender("commits")
            appender.append_rows(self._waiting)
            appender.flush()
            self._waiting = []

    def _store(self) -> None:
        self._append()
        with tempfile.TemporaryDirectory() as place:
            before = None
            if self._continues:
                before = self._segments.pop()
                self._continues = False
                old = Path(place) / "old.parquet"
                objects.download(view_prefix(self._project) + before.key, old)
                self._database.execute("INSERT INTO commits BY NAME SELECT * FROM read_parquet(?)", [str(old)])
            path = Path(place) / "new.parquet"
            self._database.execute(f"COPY (FROM commits ORDER BY seq) TO '{path}' (FORMAT parquet, COMPRESSION zstd)")
            first, size = (before.first, before.size + self._size) if before else (self._first, self._size)
            key = f"archive/{first:012d}-{self._last:012d}-{stamp()}.parquet"
            with path.open("rb") as file:
                objects.write(view_prefix(self._project) + key, file)
        self._segments.append(Segment(key=key, first=first, last=self._last, size=size))
        self._database.execute("DELETE FROM commits")
        self._first, self._size = self._last + 1, 0


def segments(project: int) -> list[Segment]:
    """The segments of a project that still exist, for a purge."""
    try:
        manifest = current(project)
    except NotFound:
        return []
    there = set(objects.under(view_prefix(project).folder("archive")))
    return [each for each in (manifest.archive if manifest else []) if view_prefix(project) + each.key in there]


def find(project: int) -> list[Segment]:
    """The segments by the names of their objects, where the manifest is lost."""
    names = [key.path.rpartition("/")[2] for key in objects.under(view_prefix(project).folder("archive"))]
    spans = sorted((int(name[:12]), -int(name[13:25]), name) for name in names)
    chain: list[Segment] = []
    for first, minus_last, name in spans:
        if first == (chain[-1].last + 1 if chain else 1):
            chain.append(Segment(key=f"archive/{name}", first=first, last=-minus_last, size=LARGEST_SEGMENT))
    return chain


def forget(project: int, segment: Segment) -> None:
    """Delete a segment, for a purge."""
    objects.remove([view_prefix(project) + segment.key])


def read(project: int, segment: Segment, about: Collection[int] | None = None) -> Iterator[Commit]:
    """The commits of a segment in order; `about` as for `history`."""
    import duckdb  # noqa: PLC0415 as in view.py

    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "segment.parquet"
        objects.download(view_prefix(project) + segment.key, path)
        database = duckdb.connect(":memory:", config={"preserve_insertion_order": "true"})
        texts = (f"contains(edits, '{number:d}') OR contains(created, '{number:d}')" for number in about or ())
        wanted = "true" if about is None else " OR ".join(texts) or "false"
        found = database.execute(
            f"SELECT * FROM read_parquet(?) WHERE {wanted} ORDER BY seq",  # noqa: S608 a number
            [str(path)],
        )
        while rows := found.fetchmany(_ROWS_PER_BATCH):
            for seq, at, user, edits, created, *more in rows:
                commit = Commit(
                    project=project,
                    seq=seq,
                    at=at,
                    user=user,
                    changes=_changes.decode(created),
                    edits=_edits.decode(edits),
                    past=_changes.decode(more[0]) if more and more[0] else [],
                    operation=_operations.decode(more[1]) if more and more[1] else None,
                )
                if about is None or _tells_of(commit, about):
                    yield commit
        database.close()


def _tells_of(commit: Commit, about: Collection[int]) -> bool:
    numbers = set(about)
    return any(change.id in numbers for change in commit.changes) or any(
        not numbers.isdisjoint(edit.ids) for edit in commit.edits
    )
