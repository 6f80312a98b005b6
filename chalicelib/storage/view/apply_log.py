"""Applying a log to a view: from commits to rows of tables and documents, atomically."""

# ruff: noqa: S608 statements are made of our own words and names

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec

from chalicelib.core.batches import batched
from chalicelib.core.kinds import DefinitionKind, Kind
from chalicelib.core.log.commits import Change, Commit, Touched
from chalicelib.core.models.definitions import DEFINITION_STRUCT, AnyType, Definition, Definitions
from chalicelib.query.columns import SEPARATE
from chalicelib.query.compiler import sql
from chalicelib.query.geodesy import unit, unit_sql
from chalicelib.query.layout import PLACE, SQL_TYPE, VECTOR, Slot, codes, place_columns, stored_columns
from chalicelib.query.values import packed_array, stored
from chalicelib.query.vector_codes import code
from chalicelib.storage.view.database.store import Store
from chalicelib.storage.view.deleted_definitions import KIND_OF_TYPE, WITH_ROWS, Hides, id_queries
from chalicelib.storage.view.row_columns import RowColumns, Stale
from chalicelib.storage.view.rows import DOCUMENT, Rows, attribute_of, revise
from chalicelib.storage.view.state import Gap, ViewState

if TYPE_CHECKING:
    import duckdb

_MOST_LISTED = 6
"""Up to this many rows are written by one INSERT … VALUES, which is faster than an appender for so few."""
_FEWEST_IN_COLUMNS = 400
"""From this many rows on they are written column by column, whose statement takes some milliseconds."""
_FEWEST_IN_PLACE = 60
"""From this many rows on only the columns that commits touched are written."""
_WIDEST = 250
"""Ids for each row that is updated in place, at most: of each group of 122,880 rows with one such, the next checkpoint
rewrites the touched columns."""
_ROWS_A_PIECE = 4000
"""Rows made between two pauses of background work: some tens of milliseconds."""
_DOCUMENTS_PER_READ = 20_000
"""Documents that are read at once when a column is filled from them."""
_encode = msgspec.json.Encoder().encode


