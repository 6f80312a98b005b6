"""Applets: pages shown inside a project, and the files they are made of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from chalicelib.access import authentication
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.algorithms import APPLET, Applet, AppletSpec, AppletUpdate, GenericFile, GenericFileSpec
from chalicelib.core.permissions import Permission
from chalicelib.core.responses import MessageResponse
from chalicelib.errors import BadInput
from chalicelib.http.addresses import PROJECT
from chalicelib.http.crud import RecordResource, record_operations
from chalicelib.http.operation import Answer, Call, NoQuery, Operations
from chalicelib.resources.algorithms import saved_files
from chalicelib.resources.applets import service as applets_service
from chalicelib.resources.uploads import fetching

TAG = "Applets"
OPERATIONS = Operations(tag=TAG)


@OPERATIONS.post("/rest/SaveGenericFile/{project}", "SaveGenericFile", needs=Permission.EXECUTE, addresses=PROJECT)
def save_file(call: Call[Project, NoQuery, GenericFileSpec]) -> GenericFile:
    """Keep an uploaded file with the project, such as the page of an applet.

    It is served at `/media/{url}` with a policy that makes it an origin of its own.
    """
    fetching.check_source(call.body.upload_url, call.project, call.scope)
    if call.body.name is None:
        raise BadInput("Request body validation error", "'name' is a required property.")
    name = saved_files.save(call.target, call.body.name, call.body.upload_url, call.scope)
    return GenericFile(
        name=call.body.name,
        project=call.project,
        upload_url=call.body.upload_url,
        url=saved_files.url_of(call.project, name),
    )


def serve_file(project: Project, name: str) -> Answer:
    """A file of a project for browsers; its scripts run in an opaque origin. Raises NotFound."""
    page = saved_files.page(project, name)
    return Answer(content_type=page.content_type, body=page.body, headers=page.headers)


def register(call: Call[Project, NoQuery, AppletSpec]) -> Applet:
    """Register an applet."""
    return applets_service.register(call.target, call.caller, call.body)


def update_applet(call: Call[Applet, NoQuery, AppletUpdate]) -> MessageResponse:
    """Change the members given."""
    applets_service.change(authentication.project_of(call.project), call.caller, call.target, call.body)
    return MessageResponse(message=f"Applet {call.target.id} successfully updated!")


_RESOURCE = RecordResource(
    kind=APPLET,
    tag=TAG,
    read=Permission.VIEW,
    write=Permission.EXECUTE,
    spec=AppletSpec,
    update=AppletUpdate,
    schema_update=AppletSpec,
    store=register,
    show=applets_service.as_response,
    remove=lambda call: applets_service.remove(authentication.project_of(call.project), call.target),
    deleted_message="Applet {id} deleted successfully!",
)
_SPECIAL: dict[str, dict[str, Any]] = {
    "CreateApplet": {
        "id": "RegisterApplet",
        "summary": "Register an applet: a page that was saved before, or a hosted template.",
    },
    "UpdateApplet": {"handler": update_applet},
}

OPERATIONS += (replace(operation, **_SPECIAL.get(operation.id, {})) for operation in record_operations(_RESOURCE))
