"""Temporary files, and the page at their paths."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from msgspec import Meta

from chalicelib.core.models.accounts import Project
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Resource
from chalicelib.core.responses import CreateResponse, MessageResponse
from chalicelib.http.addresses import PROJECT, WITHIN_PROJECT, record_of_project
from chalicelib.http.operation import Answer, Call, Found, NoQuery, Operation
from chalicelib.resources.temporary_files import service as temporary_files_service
from chalicelib.resources.temporary_files.schemas import TEMPORARY_FILE, TemporaryFile, TemporaryFileSpec

TAG = "Temporary files"


class ExpiredQuery(Resource, kw_only=True):
    """The filter of a project's temporary files."""

    expired: Annotated[int, Meta(description="Above 0: those whose time is over.")] = 0


def _by_id(path: dict[str, Any]) -> Found[TemporaryFile]:
    file = temporary_files_service.get(path["id"])
    return Found(thing=file, project=file.project)


def _by_name(path: dict[str, Any]) -> Found[TemporaryFile]:
    file = temporary_files_service.get_by_name(path["project"], path["name"])
    return Found(thing=file, project=file.project)


ONE = replace(record_of_project(TEMPORARY_FILE), locate=_by_id)
BY_NAME = replace(ONE, locate=_by_name, variables={"project": int, "name": str})


def list_temporary_files(call: Call[Project, ExpiredQuery, None]) -> list[TemporaryFile]:
    """The temporary files of the project."""
    found = temporary_files_service.list_files(call.project, expired=call.query.expired > 0)
    return call.scope.only(TEMPORARY_FILE.name, found)


def create_temporary_file(call: Call[Project, NoQuery, TemporaryFileSpec]) -> CreateResponse:
    """Fetch a URL and store it temporarily."""
    file = temporary_files_service.create(call.scope, call.project, call.body)
    return CreateResponse(message=f"Temporary file {file.name} created!", id=file.id)


def delete_temporary_files(call: Call[Project, ExpiredQuery, None]) -> MessageResponse:
    """Delete the temporary files of the project."""
    count = temporary_files_service.remove_all(call.project, call.scope, only_expired=call.query.expired > 0)
    return MessageResponse(message=f"Deleted {count} temporary files of project {call.project}!")


def get_temporary_file(call: Call[TemporaryFile, NoQuery, None]) -> TemporaryFile:
    """One temporary file."""
    return call.target


def delete_temporary_file(call: Call[TemporaryFile, NoQuery, None]) -> MessageResponse:
    """Delete one temporary file."""
    temporary_files_service.remove(call.target)
    return MessageResponse(message=f"Temporary file {call.target.id} deleted successfully!")


def download(call: Call[TemporaryFile, NoQuery, None]) -> Answer:
    """Redirect to the object of the file."""
    location = temporary_files_service.download_url(call.target)
    return Answer(status=302, headers={"Location": location, "Cache-Control": "no-store"})


OPERATIONS = (
    Operation(
        id="GetTemporaryFileList",
        method="GET",
        path="/rest/TemporaryFiles/{project}",
        summary="The temporary files of a project.",
        needs=Permission.VIEW,
        addresses=WITHIN_PROJECT,
        query=ExpiredQuery,
        returns=list[TemporaryFile],
        handler=list_temporary_files,
        tag=TAG,
    ),
    Operation(
        id="CreateTemporaryFile",
        method="POST",
        path="/rest/TemporaryFiles/{project}",
        summary="Fetch an upload or a URL from an allowed origin, and keep it for up to 24 hours.",
        needs=Permission.EDIT,
        addresses=PROJECT,
        body=TemporaryFileSpec,
        returns=CreateResponse,
        handler=create_temporary_file,
        tag=TAG,
    ),
    Operation(
        id="DeleteTemporaryFileList",
        method="DELETE",
        path="/rest/TemporaryFiles/{project}",
        summary="Delete all temporary files of a project, or those whose time is over.",
        needs=Permission.EDIT,
        addresses=WITHIN_PROJECT,
        query=ExpiredQuery,
        returns=MessageResponse,
        handler=delete_temporary_files,
        tag=TAG,
    ),
    Operation(
        id="GetTemporaryFile",
        method="GET",
        path="/rest/TemporaryFile/{id}",
        summary="One temporary file.",
        needs=Permission.VIEW,
        addresses=ONE,
        returns=TemporaryFile,
        handler=get_temporary_file,
        tag=TAG,
    ),
    Operation(
        id="DeleteTemporaryFile",
        method="DELETE",
        path="/rest/TemporaryFile/{id}",
        summary="Delete one temporary file.",
        needs=Permission.EDIT,
        addresses=ONE,
        returns=MessageResponse,
        handler=delete_temporary_file,
        tag=TAG,
    ),
)

PAGES = (
    Operation(
        id="DownloadTemporaryFile",
        method="GET",
        path="/media/{project}/{name}",
        summary="A temporary file itself: leads to where it may be read for an hour.",
        needs=Permission.VIEW,
        addresses=BY_NAME,
        handler=download,
        tag=TAG,
    ),
)
"""Served beside the API: the target of `path` in a temporary file."""
