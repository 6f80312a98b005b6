"""Sampled points: dots at random or regular places of frames, for estimates of cover."""

from __future__ import annotations

from chalicelib.core.models.accounts import Project
from chalicelib.core.permissions import Permission
from chalicelib.http.addresses import WITHIN_PROJECT
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.resources.entities.service import Writer
from chalicelib.resources.point_samples import service as point_samples_service
from chalicelib.resources.point_samples.schemas import PointSamplesCreated, PointSampleSpec

OPERATIONS = Operations(tag="Point samples")


@OPERATIONS.post("/rest/PointSamples/{project}", "CreatePointSamples", needs=Permission.EDIT, addresses=WITHIN_PROJECT)
def create_points(call: Call[Project, NoQuery, PointSampleSpec]) -> PointSamplesCreated:
    """Draw dots on frames of media: at random, stratified or as a grid.

    The same request draws the same points and creates only those that do not exist yet, so it may be sent again.
    """
    numbers, frames = point_samples_service.create(Writer.from_call(call), call.body)
    return PointSamplesCreated(message=f"{len(numbers)} points on {frames} frames!", id=numbers, frames=frames)
