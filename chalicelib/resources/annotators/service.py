"""Annotators: their registration, the layer of their drafts, their jobs, and the request to a model."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import urllib3

from chalicelib.access.scope import Scope
from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.algorithms import Algorithm, AlgorithmParameter
from chalicelib.core.models.definitions import STATE_TYPE, TYPE_RECORD, VERSION
from chalicelib.core.records import padded
from chalicelib.core.web import origins
from chalicelib.errors import BadInput, Forbidden, Unavailable
from chalicelib.resources.algorithms import service as algorithms_service
from chalicelib.resources.annotators import conventions
from chalicelib.resources.annotators.schemas import ANNOTATOR, AnnotateSpec, Annotator, EmbedSpec
from chalicelib.resources.entities.service import check_version
from chalicelib.resources.jobs import service as jobs_service
from chalicelib.resources.jobs.runs import JobSpec
from chalicelib.resources.versions import service as versions_service
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
_UNKNOWN_PICTURE = 409
DTYPES = ("box", "poly", "dot")
"""Dtypes of the localization types in which answers can be stored."""
LAYER = "Drafts of"
CONVENTIONS: dict[str, tuple[str, ...]] = {
    "detector": ("limn", "label-studio", "nuclio"),
    "interactor": ("limn", "label-studio", "nuclio"),
    "tracker": ("limn", "nuclio"),
    "embedder": ("limn",),
}
"""By kind of annotator."""
_PARAMETERS = ("annotator", "version", "type", "every", "start", "stop", "seeds", "attribute", "anew")
_OF_ALGORITHMS = 6
"""How many of them algorithms may use."""
_SCRIPT = Path(__file__).with_name("run.py")


def check(annotator: Annotator) -> Annotator:
    """Check an annotator.

    Raises:
        BadInput: it has neither URL nor algorithm or both, its kind does not go with the rest, its type is none that
            its answers become, or an attribute that it names does not exist.
        NotFound: the project has no algorithm of the name.
    """
    if (annotator.url is None) == (annotator.algorithm is None):
        raise BadInput("Give url or algorithm: one of them.")
    _check_kind(annotator)
    if annotator.url is not None:
        outbound.check_registered(annotator.url)
    if annotator.algorithm is not None:
        algorithms_service.get_by_name(annotator.project, annotator.algorithm)
    if annotator.track_type is not None:
        track_type = records.find(STATE_TYPE, annotator.project, padded(annotator.track_type))
        if track_type is None or track_type.association != "Localization":
            raise BadInput(f"track_type: {annotator.track_type} is not a state type with the association Localization.")
    _check_attributes(annotator, type_of(annotator))
    if annotator.drafts is not None:
        check_version(annotator.project, annotator.drafts)
    return annotator


def _check_kind(annotator: Annotator) -> None:
    if (annotator.kind == "interactor") != (annotator.prompts is not None):
        raise BadInput("prompts: an interactor, and no other kind, has prompts: points, box or both.")
    if annotator.algorithm is not None and annotator.kind != "detector":
        raise BadInput(
            f"algorithm: an annotator of the kind {annotator.kind} is asked while a person waits; give a url."
        )
    if annotator.convention not in CONVENTIONS[annotator.kind]:
        accepted = ", ".join(CONVENTIONS[annotator.kind])
        raise BadInput(
            f"convention: {annotator.convention} has no {annotator.kind}; a {annotator.kind} follows {accepted}."
        )
    if annotator.kind == "embedder" and annotator.embedding_attribute is None:
        raise BadInput("embedding_attribute: an embedder needs the float_array that gets its vectors.")


def _check_attributes(annotator: Annotator, of: Any) -> None:
    known = {attribute.name: attribute for attribute in of.attribute_types}
    for member in ("label_attribute", "confidence_attribute", "model_attribute", "embedding_attribute"):
        name = getattr(annotator, member)
        if name is not None and name not in known:
            raise BadInput(
                f"{member}: the type has no attribute {name!r}; it has {', '.join(sorted(known)) or 'none'}."
            )
    name = annotator.embedding_attribute
    if name is not None and known[name].dtype != "float_array":
        raise BadInput(f"embedding_attribute: {name!r} is of dtype {known[name].dtype}; vectors need a float_array.")


def type_of(annotator: Annotator) -> Any:
    """The type of what an annotator finds: of localizations, or for classes of frames, of states.

    Raises:
        BadInput: the project has none that the annotator can fill.
    """
    key = padded(annotator.type)
    found = records.find(TYPE_RECORD[Kind.LOCALIZATION], annotator.project, key)
    if found is not None and found.dtype in DTYPES:
        return found
    states = records.find(STATE_TYPE, annotator.project, key) if annotator.kind == "detector" else None
    if states is not None and states.association in ("Frame", "Media"):
        return states
    others = ", or a state type of frames or media" if annotator.kind == "detector" else ""
    raise BadInput(
        f"type: {annotator.type} is not a localization type of boxes, polygons or dots of this project{others}."
    )


def of_kind(project: int, number: int, *kinds: str) -> Annotator:
    """An annotator of a project with a URL. Raises BadInput where there is none, or it is of another kind."""
    annotator = of_project(project, number)
    if annotator.kind not in kinds:
        raise BadInput(f"annotator: {annotator.name!r} is a {annotator.kind}; give one that is a {' or '.join(kinds)}.")
    if annotator.url is None:
        raise BadInput("annotator: an algorithm is run on media by Annotate, not on single frames.")
    return annotator


def layer_of(annotator: Annotator) -> int | None:
    """The layer of an annotator's drafts; None where it has none, or that was deleted."""
    number = annotator.drafts
    is_there = number is not None and records.find(VERSION, annotator.project, padded(number)) is not None
    return number if is_there else None


