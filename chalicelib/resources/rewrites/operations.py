"""Checked bulk changes: frames of annotations, attributes from CSV or telemetry, URLs of files; each with a dry run."""

from __future__ import annotations

from chalicelib.core.models.accounts import Project
from chalicelib.core.permissions import Permission
from chalicelib.http.addresses import WITHIN_PROJECT
from chalicelib.http.operation import Call, Operations
from chalicelib.resources.entities.service import Writer
from chalicelib.resources.rewrites import service as rewrites_service
from chalicelib.resources.rewrites import telemetry
from chalicelib.resources.rewrites.schemas import (
    FileUrlsQuery,
    FileUrlsUpdate,
    FramesQuery,
    FramesUpdate,
    RewriteAnswer,
    TelemetryQuery,
    TelemetryUpdate,
    ValuesQuery,
)

OPERATIONS = Operations(tag="Bulk changes")
_RULE = (
    "All are checked before any is changed: if one is refused, nothing changes. `dry_run=true` answers how many would "
    "change and which would be refused. A change that was begun is finished even if the request dies."
)


@OPERATIONS.patch(
    "/rest/AnnotationFrames/{project}",
    "UpdateAnnotationFrames",
    needs=Permission.EDIT,
    addresses=WITHIN_PROJECT,
    details=f"{_RULE} Tracks of the localizations get new segments.",
)
def move_frames(call: Call[Project, FramesQuery, FramesUpdate]) -> RewriteAnswer:
    """Shift the frames of the annotations that match, or map them by a table."""
    return rewrites_service.move_frames(Writer.from_call(call), call.query, call.body)


@OPERATIONS.patch(
    "/rest/AttributeValues/{project}",
    "UpdateAttributeValues",
    reversible=True,
    needs=Permission.EDIT,
    addresses=WITHIN_PROJECT,
    details=f"The first column is `id`, others are named like attributes; an empty cell changes nothing. {_RULE}",
)
def assign_values(call: Call[Project, ValuesQuery, bytes]) -> RewriteAnswer:
    """Set attributes of entities from a CSV of ids and values."""
    return rewrites_service.assign_values(Writer.from_call(call), call.query, call.body)


@OPERATIONS.patch(
    "/rest/FileUrls/{project}", "UpdateFileUrls", needs=Permission.TRANSFER, addresses=WITHIN_PROJECT, details=_RULE
)
def replace_urls(call: Call[Project, FileUrlsQuery, FileUrlsUpdate]) -> RewriteAnswer:
    """Replace the beginning of the URLs of files by reference, of the media that match."""
    return rewrites_service.replace_urls(Writer.from_call(call), call.query, call.body)


@OPERATIONS.patch(
    "/rest/TelemetryValues/{project}",
    "UpdateTelemetryValues",
    needs=Permission.EDIT,
    addresses=WITHIN_PROJECT,
    details="The telemetry is an attachment of each media: CSV with a column of times, NMEA 0183 or GPX. The time of "
    f"an annotation is that of its frame, of a media that of its first frame. {_RULE}",
)
def join_telemetry(call: Call[Project, TelemetryQuery, TelemetryUpdate]) -> RewriteAnswer:
    """Set attributes of annotations or media from the telemetry of the media, by time."""
    return telemetry.join_telemetry(Writer.from_call(call), call.query, call.body)
