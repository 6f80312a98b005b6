"""The storage of a view: a database of its own in the container's engine, and the file of its documents."""

from __future__ import annotations

import queue
import re
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from chalicelib.core.kinds import Kind
from chalicelib.core.time.deadline import interrupting, time_ended
from chalicelib.errors import BadInput, NotFound, Unavailable
from chalicelib.storage.view.database import engine as engines
from chalicelib.storage.view.database.documents import Document, Documents
from chalicelib.storage.view.database.engine import HEADERS, Engine
from chalicelib.storage.view.database.shares import MOST_OF_PROJECT, Turns

if TYPE_CHECKING:
    import duckdb

    from chalicelib.storage.view.database.devices import Device

SMALL = 4 * 1024 * 1024
"""A database of up to this many bytes is fetched whole when it is opened."""
_BLOCK = 262_144
_TABLES = frozenset(kind.value for kind in Kind)
BlockMap = dict[str, dict[str, list[int]]]
"""By table and column, the numbers of the blocks that hold the column."""
_WORD = re.compile(r"\w+")
_TOO_MUCH = (
    "The query needs more memory than one may take. Narrow it by a filter, or group by fewer values: by wider bins, or "
    "by an attribute that repeats."
)


class Store:
    """A database with the tables of a view, and its documents."""

    def __init__(
        self, database: Device | None = None, documents: Device | None = None, blocks: BlockMap | None = None
    ) -> None:
        """Open the files of a snapshot, or new and empty ones.

        Args:
            database: the file of the database.
            documents: the file of the documents.
            blocks: `block_map` when the file was stored. Without it the first query of a table reads its metadata,
                half a second of processor time for ten million rows.
        """
        self.engine: Engine = engines.engine()
        self.database = database or self.engine.device()
        if self.database.size <= SMALL:
            self.database.prefetch([(0, self.database.size)])
        self.name = self.engine.attach(self.database)
        self.documents = Documents(documents or self.engine.device(), self.engine.packs)
        self.is_broken = False
        """Whether it can no longer be read."""
        self._turns = Turns(MOST_OF_PROJECT)
        self._cursors: queue.SimpleQueue[duckdb.DuckDBPyConnection] = queue.SimpleQueue()
        self._blocks = {table: dict(columns) for table, columns in (blocks or {}).items()}
        self._finalizer = weakref.finalize(self, self.engine.abandon, self.name, self.documents)
        self._finalizer.atexit = False
        self.writer = self.engine.cursor(self.name)
        """The connection that changes the tables; used by one thread at a time."""

    def run(self, text: str, parameters: Sequence[Any] = (), *, prefetches: bool = True) -> list[Any]:
        """The rows of a read-only statement; may be called from any thread.

        Args:
            text: the statement.
            parameters: its values.
            prefetches: whether to fetch all blocks of its columns at once: not for a part of a large column.

        Raises:
            BadInput: it needs more memory, and more room on the disk, than statements may have.
            Unavailable: a block cannot be fetched from S3 now, or the request's time has ended.
        """
        turns = self._turns.taking(), self.engine.turns.taking()
        with self.translate_errors(), turns[0], turns[1], self._cursor() as cursor, interrupting(cursor.interrupt):
            if prefetches:
                self._prefetch(text, cursor)
            try:
                rows: list[Any] = cursor.execute(self.engine.statement(text, cursor), parameters).fetchall()
            except Exception as failure:
                if type(failure).__name__ == "OutOfMemoryException":
                    raise BadInput(_TOO_MUCH) from failure
                raise
            return rows

    def get(self, places: Sequence[int]) -> list[Document]:
        """The documents at places. Raises Unavailable as `run` does."""
        with self.translate_errors():
            return self.documents.get(places)

    def bodies(self, places: Sequence[int]) -> list[bytes]:
        """The bodies of the documents at places. Raises Unavailable as `run` does."""
        with self.translate_errors():
            return self.documents.bodies(places)

    def scan(self, places: Sequence[int]) -> list[bytes]:
        """The same, of documents that are not kept in memory."""
        with self.translate_errors():
            return self.documents.scan(places)

    @contextmanager
    def translate_errors(self) -> Iterator[None]:
        """Inside, database errors caused by S3 are raised as Unavailable, and broken databases are detected."""
        try:
            yield
        except Exception as failure:
            devices = (self.database, self.documents.device)
            cause = next((device.failure for device in devices if device.failure), None)
            for device in devices:
                device.failure = None
            if type(failure).__name__ in ("FatalException", "InternalException"):
                self.is_broken = True
                engines.renew(self.engine)
                raise Unavailable("The project's view has to be read anew; try again.") from failure
            if type(failure).__name__ == "InterruptException":
                raise time_ended() from failure
            if isinstance(cause, NotFound):  # swept: there is a newer snapshot
                self.is_broken = True
            if cause is not None:
                raise Unavailable("Part of the project's snapshot cannot be read now; try again.") from cause
            raise

    @property
    def written(self) -> int:
        """Bytes of its files that only this container has."""
        return self.database.written + self.documents.device.written

    def checkpoint(self) -> None:
        """Compress the changes and write them to the file."""
        with self.translate_errors():
            self.writer.execute(f"CHECKPOINT {self.name}")

    def close(self) -> None:
        """Release everything; there must be no readers."""
        while not self._cursors.empty():
            self._cursors.get().close()
        self.writer.close()
        if self._finalizer.detach():
            self.engine.abandon(self.name, self.documents)
        self.engine.collect()

    @contextmanager
    def _cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        try:
            cursor = self._cursors.get_nowait()
        except queue.Empty:
            cursor = self.engine.cursor(self.name)
        try:
            yield cursor
        finally:
            self._cursors.put(cursor)

    def _prefetch(self, text: str, cursor: duckdb.DuckDBPyConnection) -> None:
        """Fetch the blocks of the columns that a statement names in parallel. Mistakes here only cost time."""
        if self.database.size <= SMALL or self.database.is_local:
            return
        words = set(_WORD.findall(text))
        for table in words & _TABLES:
            if f'"{table}"' not in text:
                continue
            if table not in self._blocks:
                self._blocks[table] = _blocks_of(table, cursor)
            columns = self._blocks[table]
            # Taken out first, so that other threads do not fetch them as well.
            wanted = [block for column in words & columns.keys() for block in columns.pop(column, ())]
            self.database.prefetch((HEADERS + block * _BLOCK, _BLOCK) for block in wanted)

    def block_map(self) -> BlockMap:
        """Where the columns lie in the file, after a checkpoint; empty where the file is fetched whole."""
        if self.database.size <= SMALL:
            return {}
        return {table: _blocks_of(table, self.writer) for table in sorted(_TABLES)}


def _blocks_of(table: str, cursor: duckdb.DuckDBPyConnection) -> dict[str, list[int]]:
    rows = cursor.execute(
        "SELECT column_name, block_id, additional_block_ids FROM pragma_storage_info(?)", [table]
    ).fetchall()
    found: dict[str, set[int]] = {}
    for column, block, others in rows:
        found.setdefault(column, set()).update(each for each in (block, *(others or ())) if each is not None)
    return {column: sorted(block for block in blocks if block >= 0) for column, blocks in found.items()}
