"""A view as Parquet, for other programs: files for each type, in parts of at most a quarter of a million rows.

Columns of a file: the built-in fields under the names of `query/columns.py`; each attribute under its own name, unless
that is taken (`names`); `document`, the JSON of the entity as responses show it. Members that responses leave out are
built-in columns, so a row holds all stored data. docs/snapshots.md documents the format.

A view is made from them (`replay`) where a snapshot has no database. Where its database has another shape than this
code (`shapes.py`), the view is made anew from its documents (`renewal.py`).
"""

# ruff: noqa: S608 statements are made of our own words and quoted names

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from chalicelib.core.kinds import DefinitionKind, Kind
from chalicelib.core.log.commits import Change
from chalicelib.core.models.definitions import DEFINITION_STRUCT, AnyType, Definitions
from chalicelib.core.models.entities import STRUCT_OF
from chalicelib.core.values.revisions import Revision
from chalicelib.query.columns import COLUMNS
from chalicelib.query.compiler import sql
from chalicelib.query.layout import PLACE, SQL_TYPE, latitude
from chalicelib.storage.view.database import arrow
from chalicelib.storage.view.database.documents import Document
from chalicelib.storage.view.database.store import Store
from chalicelib.storage.view.rows import DOCUMENT as PLACE_OF_DOCUMENT
from chalicelib.storage.view.rows import revise
from chalicelib.storage.view.snapshot.rows_of_file import RowsOfFile
from chalicelib.storage.view.view import View

if TYPE_CHECKING:
    import duckdb

ROWS_A_PART = 250_000
BYTES_A_PART = 200_000_000
"""Most bytes of documents in a file: several files must fit onto the disk of a container at once."""
ROW_GROUP = 20_480
"""Rows of a row group, which engines skip by its minima and maxima."""
_FILE_ORDER = {Kind.LOCALIZATION: "media", Kind.STATE: "media[1]"}
"""What the rows of a file are sorted by before their ids, so that a row group has few media."""
PAGE = 10_000
"""Documents that are read at once."""
WINDOW = 500_000
"""About how many rows are sorted together."""
CHECKPOINT_EVERY = 1_000_000
"""Rows after which a copy is written to its file: until then they take memory uncompressed."""
DOCUMENT = "document"
_LEVEL = 1
"""Level of zstd: higher levels take up to twice the time, and files of JSON become no smaller."""
_CONTROL = re.compile(r"[\x00-\x1f]")
_encode = msgspec.json.Encoder().encode


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One file of rows of one type: of later ids than those of the file before, in the order of their media."""

    kind: Kind
    type: int
    rows: int
    key: str
    """The object's key, relative to the folder of the project."""
    columns: dict[str, str]
    """Attribute → column."""


