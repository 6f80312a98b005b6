"""Counts as surveys report them: MaxN, MeanCount, first and last seen; accumulation of species; time at depth."""

from __future__ import annotations

from chalicelib.core.models.accounts import Project
from chalicelib.core.permissions import Permission
from chalicelib.http.addresses import WITHIN_PROJECT
from chalicelib.http.operation import Call, Operations
from chalicelib.resources.statistics import counting
from chalicelib.resources.statistics.schemas import (
    AccumulationQuery,
    AccumulationRow,
    DepthQuery,
    DepthRow,
    SightingRow,
    SightingsQuery,
)

OPERATIONS = Operations(tag="Statistics", needs=Permission.VIEW, addresses=WITHIN_PROJECT)


@OPERATIONS.get("/rest/Sightings/{project}", "GetSightings")
def get_sightings(call: Call[Project, SightingsQuery, None]) -> list[SightingRow]:
    """MaxN, MeanCount, first and last seen of each label on each media, or in each dive (`unit`).

    The parameters of GetLocalizationList select what is counted.
    """
    return counting.sightings_of(call.project, call.query, call.scope)


@OPERATIONS.get("/rest/SpeciesAccumulation/{project}", "GetSpeciesAccumulation")
def get_accumulation(call: Call[Project, AccumulationQuery, None]) -> list[AccumulationRow]:
    """How many labels are expected in 1, 2, … of the media, or of the values of an attribute of media."""
    return counting.accumulation_of(call.project, call.query, call.scope)


@OPERATIONS.get("/rest/TimeAtDepth/{project}", "GetTimeAtDepth")
def get_time_at_depth(call: Call[Project, DepthQuery, None]) -> list[DepthRow]:
    """Seconds at each bin of depth, by the telemetry that is attached to media."""
    return counting.time_at_depth(call.project, call.query, call.scope)
