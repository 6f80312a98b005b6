"""Files: permanent files that belong to no media."""

from __future__ import annotations

from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.entities import File
from chalicelib.core.permissions import Permission
from chalicelib.core.responses import CreateResponse, MessageResponse
from chalicelib.errors import BadInput
from chalicelib.http.addresses import PROJECT, entity
from chalicelib.http.operation import Call, Documents, NoQuery, Operation
from chalicelib.query.parsers.parameters import FileQuery
from chalicelib.resources.annotations.operations import list_matches
from chalicelib.resources.entities.service import Writer, types_of
from chalicelib.resources.files import service as files_service
from chalicelib.resources.files.schemas import FileSpec, FileUpdate

TAG = "Files"
ONE = entity(Kind.FILE)


def list_files(call: Call[Project, FileQuery, None]) -> Documents | int:
    """All that match, as documents from the view.

    Raises:
        BadInput: the project has no such file type; clients rely on this error.
    """
    if call.query.type is not None and not types_of(Kind.FILE, call.project, [call.query.type]):
        raise BadInput(f"type: the project has no file type {call.query.type}.")
    return list_matches(Kind.FILE, call)


def create_file(call: Call[Project, NoQuery, FileSpec]) -> CreateResponse:
    """Create one."""
    made = files_service.create(Writer.of(call), call.body)
    return CreateResponse(message=f"File {made.name} created!", id=made.id)


def get_file(call: Call[File, NoQuery, None]) -> File:
    """One File."""
    return call.target


def update_file(call: Call[File, NoQuery, FileUpdate]) -> MessageResponse:
    """Change one."""
    files_service.update(Writer.of(call), call.target.id, call.body)
    return MessageResponse(message=f"File {call.target.id} successfully updated!")


def delete_file(call: Call[File, NoQuery, None]) -> MessageResponse:
    """Delete one with its object."""
    files_service.delete(Writer.of(call), call.target.id)
    return MessageResponse(message=f"File {call.target.id} successfully deleted!")


OPERATIONS = (
    Operation(
        id="GetFileList",
        method="GET",
        path="/rest/Files/{project}",
        summary="The Files that match, by id unless sorted.",
        needs=Permission.VIEW,
        addresses=PROJECT,
        query=FileQuery,
        returns=list[File],
        handler=list_files,
        tag=TAG,
    ),
    Operation(
        id="CreateFile",
        method="POST",
        path="/rest/Files/{project}",
        summary="Make a File, with nothing in it yet.",
        details="To put something in: GetUploadInfo with `file_id`, upload it, then UpdateFile with `path`, the key.",
        needs=Permission.EXECUTE,
        addresses=PROJECT,
        body=FileSpec,
        returns=CreateResponse,
        handler=create_file,
        tag=TAG,
    ),
    Operation(
        id="GetFile",
        method="GET",
        path="/rest/File/{id}",
        summary="One File; GetDownloadInfo of its `path` tells where to read it.",
        needs=Permission.VIEW,
        addresses=ONE,
        returns=File,
        handler=get_file,
        tag=TAG,
    ),
    Operation(
        id="UpdateFile",
        method="PATCH",
        path="/rest/File/{id}",
        summary="Change a File: the members given, and no others.",
        details="`path` must be a key that GetUploadInfo gave for this File; the object at the one before is removed.",
        needs=Permission.EXECUTE,
        addresses=ONE,
        body=FileUpdate,
        returns=MessageResponse,
        handler=update_file,
        tag=TAG,
    ),
    Operation(
        id="DeleteFile",
        method="DELETE",
        path="/rest/File/{id}",
        summary="Delete a File with its object.",
        needs=Permission.EXECUTE,
        addresses=ONE,
        returns=MessageResponse,
        handler=delete_file,
        tag=TAG,
    ),
)
