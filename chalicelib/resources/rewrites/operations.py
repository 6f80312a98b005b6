"""Checked bulk changes: frames of annotations, attributes from CSV or telemetry, URLs of files; each with a dry run."""

from __future__ import annotations

from chalicelib.core.models.accounts import Project
from chalicelib.core.permissions import Permission
from chalicelib.http.addresses import WITHIN_PROJECT
from chalicelib.http.operation import Call, Operation
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

TAG = "Bulk changes"


def move_frames(call: Call[Project, FramesQuery, FramesUpdate]) -> RewriteAnswer:
    """Shift or map frames."""
    return rewrites_service.move_frames(Writer.of(call), call.query, call.body)


def assign_values(call: Call[Project, ValuesQuery, bytes]) -> RewriteAnswer:
    """Set attributes from a CSV."""
    return rewrites_service.assign_values(Writer.of(call), call.query, call.body)


def replace_urls(call: Call[Project, FileUrlsQuery, FileUrlsUpdate]) -> RewriteAnswer:
    """Replace the beginning of URLs."""
    return rewrites_service.replace_urls(Writer.of(call), call.query, call.body)


def join_telemetry(call: Call[Project, TelemetryQuery, TelemetryUpdate]) -> RewriteAnswer:
    """Set attributes from telemetry."""
    return telemetry.join_telemetry(Writer.of(call), call.query, call.body)


_RULE = (
    "All are checked before any is changed: if one is refused, nothing changes. `dry_run=true` answers how many would "
    "change and which would be refused. A change that was begun is finished even if the request dies."
)
OPERATIONS = (
    Operation(
        id="UpdateAnnotationFrames",
        method="PATCH",
        path="/rest/AnnotationFrames/{project}",
        summary="Shift the frames of the annotations that match, or map them by a table.",
        details=f"{_RULE} Tracks of the localizations get new segments.",
        needs=Permission.EDIT,
        addresses=WITHIN_PROJECT,
        query=FramesQuery,
        body=FramesUpdate,
        returns=RewriteAnswer,
        handler=move_frames,
        tag=TAG,
    ),
    Operation(
        id="UpdateAttributeValues",
        method="PATCH",
        path="/rest/AttributeValues/{project}",
        summary="Set attributes of entities from a CSV of ids and values.",
        details=f"The first column is `id`, others are named like attributes; an empty cell changes nothing. {_RULE}",
        needs=Permission.EDIT,
        addresses=WITHIN_PROJECT,
        query=ValuesQuery,
        body=bytes,
        returns=RewriteAnswer,
        handler=assign_values,
        tag=TAG,
    ),
    Operation(
        id="UpdateTelemetryValues",
        method="PATCH",
        path="/rest/TelemetryValues/{project}",
        summary="Set attributes of annotations from the telemetry of their media, by time.",
        details="The telemetry is an attachment of each media, a CSV with a column of times; the time of an annotation "
        f"is its frame divided by the frames per second. {_RULE}",
        needs=Permission.EDIT,
        addresses=WITHIN_PROJECT,
        query=TelemetryQuery,
        body=TelemetryUpdate,
        returns=RewriteAnswer,
        handler=join_telemetry,
        tag=TAG,
    ),
    Operation(
        id="UpdateFileUrls",
        method="PATCH",
        path="/rest/FileUrls/{project}",
        summary="Replace the beginning of the URLs of files by reference, of the media that match.",
        details=_RULE,
        needs=Permission.TRANSFER,
        addresses=WITHIN_PROJECT,
        query=FileUrlsQuery,
        body=FileUrlsUpdate,
        returns=RewriteAnswer,
        handler=replace_urls,
        tag=TAG,
    ),
)
