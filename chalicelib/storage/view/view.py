"""The view of a project: all its entities as of its last commit, in DuckDB, where every query is one statement.

One table for each kind of entity, a column for every built-in field and attribute (`query/layout.py`); beside the
tables, by id, the JSON document of each entity as answers emit it, so that a list is a selection of ids and a join of
texts. The tables are compressed; no index is kept: a scan of 100,000 rows costs less than what keeping one would.

    view.apply(commits)              what the log says after `view.seq`, all of it or nothing
    view.count(query), .ids(query), .documents(query)       of checked queries (`query/check.py`)

Readers in any number of threads see a view as of a commit, never between two. `views.py` keeps the views of a
container current.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from chalicelib.core.commits import Commit
from chalicelib.core.definitions import Definitions
from chalicelib.core.kinds import DefinitionKind, Kind
from chalicelib.query import sql
from chalicelib.query.layout import Layout
from chalicelib.query.tree import Query
from chalicelib.storage.view import vectors as view_vectors
from chalicelib.storage.view.apply_log import Following, Gap
from chalicelib.storage.view.deleted_definitions import Lost, going
from chalicelib.storage.view.locks import Gate
from chalicelib.storage.view.rows import Rows, create_table, revise, with_incident
from chalicelib.storage.view.vectors import Distances, Vectors

if TYPE_CHECKING:
    import duckdb

__all__ = ["Gap", "View"]

_DOCUMENT_BYTES = 150
"""What Python needs for a document beside its text: the dictionary's entry, the key, the bytes object's head."""
_BEHIND_BYTES = 100
"""What it needs to know that a document is behind."""
_MEASURED_EVERY = 2_000
_COMPRESSED_EVERY = 60_000
"""After so many changes the tables are compressed anew: a part of a second then, seconds if left for longer."""


class View:
    """One project's view. `apply` is called by one thread at a time, the rest by any."""

    def __init__(self, project: int) -> None:
        self.project = project
        self.seq = 0
        self.definitions = Definitions(project=project)
        self.lost = Lost()
        self._layout = Layout()
        self._documents: dict[Kind, dict[int, bytes]] = {kind: {} for kind in Kind}
        self._behind: dict[Kind, dict[int, int]] = {kind: {} for kind in Kind}
        """Documents that revisions of their type's attributes have yet to go through: id → how many they have seen."""
        self._revising = threading.Lock()
        self._document_bytes = 0
        self._table_bytes = 0
        self._unmeasured = _MEASURED_EVERY
        self._uncompressed = 0
        self._rows: dict[Kind, Rows] = {}
        self._vectors: dict[tuple[Kind, str], Vectors] = {}
        """By kind and column, of those that somebody asked for the nearest of."""
        self._gate = Gate()
        self._database = _open()
        self._cursors: queue.SimpleQueue[duckdb.DuckDBPyConnection] = queue.SimpleQueue()
        for kind in Kind:
            self._database.execute(create_table(kind, sql.table(kind)))

    # --- reading ------------------------------------------------------------------------------------------------

    def count(self, query: Query) -> int:
        """How many things a checked query selects, its slice included."""
        with self._gate.reading():
            among = view_vectors.within(self._distances(query))
            number: int = self._run(sql.count(query, self._layout, among))[0][0]
        stop = number if query.stop is None else min(query.stop, number)
        return max(0, stop - query.start)

    def ids(self, query: Query) -> list[int]:
        """The ids that a checked query selects, in order."""
        with self._gate.reading():
            return [row[0] for row in self._rows_of(query)]

    def documents(self, query: Query) -> list[bytes]:
        """The JSON documents of what a checked query selects, in order, as answers emit them."""
        with self._gate.reading():
            documents = self._documents[query.kind]
            rows = self._rows_of(query)
            self._revise(query.kind, (row[0] for row in rows))
            if query.incident is not None:
                return [with_incident(documents[number], incident) for number, incident in rows]
            return [documents[number] for (number,) in rows]

    def document(self, kind: Kind, number: int) -> bytes | None:
        """The JSON document of one thing, None where there is none."""
        with self._gate.reading():
            self._revise(kind, [number])
            return self._documents[kind].get(number)

    def exists(self, kind: Kind, numbers: Iterable[int]) -> set[int]:
        """Those of the ids that there are things of."""
        return self._documents[kind].keys() & set(numbers)

    def going(self, kind: DefinitionKind, number: int) -> tuple[int, dict[Kind, list[int]]]:
        """As of which commit, and the ids of all that would go with a definition: what lies on other things first."""
        with self._gate.reading():
            found = {each: [row[0] for row in self._run(question)] for each, question in going(kind, number).items()}
            return self.seq, {each: found[each] for each in reversed(Kind) if each in found}

    def _revise(self, kind: Kind, numbers: Iterable[int]) -> None:
        """Take those of the documents that are behind through what they have not seen."""
        behind = self._behind[kind]
        if not behind:
            return
        documents, types = self._documents[kind], self.definitions.types(kind)
        with self._revising:
            for number in numbers:
                if (seen := behind.pop(number, None)) is not None:
                    old = documents[number]
                    documents[number] = revise(old, lambda of: types[of].revisions[seen:])
                    self._document_bytes += len(documents[number]) - len(old)

    def settle(self) -> None:
        """Take every document through what it has not seen, for those who read them by the thousand."""
        for kind, behind in self._behind.items():
            self._revise(kind, list(behind))

    @property
    def memory(self) -> int:
        """About how many bytes the view takes."""
        behind = sum(map(len, self._behind.values()))
        packed = sum(vectors.memory for vectors in list(self._vectors.values()))
        return self._table_bytes + self._document_bytes + behind * _BEHIND_BYTES + packed

    def close(self) -> None:
        """Give the memory back; readers still at work finish first."""
        with self._gate.writing():
            while not self._cursors.empty():
                self._cursors.get().close()
            self._database.close()

    def _rows_of(self, query: Query) -> list[view_vectors.Row]:
        """The rows of `sql.ids`, in the order of distances and with the slice too where a query orders by them."""
        if not query.nearest:
            return self._run(sql.ids(query, self._layout))
        return view_vectors.ordered(
            query, self._distances(query), lambda among: self._run(sql.ids(query, self._layout, among))
        )

    def _distances(self, query: Query) -> list[Distances]:
        """Of each of a query's `nearest`: they name attributes of one type, for such a query has to name it."""
        found = []
        for nearest in query.nearest:
            slots = [self._layout.slot(query.kind, number, nearest.name) for number in nearest.types]
            column = next((slot.column for slot in slots if slot), None)
            if column is None:  # the attribute went since the query was checked
                found.append(Distances(nearest, None))
            else:
                vectors = self._vectors.setdefault((query.kind, column), Vectors())
                found.append(vectors.distances(nearest, partial(self._fetch_vectors, query.kind, column)))
        return found

    def _fetch_vectors(self, kind: Kind, column: str, numbers: Sequence[int] | None) -> list[tuple[int, bytes]]:
        return self._run(sql.values(kind, column, numbers))

    def _run(self, statement: sql.Statement) -> list[Any]:
        with self._cursor() as cursor:
            rows: list[Any] = cursor.execute(statement.text, statement.parameters).fetchall()
            return rows

    @contextmanager
    def _cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        try:
            cursor = self._cursors.get_nowait()
        except queue.Empty:
            cursor = self._database.cursor()
            cursor.execute("USE v")
        try:
            yield cursor
        finally:
            self._cursors.put(cursor)

    # --- following the log --------------------------------------------------------------------------------------

    def apply(self, commits: Iterable[Commit]) -> None:
        """Take in the commits after `seq`, in order; those up to it are passed over.

        Raises:
            Gap: a commit is missing between them. The view stays as it was, as it does if anything else goes wrong.
        """
        following = Following(self)
        try:
            for commit in commits:
                if commit.seq > following.seq:
                    following.take(commit)
            following.finish()
        except BaseException:
            following.abandon()
            raise

    def _adopt(self, following: Following) -> None:
        """Make what was followed what readers see."""
        with self._gate.writing():
            if following.begun:
                self._database.execute("COMMIT")
            self._adopt_documents(following)
            self._adopt_vectors(following)
            self.definitions = following.definitions
            self.lost = following.lost
            if self._layout is not following.layout:
                self._rows.clear()
            self._layout = following.layout
            self.seq = following.seq
            self._uncompressed += following.changes
            if self._uncompressed >= _COMPRESSED_EVERY:
                self._uncompressed = 0
                self._database.execute("CHECKPOINT v")
        self._unmeasured += following.changes
        if self._unmeasured >= _MEASURED_EVERY:
            self._measure()

    def _adopt_vectors(self, following: Following) -> None:
        if self._layout is not following.layout:
            self._vectors.clear()
        for (kind, _), vectors in self._vectors.items():
            vectors.note(following.documents[kind])

    def _adopt_documents(self, following: Following) -> None:
        for kind, changed in following.documents.items():
            documents = self._documents[kind]
            for number, document in changed.items():
                old = documents.pop(number, None)
                if old is not None:
                    self._document_bytes -= len(old) + _DOCUMENT_BYTES
                if document is not None:
                    documents[number] = document
                    self._document_bytes += len(document) + _DOCUMENT_BYTES
        for kind, behind in following.behind.items():
            self._behind[kind] |= {number: seen for number, seen in behind.items() if seen is not None}
            for number in [number for number, seen in behind.items() if seen is None]:
                self._behind[kind].pop(number, None)

    def loaded(self, seq: int) -> None:
        """Say that the view, filled by other means (`view_files.py`), is as of a commit. Before anybody reads it."""
        self.seq = seq
        self._database.execute("CHECKPOINT v")
        self._document_bytes = sum(
            sum(map(len, documents.values())) + _DOCUMENT_BYTES * len(documents)
            for documents in self._documents.values()
        )
        self._measure()

    @property
    def rows(self) -> int:
        """How many things there are."""
        return sum(map(len, self._documents.values()))

    def _measure(self) -> None:
        self._unmeasured = 0
        ((used,),) = self._database.execute("SELECT sum(memory_usage_bytes) FROM duckdb_memory()").fetchall()
        self._table_bytes = int(used or 0)


def _open() -> duckdb.DuckDBPyConnection:
    import duckdb  # noqa: PLC0415 83 ms that only readers of views pay

    database = duckdb.connect(
        ":memory:",
        config={
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "temp_directory": "",
            "preserve_insertion_order": "false",
            "checkpoint_threshold": "1TB",  # when is decided by View: by itself it waits for the worst moment
        },
    )
    # Only an attached database can be kept compressed in memory.
    database.execute("ATTACH ':memory:' AS v (COMPRESS)")
    database.execute("USE v")
    return database