def make_layer(annotator: Annotator, user: int) -> int:
    """The layer of an annotator's drafts, made where it has none.

    One with the same name that no annotator of the project has is taken: a crash may have left it.
    """
    number = layer_of(annotator)
    if number is not None:
        return number
    name = f"{LAYER} {annotator.name}"[:128]
    taken = {each.drafts for each in records.list_children(ANNOTATOR, annotator.project)}
    versions = records.list_children(VERSION, annotator.project)
    free = next((each.id for each in versions if each.name == name and each.id not in taken), None)
    number = free or versions_service.make(annotator.project, name, user, show_empty=False).id
    if annotator.id:
        records.edit(ANNOTATOR, annotator.id, lambda each: msgspec.structs.replace(each, drafts=number))
    return number


def of_project(project: int, number: int) -> Annotator:
    """An annotator of a project. Raises BadInput if the project has none with the id."""
    found = records.maybe(ANNOTATOR, number)
    if found is None or found.project != project:
        raise BadInput(f"annotator: project {project} has no annotator {number}.")
    return found


def annotate(
    project: Project,
    scope: Scope,
    spec: AnnotateSpec,
    *,
    once: str | None = None,
    approval: algorithms_service.Approval | None = None,
) -> jobs_service.Launched:
    """Run an annotator on media in the background, as jobs.

    Args:
        project: the project.
        scope: of the caller.
        spec: the annotator, the media and frames, and the layer.
        once: as of `jobs_service.launch`.
        approval: as of `jobs_service.launch`.

    Raises:
        BadInput: the annotator or version does not exist, no media are given, or no engine runs jobs here.
        NotApproved, Conflict: as `jobs_service.launch`.
    """
    annotator = of_project(project.id, spec.annotator)
    if annotator.kind not in ("detector", "tracker"):
        raise BadInput(f"annotator: {annotator.name!r} is of the kind {annotator.kind}; give a detector or a tracker.")
    if (annotator.kind == "tracker") != (spec.localization_ids is not None):
        raise BadInput("localization_ids: a tracker, and no other kind, needs the localizations that it follows.")
    if spec.localization_ids is not None and len(spec.media_ids or ()) != 1:
        raise BadInput("media_ids: give the media of the localizations, one.")
    if spec.version is not None:
        check_version(project.id, spec.version)
    values = {
        "annotator": annotator.id,
        "version": spec.version or make_layer(annotator, scope.caller.id),
        "type": annotator.type,
        "every": spec.every,
        "start": spec.start,
        "stop": "" if spec.stop is None else spec.stop,
        "seeds": ",".join(map(str, spec.localization_ids or ())),
        "attribute": "",
        "anew": 0,
    }
    return start(project, scope, annotator, values, spec, once=once, approval=approval)


def embed(project: Project, scope: Scope, spec: EmbedSpec) -> jobs_service.Launched:
    """Compute the vectors of the localizations on media in the background, as jobs.

    Raises:
        BadInput: the annotator is no embedder, no media are given, or no engine runs jobs here.
        NotFound: the version does not exist.
    """
    annotator = of_kind(project.id, spec.annotator, "embedder")
    if spec.version is not None:
        check_version(project.id, spec.version)
    values = {
        "annotator": annotator.id,
        "version": spec.version or "",
        "type": annotator.type,
        "every": 1,
        "start": 0,
        "stop": "",
        "seeds": "",
        "attribute": annotator.embedding_attribute,
        "anew": int(spec.anew),
    }
    return start(project, scope, annotator, values, spec)


