"""A view as Parquet files and back: tables of Parquet for each type, in parts of at most a quarter of a million rows.

Columns of a file: the built-in fields under the names of `query/columns.py`; each attribute under its own name, unless
that is taken (`names`); `document`, the JSON of the thing as answers emit it. Members that answers leave out are
built-in columns, so a row holds all that is stored. docs/snapshots.md describes it to those who read the files.

`load` is what a cold start waits for, so it takes columns and documents as they stand. Where this code keeps other
columns or emits other members than the code that wrote the files (`SHAPE`), `replay` makes both anew.
"""

# ruff: noqa: S608, SLF001 statements are made of our own words and quoted names; the other half of View

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from chalicelib.core.commits import Change, Commit
from chalicelib.core.definitions import DEFINITION_STRUCT, AnyType, Definitions
from chalicelib.core.entities import STRUCT_OF
from chalicelib.core.kinds import DefinitionKind, Kind
from chalicelib.core.resource import Resource
from chalicelib.query import sql
from chalicelib.query.columns import COLUMNS
from chalicelib.query.geodesy import unit_sql
from chalicelib.query.layout import PLACE, SQL_TYPE, latitude, place_columns, stored_columns
from chalicelib.storage.view.view import View

if TYPE_CHECKING:
    import duckdb

FORMAT = 2
"""Of what the files hold. What is stored in a column for a value may change only with it."""
ROWS_A_PART = 250_000
BYTES_A_PART = 200_000_000
"""Of documents: several files must fit onto the disk of a container at once."""
DOCUMENT = "document"
_CONTROL = re.compile(r"[\x00-\x1f]")
_encode = msgspec.json.Encoder().encode


def _shape() -> str:
    """What this code keeps of a thing and what it emits of it, in short."""
    parts: list[Any] = [FORMAT, sorted(SQL_TYPE.items())]
    for kind, struct in STRUCT_OF.items():
        columns = [(column.name, column.dtype) for column in COLUMNS[kind]]
        parts.append([kind, columns, struct.__struct_fields__, *_other_names(struct)])
    return hashlib.sha256(_encode(parts)).hexdigest()[:16]


def _other_names(struct: type[msgspec.Struct]) -> tuple[list[tuple[str, str]], list[str]]:
    assert issubclass(struct, Resource)  # noqa: S101 for mypy: every entity is one
    return sorted(struct.also.items()), sorted(struct.hidden)


SHAPE = _shape()


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One file of rows of one type, in the order of their ids."""

    kind: Kind
    type: int
    rows: int
    key: str
    """The object's key, relative to the folder of the project."""
    columns: dict[str, str]
    """Attribute → column."""


def names(kind: Kind, definition: AnyType | None) -> dict[str, str]:
    """In which column each attribute of a type is: that of its name, with `_2`, `_3` … where another has it.

    Names that differ in case alone are the same to many readers of Parquet.
    """
    taken = {column.name for column in COLUMNS[kind]} | {DOCUMENT}
    found = {}
    for attribute in definition.attribute_types if definition else ():
        name = wanted = _CONTROL.sub("_", attribute.name)
        number = 2
        while name.casefold() in taken:
            name = f"{wanted}_{number}"
            number += 1
        taken.add(name.casefold())
        found[attribute.name] = name
    return found


# --- writing -------------------------------------------------------------------------------------------------------


def write(view: View, folder: Path) -> Iterator[tuple[Part, Path]]:
    """Write all that a view holds, file after file; a file may be removed before the next is asked for.

    Nobody may apply commits to the view meanwhile.
    """
    view.settle()
    cursor = view._database.cursor()
    cursor.execute("USE v")
    cursor.execute("CREATE TEMP TABLE documents (id BIGINT, document BLOB)")
    for kind in Kind:
        rows = cursor.execute(f"SELECT type, id FROM {sql.table(kind)} ORDER BY type, id").fetchall()
        by_type: dict[int, list[int]] = {}
        for type_, number in rows:
            by_type.setdefault(type_, []).append(number)
        for type_, ids in by_type.items():
            for place, part in enumerate(_parts(ids, view._documents[kind])):
                columns = names(kind, view.definitions.types(kind).get(type_))
                key = f"{kind}/{type_}/{place}.parquet"
                path = folder / f"{kind}-{type_}-{place}.parquet"
                _write_part(view, cursor, kind, type_, part, columns, path)
                yield Part(kind=kind, type=type_, rows=len(part), key=key, columns=columns), path
    cursor.close()


def _parts(ids: list[int], documents: dict[int, bytes]) -> Iterator[list[int]]:
    part, size = [], 0
    for number in ids:
        part.append(number)
        size += len(documents[number])
        if len(part) >= ROWS_A_PART or size >= BYTES_A_PART:
            yield part
            part, size = [], 0
    if part:
        yield part


