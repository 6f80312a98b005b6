"""The structs of measures from two cameras."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from chalicelib.core.resource import Id, Resource
from chalicelib.resources.frames.calibrations import CalibrationFile

Share = Annotated[float, Meta(ge=0, le=1)]
Place = Annotated[list[Share], Meta(min_length=2, max_length=2)]
Ends = Annotated[
    list[Place], Meta(min_length=1, max_length=2, description="A dot, or the ends of a line: fractions of the picture.")
]
AttributeName = Annotated[str, Meta(min_length=1, max_length=256)] | None
Scale = Annotated[float, Meta(gt=0, lt=1e9, description="Factor from the unit of the calibration: 0.001 from mm to m.")]


class Calibrated(CalibrationFile, kw_only=True):
    """The calibration of the cameras, and its unit."""

    scale: Scale = 1.0


class StereoQuery(Resource, kw_only=True):
    """Whether to return the measures without storing them."""

    dry_run: Annotated[bool, Meta(description="Only answer what would change, and what would be refused.")] = False


class StereoAttributes(Resource, kw_only=True):
    """By measure, the name of an attribute of dtype float that gets it."""

    length: Annotated[AttributeName, Meta(description="Of a line.")] = None
    range: Annotated[AttributeName, Meta(description="From the left camera to the dot or the middle of the line.")] = (
        None
    )
    x: Annotated[AttributeName, Meta(description="To the right of the left camera.")] = None
    y: Annotated[AttributeName, Meta(description="Below it.")] = None
    z: Annotated[AttributeName, Meta(description="Before it.")] = None
    error: Annotated[AttributeName, Meta(description="The reprojection error in pixels.")] = None

    def by_measure(self) -> dict[str, str]:
        """The names that are given."""
        return {name: value for name, value in msgspec.structs.asdict(self).items() if value is not None}


class StereoUpdate(Calibrated, kw_only=True):
    """Which shapes are measured, and the attributes that they get."""

    names: ClassVar = {**Calibrated.names, "media_ids": "media"}

    media_ids: Annotated[list[Id] | None, Meta(description="Media that show the left and the right camera first.")] = (
        None
    )
    media_query: Annotated[
        str | None, Meta(description="Parameters of GetMediaList, as in an address, instead of `media_ids`.")
    ] = None
    attributes: StereoAttributes


class StereoMeasureSpec(Calibrated, kw_only=True):
    """What both cameras see."""

    left: Ends
    right: Annotated[Ends | None, Meta(description="The same in the right picture; without it, only the line.")] = None


class StereoMeasure(Resource, kw_only=True, omit_defaults=False):
    """A measure from two cameras, in the unit of the calibration times `scale`; of a dot without a length."""

    length: Annotated[float | None, Meta(description="Of a line, between its ends.")] = None
    range: Annotated[float | None, Meta(description="From the left camera to the dot or the middle of the line.")] = (
        None
    )
    x: Annotated[float | None, Meta(description="To the right of the left camera.")] = None
    y: Annotated[float | None, Meta(description="Below it.")] = None
    z: Annotated[float | None, Meta(description="Before it.")] = None
    error: Annotated[
        float | None, Meta(description="Root mean square of the distance in pixels at which the places are seen.")
    ] = None
    epipolar: Annotated[
        list[list[list[float]]],
        Meta(description="For each place of the left picture, a line of the right one on which it lies."),
    ] = []
