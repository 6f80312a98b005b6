"""Lists of the service as JSON lines, CSV or Parquet, page by page: memory does not grow with the answer.

JSON lines are written as the service sends them. CSV and Parquet have a column for each member and each attribute
(`attributes.Depth`). Which there are is known at the end only, so the lines are kept in a temporary file, which DuckDB
reads.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

from ..client import Client
from ..failures import USAGE, Failure
from ..projects import windows

KINDS = {"media": "media", "localizations": "localization", "states": "state", "leaves": "leaf", "files": "file"}
_SQL_TYPES = {"bool": "BOOLEAN", "int": "BIGINT", "float": "DOUBLE"}
FORMATS = ("jsonl", "csv", "parquet")
PAGE = 5_000
DOUBLE = '"'
_FORMULA = "=+-@\t\r"
_INTEGERS = frozenset({"BIGINT", "UBIGINT", "HUGEINT"})


def pages(
    client: Client,
    kind: str,
    project: int,
    *,
    query: Mapping[str, Any],
    body: Any = None,
    limit: int | None = None,
    page: int = PAGE,
) -> Iterator[list[bytes]]:
    """The entities that match as JSON lines, page by page, in the order of the service.

    Each page begins after the last id of the one before, so that rows written meanwhile shift nothing; sorted lists are
    paged by position.
    """
    name = f"get_{KINDS[kind]}_list"
    asked = windows(query, page, limit, by_position=isinstance(body, dict) and "float_array" in body)
    rows: list[Any] | None = None
    while True:
        try:
            window = {**asked.send(cast("list[Any]", rows)), "format": "jsonl"}
        except StopIteration:
            return
        by_ids = (getattr(client, f"{name}_by_id"), (body,)) if body is not None else (getattr(client, name), ())
        lines = by_ids[0](project, *by_ids[1], **window).splitlines()
        rows = [*lines[:-1], *(json.loads(line) for line in lines[-1:])]
        if lines:
            yield lines


def count(client: Client, kind: str, project: int, *, query: Mapping[str, Any], body: Any = None) -> int:
    """How many entities match."""
    name, asked = f"get_{KINDS[kind]}_list", {**query, "operation": "count"}
    if body is not None:
        return int(getattr(client, f"{name}_by_id")(project, body, **asked))
    return int(getattr(client, name)(project, **asked))


def format_of(output: Path | None, given: str | None) -> str:
    """The format that was named, else that of the suffix of the file, else JSON lines.

    Raises:
        Failure: it is unknown, or Parquet without a file.
    """
    chosen = given or (output.suffix.lstrip(".").lower() if output and output.suffix else "jsonl")
    if chosen not in FORMATS:
        raise Failure(f"The format {chosen!r} is unknown. Give --format {', '.join(FORMATS)}.", USAGE)
    if chosen == "parquet" and output is None:
        raise Failure("Parquet needs a file: give --output.", USAGE)
    return chosen


def declared(client: Client, kind: str, project: int, types: Any = None) -> dict[str, str]:
    """The attributes of the types of a kind, or of one of them, with their SQL types: columns also without a value."""
    found: dict[str, str] = {}
    for each in getattr(client, f"get_{KINDS[kind]}_type_list")(project):
        if types is None or str(each["id"]) in str(types).split(","):
            for attribute in each["attribute_types"]:
                found.setdefault(attribute["name"], _SQL_TYPES.get(attribute["dtype"], "VARCHAR"))
    return found


def write(
    found: Iterator[list[bytes]],
    output: Path | None,
    format_: str,
    standard: BinaryIO,
    attributes: Mapping[str, str] | None = None,
) -> int:
    """Write rows to a file, or to standard output; returns how many. A file appears whole or not at all.

    Args:
        found: the rows, page by page.
        output: the file, or None.
        format_: one of FORMATS.
        standard: standard output.
        attributes: those that have a column whether a row has a value or not, with their SQL types.
    """
    if output is None and format_ == "jsonl":
        return _write_lines(found, standard)
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder, "part") if output is None else output.with_name(f".{output.name}.part")
        try:
            count = _write_file(found, part, format_, Path(folder), attributes or {})
            if output is not None:
                part.replace(output)
            else:
                with part.open("rb") as file:
                    shutil.copyfileobj(file, standard)
        finally:
            with suppress(OSError):
                part.unlink()
    return count


def _write_file(
    found: Iterator[list[bytes]], part: Path, format_: str, folder: Path, attributes: Mapping[str, str]
) -> int:
    if format_ == "jsonl":
        with part.open("wb") as file:
            return _write_lines(found, file)
    count, spools = 0, list[Path]()
    for lines in filter(None, found):
        spools.append(folder / f"{len(spools)}.jsonl")
        with spools[-1].open("wb") as file:
            count += _write_lines(iter([lines]), file)
    _convert(spools, part, format_, attributes)
    return count


def _write_lines(found: Iterator[list[bytes]], file: BinaryIO) -> int:
    count = 0
    for lines in found:
        file.writelines(line + b"\n" for line in lines)
        count += len(lines)
    return count


# --- tables ----------------------------------------------------------------------------------------------------------


def _convert(spools: Sequence[Path], part: Path, format_: str, attributes: Mapping[str, str]) -> None:
    """Write JSON lines as a table, in their order, which CSV has with one thread only."""
    import duckdb

    with duckdb.connect(config={"threads": 1}) as engine:
        engine.execute("SET enable_progress_bar = false")
        members: dict[str, Any] = {}
        for spool in spools:  # one after the other, since DuckDB keeps in memory what it finds the structure of
            source = f"read_json_objects({_quoted(str(spool))}, format = 'newline_delimited')"
            ((found,),) = engine.execute(f"SELECT json_group_structure(json)::VARCHAR FROM {source}").fetchall()  # noqa: S608 quoted
            members = _joined(members, json.loads(found))
        if not members:
            if format_ == "parquet":
                raise Failure("Nothing matches, and Parquet needs columns; nothing was written.")
            part.write_bytes(b"")
            return
        columns = _columns(members, attributes)
        names = [_disarmed(name) for name in columns] if format_ == "csv" else _unique(columns)
        cell = _csv_cell if format_ == "csv" else _typed
        chosen = ", ".join(
            f"{cell(place, kind)} AS {_quoted(name, DOUBLE)}"
            for name, (place, kind) in zip(names, columns.values(), strict=True)
        )
        read = ", ".join(f"{_quoted(name)}: '{_read_as(shape)}'" for name, shape in members.items())
        how = "FORMAT csv, HEADER" if format_ == "csv" else "FORMAT parquet, COMPRESSION zstd"
        files = ", ".join(_quoted(str(spool)) for spool in spools)
        rows = f"read_json([{files}], format = 'newline_delimited', columns = {{{read}}})"
        engine.execute(f"COPY (SELECT {chosen} FROM {rows}) TO {_quoted(part.as_posix())} ({how})")  # noqa: S608 quoted


def _joined(one: Any, other: Any) -> Any:
    """The structure of rows of which some have one structure and some another, each as DuckDB tells it."""
    if isinstance(one, dict) and isinstance(other, dict):
        return {name: _joined(one.get(name, "NULL"), other.get(name, "NULL")) for name in {**one, **other}}
    if other in (one, "NULL"):
        return one
    if one == "NULL":
        return other
    kinds = {_type("", one), _type("", other)}
    return kinds.pop() if len(kinds) == 1 else "DOUBLE" if kinds == {"BIGINT", "DOUBLE"} else "VARCHAR"


def _read_as(shape: Any) -> str:
    return "MAP(VARCHAR, JSON)" if isinstance(shape, dict) else "JSON"


def _columns(members: Mapping[str, Any], attributes: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """By name, in the order of first appearance, the SQL of the JSON value of each column, and its SQL type.

    Args:
        members: the structure of the rows as DuckDB tells it: member → JSON type, or a mapping for an object.
        attributes: those that are declared, with their SQL types; they come after those that have values.
    """
    found: dict[str, tuple[str, str]] = {}
    for name, shape in members.items():
        place = _quoted(name, DOUBLE)
        if name == "attributes" and isinstance(shape, dict):
            for each, kind in shape.items():
                found[f"attributes.{each}"] = (f"{place}[{_quoted(each)}]", _type("", kind))
            for each, kind in attributes.items():
                found.setdefault(f"attributes.{each}", (f"{place}[{_quoted(each)}]", kind))
        else:
            found[name] = (f"{place}::JSON", _type(name, shape))
    return found


def _type(name: str, shape: Any) -> str:
    """The SQL type that holds all values of a column, given their JSON type."""
    if not isinstance(shape, str):  # a list or an object, which stays JSON
        return "VARCHAR"
    if shape in _INTEGERS:
        return "BIGINT"
    if shape in ("DOUBLE", "BOOLEAN"):
        return shape
    return "TIMESTAMPTZ" if shape == "VARCHAR" and name.endswith("_datetime") else "VARCHAR"


def _typed(place: str, kind: str) -> str:
    return f"({place}->>'$')::{kind}"


def _csv_cell(place: str, kind: str) -> str:
    """The text of a value: nothing for null, else as in JSON; a text that a spreadsheet would run begins with `'`."""
    text = f"({place}->>'$')"
    if kind not in ("VARCHAR", "TIMESTAMPTZ"):
        return text
    starts = f"left({text}, 1) IN ({', '.join(map(_quoted, _FORMULA))})"
    return f"CASE WHEN {starts} AND json_type({place}) = 'VARCHAR' THEN '''' || {text} ELSE {text} END"


def _disarmed(name: str) -> str:
    return f"'{name}" if name.startswith(tuple(_FORMULA)) else name


def _unique(columns: Mapping[str, Any]) -> list[str]:
    """Names of columns that differ without regard to case, which Parquet's readers ignore."""
    found: dict[str, str] = {}
    for name in columns:
        unique, number = name, 2
        while unique.lower() in found:
            unique, number = f"{name}_{number}", number + 1
        found[unique.lower()] = unique
    return list(found.values())


def _quoted(text: str, sign: str = "'") -> str:
    return sign + text.replace(sign, sign * 2) + sign
