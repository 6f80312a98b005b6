"""The structs of measures from one camera."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta

from chalicelib.core.models.entities import Frame, Geometry
from chalicelib.core.resource import Id, Resource
from chalicelib.core.telemetry.table import Join
from chalicelib.resources.measures.schemas import AttributeName

Known = Annotated[float, Meta(gt=0, lt=1e9)]
Deviation = Annotated[float, Meta(ge=0, lt=1e9)]
_FRAMES = "How many frames away from a shape its reference may be; the nearest counts. 0: on the frame itself."


class Reference(Resource, kw_only=True):
    """What in the picture has a known length, such as the dots of two lasers or a bar."""

    type: Annotated[
        Id,
        Meta(description="The type of its localizations: lines, or dots of which each layer has two on a frame."),
    ]
    length: Annotated[
        Known | None, Meta(description="The known length, such as the distance of the lasers, in any unit.")
    ] = None
    attribute: Annotated[
        AttributeName, Meta(description="In its place, the attribute of the lines with the length of each.")
    ] = None
    error: Annotated[Deviation, Meta(description="The standard deviation of the known length.")] = 0.0
    frames: Annotated[int, Meta(ge=0, lt=2**31, description=_FRAMES)] = 0


class AltitudeColumn(Resource, kw_only=True):
    """The telemetry that has the altitude."""

    file: Annotated[str, Meta(min_length=1, max_length=256, description="The name of an attachment of the media.")]
    column: Annotated[str, Meta(min_length=1, max_length=256, description="The column of the altitude.")]
    time: Annotated[str, Meta(description="Of a CSV, the column of times.")] = "time"
    start: Annotated[
        AttributeName, Meta(description="The attribute of media with the instant of the first frame, as in joins.")
    ] = None
    join: Annotated[Join, Meta(description="Which row: the last one before, or the nearest.")] = "nearest"
    tolerance: Annotated[
        Annotated[float, Meta(ge=0)] | None, Meta(description="Seconds from the row; further away is no altitude.")
    ] = None


class Above(Resource, kw_only=True):
    """How high the camera is above level ground, and how it looks at it."""

    altitude: Annotated[Known | None, Meta(description="The height above the ground, in any unit.")] = None
    attribute: Annotated[
        AttributeName, Meta(description="In its place, the attribute of the localization, or else of its media.")
    ] = None
    telemetry: Annotated[AltitudeColumn | None, Meta(description="In its place, telemetry of the media.")] = None
    field_of_view: Annotated[
        Annotated[float, Meta(gt=0, lt=179)] | None,
        Meta(description="Degrees across the width of the picture; in water as it is there. A `lens` has its own."),
    ] = None
    tilt: Annotated[
        float,
        Meta(ge=-80, le=80, description="Degrees up from straight down, towards the top of the picture."),
    ] = 0.0
    altitude_error: Annotated[Deviation, Meta(description="The standard deviation of the altitude.")] = 0.0
    field_of_view_error: Annotated[float, Meta(ge=0, lt=90, description="That of the field of view.")] = 0.0
    tilt_error: Annotated[float, Meta(ge=0, lt=90, description="That of the tilt.")] = 0.0


class Lens(Resource, kw_only=True):
    """Where the calibration of the camera is, of which the distortion of the lens is taken out."""

    names: ClassVar = {"file_id": "file"}

    file: Annotated[
        Annotated[str, Meta(min_length=1, max_length=256)] | None,
        Meta(description="The name of an attachment of the media: a calibration of one camera or of two."),
    ] = None
    file_id: Annotated[Id | None, Meta(description="In its place, a file of the project, as for a section.")] = None
    side: Annotated[Literal["left", "right"], Meta(description="Of a calibration of two cameras, which.")] = "left"


class Scale(Resource, kw_only=True):
    """From where the scale is known: reference or above, and what the lens does."""

    reference: Reference | None = None
    above: Above | None = None
    lens: Annotated[
        Lens | None, Meta(description="The calibration of the lens; without it, distortion is not taken out.")
    ] = None
    point_error: Annotated[
        float, Meta(ge=0, le=1000, description="The standard deviation in pixels at which points and sides are drawn.")
    ] = 1.0


class ScaledAttributes(Resource, kw_only=True):
    """By measure, the name of an attribute of dtype float that gets it, in the unit of the scale."""

    length: Annotated[
        AttributeName, Meta(description="Of a line along it, of a box its longer side, else the greatest diameter.")
    ] = None
    width: Annotated[AttributeName, Meta(description="Of a box its shorter side, else the least diameter.")] = None
    area: Annotated[AttributeName, Meta(description="Without holes.")] = None
    perimeter: Annotated[AttributeName, Meta(description="Of the outline, and of holes.")] = None
    length_error: Annotated[AttributeName, Meta(description="The standard deviation of the length.")] = None
    width_error: Annotated[AttributeName, Meta(description="That of the width.")] = None
    area_error: Annotated[AttributeName, Meta(description="That of the area.")] = None
    perimeter_error: Annotated[AttributeName, Meta(description="That of the perimeter.")] = None

    def by_measure(self) -> dict[str, str]:
        """The names that are given."""
        return {name: value for name, value in msgspec.structs.asdict(self).items() if value is not None}


class ScaledUpdate(Resource, kw_only=True):
    """Which shapes are measured, and the attributes that they get."""

    names: ClassVar = {"media_ids": "media"}

    media_ids: Annotated[list[Id] | None, Meta(description="Images or videos.")] = None
    media_query: Annotated[
        str | None, Meta(description="Parameters of GetMediaList, as in an address, instead of `media_ids`.")
    ] = None
    types: Annotated[
        list[Id] | None,
        Meta(description="Types of localizations; by default those that have all the attributes, but the reference."),
    ] = None
    scale: Scale
    attributes: ScaledAttributes


class ScaledMeasureSpec(Resource, kw_only=True):
    """A shape on a frame, and where the scale is known from."""

    frame: Frame = 0
    shape: Annotated[Geometry, Meta(description="A line, box or polygon, with mask, angle, form or holes.")]
    scale: Scale


class ScaledMeasure(Resource, kw_only=True, omit_defaults=False):
    """What one camera measures, in the unit of the scale; a line has a length only."""

    length: Annotated[float | None, Meta(description="Of a line along it, of a box its longer side.")] = None
    width: Annotated[float | None, Meta(description="Of a box its shorter side, else the least diameter.")] = None
    area: Annotated[float | None, Meta(description="Without holes.")] = None
    perimeter: Annotated[float | None, Meta(description="Of the outline, and of holes.")] = None
    length_error: Annotated[float | None, Meta(description="The standard deviation of the length.")] = None
    width_error: Annotated[float | None, Meta(description="That of the width.")] = None
    area_error: Annotated[float | None, Meta(description="That of the area.")] = None
    perimeter_error: Annotated[float | None, Meta(description="That of the perimeter.")] = None
    pixel: Annotated[float | None, Meta(description="What a pixel in the middle of the picture measures.")] = None
