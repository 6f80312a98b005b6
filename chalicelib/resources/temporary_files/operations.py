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
from chalicelib.http.operation import Answer, Call, Located, NoQuery, Operations
from chalicelib.resources.temporary_files import service as temporary_files_service
from chalicelib.resources.temporary_files.schemas import TEMPORARY_FILE, TemporaryFile, TemporaryFileSpec

OPERATIONS = Operations(tag="Temporary files")


class ExpiredQuery(Resource, kw_only=True):
    """The filter of a project's temporary files."""

    expired: Annotated[int, Meta(description="Above 0: those whose time is over.")] = 0


def _by_id(path: dict[str, Any]) -> Located[TemporaryFile]:
    file = temporary_files_service.get(path["id"])
    return Located(target=file, project=file.project)


def _by_name(path: dict[str, Any]) -> Located[TemporaryFile]:
    file = temporary_files_service.get_by_name(path["project"], path["name"])
    return Located(target=file, project=file.project)


ONE = replace(record_of_project(TEMPORARY_FILE), locate=_by_id)
BY_NAME = replace(ONE, locate=_by_name, variables={"project": int, "name": str})


@OPERATIONS.get(
    "/rest/TemporaryFiles/{project}", "GetTemporaryFileList", needs=Permission.VIEW, addresses=WITHIN_PROJECT
)
def list_temporary_files(call: Call[Project, ExpiredQuery, None]) -> list[TemporaryFile]:
    """The temporary files of a project."""
    found = temporary_files_service.list_files(call.project, expired=call.query.expired > 0)
    return call.scope.visible(TEMPORARY_FILE.name, found)


@OPERATIONS.post("/rest/TemporaryFiles/{project}", "CreateTemporaryFile", needs=Permission.EDIT, addresses=PROJECT)
def create_temporary_file(call: Call[Project, NoQuery, TemporaryFileSpec]) -> CreateResponse:
    """Fetch an upload or a URL from an allowed origin, and keep it for up to 24 hours."""
    file = temporary_files_service.create(call.scope, call.project, call.body)
    return CreateResponse(message=f"Temporary file {file.name} created!", id=file.id)


@OPERATIONS.delete(
    "/rest/TemporaryFiles/{project}", "DeleteTemporaryFileList", needs=Permission.EDIT, addresses=WITHIN_PROJECT
)
def delete_temporary_files(call: Call[Project, ExpiredQuery, None]) -> MessageResponse:
    """Delete all temporary files of a project, or those whose time is over."""
    count = temporary_files_service.remove_all(call.project, call.scope, only_expired=call.query.expired > 0)
    return MessageResponse(message=f"Deleted {count} temporary files of project {call.project}!")


@OPERATIONS.get("/rest/TemporaryFile/{id}", "GetTemporaryFile", needs=Permission.VIEW, addresses=ONE)
def get_temporary_file(call: Call[TemporaryFile, NoQuery, None]) -> TemporaryFile:
    """One temporary file."""
    return call.target


@OPERATIONS.delete("/rest/TemporaryFile/{id}", "DeleteTemporaryFile", needs=Permission.EDIT, addresses=ONE)
def delete_temporary_file(call: Call[TemporaryFile, NoQuery, None]) -> MessageResponse:
    """Delete one temporary file."""
    temporary_files_service.remove(call.target)
    return MessageResponse(message=f"Temporary file {call.target.id} deleted successfully!")


def download(call: Call[TemporaryFile, NoQuery, None]) -> Answer:
    """Redirect to the object of the file."""
    location = temporary_files_service.download_url(call.target)
    return Answer(status=302, headers={"Location": location, "Cache-Control": "no-store"})
