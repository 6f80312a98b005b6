"""The structs of telemetry of media."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from chalicelib.core.resource import Id, Resource
from chalicelib.core.telemetry.table import Join

FileName = Annotated[str, Meta(min_length=1, max_length=256)]
AttributeName = Annotated[str, Meta(min_length=1, max_length=256)]
_START = (
    "Where times are instants: the attribute of media with that of the first frame. By default the first of dtype "
    "datetime whose date lies in the telemetry, or up to a day before it."
)
Start = Annotated[AttributeName | None, Meta(description=_START)]
TimeColumn = Annotated[
    str, Meta(description="Of a CSV, the column of times: seconds since the first frame, or instants.")
]
JoinRule = Annotated[Join, Meta(description="Which row: the last one before, or the nearest.")]
Tolerance = Annotated[
    Annotated[float, Meta(ge=0)] | None, Meta(description="Seconds from the row; further away there is no value.")
]


class TelemetryFileQuery(Resource, kw_only=True):
    """The attachment that has the telemetry, and its columns."""

    file: Annotated[
        FileName | None,
        Meta(description="The name of an attachment; by default the first that ends as telemetry, such as `.csv`."),
    ] = None
    columns: Annotated[list[str] | None, Meta(description="Only these columns; all by default.")] = None
    time: TimeColumn = "time"
    start: Start = None


class FrameTelemetryQuery(TelemetryFileQuery, kw_only=True):
    """Which frame."""

    names: ClassVar = {"localization_id": "localization"}

    frame: Annotated[Annotated[int, Meta(ge=0, lt=2**31)] | None, Meta(description="The frame; 0 by default.")] = None
    localization_id: Annotated[Id | None, Meta(description="In its place, a localization on the media.")] = None
    join: JoinRule = "preceding"
    tolerance: Tolerance = None


class FrameTelemetry(Resource, kw_only=True, omit_defaults=False):
    """The telemetry at a frame."""

    media: Annotated[int, Meta(description="Id of the media.")]
    frame: Annotated[int, Meta(description="The frame.")]
    file: Annotated[str, Meta(description="The name of the attachment.")]
    instant: Annotated[
        str | None, Meta(description="The instant of the frame, ISO 8601 in UTC; absent where times are seconds.")
    ] = None
    position: Annotated[
        list[float] | None,
        Meta(description="Longitude and latitude in degrees; absent without such values."),
    ] = None
    depth: Annotated[float | None, Meta(description="The value of the column that is named so, in its unit.")] = None
    heading: Annotated[float | None, Meta(description="The value of the column that is named so, in degrees.")] = None
    values: Annotated[dict[str, str], Meta(description="The values of all columns that have one, by name.")]


class TelemetryColumn(Resource, kw_only=True):
    """The values of one column."""

    name: Annotated[str, Meta(description="Its name.")]
    times: Annotated[list[float], Meta(description="Seconds after the first frame, ascending.")]
    values: Annotated[list[str], Meta(description="The value from each time on.")]


class Telemetry(Resource, kw_only=True, omit_defaults=False):
    """The telemetry of a media by column."""

    media: Annotated[int, Meta(description="Id of the media.")]
    file: Annotated[str, Meta(description="The name of the attachment.")]
    files: Annotated[list[str], Meta(description="The attachments that end as telemetry.")]
    start: Annotated[
        str | None, Meta(description="The instant of the first frame, ISO 8601 in UTC; absent where times are seconds.")
    ] = None
    is_placed: Annotated[
        bool,
        Meta(description="False where the instant of the first frame is not known: times are after the first row."),
    ]
    every: Annotated[int, Meta(description="Of so many rows, one is answered; 1 for all.")]
    columns: list[TelemetryColumn]


class FrameInstantSpec(Resource, kw_only=True):
    """The instant at which a frame was recorded, as a clock in the picture shows it."""

    frame: Annotated[int, Meta(ge=0, lt=2**31, description="The frame that shows the clock.")]
    instant: Annotated[
        str, Meta(min_length=4, max_length=40, description="Its instant in ISO 8601; in UTC where it has no offset.")
    ]
    attribute: Annotated[
        AttributeName | None,
        Meta(description="The attribute of dtype datetime to set; by default the first one of the media's type."),
    ] = None


class FrameInstant(Resource, kw_only=True, omit_defaults=False):
    """The instant of the first frame, as it is stored now."""

    message: str
    attribute: Annotated[str, Meta(description="The attribute that was set.")]
    start: Annotated[str, Meta(description="The instant of frame 0, ISO 8601 in UTC.")]
