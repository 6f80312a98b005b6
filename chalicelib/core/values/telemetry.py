"""Telemetry: a table of times and values, and the value at a time.

The file is CSV in UTF-8 with a line of names. Times are seconds since the first frame, or instants in ISO 8601.
"""

from __future__ import annotations

import csv
import io
import math
from array import array
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from typing import Literal

from chalicelib.core.text.dates import parse_date
from chalicelib.core.text.names import nearest
from chalicelib.errors import BadInput

MOST_ROWS = 2_000_000
MOST_COLUMNS = 1_000
Join = Literal["preceding", "nearest"]


@dataclass
class Series:
    """The values of some columns at ascending times; rows without a value in one of them are left out."""

    times: array[float] = field(default_factory=lambda: array("d"))
    values: list[tuple[str, ...]] = field(default_factory=list)

    def at(self, time: float, join: Join, tolerance: float = math.inf) -> tuple[str, ...] | None:
        """The value that precedes a time or is at it, or the nearest; None if it is further than the tolerance."""
        place = bisect_right(self.times, time) - 1
        if join == "nearest" and place + 1 < len(self.times) and (place < 0 or self._is_next_nearer(place, time)):
            place = bisect_right(self.times, self.times[place + 1]) - 1
        if place < 0 or abs(time - self.times[place]) > tolerance:
            return None
        return self.values[place]

    def _is_next_nearer(self, place: int, time: float) -> bool:
        return self.times[place + 1] - time < time - self.times[place]


@dataclass(frozen=True)
class Table:
    """A file of telemetry: its columns, rows in order of time, and whether the times are instants.

    `kept` are the places of the columns that rows hold, in this order.
    """

    columns: tuple[str, ...]
    kept: tuple[int, ...]
    rows: list[tuple[float, tuple[str, ...]]]
    has_instants: bool

    def series(self, columns: Sequence[str]) -> Series:
        """The series of some columns. Raises BadInput for an unknown one."""
        for name in columns:
            if name not in self.columns:
                raise BadInput(f"columns: the telemetry has no column {name!r}.{nearest(name, self.columns)}")
        places = [self.kept.index(self.columns.index(name)) for name in columns]
        found = Series()
        for time, row in self.rows:
            values = tuple(row[place] for place in places)
            if all(values):
                found.times.append(time)
                found.values.append(values)
        return found


def read(body: bytes, time: str, wanted: Collection[str] | None = None) -> Table:
    """The table of a file. Of rows with the same time, the last counts.

    Args:
        body: the CSV.
        time: the name of the column of times.
        wanted: the columns to keep; all by default. Memory grows with what is kept, not with the file.

    Raises:
        BadInput: it is no CSV, lacks the column, mixes seconds and instants, or has too many rows or columns; the
            message has the number of the row.
    """
    lines = csv.reader(io.TextIOWrapper(io.BytesIO(body), "utf-8-sig", newline=""), strict=True)
    try:
        columns = tuple(name.strip() for name in next(lines, ()))
        if len(columns) > MOST_COLUMNS:
            raise BadInput(f"file: telemetry may have at most {MOST_COLUMNS} columns, and this has {len(columns)}.")
        if time not in columns:
            raise BadInput(f"time: the telemetry has no column {time!r}.{nearest(time, columns)}")
        kept = tuple(place for place, name in enumerate(columns) if wanted is None or name in wanted)
        rows, has_instants = _read_rows(lines, columns, columns.index(time), kept)
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadInput(f"file: the telemetry is not CSV in UTF-8: {error}.") from None
    rows.sort(key=lambda pair: pair[0])
    return Table(columns, kept, rows, has_instants)


def _read_rows(
    lines: Iterator[list[str]], columns: tuple[str, ...], place: int, kept: tuple[int, ...]
) -> tuple[list[tuple[float, tuple[str, ...]]], bool]:
    """The times and kept cells of rows, and whether the times are instants."""
    found: list[tuple[float, tuple[str, ...]]] = []
    moment = _seconds
    for count, row in enumerate(lines, 1):
        if count > MOST_ROWS:
            raise BadInput(f"file: telemetry may have at most {MOST_ROWS} rows, and this has more.")
        if not row:
            continue
        if not found and len(row) == len(columns) and _seconds(row[place]) is None:
            moment = _instant
        at = moment(row[place]) if len(row) == len(columns) else None
        if at is None:
            rule = "an ISO 8601 instant" if moment is _instant else "a number of seconds"
            raise BadInput(
                f"file: row {len(found) + 2} of the telemetry must have {len(columns)} cells, "
                f"and {columns[place]!r} be {rule}."
            )
        found.append((at, tuple(row[each].strip() for each in kept)))
    return found, moment is _instant


def instant_seconds(text: str) -> float | None:
    """Seconds since 1970 of an ISO 8601 text, UTC where it has no offset; None for any other text."""
    moment = parse_date(text)
    if moment is None:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _instant(text: str) -> float | None:
    return instant_seconds(text.strip())


def _seconds(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
