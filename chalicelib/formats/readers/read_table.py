"""Read tables: CSV, JSON lines and Parquet, with the columns of `table.COLUMNS` and `attributes.<name>`.

    localizations.csv    states.csv    media.csv      or .jsonl, or folders localizations/ and states/ of Parquet files

Archives of other programs need a table of localizations only: `media` is the name of the media, `kind` may be left out
where the columns of a box are filled, and `unit` says `pixel` where numbers are not fractions.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from chalicelib.errors import BadInput
from chalicelib.formats.json_stream import json_value, members_of
from chalicelib.formats.model import Archive, Label, Media, State
from chalicelib.formats.readers.reading import (
    LONGEST_LINE,
    MediaTable,
    Placed,
    Rows,
    csv_lines,
    matching,
    number,
    refusal,
    text_lines,
    whole,
)
from chalicelib.formats.writers import table as tables

if TYPE_CHECKING:
    import duckdb

LARGEST_PARQUET = 2 * 1024**3
"""Bytes of one Parquet file, which is copied to the disk."""
_MEMORY = "512MB"
_ROWS_PER_FETCH = 16
"""Rows in memory at once, each of up to `LONGEST_LINE` bytes: a file of a few kilobytes may repeat one value."""
_LINES = Callable[[Archive, str], Iterator[tuple[str, Mapping[str, Any]]]]
_REQUIRED = {"localizations": ("media",), "states": ("media", "key")}


def read_csv(archive: Archive) -> Rows:
    """The rows of CSV files. Raises BadInput where the archive has none."""
    return _read(archive, r"csv", _csv_rows)


def read_jsonl(archive: Archive) -> Rows:
    """The rows of files of JSON lines. Raises BadInput where the archive has none."""
    return _read(archive, r"(jsonl|ndjson)", _json_rows)


def read_parquet(archive: Archive) -> Rows:
    """The rows of Parquet files. Raises BadInput where the archive has none."""
    return _read(archive, r"parquet", _parquet_rows)


def _read(archive: Archive, suffix: str, lines: _LINES) -> Rows:
    found = {
        name: matching(archive, rf"(.*/)?{name}(/[^/]+)?\.{suffix}") for name in ("media", "states", "localizations")
    }
    media = MediaTable(archive)
    if not found["localizations"] and not found["states"] and not media.is_ours:
        raise BadInput(f"The archive has no localizations.{suffix}.")
    pictures = set(archive.names())
    if not media.is_ours:
        for path in found["media"]:
            for place, values in lines(archive, path):
                yield from _row(place, "media", values, media, pictures)
    yield from media.rest()
    for name in ("states", "localizations"):  # a track comes before its labels
        for path in found[name]:
            for place, values in lines(archive, path):
                yield from _row(place, name, values, media, pictures)


def _row(place: str, table: str, values: Mapping[str, Any], media: MediaTable, pictures: set[str]) -> Rows:
    try:
        for column in _REQUIRED.get(table, ()):
            if values.get(column) in (None, ""):
                raise ValueError(f"{column} is missing")  # noqa: TRY301 one error for all that is wrong with a row
        row = tables.row_of(table, _completed(table, values))
    except (ValueError, KeyError, TypeError, OverflowError, msgspec.ValidationError) as error:
        yield refusal(place, str(error)[:300])
        return
    if isinstance(row, Media):
        path = row.path if row.path in pictures else ""
        members = {name: getattr(row, name) for name in row.__struct_fields__ if name not in ("key", "path")}
        yield from media.new(place, row.key, path=path, **members)
        return
    if isinstance(row, Label | State):
        yield from media.new(place, row.media)
    yield Placed(place, row)


def _completed(table: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a row, with the kind that its columns imply."""
    found = dict(values)
    unknown = [name for name in found if name not in tables.COLUMNS[table] and not name.startswith(tables.PREFIX)]
    unknown = [name for name in unknown if name != "attributes"]
    if unknown:
        raise ValueError(f"the column {unknown[0]!r} is unknown; attributes are columns {tables.PREFIX}<name>")
    if table == "localizations":
        if found.get("kind") in (None, ""):
            has = {name for name, value in found.items() if value is not None}
            if "points" in has:
                found["kind"] = "poly"
            else:
                found["kind"] = "box" if "width" in has else "line" if "u" in has else "dot"
        missing = [name for name in (tables.members_of_kind(found["kind"]) or ("points",)) if found.get(name) is None]
        if missing:
            raise ValueError(f"{missing[0]} is missing")
    return found


