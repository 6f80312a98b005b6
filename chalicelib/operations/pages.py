"""`/media/{project}/{name}`: the paths of temporary files and of saved ones, such as pages of applets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from chalicelib.domain.accounts import Project
from chalicelib.domain.files import TemporaryFile
from chalicelib.domain.permissions import Permission
from chalicelib.errors import NotFound
from chalicelib.operations import applets, temporary_files
from chalicelib.operations.operation import Answer, Call, Found, NoQuery, Operation
from chalicelib.services import access
from chalicelib.services.temporary_files import named

TAG = "Applets"


def _find(path: dict[str, Any]) -> Found[TemporaryFile | Project]:
    try:
        return Found(thing=named(path["project"], path["name"]), project=path["project"])
    except NotFound:
        project = access.project_of(path["project"])
        return Found(thing=project, project=project.id, organization=project.organization)


def serve(call: Call[TemporaryFile | Project, NoQuery, None]) -> Answer:
    """A file of the project itself, or the way to a temporary one."""
    if isinstance(call.target, Project):
        return applets.serve_file(call.target, call.path["name"])
    return temporary_files.download(call)  # type: ignore[arg-type]


PAGES = (
    Operation(
        id="GetProjectFile",
        method="GET",
        path="/media/{project}/{name}",
        summary="A saved file, such as the page of an applet, as an origin of its own; to a temporary file the way.",
        needs=Permission.VIEW,
        addresses=replace(temporary_files.BY_NAME, locate=_find),
        returns="*/*",
        handler=serve,
        tag=TAG,
    ),
)
