"""Annotators: register them, ask one about a frame, run one on the media of a query."""

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
from chalicelib.http.addresses import PROJECT, WITHIN_PROJECT, entity, record_of_project
from chalicelib.http.crud import RecordResource, record_operations
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.resources.annotators import drafts, frames, neighbours
from chalicelib.resources.annotators import service as annotators_service
from chalicelib.resources.annotators.schemas import (
    ANNOTATOR,
    AnnotateSpec,
    Annotator,
    AnnotatorSpec,
    AnnotatorUpdate,
    DraftsReviewed,
    DraftsSpec,
    EmbeddingsSpec,
    EmbedSpec,
    LabelSuggestions,
    Prediction,
    PredictionSpec,
    Queued,
    ReviewQueueSpec,
    Segmentation,
    SegmentationSpec,
    SuggestionsSpec,
    Tracking,
    TrackingSpec,
    Vectors,
)
from chalicelib.resources.entities.service import Writer
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
    members.setdefault("kind", "interactor" if "prompts" in members else "detector")
    annotator = Annotator(id=0, project=call.project, **members)
    annotators_service.check(annotator)
    annotator.drafts = annotators_service.make_layer(annotator, call.caller.id)
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
        store=make_annotator,
        check_change=change_annotator,
    )
)


_MEDIA = entity(Kind.MEDIA)


@OPERATIONS.post(
    "/rest/Prediction/{id}", "PredictBoxes", needs=Permission.EXECUTE, addresses=_MEDIA, status=200, function="media"
)
def predict(call: Call[Media, NoQuery, PredictionSpec]) -> Prediction:
    """Ask a detector about one frame of a media; nothing is written.

    The frame goes to the annotator's URL as a JPEG. `localizations` and `states` are what Annotate would write into the
    layer of drafts, `version`.
    """
    return frames.predict(call.target, call.body.annotator, call.body.frame)


@OPERATIONS.post(
    "/rest/Segmentation/{id}", "SegmentObject", needs=Permission.EXECUTE, addresses=_MEDIA, status=200, function="media"
)
def segment(call: Call[Media, NoQuery, SegmentationSpec]) -> Segmentation:
    """Ask an interactor for the object that was clicked on; nothing is written.

    The picture is sent with the first click on a frame; then an annotator of the convention limn is asked by its key.
    """
    return frames.segment(call.target, call.body)


@OPERATIONS.post(
    "/rest/Tracking/{id}", "TrackObjects", needs=Permission.EXECUTE, addresses=_MEDIA, status=200, function="media"
)
def track(call: Call[Media, NoQuery, TrackingSpec]) -> Tracking:
    """Ask a tracker to follow boxes from one frame of a media to another; nothing is written.

    It ends where all are lost. `next` is the first frame that did not fit into the time of the request: the last boxes
    and `states` go on from there.
    """
    return frames.track(call.target, call.body)


@OPERATIONS.post(
    "/rest/Embeddings/{id}",
    "ComputeEmbeddings",
    needs=Permission.EXECUTE,
    addresses=_MEDIA,
    status=200,
    function="media",
)
def compute_embeddings(call: Call[Media, NoQuery, EmbeddingsSpec]) -> Vectors:
    """Ask an embedder for the vectors of localizations on a media; nothing is written."""
    return frames.embed(call.target, call.body, call.scope)


@OPERATIONS.post(
    "/rest/Annotate/{project}",
    "Annotate",
    needs=Permission.EXECUTE,
    addresses=PROJECT,
    returns=CreateListResponse,
    makes="Job",
)
def annotate(call: Call[Project, NoQuery, AnnotateSpec]) -> JobsStarted:
    """Run an annotator on media in the background and write what it finds into a version, by default its `drafts`.

    Each 20 media are a job, with progress, output, mail and cancellation as other jobs have. What the version has of
    the annotator's types on these frames is replaced. A tracker follows `localization_ids`.
    """
    return launch_response(annotators_service.annotate(call.target, call.scope, call.body))


@OPERATIONS.post(
    "/rest/Embed/{project}",
    "Embed",
    needs=Permission.EXECUTE,
    addresses=PROJECT,
    returns=CreateListResponse,
    makes="Job",
)
def embed(call: Call[Project, NoQuery, EmbedSpec]) -> JobsStarted:
    """Compute vectors of the localizations on media in the background, and write them into a float_array.

    Each 20 media are a job. Vectors are written by UpdateAttributeValues, whose changes Restore undoes.
    """
    return launch_response(annotators_service.embed(call.target, call.scope, call.body))


@OPERATIONS.post(
    "/rest/Drafts/{id}",
    "ReviewDrafts",
    needs=Permission.EDIT,
    addresses=record_of_project(ANNOTATOR),
    status=200,
    reversible=True,
)
def review(call: Call[Annotator, NoQuery, DraftsSpec]) -> DraftsReviewed:
    """Accept drafts of an annotator, which move to another version, or reject them, which deletes them.

    A track is one draft: its state is selected, and its localizations go with it. It is one bulk change, which Restore
    undoes by `change`.
    """
    return drafts.review(Writer.from_call(call), call.target, call.body)


@OPERATIONS.post(
    "/rest/LabelSuggestions/{project}",
    "SuggestLabels",
    needs=Permission.VIEW,
    addresses=WITHIN_PROJECT,
    status=200,
)
def suggest_labels(call: Call[Project, NoQuery, SuggestionsSpec]) -> list[LabelSuggestions]:
    """The labels that the nearest localizations have, with votes, for each of some; those asked about do not vote."""
    return neighbours.suggest(call.project, call.scope, call.body)


@OPERATIONS.post(
    "/rest/ReviewQueue/{project}",
    "FindForReview",
    needs=Permission.VIEW,
    addresses=WITHIN_PROJECT,
    status=200,
)
def find_for_review(call: Call[Project, NoQuery, ReviewQueueSpec]) -> list[Queued]:
    """The localizations to look at first: the most uncertain, the most unlike, or near duplicates."""
    return neighbours.queue(call.project, call.scope, call.body)
