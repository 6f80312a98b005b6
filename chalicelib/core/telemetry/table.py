"""Telemetry as a table: rows of values in order of time, and the value at a time."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from typing import Literal

from chalicelib.core.text.dates import parse_date
from chalicelib.core.text.names import nearest
from chalicelib.errors import BadInput

MOST_ROWS = 2_000_000
MOST_COLUMNS = 1_000
MOST_CELLS = 6_000_000
"""Cells that are held."""
Join = Literal["preceding", "nearest"]
Row = tuple[float, tuple[str, ...]]


@dataclass
class Series:
    """The values of some columns at ascending times; rows without a value in one of them are left out."""

    times: array[float] = field(default_factory=lambda: array("d"))
    values: list[tuple[str, ...]] = field(default_factory=list)

    def value_at(self, time: float, join: Join, tolerance: float = math.inf) -> tuple[str, ...] | None:
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

    `kept` are the places of the columns that rows hold, in this order. Instants are seconds since 1970, other times
    seconds since the first frame.
    """

    columns: tuple[str, ...]
    kept: tuple[int, ...]
    rows: list[Row]
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


class Gathered:
    """Rows of instants whose columns are known only at the end, as sentences and points name them one by one."""

    def __init__(self, wanted: Collection[str] | None) -> None:
        """Keep the values of the columns that are wanted; of all where it is None."""
        self._wanted = wanted
        self._columns: dict[str, None] = {}
        self._rows: list[tuple[float, dict[str, str]]] = []
        self._cells = 0

    def add(self, time: float, values: Mapping[str, str]) -> None:
        """Take a row. Raises BadInput where there are too many rows or columns."""
        if len(self._rows) == MOST_ROWS:
            raise too_many_rows()
        self._columns.update(dict.fromkeys(values))
        if len(self._columns) > MOST_COLUMNS:
            raise BadInput(f"file: telemetry may have at most {MOST_COLUMNS} columns, and this has more.")
        kept = values if self._wanted is None else {key: value for key, value in values.items() if key in self._wanted}
        self._cells += len(kept)
        if self._cells > MOST_CELLS:
            raise too_many_cells()
        self._rows.append((time, dict(kept)))

    def table(self, offset: float = 0.0) -> Table:
        """The table of the rows that were taken, their times shifted by `offset` seconds."""
        columns = tuple(self._columns)
        wanted = self._columns if self._wanted is None else self._wanted
        kept = tuple(place for place, name in enumerate(columns) if name in wanted)
        names = [columns[place] for place in kept]
        rows = ((time + offset, tuple(values.get(name, "") for name in names)) for time, values in self._rows)
        return Table(columns, kept, in_order(rows), has_instants=True)


def in_order(rows: Iterable[Row]) -> list[Row]:
    """Rows by time; those of one time as they came."""
    return sorted(rows, key=lambda pair: pair[0])


def too_many_rows() -> BadInput:
    """The refusal of a file with too many rows."""
    return BadInput(f"file: telemetry may have at most {MOST_ROWS} rows, and this has more.")


def too_many_cells() -> BadInput:
    """The refusal of a file with too many cells."""
    return BadInput(f"columns: the telemetry has more than {MOST_CELLS} cells; name fewer columns.")


def instant_seconds(text: str) -> float | None:
    """Seconds since 1970 of an ISO 8601 text, UTC where it has no offset; None for any other text."""
    moment = parse_date(text)
    if moment is None:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
