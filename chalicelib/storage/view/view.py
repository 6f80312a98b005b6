"""The view of a project: all its entities as of its last commit, in DuckDB, where every query is one statement.

One table for each kind of entity, a column for every built-in field and attribute (`query/layout.py`), and one for the
place of the entity's JSON document, as responses show it (`documents.py`). So a list is a selection of places, and only
the documents of the returned page are read. There is no index: a scan of 100,000 rows costs less than keeping one
would.

    view.apply(commits)              the commits after `view.seq`, atomically
    view.count(query), .ids(query), .documents(query)       of checked queries (`query/check.py`)
    view.statistics(query, aggregate)                       of a checked query, bound (`query/statistics/aggregates.py`)

Readers in any number of threads see the view at a commit, never between two. `views.py` keeps the views of a
container current.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

from chalicelib.core.kinds import DefinitionKind, Kind
from chalicelib.core.log.commits import Change, Commit
from chalicelib.core.log.commits_read import note_commit
from chalicelib.core.models.definitions import Definitions
from chalicelib.query.compiler import sql
from chalicelib.query.statistics import aggregate_sql
from chalicelib.query.statistics.aggregates import Aggregate, Statistics
from chalicelib.query.tree import AttributeTest, Query, Test
from chalicelib.storage.view.apply_log import LogApplier
from chalicelib.storage.view.database.documents import Document
from chalicelib.storage.view.database.store import Store
from chalicelib.storage.view.deleted_definitions import DeletedDefinitions, id_queries
from chalicelib.storage.view.locks import ReadWriteLock
from chalicelib.storage.view.rows import DOCUMENT, create_table, revise, with_all_names, with_incident
from chalicelib.storage.view.state import Gap, ViewState
from chalicelib.storage.view.vector_column import VectorColumn
from chalicelib.storage.view.vector_search import matrices as view_matrices
from chalicelib.storage.view.vector_search import vectors as view_vectors
from chalicelib.storage.view.vector_search.vectors import AnyDistances, Vectors

__all__ = ["Gap", "View"]

_COMPRESSED_EVERY = 60_000
"""After this many changes the tables are compressed: a part of a second then, seconds if left for longer."""
_RECOUNTED_BYTES = 10_000_000
"""Bytes of applied documents after which texts are counted again."""
_SMALLEST = 1_000_000
"""About how many bytes an empty view takes, measured: its tables, definitions, connections and row makers."""
_CHANGE_BYTES = 400
"""About how many bytes a change takes in memory until the tables are compressed."""


class View:
    """One project's view. `apply` is called by one thread at a time, the rest by any."""

    def __init__(self, project: int, state: ViewState | None = None, store: Store | None = None) -> None:
        """Begin empty, or with the content of a snapshot.

        Args:
            project: its id.
            state: the view's state at a commit.
            store: its tables and documents.
        """
        self.project = project
        self.state = state or ViewState(Definitions(project=project))
        self.store = store or Store()
        self._begun = time.monotonic()
        self.changes = 0
        """The number of commits applied since it was opened."""
        self._uncompressed = 0
        self._vectors: dict[tuple[Kind, str], Vectors] = {}
        """By kind and column; only columns that a query with `nearest` has used."""
        self._text_bytes: dict[tuple[Kind, str], tuple[int, int]] = {}
        """By kind and column: the bytes of its texts, and `_applied_bytes` when they were counted."""
        self._applied_bytes = 0
        """Bytes of the documents of the commits applied since it was opened."""
        self._gate = ReadWriteLock()
        if store is None:
            for kind in Kind:
                self.store.writer.execute(create_table(kind, sql.table(kind)))

    @property
    def is_broken(self) -> bool:
        """Whether it can no longer be read, and must be replaced."""
        return self.store.is_broken

    @property
    def age(self) -> float:
        """Seconds since it began to refer to objects of a snapshot."""
        return 0.0 if self.store.database.is_local else time.monotonic() - self._begun

    @property
    def seq(self) -> int:
        """The number of its last commit."""
        return self.state.seq

    @property
    def definitions(self) -> Definitions:
        """Types, versions and sections at that commit."""
        return self.state.definitions

    @property
    def lost(self) -> DeletedDefinitions:
        """What later commits cannot create again."""
        return self.state.lost

    @lost.setter
    def lost(self, lost: DeletedDefinitions) -> None:
        self.state.lost = lost

    # --- reading ------------------------------------------------------------------------------------------------

    def count(self, query: Query) -> int:
        """The number of entities that a checked query selects, within its slice."""
        with self._gate.reading():
            note_commit(self.seq)
            number = self._count(query, view_vectors.within(self._distances(query)))
        stop = number if query.stop is None else min(query.stop, number)
        return max(0, stop - query.start)

    def ids(self, query: Query) -> list[int]:
        """The ids that a checked query selects, in order."""
        with self._gate.reading():
            note_commit(self.seq)
            return [row[0] for row in self._rows_of(query)]

    def tally(self, query: Query, column: str) -> list[tuple[Any, int]]:
        """How many entities a checked query selects by the value of a column, null included, ordered by value."""
        with self._gate.reading():
            return self._run(sql.tally(query, self.state.layout, column))

    def pairs(self, query: Query, column: str) -> list[tuple[int, Any]]:
        """The ids that a checked query selects, each with the value of a column, in order."""
        with self._gate.reading():
            return [(row[0], row[-1]) for row in self._rows_of(query, column)]

    def matches(self, query: Query) -> list[tuple[int, int]]:
        """The ids and types that a checked query selects, in order."""
        with self._gate.reading():
            note_commit(self.seq)
            return [(row[0], row[-1]) for row in self._rows_of(query, "type")]

    def documents(self, query: Query) -> list[bytes]:
        """The JSON documents that a checked query selects, in order, as responses show them."""
        with self._gate.reading():
            note_commit(self.seq)
            if query.incident is None and not query.nearest:
                return self._documents(query.kind, self._places_of(query))
            rows = self._rows_of(query, DOCUMENT)
            documents = self._documents(query.kind, [row[-1] for row in rows])
        if query.incident is not None:
            return [with_incident(each, row[1]) for each, row in zip(documents, rows, strict=True)]
        return documents

    def statistics(self, query: Query, aggregate: Aggregate) -> Statistics:
        """Statistics of the entities that a checked query selects, within its slice."""
        with self._gate.reading():
            if query.start or query.stop is not None:
                among: Sequence[int] | None = [row[0] for row in self._rows_of(query)]
            else:
                among = view_vectors.within(self._distances(query))
            matched = self._count(query, among)
            rows = self._run(aggregate_sql.statistics(query, aggregate, self.state.layout, among))
        return aggregate_sql.read(aggregate, matched, rows)

    def documents_of(self, kind: Kind, numbers: Sequence[int]) -> list[tuple[int, int, bytes]]:
        """The ids, types and JSON documents of those of the given entities that exist. For readers of the view."""
        rows = self._run(sql.placed(kind, numbers, DOCUMENT))
        documents = self._documents(kind, [row[-1] for row in rows])
        return [(number, type_, body) for (number, type_, _), body in zip(rows, documents, strict=True)]

    def document(self, kind: Kind, number: int) -> bytes | None:
        """The JSON document of an entity, None where it does not exist."""
        with self._gate.reading():
            rows = self.store.run(f"SELECT {DOCUMENT} FROM {sql.table(kind)} WHERE id = ?", [number])  # noqa: S608
            return self._documents(kind, [rows[0][0]])[0] if rows else None

    def exists(self, kind: Kind, numbers: Iterable[int]) -> set[int]:
        """The ids among those given that exist."""
        with self._gate.reading():
            return {row[0] for row in self._run(sql.existing(kind, list(numbers)))}

    def ids_of_definition(self, kind: DefinitionKind, number: int) -> tuple[int, dict[Kind, list[int]]]:
        """The last commit, and the ids of all entities that a definition's deletion removes, annotations first."""
        with self._gate.reading():
            found = {
                each: [row[0] for row in self._run(question)] for each, question in id_queries(kind, number).items()
            }
            return self.seq, {each: found[each] for each in reversed(Kind) if each in found}

    def number_of(self, kind: Kind) -> int:
        """The number of entities of a kind."""
        with self._gate.reading():
            return int(self.store.run(f"SELECT count(*) FROM {sql.table(kind)}")[0][0])  # noqa: S608

    def text_bytes(self, kind: Kind, test: Test | AttributeTest) -> int:
        """Bytes of text that a checked test compares, including rows applied since the last count."""
        with self._gate.reading():
            return sum(self._bytes_of(kind, column) for column in sql.text_columns(kind, test, self.state.layout))

    def _bytes_of(self, kind: Kind, column: str) -> int:
        counted, applied = self._text_bytes.get((kind, column), (0, -_RECOUNTED_BYTES))
        if self._applied_bytes - applied >= _RECOUNTED_BYTES:
            applied = self._applied_bytes
            counted = self._run(sql.text_bytes(kind, column))[0][0]
            self._text_bytes[kind, column] = counted, applied
        return counted + self._applied_bytes - applied

    @property
    def rows(self) -> int:
        """The number of entities."""
        with self._gate.reading():
            return sum(self.store.run(f"SELECT count(*) FROM {sql.table(kind)}")[0][0] for kind in Kind)  # noqa: S608

    @property
    def memory(self) -> int:
        """About how many bytes the view holds that DuckDB cannot drop by itself."""
        return _SMALLEST + self._uncompressed * _CHANGE_BYTES + self._packed

    @property
    def _packed(self) -> int:
        return sum(vectors.memory for vectors in list(self._vectors.values()))

    def close(self) -> None:
        """Release the memory; active readers finish first."""
        with self._gate.writing():
            self.store.close()

    def _documents(self, kind: Kind, places: Sequence[int]) -> list[bytes]:
        """The documents at places, after their missing revisions, as this release shows them."""
        return with_all_names(kind, self._revised_bodies(kind, places))

    def _revised_bodies(self, kind: Kind, places: Sequence[int]) -> list[bytes]:
        revisions = {number: of.revisions for number, of in self.definitions.types(kind).items() if of.revisions}
        if not revisions:
            return self.store.bodies(places)
        found = self.store.get(places)
        bodies = []
        for place, document in zip(places, found, strict=True):
            body = document.body
            known = revisions.get(document.type, ())
            if document.seen < len(known):
                body = revise(body, known[document.seen :])
                self.store.documents.remember(place, Document(body, document.type, len(known)))
            bodies.append(body)
        return bodies

    def _places_of(self, query: Query) -> list[int]:
        """The places of the documents that a query without `nearest` selects, in order."""
        if query.keys or query.start or query.stop is not None:
            return [row[0] for row in self._run(sql.column(query, self.state.layout, DOCUMENT))]
        # by id, as most rows are stored: sorting them here takes a third of what DuckDB takes
        found = self._run(sql.unsorted(query, self.state.layout, DOCUMENT))
        found.sort()
        return [row[1] for row in found]

    def _count(self, query: Query, among: Sequence[int] | None) -> int:
        """The number of entities that a query selects, before its slice; `among` as in `sql.count`."""
        number: int = self._run(sql.count(query, self.state.layout, among))[0][0]
        return number

    def _rows_of(self, query: Query, more: str = "") -> list[view_vectors.Row]:
        """The rows of `sql.ids`, with the order by distance and the slice where a query has `nearest`."""
        if not query.nearest:
            return self._run(sql.ids(query, self.state.layout, more=more))
        return view_vectors.order(
            query, self._distances(query), lambda among: self._run(sql.ids(query, self.state.layout, among, more))
        )

    def _distances(self, query: Query) -> list[AnyDistances]:
        """The distances of each `nearest` of a query. All name attributes of one type, which such a query must give."""
        found: list[AnyDistances] = []
        for nearest in query.nearest:
            slots = [self.state.layout.slot(query.kind, number, nearest.name) for number in nearest.types]
            column = next((slot.column for slot in slots if slot), None)
            if column is None:  # the attribute was deleted since the query was checked
                found.append(view_matrices.Distances(nearest, None))
            else:
                vectors = self._vectors.setdefault((query.kind, column), Vectors())
                try:
                    found.append(vectors.distances(nearest, VectorColumn(self, query.kind, column)))
                finally:
                    self.hold_vectors()
        return found

    def hold_vectors(self) -> None:
        """Reduce the engine's memory limit by the memory of the vectors."""
        self.store.engine.record_vectors(self.store.name, self._packed)

    def _run(self, statement: sql.Statement) -> list[view_vectors.Row]:
        return self.store.run(statement.text, statement.parameters)

    # --- following the log --------------------------------------------------------------------------------------

    def apply(self, commits: Iterable[Commit]) -> None:
        """Apply the commits after `seq`, in order; earlier ones are skipped.

        Raises:
            Gap: a commit is missing between them. After any error the view is unchanged.
        """
        applier = LogApplier(self.state, self.store)
        with self.store.translate_errors():
            try:
                for commit in commits:
                    if commit.seq > applier.state.seq:
                        applier.apply(commit)
                applier.finish()
            except BaseException:
                applier.abandon()
                raise
        if applier.state.seq > self.seq:
            self._adopt(applier)

    def _adopt(self, applier: LogApplier) -> None:
        """Show the applied changes to readers."""
        with self._gate.writing():
            with self.store.translate_errors():
                applier.commit()
            if self.state.layout is not applier.state.layout:
                self._vectors.clear()
                self._text_bytes.clear()
            for (kind, _), vectors in self._vectors.items():
                vectors.mark_changed(applier.changed[kind])
            self.state = applier.state
        self.changes += applier.changes
        self._applied_bytes += applier.bytes
        self._uncompressed += applier.changes
        if self._uncompressed >= _COMPRESSED_EVERY:
            self.compress()

    def compress(self) -> None:
        """Compress the tables and write them to the view's file, from where DuckDB can drop them."""
        with self._gate.writing():
            self._uncompressed = 0
            self.store.checkpoint()
            for vectors in self._vectors.values():
                vectors.move()

    def apply_entities(self, changes: Iterable[Change]) -> None:
        """Apply changes to a view that is not filled from its log; end with `set_seq`."""
        self.apply([Commit(project=self.project, seq=self.seq + 1, at="", user=None, changes=list(changes))])

    def set_seq(self, seq: int) -> None:
        """Set the commit of a view that was not filled from its log. Call it before the view is read."""
        self.state.seq = seq
        self.compress()
