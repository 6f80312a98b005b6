"""Lists of the service as JSON lines, CSV or Parquet, page by page: memory does not grow with the answer.

CSV and Parquet have a column for each member and each attribute (`attributes.Depth`). Which there are is known at the
end only, so the rows are kept in a temporary file first.
"""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from .client import Client
from .failures import USAGE, Failure

KINDS = {"media": "Medias", "localizations": "Localizations", "states": "States", "leaves": "Leaves", "files": "Files"}
FORMATS = ("jsonl", "csv", "parquet")
PAGE = 5_000
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
Row = dict[str, Any]


def rows(
    client: Client,
    kind: str,
    project: int,
    *,
    query: Mapping[str, Any],
    body: Any = None,
    limit: int | None = None,
    page: int = PAGE,
) -> Iterator[Row]:
    """The entities that match, in the order of the service.

    Each page begins after the last id of the one before, so that rows written meanwhile shift nothing; sorted lists are
    paged by position.
    """
    path = f"{KINDS[kind]}/{project}"
    by_position = "sort_by" in query or (isinstance(body, dict) and "float_array" in body)
    after: Any = query.get("after")
    count = 0
    while limit is None or count < limit:
        size = page if limit is None else min(page, limit - count)
        window = {"start": count, "stop": count + size} if by_position else {"after": after, "stop": size}
        found = 0
        for line in client.lines(path, body, {**query, **window}):
            row: Row = json.loads(line)
            found += 1
            after = row.get("id", after)
            yield row
        count += found
        if found < size:
            return


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


def write(found: Iterator[Row], output: Path | None, format_: str, standard: TextIO) -> int:
    """Write rows to a file, or to standard output; returns how many. A file appears whole or not at all."""
    if output is None:
        return _write_csv(found, standard) if format_ == "csv" else _write_lines(found, standard)
    part = output.with_name(f".{output.name}.part")
    try:
        if format_ == "parquet":
            count = _write_parquet(found, part)
        else:
            with part.open("w", encoding="utf-8", newline="") as file:
                count = _write_csv(found, file) if format_ == "csv" else _write_lines(found, file)
        part.replace(output)
    finally:
        with suppress(OSError):
            part.unlink()
    return count


def flat(row: Row) -> Row:
    """A row whose attributes are members of their own: `attributes.Depth`."""
    attributes = row.get("attributes")
    kept = {name: value for name, value in row.items() if name != "attributes" or not isinstance(value, dict)}
    if isinstance(attributes, dict):
        kept.update({f"attributes.{name}": value for name, value in attributes.items()})
    return kept


def _write_lines(found: Iterator[Row], file: TextIO) -> int:
    count = 0
    for row in found:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")
        count += 1
    return count


def _write_csv(found: Iterator[Row], file: TextIO) -> int:
    with tempfile.TemporaryFile() as spool:
        count, columns = _spool(found, spool)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(map(_cell, columns))
        for row in _spooled(spool):
            writer.writerow(_cell(row.get(name)) for name in columns)
    return count


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):  # a spreadsheet would run it
        return f"'{value}" if value.startswith(_FORMULA) else value
    return json.dumps(value, ensure_ascii=False)


def _write_parquet(found: Iterator[Row], part: Path) -> int:
    import duckdb

    with tempfile.NamedTemporaryFile(suffix=".jsonl") as spool:
        count, columns = _spool(found, spool)
        spool.flush()
        place = part.as_posix().replace("'", "''")
        if not columns:
            raise Failure("Nothing matches, and Parquet needs columns; nothing was written.")
        # Parquet's readers compare the names of columns without regard to case.
        names: dict[str, str] = {}
        for name in columns:
            unique, number = name, 2
            while unique.lower() in names:
                unique, number = f"{name}_{number}", number + 1
            names[unique.lower()] = unique
        chosen = ", ".join(
            f"(json->>{_quoted(_pointer(name), quote)})::{kind} AS {_quoted(unique, double)}"
            for (name, kind), unique in zip(columns.items(), names.values(), strict=True)
        )
        with duckdb.connect(config={"threads": 2}) as engine:
            engine.execute("SET enable_progress_bar = false")
            source = f"read_json_objects({_quoted(spool.name, quote)}, format = 'newline_delimited')"
            engine.execute(f"COPY (SELECT {chosen} FROM {source}) TO '{place}' (FORMAT parquet, COMPRESSION zstd)")  # noqa: S608 quoted
    return count


quote, double = "'", '"'


def _quoted(text: str, sign: str) -> str:
    return sign + text.replace(sign, sign * 2) + sign


def _pointer(name: str) -> str:
    """The JSON pointer (RFC 6901) of a member."""
    return "/" + name.replace("~", "~0").replace("/", "~1")


def _spool(found: Iterator[Row], file: Any) -> tuple[int, dict[str, str]]:
    """Write flat rows to a file; returns how many, and the SQL type of each column in the order of first appearance."""
    columns: dict[str, str] = {}
    count = 0
    for row in found:
        count += 1
        flattened = flat(row)
        for name, value in flattened.items():
            columns[name] = _wider(columns.get(name, ""), _type(name, value))
        file.write(json.dumps(flattened, ensure_ascii=False).encode() + b"\n")
    return count, {name: kind or "VARCHAR" for name, kind in columns.items()}


def _spooled(file: BinaryIO) -> Iterator[Row]:
    file.seek(0)
    return map(json.loads, file)


def _type(name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "BOOLEAN"
    if isinstance(value, int):
        return "BIGINT"
    if isinstance(value, float):
        return "DOUBLE"
    return "TIMESTAMPTZ" if isinstance(value, str) and name.endswith("_datetime") and "." not in name else "VARCHAR"


def _wider(one: str, other: str) -> str:
    """The type that holds the values of both."""
    if one == other or not other:
        return one
    if not one:
        return other
    return "DOUBLE" if {one, other} == {"BIGINT", "DOUBLE"} else "VARCHAR"