def start(
    project: Project,
    scope: Scope,
    annotator: Annotator,
    values: dict[str, Any],
    spec: AnnotateSpec | EmbedSpec,
    *,
    once: str | None = None,
    approval: algorithms_service.Approval | None = None,
) -> jobs_service.Launched:
    """Start the jobs of an annotator with the parameters of its script. Raises as `annotate`."""
    named = _PARAMETERS if annotator.algorithm is None else _PARAMETERS[:_OF_ALGORITHMS]
    launch = JobSpec(
        algorithm_name=annotator.algorithm or f"annotator {annotator.name}"[:128],
        media_ids=spec.media_ids,
        media_query=spec.media_query,
        extra_params=[AlgorithmParameter(name=name, value=value) for name, value in values.items() if name in named],
        success_email_spec=spec.success_email_spec,
        failure_email_spec=spec.failure_email_spec,
    )
    if annotator.algorithm is not None:
        return jobs_service.launch(project, scope, launch, all_media=False, once=once, approval=approval)
    if approval is not None and digest_of(project, annotator) != approval.digest:
        raise algorithms_service.NotApproved(f"Somebody else changed what the annotator {annotator.name!r} asks.")
    algorithm = Algorithm(
        id=0, project=project.id, name=launch.algorithm_name, user=scope.caller.id, files_per_job=FILES_PER_JOB
    )
    text = manifest()
    if approval is not None:  # of the annotator, not of this manifest; the count of launches goes along
        approval = replace(approval, digest=algorithms_service.digest_of(algorithm, text))
    return jobs_service.start(project, scope, launch, algorithm, text, all_media=False, once=once, approval=approval)


def digest_of(project: Project, annotator: Annotator) -> str:
    """The digest of what an annotator asks: its members and its headers, or what its algorithm runs now."""
    if annotator.algorithm is not None:
        algorithm = algorithms_service.get_by_name(project.id, annotator.algorithm)
        return algorithms_service.digest_now(project, algorithm)
    named = msgspec.structs.replace(annotator, drafts=None, effective_permission=0)
    return sha256(msgspec.json.encode(named)).hexdigest()


def manifest() -> bytes:
    """The workflow that runs an annotator by its URL."""
    names = {"HOST": "host", "TOKEN": "rest_token", "JOB": "uid", "MEDIA": "media_ids"}
    names |= {
        name.upper(): name
        for name in ("annotator", "version", "type", "every", "start", "stop", "seeds", "attribute", "anew")
    }
    script = {
        "image": IMAGE,
        "command": ["python"],
        "env": [{"name": name, "value": f"{{{{workflow.parameters.{value}}}}}"} for name, value in names.items()],
        "source": _SCRIPT.read_text(),
    }
    template = {"name": "annotate", "script": script, "retryStrategy": {"limit": 2}}
    spec = {"entrypoint": "annotate", "templates": [template]}
    return msgspec.json.encode({"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "spec": spec})


def model_of(annotator: Annotator, said: tuple[str | None, str | None]) -> str:
    """The name and version of a model, as far as its answer or else its record has them."""
    name, version = said
    return " ".join(filter(None, (name or annotator.name, version or annotator.model_version)))


def ask(annotator: Annotator, question: dict[str, Any], *, is_by_key: bool = False, most: int = LARGEST_ANSWER) -> Any:
    """The decoded answer of an annotator.

    Args:
        annotator: who is asked.
        question: the body.
        is_by_key: whether the question has the key of a picture instead of the picture.
        most: bytes of the answer.

    Returns:
        the answer; None where it is asked by key, and does not know the picture (409).

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
            most=most,
            headers=headers,
            body=msgspec.json.encode(question),
            is_inside=outbound.is_service_allowed(address),
        )
        if is_by_key and answer.status == _UNKNOWN_PICTURE:
            return None
        if answer.status == _OK:
            return msgspec.json.decode(answer.body)
    except (OSError, Forbidden, ValueError, RecursionError, urllib3.exceptions.HTTPError) as failure:
        raise _unavailable(annotator) from failure
    raise _unavailable(annotator)


def _unavailable(annotator: Annotator) -> Unavailable:
    return Unavailable(f"The annotator {annotator.name} does not answer with 200 and JSON at the moment.")
