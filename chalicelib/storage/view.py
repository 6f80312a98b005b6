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
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from chalicelib.domain.commits import Change, Commit
from chalicelib.domain.definitions import DEFINITION_STRUCT, AnyType, Definition, Definitions
from chalicelib.domain.kinds import TYPE_OF, DefinitionKind, Kind
from chalicelib.query import sql
from chalicelib.query.geodesy import unit_sql
from chalicelib.query.layout import PLACE, SQL_TYPE, Layout, Slot, place_columns, stored_columns
from chalicelib.query.tree import Query
from chalicelib.query.values import stored
from chalicelib.storage.view_gate import Gate
from chalicelib.storage.view_rows import Rows, attribute_of, create_table, with_incident

if TYPE_CHECKING:
    import duckdb

_KIND_OF_TYPE = {definition: kind for kind, definition in TYPE_OF.items()}
_MOST_SINGLE = 2
"""Up to so many rows go in by INSERT … VALUES, which is faster than an appender then."""
_DOCUMENT_BYTES = 150
"""What Python needs for a document beside its text: the dictionary's entry, the key, the bytes object's head."""
_MEASURED_EVERY = 2_000
_COMPRESSED_EVERY = 60_000
"""After so many changes the tables are compressed anew: a part of a second then, seconds if left for longer."""
_encode = msgspec.json.Encoder().encode


class Gap(Exception):
    """The commits that were to be applied do not follow on the last one applied."""


class View:
    """One project's view. `apply` is called by one thread at a time, the rest by any."""

    def __init__(self, project: int) -> None:
        self.project = project
        self.seq = 0
        self.definitions = Definitions(project=project)
        self._layout = Layout()
        self._documents: dict[Kind, dict[int, bytes]] = {kind: {} for kind in Kind}
        self._document_bytes = 0
        self._table_bytes = 0
        self._unmeasured = _MEASURED_EVERY
        self._uncompressed = 0
        self._rows: dict[Kind, Rows] = {}
        self._gate = Gate()
        self._database = _open()
        self._cursors: queue.SimpleQueue[duckdb.DuckDBPyConnection] = queue.SimpleQueue()
        for kind in Kind:
            self._database.execute(create_table(kind, sql.table(kind)))

    # --- reading ------------------------------------------------------------------------------------------------

    def count(self, query: Query) -> int:
        """How many things a checked query selects, its slice included."""
        with self._gate.reading():
            number: int = self._run(sql.count(query, self._layout))[0][0]
        stop = number if query.stop is None else min(query.stop, number)
        return max(0, stop - query.start)

    def ids(self, query: Query) -> list[int]:
        """The ids that a checked query selects, in order."""
        with self._gate.reading():
            return [row[0] for row in self._run(sql.ids(query, self._layout))]

    def documents(self, query: Query) -> list[bytes]:
        """The JSON documents of what a checked query selects, in order, as answers emit them."""
        with self._gate.reading():
            documents = self._documents[query.kind]
            rows = self._run(sql.ids(query, self._layout))
            if query.incident is not None:
                return [with_incident(documents[number], incident) for number, incident in rows]
            return [documents[number] for (number,) in rows]

    def document(self, kind: Kind, number: int) -> bytes | None:
        """The JSON document of one thing, None where there is none."""
        return self._documents[kind].get(number)

    def exists(self, kind: Kind, numbers: Iterable[int]) -> set[int]:
        """Those of the ids that there are things of."""
        return self._documents[kind].keys() & set(numbers)

    @property
    def memory(self) -> int:
        """About how many bytes the view takes."""
        return self._table_bytes + self._document_bytes

    def close(self) -> None:
        """Give the memory back; readers still at work finish first."""
        with self._gate.writing():
            while not self._cursors.empty():
                self._cursors.get().close()
            self._database.close()

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
        following = _Following(self)
        try:
            for commit in commits:
                if commit.seq > following.seq:
                    following.take(commit)
            following.finish()
        except BaseException:
            following.abandon()
            raise

    def _adopt(self, following: _Following) -> None:
        """Make what was followed what readers see."""
        with self._gate.writing():
            if following.begun:
                self._database.execute("COMMIT")
            for kind, changed in following.documents.items():
                documents = self._documents[kind]
                for number, document in changed.items():
                    old = documents.pop(number, None)
                    if old is not None:
                        self._document_bytes -= len(old) + _DOCUMENT_BYTES
                    if document is not None:
                        documents[number] = document
                        self._document_bytes += len(document) + _DOCUMENT_BYTES
            self.definitions = following.definitions
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