def names(kind: Kind, definition: AnyType | None) -> dict[str, str]:
    """The column of each attribute of a type: its name, with `_2`, `_3` … where the name is taken.

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


def write(view: View, folder: Path, done: Sequence[Part] = (), last: int = 0) -> Iterator[tuple[Part, int, Path]]:
    """Write the entities of a view, file after file; a file may be deleted before the next one is requested.

    No commits may be applied to the view meanwhile.

    Args:
        view: the view.
        folder: where the files are written.
        done: the files that an earlier call wrote of the same view, which are left out.
        last: the last id of the last of them.

    Returns:
        Each file, the last id in it, and its path.
    """
    cursor = view.store.engine.cursor(view.store.name)
    order = list(Kind)
    reached = (order.index(done[-1].kind), done[-1].type) if done else (0, 0)
    for kind in Kind:
        types = cursor.execute(f"SELECT DISTINCT type FROM {sql.table(kind)} ORDER BY type").fetchall()
        for (type_,) in types:
            if (order.index(kind), type_) < reached:
                continue
            first = sum(part.kind is kind and part.type == type_ for part in done)
            columns = names(kind, view.definitions.types(kind).get(type_))
            parts = _parts(view, kind, type_, after=last if first else 0)
            for place, rows in enumerate(parts, first):
                key = f"{kind}/type={type_}/{place}.parquet"
                path = folder / f"{kind}-{type_}-{place}.parquet"
                ids = rows.numbers[0], rows.numbers[-1]
                with _readable(cursor, "documents", **rows.sorted_columns()):
                    _write_part(view, cursor, kind, type_, ids, columns, path)
                yield Part(kind=kind, type=type_, rows=len(rows.numbers), key=key, columns=columns), ids[-1], path
    cursor.close()


def _parts(view: View, kind: Kind, type_: int, after: int) -> Iterator[RowsOfFile]:
    """The rows of each part, of ids above one."""
    revisions = _revisions(view, kind, type_)
    found = RowsOfFile()
    columns = ["id", PLACE_OF_DOCUMENT, _FILE_ORDER.get(kind, "id")]
    for page in _pages(view, kind, columns, min(PAGE, ROWS_A_PART), type_, after):
        if found.numbers and (len(found.numbers) + len(page) > ROWS_A_PART or found.bytes >= BYTES_A_PART):
            yield found
            found = RowsOfFile()
        numbers, places, keys = zip(*page, strict=True)
        found.add(
            numbers, keys, up_to_date(view.store.get(places), revisions) if revisions else view.store.scan(places)
        )
    if found.numbers:
        yield found


@contextmanager
def _readable(cursor: duckdb.DuckDBPyConnection, name: str, **columns: arrow.Column) -> Iterator[None]:
    """Inside, statements of a cursor read columns as a table."""
    table = arrow.Table(columns)
    cursor.register(name, table)
    try:
        yield
    finally:
        cursor.unregister(name)
        table.release()


def _pages(
    view: View, kind: Kind, columns: list[str], size: int, type_: int | None = None, after: int = 0
) -> Iterator[list[Any]]:
    """Columns of the rows of a kind, or of a type, in the order of ids, in batches; ids are the first column."""
    of = "" if type_ is None else f" AND type = {type_:d}"
    cursor = view.store.engine.cursor(view.store.name)
    for first, last in _windows(cursor, kind):
        if last <= after:
            continue
        cursor.execute(
            f"SELECT {', '.join(columns)} FROM {sql.table(kind)}"
            f" WHERE id BETWEEN {max(first, after + 1)} AND {last}{of} ORDER BY id"
        )
        while page := cursor.fetchmany(size):
            yield page
    cursor.close()


def _windows(cursor: duckdb.DuckDBPyConnection, kind: Kind) -> list[tuple[int, int]]:
    """Ranges of ids that cover all rows of a kind, each of about `WINDOW` rows.

    A statement for each range reads the row groups of that range alone. With a LIMIT it would have to look at all rows,
    so that the time would grow with the square of their number.
    """
    ((rows, first, last),) = cursor.execute(f"SELECT count(*), min(id), max(id) FROM {sql.table(kind)}").fetchall()
    if not rows:
        return []
    number = -(-rows // WINDOW)
    shares = [place / number for place in range(1, number)]
    ends = (
        cursor.execute(f"SELECT approx_quantile(id, {shares}) FROM {sql.table(kind)}").fetchall()[0][0]
        if shares
        else []
    )
    bounds = [first - 1, *sorted({end for end in ends if first <= end < last}), last]
    return [(before + 1, end) for before, end in pairwise(bounds)]


def _revisions(view: View, kind: Kind, type_: int) -> Sequence[Revision]:
    definition = view.definitions.types(kind).get(type_)
    return definition.revisions if definition else ()


def up_to_date(documents: Iterable[Document], revisions: Sequence[Revision]) -> list[bytes]:
    """The texts of documents of one type, after their missing revisions."""
    return [
        revise(document.body, revisions[document.seen :]) if document.seen < len(revisions) else document.body
        for document in documents
    ]


def _write_part(
    view: View,
    cursor: duckdb.DuckDBPyConnection,
    kind: Kind,
    type_: int,
    ids: tuple[int, int],
    columns: dict[str, str],
    path: Path,
) -> None:
    taken = [f"t.{_quote(column.name)}" for column in COLUMNS[kind]]
    for attribute, column in columns.items():
        slot = view.state.layout.slots[kind][type_][attribute]
        value = f"t.{slot.column}"
        if SQL_TYPE[slot.dtype] == PLACE:
            value = f"CASE WHEN {value} NOTNULL THEN [{value}, t.{latitude(slot.column)}] END"
        taken.append(f"{value} AS {_quote(column)}")
    # Rows and documents come in one order: to join them by id, and to sort documents, takes as long as the rest. Should
    # an order ever differ, the statement fails.
    cursor.execute(
        f"COPY (SELECT t.*, CASE WHEN t.id = d.id THEN decode(d.{DOCUMENT}) ELSE error('rows and documents differ') END"
        f" AS {DOCUMENT} FROM (SELECT {', '.join(taken)} FROM {sql.table(kind)} t"
        f" WHERE t.type = {type_} AND t.id BETWEEN {ids[0]} AND {ids[1]}"
        f" ORDER BY t.{_FILE_ORDER.get(kind, 'id')} NULLS LAST, t.id) t POSITIONAL JOIN documents d)"
        f" TO {_text(str(path))}"
        f" (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL {_LEVEL}, ROW_GROUP_SIZE {ROW_GROUP})"
    )


# --- reading -------------------------------------------------------------------------------------------------------


def replay(definitions: Definitions, seq: int, parts: Iterable[tuple[Part, Path]]) -> View:
    """A view from files of any shape, built step by step."""
    return build(definitions, seq, (_changes(definitions, part, path) for part, path in parts))


def entities(view: View, kind: Kind, after: int, size: int) -> Iterator[tuple[int, list[Change]]]:
    """The entities of a view of any shape with ids above one, in pages, each with the last id in it."""
    # Not by `run`, which a request whose time has ended may not use: a page is made even then.
    there = {row[0] for row in view.store.writer.execute(f"DESCRIBE {sql.table(kind)}").fetchall()}
    hidden = sorted(_hidden(STRUCT_OF[kind]) & there)
    columns = ["id", "type", PLACE_OF_DOCUMENT, *map(_quote, hidden)]
    for page in _pages(view, kind, columns, size, after=after):
        documents = view.store.get([row[2] for row in page])
        yield (
            page[-1][0],
            [
                _change(kind, number, body, dict(zip(hidden, values, strict=True)), len(revisions))
                for (number, type_, _, *values), document in zip(page, documents, strict=True)
                for revisions in [_revisions(view, kind, type_)]
                for body in up_to_date([document], revisions)
            ],
        )


def _change(kind: Kind, number: int, document: bytes, hidden: dict[str, Any], revision: int) -> Change:
    """The change of an entity in a commit, from its document and the members that the document leaves out."""
    entity: Any = msgspec.json.decode(document, type=STRUCT_OF[kind])
    entity = msgspec.structs.replace(entity, **hidden, revision=revision)
    return Change(kind, number, msgspec.Raw(_encode(entity)))


def _hidden(struct: Any) -> set[str]:
    return set(struct.hidden)


def build(definitions: Definitions, seq: int, pages: Iterable[list[Change]]) -> View:
    """A view at a commit, made from all entities that exist then."""
    view = view_of_definitions(definitions)
    for changes in pages:
        view.apply_entities(changes)
    view.set_seq(seq)
    return view


def view_of_definitions(definitions: Definitions) -> View:
    """A view with definitions and without entities."""
    view = View(definitions.project)
    view.apply_entities(
        Change(kind, number, msgspec.Raw(_encode(definition)))
        for kind, found in definitions.by_kind.items()
        for number, definition in found.items()
    )
    return view


def _changes(definitions: Definitions, part: Part, path: Path) -> list[Change]:
    of = definitions.types(part.kind).get(part.type)
    revision = len(of.revisions) if of else 0
    import duckdb  # noqa: PLC0415 as in engine.py

    database = duckdb.connect(":memory:")
    source = f"read_parquet({_text(str(path))})"
    there = {row[0] for row in database.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()}
    hidden = sorted(_hidden(STRUCT_OF[part.kind]) & there)
    columns = ", ".join(["id", DOCUMENT, *map(_quote, hidden)])
    changes = [
        _change(part.kind, number, document.encode(), dict(zip(hidden, values, strict=True)), revision)
        for number, document, *values in database.execute(f"SELECT {columns} FROM {source}").fetchall()
    ]
    database.close()
    return changes


def copy(view: View) -> View:
    """A view of the same rows in the order of their ids, with only their documents."""
    state = view.state.copy()
    store = Store()
    for kind in Kind:
        _copy_table(view, store, kind)
    store.checkpoint()
    return View(view.project, state, store)


def _copy_table(view: View, store: Store, kind: Kind) -> None:
    name = sql.table(kind)
    old, new = f"{view.store.name}.{name}", f"{store.name}.{name}"
    cursor = store.engine.cursor(view.store.name)
    (ddl,) = cursor.execute(
        "SELECT sql FROM duckdb_tables() WHERE database_name = ? AND table_name = ?", [view.store.name, kind.value]
    ).fetchall()[0]
    store.writer.execute(ddl)
    definitions = view.definitions.types(kind)
    revisions = {number: of.revisions for number, of in definitions.items()}
    uncompressed = 0
    for page in _pages(view, kind, ["id", "type", PLACE_OF_DOCUMENT], 10 * PAGE):
        documents = view.store.get([place for _, _, place in page])
        numbers, places = [number for number, *_ in page], []
        of = (
            (type_, max(each.seen, len(revisions.get(type_, ()))))
            for (_, type_, _), each in zip(page, documents, strict=True)
        )
        for (type_, seen), some in groupby(zip(of, documents, strict=True), itemgetter(0)):
            bodies = up_to_date((document for _, document in some), revisions.get(type_, ()))
            places += store.documents.add_all(bodies, type_, seen)
        with _readable(cursor, "places", id=arrow.integers(numbers), place=arrow.integers(places)):
            cursor.execute(
                f"INSERT INTO {new} SELECT t.* REPLACE (p.place AS {PLACE_OF_DOCUMENT}) FROM {old} t"
                f" JOIN places p ON p.id = t.id WHERE t.id BETWEEN {numbers[0]} AND {numbers[-1]} ORDER BY t.id"
            )
        uncompressed += len(page)
        if uncompressed >= CHECKPOINT_EVERY:
            store.checkpoint()
            uncompressed = 0
    cursor.close()


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


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
