"""The rows of many changes at once, column by column: those that `rows.py` makes one by one, in half of the time.

    for made in RowColumns(kind, layout, definitions).make(changes, hides):
        made.insert(connection, add_all, parse)

With `touched`, only the columns of the members and attributes that changed are made, for `made.update` (decision 315).
Values are converted as `query/values.py` says; a column of the usual types needs no conversion.
"""

# ruff: noqa: S608 statements are made of our own words and names

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import msgspec

from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Change, Touched
from chalicelib.core.models.definitions import Definitions
from chalicelib.core.models.entities import STRUCT_OF
from chalicelib.core.resource import answer
from chalicelib.core.values.revisions import Revision, up_to_date
from chalicelib.query.columns import Column
from chalicelib.query.compiler import sql
from chalicelib.query.geodesy import unit_sql
from chalicelib.query.layout import PLACE, SQL_TYPE, VECTOR, Layout, Slot, codes, place_columns
from chalicelib.query.values import STORED, packed_array
from chalicelib.query.vector_codes import code
from chalicelib.storage.view.database import arrow
from chalicelib.storage.view.deleted_definitions import Hides
from chalicelib.storage.view.rows import DOCUMENT, OTHERS, PLAIN

if TYPE_CHECKING:
    import duckdb

AddAll = Callable[[Sequence[bytes], int, int], list[int]]
"""From documents of one type, the type and the revisions applied to them to their places: `Documents.add_all`."""
Parse = Callable[[str], "duckdb.Statement"]
"""Parses a statement that comes again and again, once."""
Values = Sequence[Any]
_NONE = type(None)
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 naive, as the values of queries are
_MICROSECOND = timedelta(microseconds=1)
_lists: dict[Kind, msgspec.json.Decoder[list[Any]]] = {
    kind: msgspec.json.Decoder(list[struct])  # type: ignore[valid-type]
    for kind, struct in STRUCT_OF.items()
}
_encode = msgspec.json.Encoder().encode


class RowColumns:
    """Makes rows of one kind under one layout."""

    def __init__(self, kind: Kind, layout: Layout, definitions: Definitions, touched: Touched | None = None) -> None:
        self._kind, self._layout, self._definitions, self._touched = kind, layout, definitions, touched
        self._plain, self._others = PLAIN[kind], OTHERS[kind]
        if touched is not None:
            wanted = {"id", "type", *touched.members}
            self._plain = [column for column in self._plain if column.name in wanted]
            self._others = [column for column in self._others if column.name in wanted]
        self._take = attrgetter(*(str(column.member) for column in self._plain))
        self._answers = _answers(kind)

    def make(self, changes: Sequence[Change], hides: Hides | None = None) -> list[Made]:
        """The rows of this kind's changes by type, without deletions and hidden entities.

        Raises:
            OverflowError, UnicodeError: a value does not fit its column.
            Stale: a change of which only some columns are to be made lacks a revision of its type.
        """
        entities = _lists[self._kind].decode(b"[" + b",".join([change.doc for change in changes]) + b"]")
        by_type: defaultdict[int, list[Any]] = defaultdict(list)
        for entity in entities:
            if hides is None or not hides(entity):
                by_type[entity.type].append(entity)
        types = self._definitions.types(self._kind)
        return [
            self._rows_of(number, some, types[number].revisions if number in types else ())
            for number, some in by_type.items()
        ]

    def _rows_of(self, number: int, entities: list[Any], revisions: Sequence[Revision]) -> Made:
        seen = len(revisions)
        if seen:
            if self._touched is not None and any(each.revision < seen for each in entities):
                raise Stale
            entities = [each if each.revision >= seen else up_to_date(each, revisions) for each in entities]
        columns: dict[str, arrow.Column] = {}
        for column, values in zip(self._plain, zip(*map(self._take, entities), strict=True), strict=True):
            columns[column.name] = _MAKERS[SQL_TYPE[column.dtype]](values)
        for column in self._others:
            columns[column.name] = _convert_all(column.dtype, _values_of(column, entities))
        attributes = [each.attributes for each in entities]
        for name, slot in self._layout.slots[self._kind].get(number, {}).items():
            if self._touched is not None and name not in self._touched.attributes:
                continue
            columns |= _of_attribute(slot, [each.get(name) for each in attributes])
        return Made(self._kind, self._layout, columns, self._answers(entities), number, seen)


class Stale(Exception):
    """The attributes of a row are those of an earlier revision of its type."""


