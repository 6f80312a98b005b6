"""Algorithms: workflows that are launched over media, and the manifests they run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from chalicelib.access import authentication
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.algorithms import (
    ALGORITHM,
    Algorithm,
    AlgorithmManifest,
    AlgorithmManifestSpec,
    AlgorithmSpec,
    AlgorithmUpdateSpec,
)
from chalicelib.core.permissions import Permission
from chalicelib.core.responses import MessageResponse
from chalicelib.http.addresses import PROJECT
from chalicelib.http.crud import RecordResource, record_operations
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.resources.algorithms import saved_files
from chalicelib.resources.algorithms import service as algorithms_service

TAG = "Algorithms"
OPERATIONS = Operations(tag=TAG)


@OPERATIONS.post(
    "/rest/SaveAlgorithmManifest/{project}", "SaveAlgorithmManifest", needs=Permission.TRANSFER, addresses=PROJECT
)
def save_manifest(call: Call[Project, NoQuery, AlgorithmManifestSpec]) -> AlgorithmManifest:
    """Keep an uploaded manifest with the project, so that an algorithm can be registered with it."""
    name = saved_files.save(call.target, call.body.name, call.body.upload_url, call.scope)
    return AlgorithmManifest(url=saved_files.url_of(call.project, name))


def register(call: Call[Project, NoQuery, AlgorithmSpec]) -> Algorithm:
    """Register an algorithm."""
    return algorithms_service.register(call.target, call.caller, call.level, call.body)


def get_algorithm(call: Call[Algorithm, NoQuery, None]) -> Algorithm:
    """One algorithm, with the manifest its template gives."""
    return algorithms_service.as_response(call.target)


def update_algorithm(call: Call[Algorithm, NoQuery, AlgorithmUpdateSpec]) -> MessageResponse:
    """Change the members given."""
    project = authentication.project_of(call.project)
    algorithms_service.change(project, call.caller, call.level, call.target, call.body)
    return MessageResponse(message=f"Algorithm {call.target.id} successfully updated!")


def delete_algorithm(call: Call[Algorithm, NoQuery, None]) -> None:
    """Take an algorithm away with its manifest."""
    algorithms_service.remove(authentication.project_of(call.project), call.target)


_RESOURCE = RecordResource(
    kind=ALGORITHM,
    tag=TAG,
    read=Permission.VIEW,
    write=Permission.EDIT,
    spec=AlgorithmSpec,
    update=AlgorithmUpdateSpec,
    find=lambda call: algorithms_service.list_algorithms(call.project),
    store=register,
    remove=delete_algorithm,
    deleted_message="Registered algorithm deleted successfully!",
)
_SPECIAL: dict[str, dict[str, Any]] = {
    "CreateAlgorithm": {
        "id": "RegisterAlgorithm",
        "summary": "Register an algorithm: a manifest that was saved before, or a hosted template.",
        "details": "Its name is unique across projects. The manifest is checked as an Argo Workflow: with a job "
        "cluster it may use all of Argo, without one what AWS Batch can run; the answer names what that cannot.",
    },
    "GetAlgorithm": {"handler": get_algorithm},
    "UpdateAlgorithm": {"handler": update_algorithm},
}

OPERATIONS += (replace(operation, **_SPECIAL.get(operation.id, {})) for operation in record_operations(_RESOURCE))
