"""The reader of telemetry: the format is known by the content, and read line by line.

CSV is in UTF-8 with a line of names; its times are seconds since the first frame, or instants in ISO 8601.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, BinaryIO

from chalicelib.core.telemetry.table import (
    MOST_CELLS,
    MOST_COLUMNS,
    MOST_ROWS,
    Row,
    Table,
    in_order,
    instant_seconds,
    too_many_cells,
    too_many_rows,
)
from chalicelib.core.text.names import nearest
from chalicelib.errors import BadInput

if TYPE_CHECKING:
    from _csv import Reader

LONGEST_LINE = 1024 * 1024
"""Bytes of a line."""
_HEAD = 4096
_KEY = b"\x06\x0e\x2b\x34"
"""How keys of KLV begin; packets of MPEG-TS begin with G."""
_SENTENCE = re.compile(rb"[$!][A-Z][A-Z0-9]{2,9},")


def read(source: BinaryIO, time: str = "time", wanted: Collection[str] | None = None) -> Table:
    """The table of a file. Of rows with the same time, the last counts.

    Args:
        source: the CSV, NMEA 0183, GPX or KLV (alone or in MPEG-TS), from its beginning.
        time: the name of the column of times; of the others it is `time`.
        wanted: the columns to keep; all by default. Memory grows with what is kept, not with the file.

    Raises:
        BadInput: it is malformed, lacks the column of times, mixes seconds and instants, or has too many rows or
            columns; the message has the number of the line.
    """
    head = source.read(_HEAD)
    source.seek(0)
    if head.startswith(_KEY) or all(head[at : at + 1] == b"G" for at in (0, 188, 376)):
        from chalicelib.core.telemetry import klv  # noqa: PLC0415 kept off the API's cold start

        return klv.read(source, wanted)
    if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<":
        from chalicelib.core.telemetry import gpx  # noqa: PLC0415 kept off the API's cold start

        return gpx.read(source, wanted)
    if _SENTENCE.search(head.split(b"\n", 1)[0] if head.strip() else b"") or _SENTENCE.match(head.lstrip()):
        from chalicelib.core.telemetry import nmea  # noqa: PLC0415 kept off the API's cold start

        return nmea.read(_lines(source, "latin-1"), wanted)
    return _read_csv(_lines(source, "utf-8"), time, wanted)


def _lines(source: BinaryIO, encoding: str) -> Iterator[str]:
    """The lines of a file with their ends. Raises BadInput with the number of one that is too long or no text."""
    for number, line in enumerate(iter(lambda: source.readline(LONGEST_LINE + 1), b""), 1):
        if len(line) > LONGEST_LINE:
            raise BadInput(f"file: line {number} of the telemetry has more than {LONGEST_LINE} bytes.")
        try:
            yield (line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line).decode(encoding)
        except UnicodeDecodeError as error:
            raise BadInput(f"file: line {number} of the telemetry is not UTF-8: {error.reason}.") from None


def _read_csv(source: Iterator[str], time: str, wanted: Collection[str] | None) -> Table:
    lines = csv.reader(source, strict=True)
    try:
        columns = tuple(name.strip() for name in next(lines, ()))
        if len(columns) > MOST_COLUMNS:
            raise BadInput(f"file: telemetry may have at most {MOST_COLUMNS} columns, and this has {len(columns)}.")
        if time not in columns:
            raise BadInput(f"time: the telemetry has no column {time!r}.{nearest(time, columns)}")
        kept = tuple(place for place, name in enumerate(columns) if wanted is None or name in wanted)
        rows, has_instants = _read_rows(lines, columns, columns.index(time), kept)
    except csv.Error as error:
        raise BadInput(f"file: line {lines.line_num} of the telemetry is not CSV: {error}.") from None
    return Table(columns, kept, in_order(rows), has_instants)


def _read_rows(lines: Reader, columns: tuple[str, ...], place: int, kept: tuple[int, ...]) -> tuple[list[Row], bool]:
    """The times and kept cells of rows, and whether the times are instants."""
    found: list[Row] = []
    moment = _seconds
    for count, row in enumerate(lines, 1):
        if count > MOST_ROWS:
            raise too_many_rows()
        if count * len(kept) > MOST_CELLS:
            raise too_many_cells()
        if not row:
            continue
        if not found and len(row) == len(columns) and _seconds(row[place]) is None:
            moment = _instant
        at = moment(row[place]) if len(row) == len(columns) else None
        if at is None:
            rule = "an ISO 8601 instant" if moment is _instant else "a number of seconds"
            raise BadInput(
                f"file: line {lines.line_num} of the telemetry must have {len(columns)} cells, "
                f"and {columns[place]!r} be {rule}."
            )
        found.append((at, tuple(row[each].strip() for each in kept)))
    return found, moment is _instant


def read_text(text: str | bytes, time: str = "time", wanted: Collection[str] | None = None) -> Table:
    """The table of a file that is in memory; otherwise as `read`."""
    return read(io.BytesIO(text.encode() if isinstance(text, str) else text), time, wanted)


def _instant(text: str) -> float | None:
    return instant_seconds(text.strip())


def _seconds(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
