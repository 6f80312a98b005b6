"""Telemetry of media: at a frame, over time, and the clock in the picture."""

from __future__ import annotations

from chalicelib.core.kinds import Kind
from chalicelib.core.models.entities import Media
from chalicelib.core.permissions import Permission
from chalicelib.http.addresses import entity
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.resources.entities.service import Writer
from chalicelib.resources.telemetry import service as telemetry_service
from chalicelib.resources.telemetry.schemas import (
    FrameInstant,
    FrameInstantSpec,
    FrameTelemetry,
    FrameTelemetryQuery,
    Telemetry,
    TelemetryFileQuery,
)

OPERATIONS = Operations(tag="Telemetry", addresses=entity(Kind.MEDIA))


@OPERATIONS.get("/rest/Telemetry/{id}", "GetTelemetry", needs=Permission.VIEW)
def get_telemetry(call: Call[Media, TelemetryFileQuery, None]) -> Telemetry:
    """The telemetry that is attached to a media, by column, with times after the first frame.

    It is CSV, NMEA 0183, GPX or KLV of MISB ST 0601, alone or in MPEG-TS, known by its content.
    """
    return telemetry_service.telemetry_of(call.target, call.query)


@OPERATIONS.get("/rest/FrameTelemetry/{id}", "GetFrameTelemetry", needs=Permission.VIEW)
def get_frame_telemetry(call: Call[Media, FrameTelemetryQuery, None]) -> FrameTelemetry:
    """Position, depth, heading and all other values of the telemetry at a frame, or of a localization."""
    return telemetry_service.telemetry_at(call.target, call.scope, call.query)


@OPERATIONS.patch("/rest/FrameInstant/{id}", "SetFrameInstant", needs=Permission.EDIT)
def set_instant(call: Call[Media, NoQuery, FrameInstantSpec]) -> FrameInstant:
    """Set the instant of the first frame by that of any frame, as a clock in the picture shows it.

    It is stored in an attribute of the media, from which telemetry is joined. Repeated, it is the same.
    """
    return telemetry_service.set_instant(Writer.from_call(call), call.target, call.body)
