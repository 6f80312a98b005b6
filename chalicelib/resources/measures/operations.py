"""Measures from one camera and from two."""

from __future__ import annotations

from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.entities import Media
from chalicelib.core.permissions import Permission
from chalicelib.http.addresses import WITHIN_PROJECT, entity
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.resources.entities.service import Writer
from chalicelib.resources.frames import calibrations
from chalicelib.resources.frames.calibrations import CalibrationFile, StereoRectification
from chalicelib.resources.measures import scaled as scaled_service
from chalicelib.resources.measures import service as measures_service
from chalicelib.resources.measures.scaled_schemas import ScaledMeasure, ScaledMeasureSpec, ScaledUpdate
from chalicelib.resources.measures.schemas import (
    StereoMeasure,
    StereoMeasureSpec,
    StereoQuery,
    StereoUpdate,
)
from chalicelib.resources.rewrites.schemas import RewriteAnswer

OPERATIONS = Operations(tag="Measures")


@OPERATIONS.patch(
    "/rest/StereoMeasurements/{project}",
    "UpdateStereoMeasurements",
    reversible=True,
    needs=Permission.EDIT,
    addresses=WITHIN_PROJECT,
    details=(
        "Joined are the localizations of one state (a track with shapes of both cameras), and those with the same "
        "elemental id in different versions, of one type and at one moment. Both get the same values. All are checked "
        "before any is changed: if one is refused, nothing changes."
    ),
)
def measure_all(call: Call[Project, StereoQuery, StereoUpdate]) -> RewriteAnswer:
    """Set length, range, place and reprojection error of the dots and lines that both cameras of media see."""
    return measures_service.measure_all(Writer.from_call(call), call.query, call.body)


@OPERATIONS.post(
    "/rest/StereoMeasure/{id}", "MeasureStereo", needs=Permission.VIEW, addresses=entity(Kind.MEDIA), status=200
)
def measure(call: Call[Media, NoQuery, StereoMeasureSpec]) -> StereoMeasure:
    """Measure what both cameras of a media see, without storing it; and the lines on which to look for the partner."""
    return measures_service.measure(call.target, call.scope, call.body)


@OPERATIONS.get(
    "/rest/StereoRectification/{id}", "GetStereoRectification", needs=Permission.VIEW, addresses=entity(Kind.MEDIA)
)
def rectification(call: Call[Media, CalibrationFile, None]) -> StereoRectification:
    """How the pictures of the first two cameras of a media are warped so that what both see is on the same row.

    GetFrame draws them with `rectified_file`.
    """
    return calibrations.rectification(call.target, call.scope, call.query)


@OPERATIONS.patch(
    "/rest/ScaledMeasurements/{project}",
    "UpdateScaledMeasurements",
    reversible=True,
    needs=Permission.EDIT,
    addresses=WITHIN_PROJECT,
    details=(
        "A shape on a frame whose scale is not known stays as it is. All are checked before any is changed: if one is "
        "refused, nothing changes."
    ),
)
def measure_all_scaled(call: Call[Project, StereoQuery, ScaledUpdate]) -> RewriteAnswer:
    """Set length, width, area and perimeter of shapes by a known length in the picture, or by altitude."""
    return scaled_service.measure_all(Writer.from_call(call), call.query, call.body)


@OPERATIONS.post(
    "/rest/ScaledMeasure/{id}", "MeasureScaled", needs=Permission.VIEW, addresses=entity(Kind.MEDIA), status=200
)
def measure_scaled(call: Call[Media, NoQuery, ScaledMeasureSpec]) -> ScaledMeasure:
    """Measure a shape on a frame of a media, without storing it."""
    return scaled_service.measure(call.target, call.scope, call.body)