class Made:
    """Rows of one type, to be inserted, or columns of theirs, to be updated."""

    def __init__(
        self,
        kind: Kind,
        layout: Layout,
        columns: dict[str, arrow.Column],
        documents: list[bytes],
        type_: int,
        seen: int,
    ) -> None:
        self._kind, self._layout, self._columns = kind, layout, columns
        self.documents, self._type, self._seen = documents, type_, seen

    def insert(self, database: duckdb.DuckDBPyConnection, add_all: AddAll, parse: Parse) -> None:
        """Insert the rows and add their documents."""
        self._add_documents(add_all)
        names, values = zip(*self._expressions(), strict=True)
        target = f"{sql.table(self._kind)} ({', '.join(names)})"
        self._run(f"INSERT INTO {target} SELECT {', '.join(values)} FROM made", database, parse)

    def update(self, database: duckdb.DuckDBPyConnection, add_all: AddAll, parse: Parse) -> bool:
        """Update the touched columns of the rows and add their documents; returns whether the table has all rows."""
        self._add_documents(add_all)
        values = dict(self._expressions())
        named = ", ".join(f"{value} AS {name}" for name, value in values.items())
        setting = ", ".join(f"{name} = made.{name}" for name in values if name not in ('"id"', '"type"'))
        target = sql.table(self._kind)
        text = f"UPDATE {target} SET {setting} FROM (SELECT {named} FROM made) made WHERE {target}.id = made.id"
        return self._run(text, database, parse) == len(self.documents)

    def _add_documents(self, add_all: AddAll) -> None:
        self._columns[DOCUMENT] = arrow.integers(add_all(self.documents, self._type, self._seen))

    def _run(self, text: str, database: duckdb.DuckDBPyConnection, parse: Parse) -> int:
        """Run a statement that reads the columns as `made`; returns how many rows it wrote."""
        table = arrow.Table(self._columns)
        database.register("made", table)
        try:
            return int(database.execute(parse(text)).fetchall()[0][0])
        finally:
            database.unregister("made")
            table.release()

    def _expressions(self) -> Iterator[tuple[str, str]]:
        """The columns of the table that have values, each with its expression."""
        for name in self._columns:
            yield f'"{name}"', f'"{name}"'
        for slot, sql_type in self._layout.sql_types[self._kind].items():
            if sql_type == PLACE and slot in self._columns:
                lon, lat, *vector = place_columns(slot)
                yield from zip(vector, unit_sql(lon, lat), strict=True)


@lru_cache
def _answers(kind: Kind) -> Callable[[Sequence[Any]], list[bytes]]:
    """Serializers of entities by kind, as responses show them."""
    struct = STRUCT_OF[kind]
    if struct.also_attributes or struct.keeps or struct.opened:
        return lambda entities: [_encode(answer(each)) for each in entities]
    shown_always = [name for name in struct.__struct_fields__ if name not in struct.hidden | struct.sparse]
    members: dict[str, str] = {name: name for name in shown_always}
    members |= struct.also
    fields: list[Any] = [(name, Any) for name in members]
    for name in struct.__struct_fields__:
        if name in struct.sparse:
            members[name] = name
            fields.append((name, Any, None))
    take = attrgetter(*members.values())
    shown: Any = msgspec.defstruct("Shown", fields, gc=False, omit_defaults=True)
    return lambda entities: [_encode(shown(*values)) for values in map(take, entities)]


def _values_of(column: Column, entities: Sequence[Any]) -> Values:
    if column.source is not None:
        return [*map(attrgetter(column.source), entities)]
    return [column.value(each) for each in entities]


def _of_attribute(slot: Slot, values: Values) -> dict[str, arrow.Column]:
    """The columns of an attribute, without the unit vectors of places."""
    sql_type = SQL_TYPE[slot.dtype]
    if sql_type == PLACE:
        convert = STORED[slot.dtype]
        places = [(None if each is None else convert(each)) or (None, None) for each in values]
        lon, lat, *_ = place_columns(slot.column)
        return {lon: arrow.doubles([each[0] for each in places]), lat: arrow.doubles([each[1] for each in places])}
    if sql_type == VECTOR:
        packed = [packed_array(each) for each in values]
        return {slot.column: arrow.blobs(packed), codes(slot.column): arrow.blobs([*map(code, packed)])}
    return {slot.column: _convert_all(slot.dtype, values)}


def _convert_all(dtype: str, values: Values) -> arrow.Column:
    """A column of values converted as `values.stored` does."""
    if dtype == "datetime":
        return arrow.instants(_instants(values))
    if not {*map(type, values)} <= _USUAL[dtype]:
        convert = STORED[dtype]
        values = [None if each is None else convert(each) for each in values]
    elif dtype == "float":
        values = [None if each is None else each + 0.0 for each in values]
        if not all(map(math.isfinite, filter(None, values))):
            values = [None if each is None or not math.isfinite(each) else each for each in values]
    elif dtype == "int" and any(not -_BEYOND <= each < _BEYOND for each in values if each is not None):
        values = [None if each is None else STORED[dtype](each) for each in values]
    return _MAKERS[SQL_TYPE[dtype]](values)


def _instants(values: Values) -> list[int | None]:
    """Microseconds since 1970. Entities that were written together have the same times."""
    convert = STORED["datetime"]
    if {*map(type, values)} <= {datetime, _NONE}:
        return [None if each is None else (each - _EPOCH) // _MICROSECOND for each in values]
    texts = [each if isinstance(each, str) else None for each in values]
    known: dict[str | None, int | None] = {None: None}
    for text in {*texts} - {None}:
        moment = convert(text)
        known[text] = None if moment is None else (moment - _EPOCH) // _MICROSECOND
    return [known[text] for text in texts]


_BEYOND = 2**63
_USUAL = {
    "bool": {bool, _NONE},
    "int": {int, _NONE},
    "float": {float, _NONE},
    "string": {str, _NONE},
    "enum": {str, _NONE},
    "blob": {str, _NONE},
}
"""By dtype: the Python types of values that need no conversion."""
_MAKERS: dict[str, Callable[[Values], arrow.Column]] = {
    "BOOLEAN": arrow.flags,
    "BIGINT": arrow.integers,
    "DOUBLE": arrow.doubles,
    "VARCHAR": arrow.texts,
    "BIGINT[]": arrow.lists,
}