class _Following:
    """One application of commits: all that will change, made in a transaction and beside the view until it is whole."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.seq = view.seq
        self.definitions = view.definitions
        self.layout = view._layout  # noqa: SLF001 the other half of View
        self.documents: dict[Kind, dict[int, bytes | None]] = {kind: {} for kind in Kind}
        self.changes = 0
        self.begun = False
        self._database = view._database  # noqa: SLF001
        self._stored = view._documents  # noqa: SLF001
        self._rows = dict(view._rows)  # noqa: SLF001
        self._waiting: dict[Kind, dict[int, Change]] = {kind: {} for kind in Kind}

    def take(self, commit: Commit) -> None:
        """Take in one commit."""
        if commit.seq != self.seq + 1:
            raise Gap(f"commit {commit.seq} of project {commit.project} follows on {self.seq}")
        self.seq = commit.seq
        for change in commit.changes:
            self.changes += 1
            if change.is_definition:
                self._define(DefinitionKind(change.kind), change)
            else:
                self._waiting[Kind(change.kind)][change.id] = change

    def finish(self) -> None:
        """Write what waits and hand all of it to the view."""
        if self.seq == self.view.seq:
            return
        self._flush()
        self.view._adopt(self)  # noqa: SLF001
        if self.layout is self.view._layout:  # noqa: SLF001
            self.view._rows.update(self._rows)  # noqa: SLF001

    def abandon(self) -> None:
        """Forget it all."""
        if self.begun:
            self._database.rollback()

    # --- entities -----------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        if not self.begun:
            self._database.execute("BEGIN")
            self.begun = True

    def _flush(self) -> None:
        for kind, waiting in self._waiting.items():
            if waiting:
                self._begin()
                self._write(kind, waiting)
                waiting.clear()

    def _write(self, kind: Kind, waiting: dict[int, Change]) -> None:
        made = self._rows.get(kind) or self._rows.setdefault(kind, Rows(kind, self.layout))
        documents, before = self.documents[kind], self._stored[kind]
        replaced = [number for number in waiting if documents.get(number, before.get(number)) is not None]
        self._delete(kind, replaced)
        rows = []
        for number, change in waiting.items():
            if change.is_gone:
                documents[number] = None
                continue
            row, documents[number] = made.make(change)
            rows.append(row)
        self._insert(kind, rows)

    def _delete(self, kind: Kind, numbers: Sequence[int]) -> None:
        if not numbers:
            return
        if len(numbers) <= _MOST_SINGLE:
            places = ", ".join("?" for _ in numbers)
            self._database.execute(f"DELETE FROM {sql.table(kind)} WHERE id IN ({places})", list(numbers))  # noqa: S608
            return
        self._database.execute(
            f"DELETE FROM {sql.table(kind)} WHERE id IN (SELECT unnest(from_json(?, '[\"BIGINT\"]')))",  # noqa: S608
            [_encode(numbers).decode()],
        )

    def _insert(self, kind: Kind, rows: list[list[Any]]) -> None:
        if not rows:
            return
        if len(rows) <= _MOST_SINGLE:
            places = ", ".join("?" for _ in rows[0])
            for row in rows:
                self._database.execute(f"INSERT INTO {sql.table(kind)} VALUES ({places})", row)  # noqa: S608
            return
        appender = self._database.appender(kind.value)
        appender.append_rows(rows)
        appender.flush()

    # --- definitions --------------------------------------------------------------------------------------------

    def _define(self, kind: DefinitionKind, change: Change) -> None:
        if self.definitions is self.view.definitions:
            by_kind = {each: dict(definitions) for each, definitions in self.definitions.by_kind.items()}
            self.definitions = Definitions(project=self.view.project, by_kind=by_kind)
        definition: Definition | None = None
        if change.is_gone:
            self.definitions.drop(kind, change.id)
        else:
            definition = msgspec.json.decode(change.doc, type=DEFINITION_STRUCT[kind])
            self.definitions.put(kind, definition)
        if kind in _KIND_OF_TYPE:
            self._flush()
            self._fit(_KIND_OF_TYPE[kind], change.id, definition)  # type: ignore[arg-type]

    def _fit(self, kind: Kind, number: int, definition: AnyType | None) -> None:
        """Make the table fit a type as it now is."""
        if self.layout is self.view._layout:  # noqa: SLF001
            self.layout = self.layout.copy()
        fitted = self.layout.fit(kind, number, definition)
        self._rows.pop(kind, None)
        self._begin()
        name = sql.table(kind)
        sql_types = self.layout.sql_types[kind]
        for slot in fitted.added:
            for column, declared in stored_columns(slot, sql_types[slot]):
                self._database.execute(f"ALTER TABLE {name} ADD COLUMN {column} {declared}")
        if definition is None:
            gone = self._of_type(kind, number)
            self._database.execute(f"DELETE FROM {name} WHERE type = ?", [number])  # noqa: S608
            self.documents[kind] |= dict.fromkeys(gone)
            return
        for slot in fitted.emptied:
            for column, _ in stored_columns(slot, sql_types[slot]):
                self._database.execute(f"UPDATE {name} SET {column} = NULL WHERE type = ?", [number])  # noqa: S608
        if fitted.filled:
            things = self._of_type(kind, number)
            for attribute, filled in fitted.filled.items():
                self._fill(kind, things, attribute, filled)

    def _of_type(self, kind: Kind, number: int) -> list[int]:
        statement = f"SELECT id FROM {sql.table(kind)} WHERE type = ?"  # noqa: S608
        return [row[0] for row in self._database.execute(statement, [number]).fetchall()]

    def _fill(self, kind: Kind, things: list[int], attribute: str, slot: Slot) -> None:
        """Put the values that things already have of an attribute into its column."""
        changed, before = self.documents[kind], self._stored[kind]
        values = []
        for number in things:
            document = changed.get(number) or before.get(number)
            value = stored(slot.dtype, attribute_of(document, attribute)) if document else None
            if value is not None:
                values.append((number, value))
        if not values:
            return
        sql_type = SQL_TYPE[slot.dtype]
        listed = sql_type.replace("[2]", "[]")
        taken = f"{slot.column} = v.e.x"
        if sql_type == PLACE:
            values_of = ("v.e.x[1]", "v.e.x[2]", *unit_sql("v.e.x[1]", "v.e.x[2]"))
            taken = ", ".join(map(" = ".join, zip(place_columns(slot.column), values_of, strict=True)))
        self._database.execute(
            f"UPDATE {sql.table(kind)} AS t SET {taken}"  # noqa: S608
            f' FROM (SELECT unnest(from_json(?, \'[{{"i":"BIGINT","x":"{listed}"}}]\')) AS e) v'
            " WHERE t.id = v.e.i",
            [_encode([{"i": number, "x": value} for number, value in values]).decode()],
        )


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