# --- lines -----------------------------------------------------------------------------------------------------------


def _csv_rows(archive: Archive, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    kinds = next((kinds for name, kinds in tables.COLUMNS.items() if name in path.rpartition("/")[2]), {})
    for place, line in csv_lines(archive, path):
        try:
            yield place, {name: _typed(text, kinds.get(name, "VARCHAR")) for name, text in line.items() if text}
        except (ValueError, OverflowError) as error:
            yield place, _Refused(str(error))


class _Refused(dict[str, Any]):
    """A line that cannot be read; its use raises ValueError."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self._reason = reason

    def get(self, *_: Any) -> Any:
        raise ValueError(self._reason)


def _typed(text: str, kind: str) -> Any:
    """The value of a column in CSV."""
    if kind == "BIGINT":
        return whole(text)
    if kind == "DOUBLE":
        return number(text)
    if kind == "BOOLEAN":
        if text.lower() not in ("true", "false"):
            raise ValueError(f"{text[:20]!r} is neither true nor false")
        return text.lower() == "true"
    return json_value(text) if kind.endswith("[]") else text


def _json_rows(archive: Archive, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for place, line in text_lines(archive, path):
        try:
            yield place, members_of(json_value(line))
        except ValueError as error:
            yield place, _Refused(str(error))


def _parquet_rows(archive: Archive, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    import duckdb  # noqa: PLC0415 only this format needs it

    if archive.size(path) > LARGEST_PARQUET:
        raise BadInput(f"{path} has more than {LARGEST_PARQUET} bytes.")
    with tempfile.TemporaryDirectory(prefix="limn-") as folder:
        place = Path(folder) / "rows.parquet"
        with archive.open(path) as source, place.open("wb") as target:
            shutil.copyfileobj(source, target, 1024 * 1024)
        with duckdb.connect(config={"threads": 1, "memory_limit": _MEMORY, "temp_directory": folder}) as database:
            database.execute("SET allowed_directories = [?]", [folder])
            database.execute("SET enable_external_access = false")
            try:
                names, size = _columns(database, place)
                found = database.execute(f"SELECT *, {size} FROM read_parquet(?)", [str(place)])  # noqa: S608 quoted
                index = 0
                while some := found.fetchmany(_ROWS_PER_FETCH):
                    for *values, _ in some:
                        yield f"{path} row {index}", _present(dict(zip(names, values, strict=True)))
                        index += 1
            except (duckdb.Error, RuntimeError, UnicodeError) as error:  # a RuntimeError is a name that is no UTF-8
                raise BadInput(f"{path} is not Parquet that can be read: {str(error)[:200]}") from None


def _columns(database: duckdb.DuckDBPyConnection, place: Path) -> tuple[list[str], str]:
    """The columns of a Parquet file, and SQL that fails for a row of more than `LONGEST_LINE` bytes."""
    found = database.read_parquet(str(place))
    sizes = [_size(tables.identifier(name), dtype) for name, dtype in zip(found.columns, found.types, strict=True)]
    total = " + ".join(f"coalesce({size}, 0)" for size in sizes)
    return (
        found.columns,
        f"CASE WHEN {total} > {LONGEST_LINE} THEN error('a row has more than {LONGEST_LINE} bytes') END",
    )


def _size(value: str, dtype: Any, depth: int = 0) -> str:
    """SQL of about how many bytes a value has, in the type that a column of Parquet has."""
    match dtype.id:
        case "varchar":
            return f"strlen({value})"
        case "blob" | "bit":
            return f"octet_length({value})"
        case "list" | "array":
            [child, *_] = (each for name, each in dtype.children if name == "child")
            each = f"x{depth}"
            return f"list_sum(list_transform({value}, lambda {each}: coalesce({_size(each, child, depth + 1)}, 0)))"
        case "struct":
            members = [
                _size(f"struct_extract({value}, '{name.replace(chr(39), chr(39) * 2)}')", child, depth)
                for name, child in dtype.children
            ]
            return " + ".join(f"coalesce({member}, 0)" for member in members)
        case "map":
            of = dict(dtype.children)
            x, y = f"x{depth}", f"y{depth}"
            keys = f"list_sum(list_transform(map_keys({value}), lambda {x}: {_size(x, of['key'], depth + 1)}))"
            values = f"list_transform(map_values({value}), lambda {y}: coalesce({_size(y, of['value'], depth + 1)}, 0))"
            return f"coalesce({keys}, 0) + coalesce(list_sum({values}), 0)"
        case _:
            return "16"


def _present(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
