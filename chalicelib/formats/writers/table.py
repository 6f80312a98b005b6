"""Tables, as CSV, JSON lines or Parquet: media, localizations and states, a row for each. They hold all that rows have.

    media            csv: media.csv (the manifest)   jsonl: media.jsonl          parquet: media/part-….parquet
    localizations    localizations.csv               localizations.jsonl         localizations/part-….parquet
    states           states.csv                      states.jsonl                states/part-….parquet

Geometry is in fractions, as localizations have it: x, y, width, height of a box; x, y, u, v of a line; x, y of a dot;
points of a polygon; `refined`, as JSON, has what refines it (`model.Refined`). Frames count from 0. In CSV and Parquet
each attribute is a column `attributes.<name>`; lists and objects in CSV are JSON.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from chalicelib.core.values.shapes import SHAPES
from chalicelib.formats import manifest
from chalicelib.formats.model import (
    MANIFEST,
    Dataset,
    Group,
    Label,
    Layout,
    Media,
    Section,
    Sink,
    State,
    no_files,
    split_picture_path,
)

PREFIX = "attributes."
_TEXT, _WHOLE, _REAL, _FLAG = "VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN"
COLUMNS: dict[str, dict[str, str]] = {
    "media": {
        "key": _TEXT,
        "name": _TEXT,
        "id": _WHOLE,
        "elemental_id": _TEXT,
        "type": _TEXT,
        "is_video": _FLAG,
        "width": _WHOLE,
        "height": _WHOLE,
        "frames": _WHOLE,
        "fps": _REAL,
        "md5": _TEXT,
        "split": _TEXT,
        "section": _TEXT,
        "path": _TEXT,
    },
    "localizations": {
        "media": _TEXT,
        "id": _WHOLE,
        "elemental_id": _TEXT,
        "type": _TEXT,
        "kind": _TEXT,
        "frame": _WHOLE,
        "x": _REAL,
        "y": _REAL,
        "width": _REAL,
        "height": _REAL,
        "u": _REAL,
        "v": _REAL,
        "points": "DOUBLE[][]",
        "unit": _TEXT,
        "class_name": _TEXT,
        "track": _TEXT,
        "keyed": _FLAG,
        "version": _TEXT,
        "refined": _TEXT,
    },
    "states": {
        "media": _TEXT,
        "key": _TEXT,
        "id": _WHOLE,
        "elemental_id": _TEXT,
        "type": _TEXT,
        "association": _TEXT,
        "frame": _WHOLE,
        "class_name": _TEXT,
        "version": _TEXT,
    },
}
"""The columns of each table beside attributes, and their types in Parquet."""
_TYPES = {"bool": _FLAG, "int": _WHOLE, "float": _REAL, "geopos": "DOUBLE[]", "float_array": "DOUBLE[]"}
"""By dtype of an attribute; all others are text."""
_encode = msgspec.json.Encoder().encode


def attributes_of(dataset: Dataset, table: str) -> Mapping[str, str]:
    """The attributes of a table and their dtypes."""
    return {
        "media": dataset.media_attributes,
        "localizations": dataset.label_attributes,
        "states": dataset.state_attributes,
    }[table]


def rows(group: Group) -> Iterator[tuple[str, Media | Label | State]]:
    """The rows of a group with their tables."""
    if group.is_first:
        yield "media", group.media
        for state in group.states:
            yield "states", state
    for label in group.labels:
        yield "localizations", label


def members(row: Media | Label | State) -> dict[str, Any]:
    """The columns of a row that have a value, without its attributes."""
    found = {
        name: value
        for name, value in msgspec.structs.asdict(row).items()
        if name not in ("attributes", "shape", "refined") and value is not None and value != ""
    }
    if isinstance(row, Label):
        if row.kind == "poly":
            found["points"] = list(zip(row.shape[::2], row.shape[1::2], strict=True))
        else:
            found |= zip(SHAPES[row.kind].members, row.shape, strict=True)
        if row.refined is not None:
            found["refined"] = msgspec.json.encode(row.refined).decode()
    return found


class Csv:
    """CSV (RFC 4180, UTF-8, a header line)."""

    BY_FRAMES = True

    def write(self, dataset: Dataset, groups: Iterable[Group], sink: Sink, first: int) -> int:  # noqa: ARG002
        """Write one part; see `model.Format`."""
        names = {table: [f"{PREFIX}{name}" for name in attributes_of(dataset, table)] for table in COLUMNS}
        for group in groups:
            for table, row in rows(group):
                if isinstance(row, Media):
                    sink.append(MANIFEST, "media", manifest.row(row))
                    continue
                values = members(row) | {f"{PREFIX}{name}": value for name, value in row.attributes.items()}
                line = manifest.line(values.get(name) for name in (*COLUMNS[table], *names[table]))
                sink.append(f"{table}.csv", "rows", line)
        return 0

    def layout(self, dataset: Dataset, path: str) -> Layout:
        """A header, and the rows."""
        table = path.removesuffix(".csv")
        attributes = (f"{PREFIX}{name}" for name in attributes_of(dataset, table))
        return manifest.line((*COLUMNS[table], *attributes)), Section("rows")

    def always(self, dataset: Dataset) -> list[str]:  # noqa: ARG002 the same for all
        """The three tables."""
        return [f"{table}.csv" for table in COLUMNS]

    picture_path = staticmethod(split_picture_path)


class JsonLines(Csv):
    """JSON lines: an object a line, with `attributes` as an object."""

    def write(self, dataset: Dataset, groups: Iterable[Group], sink: Sink, first: int) -> int:  # noqa: ARG002
        """Write one part; see `model.Format`."""
        for group in groups:
            manifest.write(group, sink)
            for table, row in rows(group):
                sink.append(f"{table}.jsonl", "rows", _encode(members(row) | {"attributes": row.attributes}) + b"\n")
        return 0

    def layout(self, dataset: Dataset, path: str) -> Layout:  # noqa: ARG002 the same for all
        """The rows."""
        return (Section("rows"),)

    def always(self, dataset: Dataset) -> list[str]:  # noqa: ARG002 the same for all
        """The three tables."""
        return [f"{table}.jsonl" for table in COLUMNS]


class Parquet(Csv):
    """Parquet (ZSTD): a file for each table and part."""

    def write(self, dataset: Dataset, groups: Iterable[Group], sink: Sink, first: int) -> int:
        """Write one part; see `model.Format`."""
        with tempfile.TemporaryDirectory(prefix="limn-") as place:
            writers = {table: ParquetWriter(table, attributes_of(dataset, table), Path(place)) for table in COLUMNS}
            for group in groups:
                manifest.write(group, sink)
                for table, row in rows(group):
                    writers[table].add(row)
            for table, writer in writers.items():
                if body := writer.finish():
                    sink.add(f"{table}/part-{first:015d}.parquet", body, stored=True)
        return 0

    def always(self, dataset: Dataset) -> list[str]:
        """None: each part has files of its own."""
        return no_files(dataset)


class ParquetWriter:
    """Rows of one table, collected on the disk, as one Parquet file."""

    def __init__(self, table: str, attributes: Mapping[str, str], place: Path) -> None:
        """Begin a file.

        Args:
            table: its name.
            attributes: the dtypes of its attributes.
            place: a folder for temporary files.
        """
        self._columns = {**COLUMNS[table], **{f"{PREFIX}{n}": _TYPES.get(d, _TEXT) for n, d in attributes.items()}}
        self._texts = {name for name, dtype in attributes.items() if dtype not in _TYPES}
        self._lines = place / f"{table}.jsonl"
        self._made = place / f"{table}.parquet"
        self._file = self._lines.open("wb")
        self._count = 0

    def add(self, row: Media | Label | State) -> None:
        """Add a row."""
        values = members(row)
        for name, value in row.attributes.items():
            is_text = name in self._texts and value is not None
            values[f"{PREFIX}{name}"] = manifest.as_text(value) if is_text else value
        self._file.write(_encode(values) + b"\n")
        self._count += 1

    def finish(self) -> bytes:
        """The file; empty where there are no rows."""
        self._file.close()
        if not self._count:
            return b""
        import duckdb  # noqa: PLC0415 only this format needs it

        columns = _encode(self._columns).decode()
        with duckdb.connect(config={"threads": 1}) as database:
            database.execute(
                f"COPY (SELECT * FROM read_json('{self._lines}', format='newline_delimited', columns={_map(columns)}, "  # noqa: S608
                f"maximum_object_size=67108864)) TO '{self._made}' (FORMAT parquet, COMPRESSION zstd)"
            )
        return self._made.read_bytes()


def _map(columns: str) -> str:
    """JSON of names and types as a struct of DuckDB."""
    quoted = (f"{_literal(name)}: {_literal(kind)}" for name, kind in msgspec.json.decode(columns).items())
    return "{" + ", ".join(quoted) + "}"


def _literal(word: str) -> str:
    return "'" + word.replace("'", "''") + "'"


def read_parquet(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a Parquet file, a thousand in memory at once."""
    import duckdb  # noqa: PLC0415 only this format needs it

    with duckdb.connect(config={"threads": 1}) as database:
        found = database.execute("SELECT * FROM read_parquet(?)", [str(path)])
        names = [column[0] for column in found.description or ()]
        while some := found.fetchmany(1000):
            for values in some:
                yield dict(zip(names, values, strict=True))


