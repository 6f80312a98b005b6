"""The telemetry of a media at a frame and over time, and the instant of its first frame."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta

from chalicelib.access.scope import Scope
from chalicelib.core.kinds import Kind
from chalicelib.core.models.entities import Localization, Media
from chalicelib.core.resource import timestamp
from chalicelib.core.telemetry.table import Table
from chalicelib.core.text.dates import read_date
from chalicelib.errors import BadInput, NotFound
from chalicelib.resources.entities.service import Writer
from chalicelib.resources.media import changes as media_changes
from chalicelib.resources.media.schemas import MediaUpdate
from chalicelib.resources.media.service import project_with
from chalicelib.resources.telemetry.files import date_attributes, frame_clock, names_of, start_of, table_of
from chalicelib.resources.telemetry.schemas import (
    FrameInstant,
    FrameInstantSpec,
    FrameTelemetry,
    FrameTelemetryQuery,
    Telemetry,
    TelemetryColumn,
    TelemetryFileQuery,
)
from chalicelib.storage.dynamodb import entities

MOST_VALUES = 200_000
"""Values of one answer; of more rows, some are left out."""
_NAMES = {
    "longitude": re.compile(r"(lon|long|longitude|lng)([ _(\[].*)?", re.IGNORECASE),
    "latitude": re.compile(r"(lat|latitude)([ _(\[].*)?", re.IGNORECASE),
    "depth": re.compile(r"depth([ _(\[].*)?", re.IGNORECASE),
    "heading": re.compile(r"(heading|hdg|yaw)([ _(\[].*)?", re.IGNORECASE),
}
"""How columns with a meaning are named, with a unit behind."""


def telemetry_of(media: Media, query: TelemetryFileQuery) -> Telemetry:
    """The telemetry of a media by column, thinned where it is long. Raises BadInput, or NotFound without the file."""
    file, table = _open(media, query)
    start = start_of(media, table, query.start)
    zero = start if start is not None else (table.rows[0][0] if table.rows else 0.0)
    names = _names(table, query)
    every = max(1, math.ceil(len(table.rows) * len(names) / MOST_VALUES))
    columns = []
    for name in names:
        series = table.series([name])
        if series.times:
            times = [round(time - zero, 6) for time in series.times[::every]]
            values = [value for (value,) in series.values[::every]]
            columns.append(TelemetryColumn(name=name, times=times, values=values))
    return Telemetry(
        media=media.id,
        file=file,
        files=names_of(media),
        start=_instant(start) if table.has_instants and start is not None else None,
        is_placed=start is not None,
        every=every,
        columns=columns,
    )


def telemetry_at(media: Media, scope: Scope, query: FrameTelemetryQuery) -> FrameTelemetry:
    """The values at a frame, or at that of a localization.

    Raises:
        BadInput: the telemetry is malformed, or the frame has no time in it.
        NotFound: the media has no such file, or the localization is not on it.
    """
    frame = query.frame or 0
    if query.localization_id is not None:
        if query.frame is not None:
            raise BadInput("frame, localization_id: give one of them.")
        row: Localization = entities.get(Kind.LOCALIZATION, query.localization_id)
        if row.media != media.id or not scope.visible(Kind.LOCALIZATION.value, [row]):
            raise NotFound.of("Localization", query.localization_id)
        frame = row.frame
    file, table = _open(media, query)
    start = start_of(media, table, query.start)
    if start is None:
        raise BadInput(no_start(media))
    time = start + frame_clock(media)(frame)
    tolerance = math.inf if query.tolerance is None else query.tolerance
    values = {}
    for name in _names(table, query):
        if found := table.series([name]).value_at(time, query.join, tolerance):
            values[name] = found[0]
    known = {meaning: _number_of(values, meaning) for meaning in _NAMES}
    longitude, latitude = known["longitude"], known["latitude"]
    return FrameTelemetry(
        media=media.id,
        frame=frame,
        file=file,
        instant=_instant(time) if table.has_instants else None,
        position=None if longitude is None or latitude is None else [longitude, latitude],
        depth=known["depth"],
        heading=known["heading"],
        values=values,
    )


def no_start(media: Media) -> str:
    """The error message for telemetry in absolute time, of a media whose first frame has no time."""
    return (
        f"start: the telemetry has instants, and media {media.id} has no date of dtype datetime in its span. Name the "
        "attribute of media with the instant of the first frame, or set it by PATCH /rest/FrameInstant."
    )


def set_instant(writer: Writer, media: Media, spec: FrameInstantSpec) -> FrameInstant:
    """Set the attribute of a media that has the instant of its first frame, from the instant of any frame.

    Raises:
        BadInput: the instant is no date, the frame has no time, or the type has no such attribute.
    """
    names = date_attributes(media)
    attribute = spec.attribute or next(iter(names), None)
    if attribute is None or attribute not in names:
        raise BadInput(
            f"attribute: the type of media {media.id} has no attribute {attribute!r} of dtype datetime."
            if attribute
            else f"attribute: the type of media {media.id} has no attribute of dtype datetime; add one."
        )
    shown = datetime.fromisoformat(read_date("instant", spec.instant))
    try:
        start = timestamp(shown - timedelta(seconds=frame_clock(media)(spec.frame)))
    except OverflowError:
        raise BadInput("instant: the first frame would be before year 1.") from None
    media_changes.update(writer, project_with(writer.project), media.id, MediaUpdate(attributes={attribute: start}))
    return FrameInstant(message=f"The first frame was recorded at {start}.", attribute=attribute, start=start)


def _open(media: Media, query: TelemetryFileQuery) -> tuple[str, Table]:
    """The name and table of the telemetry that is asked for. Raises NotFound."""
    file = query.file or next(iter(names_of(media)), None)
    table = table_of(media, file, query.time, query.columns) if file else None
    if file is None or table is None:
        raise NotFound(f"file: media {media.id} has no telemetry{f' with the name {file!r}' if file else ''}.")
    return file, table


def _names(table: Table, query: TelemetryFileQuery) -> list[str]:
    """The columns that are asked for, all by default, without that of the times."""
    return [name for name in (query.columns or table.columns) if name != query.time]


def _number_of(values: dict[str, str], meaning: str) -> float | None:
    """The number of the first column that is named so; None where there is none."""
    for name, value in values.items():
        if _NAMES[meaning].fullmatch(name):
            try:
                number = float(value)
            except ValueError:
                continue
            return number if math.isfinite(number) else None
    return None


def _instant(seconds: float) -> str:
    return timestamp(datetime.fromtimestamp(seconds, UTC))
