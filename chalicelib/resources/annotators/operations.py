"""Annotators: register them, run one on a frame, run one on the media of a query."""

from __future__ import annotations

from typing import Any

import msgspec

from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.entities import Media
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import given
from chalicelib.core.responses import CreateListResponse
from chalicelib.core.web import http_headers
from chalicelib.http.addresses import PROJECT, entity
from chalicelib.http.crud import RecordResource, record_operations
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.resources.annotators import service as annotators_service
from chalicelib.resources.annotators.schemas import (
    ANNOTATOR,
    AnnotateSpec,
    Annotator,
    AnnotatorSpec,
    AnnotatorUpdate,
    Prediction,
    PredictionSpec,
)
from chalicelib.resources.jobs.operations import JobsStarted, launch_response
from chalicelib.storage import sealing
from chalicelib.storage.dynamodb import ids, records

TAG = "Annotators"
OPERATIONS = Operations(tag=TAG)


def make_annotator(call: Call[Project, NoQuery, AnnotatorSpec]) -> Annotator:
    """Register an annotator."""
    members = given(call.body)
    members["sealed"] = sealing.seal_headers(call.body.headers or [], annotators_service.PURPOSE)
    members.pop("headers", None)
    annotator = Annotator(id=0, project=call.project, **members)
    annotators_service.check(annotator)
    annotator.id = ids.reserve(ANNOTATOR.name)[0]
    return records.create(ANNOTATOR, annotator)


def change_annotator(call: Call[Annotator, NoQuery, AnnotatorUpdate], change: dict[str, Any]) -> dict[str, Any]:
    """Replace the given members; a URL replaces an algorithm, and the other way round."""
    if "headers" in change:
        del change["headers"]
        change["sealed"] = sealing.seal_headers(call.body.headers or [], annotators_service.PURPOSE)
    if "url" in change and "algorithm" not in change:
        change["algorithm"] = None
    if "algorithm" in change and "url" not in change:
        change["url"] = None
    changed = msgspec.structs.replace(call.target, **change)
    annotators_service.check(changed)
    if call.target.sealed:
        http_headers.check_moved(call.target.url, changed.url, is_given="sealed" in change)
    return change


OPERATIONS += record_operations(
    RecordResource(
        kind=ANNOTATOR,
        tag=TAG,
        read=Permission.VIEW,
        write=Permission.FULL,
        spec=AnnotatorSpec,
        update=AnnotatorUpdate,
        made=make_annotator,
        changed=change_annotator,
    )
)


@OPERATIONS.post(
    "/rest/Prediction/{id}",
    "PredictBoxes",
    needs=Permission.EXECUTE,
    addresses=entity(Kind.MEDIA),
    status=200,
    function="media",
)
def predict(call: Call[Media, NoQuery, PredictionSpec]) -> Prediction:
    """Ask an annotator about one frame of a media; nothing is written.

    The frame goes to the annotator's URL as a JPEG. `localizations` is what Annotate would write.
    """
    return annotators_service.predict(call.target, call.body.annotator, call.body.frame)


@OPERATIONS.post(
    "/rest/Annotate/{project}",
    "Annotate",
    needs=Permission.EXECUTE,
    addresses=PROJECT,
    returns=CreateListResponse,
    makes="Job",
)
def annotate(call: Call[Project, NoQuery, AnnotateSpec]) -> JobsStarted:
    """Run an annotator on media in the background and write its boxes into a version.

    Each 20 media are a job, with progress, output, mail and cancellation as other jobs have. What the version has of
    the annotator's type on these media is replaced.
    """
    return launch_response(annotators_service.annotate(call.target, call.scope, call.body))
