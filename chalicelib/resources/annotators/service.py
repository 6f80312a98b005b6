"""Run annotators: on one frame in a request, and on many media in the background."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import msgspec
import urllib3

from chalicelib.access.scope import Scope
from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.algorithms import Algorithm, AlgorithmParameter
from chalicelib.core.models.definitions import TYPE_RECORD
from chalicelib.core.models.entities import Media
from chalicelib.core.records import padded
from chalicelib.core.web import origins
from chalicelib.errors import BadInput, Forbidden, NotFound, Unavailable
from chalicelib.resources.algorithms import service as algorithms_service
from chalicelib.resources.annotators import conventions
from chalicelib.resources.annotators.schemas import ANNOTATOR, AnnotateSpec, Annotator, Prediction
from chalicelib.resources.entities.service import check_version
from chalicelib.resources.frames import service as frames_service
from chalicelib.resources.frames.service import FrameRequest
from chalicelib.resources.jobs import service as jobs_service
from chalicelib.resources.jobs.runs import JobSpec
from chalicelib.storage import outbound, sealing
from chalicelib.storage.dynamodb import records

PURPOSE = "annotator"
"""The encryption purpose of an annotator's headers."""
ANSWER_SECONDS = 20.0
LARGEST_ANSWER = 4_000_000
FILES_PER_JOB = 20
"""Media of one job that runs an annotator."""
IMAGE = "public.ecr.aws/docker/library/python:3.12-slim"
_OK = 200
_SCRIPT = Path(__file__).with_name("run.py")


def check(annotator: Annotator) -> Annotator:
    """Check an annotator.

    Raises:
        BadInput: it has neither URL nor algorithm or both, its type is not a type of boxes of the project, or an
            attribute that it names does not exist.
        NotFound: the project has no algorithm of the name.
    """
    if (annotator.url is None) == (annotator.algorithm is None):
        raise BadInput("Give url or algorithm: one of them.")
    if annotator.url is not None:
        outbound.check_registered(annotator.url)
    if annotator.algorithm is not None:
        algorithms_service.get_by_name(annotator.project, annotator.algorithm)
    found = records.find(TYPE_RECORD[Kind.LOCALIZATION], annotator.project, padded(annotator.type))
    if found is None or found.dtype != "box":
        raise BadInput(f"type: {annotator.type} is not a localization type of boxes of this project.")
    names = {attribute.name for attribute in found.attribute_types}
    for member in ("label_attribute", "confidence_attribute"):
        name = getattr(annotator, member)
        if name is not None and name not in names:
            raise BadInput(
                f"{member}: the type has no attribute {name!r}; it has {', '.join(sorted(names)) or 'none'}."
            )
    return annotator


def of_project(project: int, number: int) -> Annotator:
    """An annotator of a project. Raises BadInput if the project has none with the id."""
    try:
        found = records.get(ANNOTATOR, number)
    except NotFound:
        found = None
    if found is None or found.project != project:
        raise BadInput(f"annotator: project {project} has no annotator {number}.")
    return found


def predict(media: Media, number: int, frame: int) -> Prediction:
    """Run an annotator on a frame. Nothing is written.

    Raises:
        BadInput: the annotator or frame does not exist, or the answer cannot be read.
        Unavailable: the annotator does not answer.
    """
    annotator = of_project(media.project, number)
    if annotator.url is None:
        raise BadInput("annotator: an algorithm is run on media by Annotate, not on single frames.")
    from PIL import Image  # noqa: PLC0415 kept off the API's cold start

    picture, _ = frames_service.render(media, FrameRequest(frames=(frame,), form="jpg"))
    width, height = Image.open(io.BytesIO(picture)).size
    question = conventions.question(annotator.convention, picture, width, height, media.id, frame)
    boxes = conventions.boxes(annotator.convention, _ask(annotator, question), width, height)
    return Prediction(
        boxes=boxes,
        localizations=[
            dict(
                conventions.localization(
                    box, annotator.type, frame, annotator.label_attribute, annotator.confidence_attribute
                )
            )
            for box in boxes
        ],
    )


def annotate(project: Project, scope: Scope, spec: AnnotateSpec) -> jobs_service.Launched:
    """Run an annotator on media in the background, as jobs.

    Raises:
        BadInput: the annotator or version does not exist, no media are given, or no engine runs jobs here.
    """
    annotator = of_project(project.id, spec.annotator)
    check_version(project.id, spec.version)
    values = {
        "annotator": annotator.id,
        "version": spec.version,
        "type": annotator.type,
        "every": spec.every,
        "start": spec.start,
        "stop": "" if spec.stop is None else spec.stop,
    }
    launch = JobSpec(
        algorithm_name=annotator.algorithm or f"annotator {annotator.name}"[:128],
        media_ids=spec.media_ids,
        media_query=spec.media_query,
        extra_params=[AlgorithmParameter(name=name, value=value) for name, value in values.items()],
        success_email_spec=spec.success_email_spec,
        failure_email_spec=spec.failure_email_spec,
    )
    if annotator.algorithm is not None:
        return jobs_service.launch(project, scope, launch, all_media=False)
    algorithm = Algorithm(
        id=0, project=project.id, name=launch.algorithm_name, user=scope.caller.id, files_per_job=FILES_PER_JOB
    )
    return jobs_service.start(project, scope, launch, algorithm, manifest(), all_media=False)


def manifest() -> bytes:
    """The workflow that runs an annotator by its URL."""
    names = {"HOST": "host", "TOKEN": "rest_token", "JOB": "uid", "MEDIA": "media_ids"}
    names |= {name.upper(): name for name in ("annotator", "version", "type", "every", "start", "stop")}
    script = {
        "image": IMAGE,
        "command": ["python"],
        "env": [{"name": name, "value": f"{{{{workflow.parameters.{value}}}}}"} for name, value in names.items()],
        "source": _SCRIPT.read_text(),
    }
    template = {"name": "annotate", "script": script, "retryStrategy": {"limit": 2}}
    spec = {"entrypoint": "annotate", "templates": [template]}
    return msgspec.json.encode({"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "spec": spec})


def _ask(annotator: Annotator, question: dict[str, Any]) -> Any:
    """The decoded answer of an annotator.

    Raises:
        Unavailable: it cannot be reached, or answers with anything but 200 and JSON; the message is always the same.
    """
    target = conventions.target_of(annotator.url or "", annotator.convention)
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    headers |= sealing.unseal_headers(annotator.sealed, PURPOSE)
    try:
        address = origins.take_apart(target)
        answer = outbound.ask(
            address,
            "POST",
            seconds=ANSWER_SECONDS,
            most=LARGEST_ANSWER,
            headers=headers,
            body=msgspec.json.encode(question),
            is_inside=outbound.is_service_allowed(address),
        )
        if answer.status == _OK:
            return msgspec.json.decode(answer.body)
    except (OSError, Forbidden, ValueError, RecursionError, urllib3.exceptions.HTTPError) as failure:
        raise _unavailable(annotator) from failure
    raise _unavailable(annotator)


def _unavailable(annotator: Annotator) -> Unavailable:
    return Unavailable(f"The annotator {annotator.name} does not answer with 200 and JSON at the moment.")
