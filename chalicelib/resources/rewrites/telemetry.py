"""Attributes of annotations and media from the telemetry of the media.

The telemetry is an attachment of the media (`core/telemetry/`). The time of an annotation is that at which the source
shows its frame, of a media that of its first frame. Values become attributes, so every list, filter, statistic and
export has them; the join is repeated when the telemetry changes.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from chalicelib.access import view_queries
from chalicelib.core.kinds import Kind
from chalicelib.core.models.entities import media_of
from chalicelib.core.permissions import Level
from chalicelib.core.telemetry.table import MOST_ROWS, Series, Table
from chalicelib.errors import BadInput
from chalicelib.query.parsers import entities as entity_queries
from chalicelib.resources.annotations.bulk_edits import find_ids
from chalicelib.resources.entities.service import Writer
from chalicelib.resources.rewrites.bulk import with_values
from chalicelib.resources.rewrites.schemas import RewriteAnswer, TelemetryQuery, TelemetryUpdate
from chalicelib.resources.rewrites.service import check_entities, dtypes_of, finish_assignment, value_of
from chalicelib.resources.telemetry.files import frame_clock, start_of, table_of
from chalicelib.resources.telemetry.service import no_start
from chalicelib.storage.dynamodb import entities, records

MOST_ANNOTATIONS = 200_000
_OPEN_FILES = 8
_PLACE = 2


def join_telemetry(writer: Writer, query: TelemetryQuery, body: TelemetryUpdate) -> RewriteAnswer:
    """Set attributes of all annotations that match from the telemetry of their media at their time.

    An annotation without a frame, or whose time has no value within the tolerance, stays as it is.

    Raises:
        BadInput: a name is unknown, the file is malformed, or a media lacks the file or frames per second.
    """
    if not body.columns:
        raise BadInput("columns: name at least one attribute and its column.")
    kind = Kind(query.kind)
    writer = writer.to_change(kind)
    definitions = records.definitions(writer.project)
    dtypes = dtypes_of(definitions, kind, body.columns)
    for name, columns in body.columns.items():
        is_place = not isinstance(columns, str)
        if is_place != (dtypes[name] == "geopos"):
            rule = "[longitude, latitude]" if dtypes[name] == "geopos" else "one column"
            raise BadInput(f"columns: {name!r} is of type {dtypes[name]}, which takes {rule}.")
    view = view_queries.current(writer.project)
    numbers = find_ids(view, entity_queries.parse(query, body), writer.scope, query.count)
    if len(numbers) > MOST_ANNOTATIONS:
        raise BadInput(f"{len(numbers)} match; at most {MOST_ANNOTATIONS} are joined at once. Narrow the query.")
    files = _Files(writer, body)
    values: dict[int, dict[str, Any]] = {}

    def after(row: Any) -> Any:
        number, frame = (row.id, 0) if kind is Kind.MEDIA else (media_of(row)[0], row.frame)
        if frame is None:
            return None
        found = files.open(number).values(frame, dtypes)
        if not found:
            return None
        values[row.id] = found
        return with_values(definitions, kind, row, found)

    checked = check_entities(kind, writer, numbers, after)
    return finish_assignment(checked, writer, kind, values, is_dry=query.dry_run)


class _Files:
    """The telemetry of media; a few are kept open."""

    def __init__(self, writer: Writer, body: TelemetryUpdate) -> None:
        self._writer = writer
        self._body = body
        self._open: OrderedDict[int, _Telemetry | BadInput] = OrderedDict()

    def open(self, number: int) -> _Telemetry:
        """The telemetry of one media."""
        if number not in self._open:
            try:
                self._open[number] = self._read(number)
            except BadInput as refusal:
                self._open[number] = refusal
            while len(self._open) > 1 and (len(self._open) > _OPEN_FILES or self._size() > MOST_ROWS):
                self._open.popitem(last=False)
        found = self._open[number]
        if isinstance(found, BadInput):
            raise found
        return found

    def _size(self) -> int:
        """The values of the open files."""
        return sum(each.size for each in self._open.values() if isinstance(each, _Telemetry))

    def _read(self, number: int) -> _Telemetry:
        row = entities.many(Kind.MEDIA, [number]).get(number)
        media = row.entity if row and row.entity.project == self._writer.project else None
        if media is None or not self._writer.scope.for_level(Level.VIEW).visible(Kind.MEDIA.value, [media]):
            raise BadInput(f"file: media {number} does not exist.")
        clock = frame_clock(media)
        wanted = {name for columns in self._body.columns.values() for name in _names(columns)}
        table = table_of(media, self._body.file, self._body.time, wanted)
        if table is None:
            raise BadInput(f"file: media {number} has no attachment with the name {self._body.file!r}.")
        start = start_of(media, table, self._body.start)
        if start is None:
            raise BadInput(no_start(media))
        return _Telemetry(table, self._body, clock, start)


def _names(columns: str | Sequence[str]) -> Sequence[str]:
    return [columns] if isinstance(columns, str) else columns


class _Telemetry:
    """The telemetry of one media, by attribute."""

    def __init__(self, table: Table, body: TelemetryUpdate, clock: Callable[[int], float], start: float) -> None:
        self._series: dict[str, Series] = {
            name: table.series(_names(columns)) for name, columns in body.columns.items()
        }
        self._clock, self._start = clock, start
        self._body = body
        self.size = sum(len(series.times) for series in self._series.values())

    def values(self, frame: int, dtypes: Mapping[str, str]) -> dict[str, Any]:
        """The values at a frame, by attribute; those within the tolerance."""
        tolerance = math.inf if self._body.tolerance is None else self._body.tolerance
        values = {}
        for name, series in self._series.items():
            found = series.value_at(self._start + self._clock(frame), self._body.join, tolerance)
            if found is not None:
                values[name] = list(found) if len(found) == _PLACE else value_of(dtypes[name], found[0])
        return values