class LogApplier:
    """Applies commits to a store in one transaction, and makes the resulting state."""

    def __init__(self, state: ViewState, store: Store) -> None:
        self.before = state
        self.state = state.copy()
        self.changed: dict[Kind, set[int]] = {kind: set() for kind in Kind}
        """The entities that were created, changed or removed."""
        self.changes = self.bytes = 0
        """The number of changes, and the bytes of their documents."""
        self.has_begun = False
        """Whether there is an open transaction."""
        self._store = store
        self._database = store.writer
        self._waiting: dict[Kind, dict[int, Change]] = {kind: {} for kind in Kind}
        self._touched: dict[Kind, Touched] = {}
        """By kind, what commits touched of the waiting rows that are not in `_whole`."""
        self._whole: dict[Kind, set[int]] = {kind: set() for kind in Kind}
        """The waiting rows of which every column may have changed."""

    def apply(self, commit: Commit) -> None:
        """Apply one commit."""
        if commit.seq != self.state.seq + 1:
            raise Gap(f"commit {commit.seq} of project {commit.project} follows on {self.state.seq}")
        self.state.seq = commit.seq
        for change in commit.changes:
            self.changes += 1
            self.bytes += len(change.doc)
            if change.is_definition:
                self._define(DefinitionKind(change.kind), change)
            else:
                kind = Kind(change.kind)
                self._waiting[kind][change.id] = change
                if commit.touched is None or not kind.is_annotation:
                    self._whole[kind].add(change.id)
        if commit.touched is not None and commit.changes:
            kind = Kind(commit.changes[0].kind)
            known = self._touched.get(kind, commit.touched)
            self._touched[kind] = Touched(
                [*{*known.members, *commit.touched.members}], [*{*known.attributes, *commit.touched.attributes}]
            )

    def finish(self) -> None:
        """Write the pending changes.

        The caller ends the transaction: `commit` while there are no readers, or `abandon`.
        """
        self._flush()

    def commit(self) -> None:
        """Commit the transaction."""
        if self.has_begun:
            self._run_parsed("COMMIT")
            self.has_begun = False

    def abandon(self) -> None:
        """Roll the transaction back."""
        if self.has_begun:
            self._database.rollback()

    # --- entities -----------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        if not self.has_begun:
            self._run_parsed("BEGIN")
            self.has_begun = True

    def _flush(self) -> None:
        for kind, waiting in self._waiting.items():
            if waiting:
                self._begin()
                self._write(kind, waiting)
                waiting.clear()
                self._whole[kind].clear()
                self._touched.pop(kind, None)

    def _write(self, kind: Kind, waiting: dict[int, Change]) -> None:
        state = self.state
        maker = state.makers.get(kind)
        if maker is None:
            maker = state.makers[kind] = Rows(kind, state.layout, state.definitions)
        highest = state.highest.get(kind, 0)
        hides = state.lost.hides(kind, self._is_media) if state.lost else None
        updated = self._update_touched(kind, waiting, hides)
        self._delete(kind, [number for number in waiting if number <= highest and number not in updated])
        present = [change for change in waiting.values() if not change.is_gone and change.id not in updated]
        for piece in batched(present, _ROWS_A_PIECE):
            if len(piece) < _FEWEST_IN_COLUMNS or not self._insert_columns(kind, piece, hides):
                rows = [maker.make(change, self._store.documents.add, hides) for change in piece]
                self._insert(kind, [row for row in rows if row is not None])
        state.highest[kind] = max(highest, *waiting)
        self.changed[kind].update(waiting)

    def _update_touched(self, kind: Kind, waiting: dict[int, Change], hides: Hides | None) -> set[int]:
        """Write what changed of the rows of which that is known; returns their ids, none where it cannot be done."""
        touched, whole = self._touched.get(kind), self._whole[kind]
        if touched is None or len(waiting) - len(whole) < _FEWEST_IN_PLACE or not SEPARATE.issuperset(touched.members):
            return set()
        changes = [change for change in waiting.values() if change.id not in whole]
        numbers = {change.id for change in changes}
        if max(numbers) - min(numbers) > _WIDEST * len(numbers):
            return set()
        try:
            made = RowColumns(kind, self.state.layout, self.state.definitions, touched).make(changes, hides)
        except (OverflowError, UnicodeError, Stale):
            return set()
        if sum(len(each.documents) for each in made) < len(numbers):
            return set()  # the others are hidden now: their rows go
        done = [each.update(self._database, self._store.documents.add_all, self._parse) for each in made]
        return numbers if all(done) else set()

    def _insert_columns(self, kind: Kind, changes: Sequence[Change], hides: Hides | None) -> bool:
        """Insert the rows of many changes column by column; returns whether it did."""
        try:
            made = RowColumns(kind, self.state.layout, self.state.definitions).make(changes, hides)
        except (OverflowError, UnicodeError):
            return False
        for each in made:
            each.insert(self._database, self._store.documents.add_all, self._parse)
        return True

    def _is_media(self, number: int) -> bool:
        found = self._database.execute(f"SELECT 1 FROM {sql.table(Kind.MEDIA)} WHERE id = ?", [number]).fetchall()
        return bool(found)

    def _run_parsed(self, text: str, values: Sequence[Any] = ()) -> None:
        """Run a statement that comes again and again: parsed once."""
        self._database.execute(self._parse(text), values)

    def _parse(self, text: str) -> duckdb.Statement:
        return self._store.engine.statement(text, self._database)

    def _delete(self, kind: Kind, numbers: Sequence[int]) -> None:
        if not numbers:
            return
        if len(numbers) <= _MOST_LISTED:
            places = ", ".join("?" for _ in numbers)
            self._run_parsed(f"DELETE FROM {sql.table(kind)} WHERE id IN ({places})", numbers)
            return
        self._database.execute(
            f"DELETE FROM {sql.table(kind)} WHERE id IN (SELECT unnest(from_json(?, '[\"BIGINT\"]')))",
            [_encode(numbers).decode()],
        )

    def _insert(self, kind: Kind, rows: list[list[Any]]) -> None:
        if not rows:
            return
        if len(rows) <= _MOST_LISTED:
            places = ", ".join([f"({', '.join('?' for _ in rows[0])})"] * len(rows))
            self._run_parsed(f"INSERT INTO {sql.table(kind)} VALUES {places}", [*chain.from_iterable(rows)])
            return
        appender = self._database.appender(kind.value)
        appender.append_rows(rows)
        appender.flush()

    # --- definitions --------------------------------------------------------------------------------------------

    def _define(self, kind: DefinitionKind, change: Change) -> None:
        state = self.state
        if state.definitions is self.before.definitions:
            by_kind = {each: dict(definitions) for each, definitions in state.definitions.by_kind.items()}
            state.definitions = Definitions(project=state.project, by_kind=by_kind)
        definition: Definition | None = None
        seen = 0
        if kind in WITH_ROWS:
            self._flush()
            before: Any = state.definitions.by_kind[kind].get(change.id)
            seen = len(before.revisions) if before and kind in KIND_OF_TYPE else 0
            self._lose(kind, change)
        if change.is_gone:
            state.definitions.drop(kind, change.id)
        else:
            definition = msgspec.json.decode(change.doc, type=DEFINITION_STRUCT[kind])
            state.definitions.put(kind, definition)
        if kind in KIND_OF_TYPE:
            self._fit(KIND_OF_TYPE[kind], change.id, definition, seen)  # type: ignore[arg-type]

    def _lose(self, kind: DefinitionKind, change: Change) -> None:
        """Delete the entities of a definition; a definition that is created again is no longer deleted."""
        state = self.state
        if not change.is_gone and change.id not in state.lost.definitions.get(kind, ()):
            return
        state.lost = state.lost.copy()
        state.lost.record(kind, change.id, gone=change.is_gone)
        if not change.is_gone:
            return
        self._begin()
        found = {
            each: [row[0] for row in self._database.execute(question.text, question.parameters).fetchall()]
            for each, question in id_queries(kind, change.id).items()
        }
        for each, numbers in found.items():
            self._delete(each, numbers)
            self.changed[each].update(numbers)
        if kind is DefinitionKind.MEDIA_TYPE:
            state.lost.media.update(found[Kind.MEDIA])

    def _fit(self, kind: Kind, number: int, definition: AnyType | None, seen: int) -> None:
        """Change the columns of a table to those of the type's current attributes."""
        state = self.state
        if state.layout is self.before.layout:
            state.layout = state.layout.copy()
        revisions = definition.revisions[seen:] if definition else []
        fitted = state.layout.fit(kind, number, definition, revisions)
        state.makers.pop(kind, None)
        self._begin()
        name = sql.table(kind)
        sql_types = state.layout.sql_types[kind]
        for slot in fitted.added:
            for column, declared in stored_columns(slot, sql_types[slot]):
                self._database.execute(f"ALTER TABLE {name} ADD COLUMN {column} {declared}")
        if definition is None:
            return
        recast = {old.column for old in fitted.recast.values()}
        self._empty(kind, number, [slot for slot in fitted.emptied if slot not in recast])
        for attribute, old in fitted.recast.items():
            self._recast(kind, number, old, fitted.filled[attribute])
        self._empty(kind, number, recast)
        from_documents = {}
        for attribute, new in fitted.filled.items():
            if attribute in fitted.values:
                self._set(kind, number, new, fitted.values[attribute])
            elif attribute not in fitted.recast:
                from_documents[attribute] = new
        self._fill(kind, definition, from_documents)

    def _empty(self, kind: Kind, number: int, columns: Iterable[str]) -> None:
        for each in columns:
            for column, _ in stored_columns(each, self.state.layout.sql_types[kind][each]):
                self._database.execute(f"UPDATE {sql.table(kind)} SET {column} = NULL WHERE type = ?", [number])

    def _recast(self, kind: Kind, number: int, old: Slot, new: Slot) -> None:
        """Convert a numeric column of a type to another dtype, as `revisions.recast` does."""
        value = f"trunc({old.column})" if new.dtype == "int" else old.column
        self._database.execute(
            f"UPDATE {sql.table(kind)} SET {new.column} = TRY_CAST({value} AS {SQL_TYPE[new.dtype]}) WHERE type = ?",
            [number],
        )

    def _set(self, kind: Kind, number: int, slot: Slot, value: Any) -> None:
        """Give all entities of a type one value."""
        taken = _column_value(slot, value)
        if taken is None:
            return
        columns: Sequence[str] = [slot.column]
        values = [taken]
        if SQL_TYPE[slot.dtype] == PLACE:
            columns, values = place_columns(slot.column), [*taken, *unit(*taken)]
        elif SQL_TYPE[slot.dtype] == VECTOR:
            columns, values = (slot.column, codes(slot.column)), [taken, code(taken)]
        setting = ", ".join(f"{column} = ?" for column in columns)
        self._database.execute(f"UPDATE {sql.table(kind)} SET {setting} WHERE type = ?", [*values, number])

    def _fill(self, kind: Kind, definition: AnyType, slots: dict[str, Slot]) -> None:
        """Fill columns with the attribute values that entities of a type already have."""
        if not slots:
            return
        rows = self._database.execute(
            f"SELECT id, {DOCUMENT} FROM {sql.table(kind)} WHERE type = ? ORDER BY {DOCUMENT}", [definition.id]
        ).fetchall()
        for some in batched(rows, _DOCUMENTS_PER_READ):
            values = defaultdict(list)
            documents = self._store.documents.get([place for _, place in some])
            for (number, _), document in zip(some, documents, strict=True):
                unseen = definition.revisions[document.seen :]
                body = revise(document.body, unseen) if unseen else document.body
                for attribute, slot in slots.items():
                    value = _column_value(slot, attribute_of(body, attribute))
                    if value is not None:
                        values[slot].append((number, value))
            for slot, found in values.items():
                self._update(kind, slot, found)

    def _update(self, kind: Kind, slot: Slot, values: list[tuple[int, Any]]) -> None:
        """Give entities values of an attribute, by id."""
        sql_type = SQL_TYPE[slot.dtype]
        listed = sql_type.replace("[2]", "[]")
        taken = f"{slot.column} = v.e.x"
        if sql_type == VECTOR:
            listed, values = "VARCHAR[]", [(number, (value, code(value))) for number, value in values]
            taken = f"{slot.column} = from_base64(v.e.x[1]), {codes(slot.column)} = from_base64(v.e.x[2])"
        elif sql_type == PLACE:
            values_of = ("v.e.x[1]", "v.e.x[2]", *unit_sql("v.e.x[1]", "v.e.x[2]"))
            taken = ", ".join(map(" = ".join, zip(place_columns(slot.column), values_of, strict=True)))
        self._database.execute(
            f"UPDATE {sql.table(kind)} AS t SET {taken}"
            f' FROM (SELECT unnest(from_json(?, \'[{{"i":"BIGINT","x":"{listed}"}}]\')) AS e) v'
            " WHERE t.id = v.e.i",
            [_encode([{"i": number, "x": value} for number, value in values]).decode()],
        )


def _column_value(slot: Slot, value: Any) -> Any:
    """The column value of an attribute's JSON value, None for null."""
    return packed_array(value) if SQL_TYPE[slot.dtype] == VECTOR else stored(slot.dtype, value)
