"""`/media/{project}/{name}`: the paths of temporary files and of saved ones, such as pages of applets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from chalicelib.access import authentication
from chalicelib.core.models.accounts import Project
from chalicelib.core.permissions import Permission
from chalicelib.errors import NotFound
from chalicelib.http.operation import Answer, Call, Found, NoQuery, Operations
from chalicelib.resources.applets import operations as applets_operations
from chalicelib.resources.temporary_files import operations as temporary_files_operations
from chalicelib.resources.temporary_files.schemas import TemporaryFile
from chalicelib.resources.temporary_files.service import get_by_name

TAG = "Applets"
PAGES = Operations(tag=TAG)


def _find(path: dict[str, Any]) -> Found[TemporaryFile | Project]:
    try:
        return Found(thing=get_by_name(path["project"], path["name"]), project=path["project"])
    except NotFound:
        project = authentication.project_of(path["project"])
        return Found(thing=project, project=project.id, organization=project.organization)


@PAGES.get(
    "/media/{project}/{name}",
    "GetProjectFile",
    needs=Permission.VIEW,
    addresses=replace(temporary_files_operations.BY_NAME, locate=_find),
    returns="*/*",
)
def serve(call: Call[TemporaryFile | Project, NoQuery, None]) -> Answer:
    """A saved file, such as the page of an applet, as an origin of its own; to a temporary file the way."""
    if isinstance(call.target, Project):
        return applets_operations.serve_file(call.target, call.path["name"])
    return temporary_files_operations.download(call)  # type: ignore[arg-type]