def _write_part(
    view: View,
    cursor: duckdb.DuckDBPyConnection,
    kind: Kind,
    type_: int,
    ids: Sequence[int],
    columns: dict[str, str],
    path: Path,
) -> None:
    documents = view._documents[kind]
    cursor.execute("DELETE FROM temp.documents")
    appender = cursor.appender("temp.main.documents")
    appender.append_rows([(number, documents[number]) for number in ids])
    appender.flush()
    taken = [f"t.{_quoted(column.name)}" for column in COLUMNS[kind]]
    for attribute, column in columns.items():
        slot = view._layout.slots[kind][type_][attribute]
        value = f"t.{slot.column}"
        if SQL_TYPE[slot.dtype] == PLACE:
            value = f"CASE WHEN {value} NOTNULL THEN [{value}, t.{latitude(slot.column)}] END"
        taken.append(f"{value} AS {_quoted(column)}")
    cursor.execute(
        f"COPY (SELECT {', '.join(taken)}, decode(d.document) AS {DOCUMENT} FROM {sql.table(kind)} t"
        f" JOIN temp.documents d ON d.id = t.id WHERE t.type = {type_} AND t.id BETWEEN {ids[0]} AND {ids[-1]}"
        f" ORDER BY t.id) TO {_text(str(path))} (FORMAT parquet, COMPRESSION zstd)"
    )


# --- reading -------------------------------------------------------------------------------------------------------


def load(definitions: Definitions, seq: int, parts: Iterable[tuple[Part, Path]]) -> View:
    """The view as it was written, by code of the same SHAPE."""
    view = View(definitions.project)
    view.definitions = definitions
    for kind in Kind:
        for number, definition in sorted(definitions.types(kind).items()):
            for slot in view._layout.fit(kind, number, definition).added:
                for column, declared in stored_columns(slot, view._layout.sql_types[kind][slot]):
                    view._database.execute(f"ALTER TABLE {sql.table(kind)} ADD COLUMN {column} {declared}")
    for part, path in parts:
        _load_part(view, part, path)
    view.loaded(seq)
    return view


def _load_part(view: View, part: Part, path: Path) -> None:
    into = [_quoted(column.name) for column in COLUMNS[part.kind]]
    taken = list(into)
    for attribute, column in part.columns.items():
        slot = view._layout.slots[part.kind][part.type][attribute]
        name = _quoted(column)
        if SQL_TYPE[slot.dtype] == PLACE:
            lon, lat = f"{name}[1]", f"{name}[2]"
            into += place_columns(slot.column)
            taken += [lon, lat, *unit_sql(lon, lat)]
        else:
            into.append(slot.column)
            taken.append(name)
    source = f"read_parquet({_text(str(path))})"
    view._database.execute(
        f"INSERT INTO {sql.table(part.kind)} ({', '.join(into)}) SELECT {', '.join(taken)} FROM {source}"
    )
    view._documents[part.kind].update(view._database.execute(f"SELECT id, encode({DOCUMENT}) FROM {source}").fetchall())


def replay(definitions: Definitions, seq: int, parts: Iterable[tuple[Part, Path]]) -> View:
    """The same of whatever SHAPE, at the pace of a log."""
    return built(definitions, seq, (_changes(definitions, part, path) for part, path in parts))


def built(definitions: Definitions, seq: int, things: Iterable[list[Change]]) -> View:
    """A view at a commit, made from all that is there then."""
    view = View(definitions.project)
    defined = [
        Change(kind, number, msgspec.Raw(_encode(definition)))
        for kind, found in definitions.by_kind.items()
        for number, definition in found.items()
    ]
    for changes in chain([defined], things):
        view.apply([Commit(project=view.project, seq=view.seq + 1, at="", user=None, changes=changes)])
    view.loaded(seq)
    return view


def _changes(definitions: Definitions, part: Part, path: Path) -> list[Change]:
    struct: Any = STRUCT_OF[part.kind]
    of = definitions.types(part.kind).get(part.type)
    revision = len(of.revisions) if of else 0
    import duckdb  # noqa: PLC0415 as in view.py

    database = duckdb.connect(":memory:")
    source = f"read_parquet({_text(str(path))})"
    there = {row[0] for row in database.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()}
    hidden = sorted(struct.hidden & there)
    columns = ", ".join(["id", DOCUMENT, *map(_quoted, hidden)])
    changes = []
    for number, document, *values in database.execute(f"SELECT {columns} FROM {source}").fetchall():
        thing = msgspec.json.decode(document, type=struct)
        thing = msgspec.structs.replace(thing, **dict(zip(hidden, values, strict=True)), revision=revision)
        changes.append(Change(part.kind, number, msgspec.Raw(_encode(thing))))
    database.close()
    return changes


def definitions_of(project: int, document: bytes) -> Definitions:
    """Definitions from their JSON: by kind, a list."""
    found = Definitions(project=project)
    for word, each in msgspec.json.decode(document, type=dict[str, list[msgspec.Raw]]).items():
        kind = DefinitionKind(word)
        for definition in each:
            found.put(kind, msgspec.json.decode(definition, type=DEFINITION_STRUCT[kind]))
    return found


def definitions_json(definitions: Definitions) -> bytes:
    """Definitions as JSON: by kind, a list in the order of ids."""
    return _encode({kind: [found[number] for number in sorted(found)] for kind, found in definitions.by_kind.items()})


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
