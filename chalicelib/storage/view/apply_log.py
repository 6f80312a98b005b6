"""How a view follows its log: from commits to rows of tables and documents, all of it or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from chalicelib.core.commits import Change, Commit
from chalicelib.core.definitions import DEFINITION_STRUCT, AnyType, Definition, Definitions
from chalicelib.core.kinds import DefinitionKind, Kind
from chalicelib.query import sql
from chalicelib.query.geodesy import unit, unit_sql
from chalicelib.query.layout import PLACE, SQL_TYPE, VECTOR, Slot, place_columns, stored_columns
from chalicelib.query.values import packed_array, stored
from chalicelib.storage.view.deleted_definitions import KIND_OF_TYPE, WITH_ROWS, going
from chalicelib.storage.view.rows import Rows, attribute_of

if TYPE_CHECKING:
    from chalicelib.storage.view.view import View

_MOST_SINGLE = 2
"""Up to so many rows go in by INSERT … VALUES, which is faster than an appender then."""
_encode = msgspec.json.Encoder().encode


class Gap(Exception):
    """The commits that were to be applied do not follow on the last one applied."""


class Following:
    """One application of commits: all that will change, made in a transaction and beside the view until it is whole."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.seq = view.seq
        self.definitions = view.definitions
        self.layout = view._layout  # noqa: SLF001 the other half of View
        self.documents: dict[Kind, dict[int, bytes | None]] = {kind: {} for kind in Kind}
        self.behind: dict[Kind, dict[int, int | None]] = {kind: {} for kind in Kind}
        """What becomes of the view's own; None for a document that is made anew or gone."""
        self.lost = view.lost
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
        made = self._rows.get(kind) or self._rows.setdefault(kind, Rows(kind, self.layout, self.definitions))
        documents, before = self.documents[kind], self._stored[kind]
        replaced = [number for number in waiting if documents.get(number, before.get(number)) is not None]
        self._delete(kind, replaced)
        if self.behind[kind] or self.view._behind[kind]:  # noqa: SLF001
            self.behind[kind] |= dict.fromkeys(replaced)
        hides = self.lost.hides(kind, self._is_media) if self.lost else None
        rows = []
        for number, change in waiting.items():
            row, documents[number] = (None, None) if change.is_gone else made.make(change, hides)
            if row is not None:
                rows.append(row)
        self._insert(kind, rows)

    def _is_media(self, number: int) -> bool:
        changed = self.documents[Kind.MEDIA]
        return (changed[number] if number in changed else self._stored[Kind.MEDIA].get(number)) is not None

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
        seen = 0
        if kind in WITH_ROWS:
            self._flush()
            before: Any = self.definitions.by_kind[kind].get(change.id)
            seen = len(before.revisions) if before and kind in KIND_OF_TYPE else 0
            self._lose(kind, change)
        if change.is_gone:
            self.definitions.drop(kind, change.id)
        else:
            definition = msgspec.json.decode(change.doc, type=DEFINITION_STRUCT[kind])
            self.definitions.put(kind, definition)
        if kind in KIND_OF_TYPE:
            self._fit(KIND_OF_TYPE[kind], change.id, definition, seen)  # type: ignore[arg-type]

    def _lose(self, kind: DefinitionKind, change: Change) -> None:
        """Let everything go that goes with a definition; one that comes again was never gone."""
        if not change.is_gone and change.id not in self.lost.definitions.get(kind, ()):
            return
        self.lost = self.lost.copy()
        self.lost.note(kind, change.id, gone=change.is_gone)
        if not change.is_gone:
            return
        self._begin()
        found = {
            each: [row[0] for row in self._database.execute(question.text, question.parameters).fetchall()]
            for each, question in going(kind, change.id).items()
        }
        for each, numbers in found.items():
            self._delete(each, numbers)
            self.documents[each] |= dict.fromkeys(numbers)
            self.behind[each] |= dict.fromkeys(numbers)
        if kind is DefinitionKind.MEDIA_TYPE:
            self.lost.media.update(found[Kind.MEDIA])

    def _fit(self, kind: Kind, number: int, definition: AnyType | None, seen: int) -> None:
        """Make the table fit a type as it now is, of which it knows the first revisions."""
        if self.layout is self.view._layout:  # noqa: SLF001
            self.layout = self.layout.copy()
        revisions = definition.revisions[seen:] if definition else []
        fitted = self.layout.fit(kind, number, definition, revisions)
        self._rows.pop(kind, None)
        self._begin()
        name = sql.table(kind)
        sql_types = self.layout.sql_types[kind]
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
        things = self._of_type(kind, number) if fitted.filled or revisions else []
        for attribute, new in fitted.filled.items():
            if attribute in fitted.values:
                self._set(kind, number, new, fitted.values[attribute])
            elif attribute not in fitted.recast:
                self._fill(kind, things, attribute, new)
        if revisions:
            self._leave_behind(kind, things, seen)

    def _leave_behind(self, kind: Kind, things: Iterable[int], seen: int) -> None:
        """Note which documents have seen no more revisions than so many; they are revised when somebody reads them."""
        known, changed = self.view._behind[kind], self.behind[kind]  # noqa: SLF001
        changed |= {
            thing: seen for thing in things if (changed[thing] if thing in changed else known.get(thing)) is None
        }

    def _empty(self, kind: Kind, number: int, columns: Iterable[str]) -> None:
        for each in columns:
            for column, _ in stored_columns(each, self.layout.sql_types[kind][each]):
                statement = f"UPDATE {sql.table(kind)} SET {column} = NULL WHERE type = ?"  # noqa: S608
                self._database.execute(statement, [number])

    def _recast(self, kind: Kind, number: int, old: Slot, new: Slot) -> None:
        """Take a type's numbers into a column of the other dtype, as `revisions.recast` does."""
        value = f"trunc({old.column})" if new.dtype == "int" else old.column
        self._database.execute(
            f"UPDATE {sql.table(kind)} SET {new.column} = TRY_CAST({value} AS {SQL_TYPE[new.dtype]})"  # noqa: S608
            " WHERE type = ?",
            [number],
        )

    def _set(self, kind: Kind, number: int, slot: Slot, value: Any) -> None:
        """Let all things of a type have one value."""
        taken = _kept(slot, value)
        if taken is None:
            return
        columns: Sequence[str] = [slot.column]
        values = [taken]
        if SQL_TYPE[slot.dtype] == PLACE:
            columns, values = place_columns(slot.column), [*taken, *unit(*taken)]
        setting = ", ".join(f"{column} = ?" for column in columns)
        statement = f"UPDATE {sql.table(kind)} SET {setting} WHERE type = ?"  # noqa: S608
        self._database.execute(statement, [*values, number])

    def _of_type(self, kind: Kind, number: int) -> list[int]:
        statement = f"SELECT id FROM {sql.table(kind)} WHERE type = ?"  # noqa: S608
        return [row[0] for row in self._database.execute(statement, [number]).fetchall()]

    def _fill(self, kind: Kind, things: list[int], attribute: str, slot: Slot) -> None:
        """Put the values that things already have of an attribute into its column."""
        changed, before = self.documents[kind], self._stored[kind]
        values = []
        for number in things:
            document = changed.get(number) or before.get(number)
            value = _kept(slot, attribute_of(document, attribute)) if document else None
            if value is not None:
                values.append((number, value))
        if not values:
            return
        sql_type = SQL_TYPE[slot.dtype]
        listed = sql_type.replace("[2]", "[]")
        taken = f"{slot.column} = v.e.x"
        if sql_type == VECTOR:
            listed, taken = "VARCHAR", f"{slot.column} = from_base64(v.e.x)"
        elif sql_type == PLACE:
            values_of = ("v.e.x[1]", "v.e.x[2]", *unit_sql("v.e.x[1]", "v.e.x[2]"))
            taken = ", ".join(map(" = ".join, zip(place_columns(slot.column), values_of, strict=True)))
        self._database.execute(
            f"UPDATE {sql.table(kind)} AS t SET {taken}"  # noqa: S608
            f' FROM (SELECT unnest(from_json(?, \'[{{"i":"BIGINT","x":"{listed}"}}]\')) AS e) v'
            " WHERE t.id = v.e.i",
            [_encode([{"i": number, "x": value} for number, value in values]).decode()],
        )


def _kept(slot: Slot, value: Any) -> Any:
    """What a JSON value of an attribute comes to in its column, None for nothing."""
    return packed_array(value) if SQL_TYPE[slot.dtype] == VECTOR else stored(slot.dtype, value)