def distinct(path: Path, columns: Sequence[str], where: str = "") -> list[tuple[Any, ...]]:
    """The different values of some columns together; those that a file does not have are None.

    Args:
        path: a Parquet file.
        columns: their names.
        where: a column that must equal a value, as `column=value`; all rows if empty.
    """
    import duckdb  # noqa: PLC0415 only this format needs it

    column, _, value = where.partition("=")
    with duckdb.connect(config={"threads": 1}) as database:
        described = database.execute("DESCRIBE SELECT * FROM read_parquet(?)", [str(path)]).fetchall()
        known = {row[0] for row in described}
        names = [identifier(name) if name in known else "NULL" for name in columns]
        text = f"SELECT DISTINCT {', '.join(names)} FROM read_parquet(?)"  # noqa: S608 quoted names
        if where:
            text, values = f"{text} WHERE {identifier(column)} = ?", [str(path), value]
        else:
            values = [str(path)]
        return list(database.execute(text, values).fetchall())


def identifier(name: str) -> str:
    """A name quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'


def row_of(table: str, values: Mapping[str, Any]) -> Media | Label | State:
    """The row of a line of JSON lines or Parquet: the inverse of `members` with attributes.

    Raises:
        msgspec.ValidationError: a value has the wrong type.
    """
    found = {name: value for name, value in values.items() if value is not None}
    attributes = dict(found.pop("attributes", {}))
    for name in [name for name in found if name.startswith(PREFIX)]:
        attributes[name.removeprefix(PREFIX)] = found.pop(name)
    found["attributes"] = attributes
    if table == "localizations":
        if found.get("kind") == "poly":
            found["shape"] = [number for point in found.pop("points", ()) for number in point]
        else:
            found["shape"] = [found.pop(name, 0.0) for name in members_of_kind(found.get("kind"))]
        if isinstance(found.get("refined"), str):
            found["refined"] = msgspec.json.decode(found["refined"])
        found = {name: value for name, value in found.items() if name not in COLUMNS[table] or name in _LABEL}
    row: Media | Label | State = msgspec.convert(found, _STRUCTS[table])
    return row


def members_of_kind(kind: Any) -> tuple[str, ...]:
    """The columns of the numbers of a shape; a polygon has `points`."""
    return SHAPES[kind].members if kind in SHAPES and kind != "poly" else ()


_STRUCTS: dict[str, Any] = {"media": Media, "localizations": Label, "states": State}
_LABEL = frozenset(Label.__struct_fields__)
