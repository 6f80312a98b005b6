"""Files: permanent files that belong to no media."""

from __future__ import annotations

from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.entities import File
from chalicelib.core.permissions import Permission
from chalicelib.core.responses import CreateResponse, MessageResponse
from chalicelib.errors import BadInput
from chalicelib.http.addresses import PROJECT, entity
from chalicelib.http.operation import Call, Documents, NoQuery, Operations
from chalicelib.query.parsers.parameters import FileQuery
from chalicelib.resources.annotations.operations import list_matches
from chalicelib.resources.entities.service import Writer, types_of, unknown_type
from chalicelib.resources.files import service as files_service
from chalicelib.resources.files.schemas import FileSpec, FileUpdate

OPERATIONS = Operations(tag="Files")
ONE = entity(Kind.FILE)


@OPERATIONS.get("/rest/Files/{project}", "GetFileList", needs=Permission.VIEW, addresses=PROJECT, returns=list[File])
def list_files(call: Call[Project, FileQuery, None]) -> Documents | int:
    """The Files that match, by id unless sorted.

    Raises:
        BadInput: the project has no such file type; clients rely on this error.
    """
    if call.query.type is not None and not types_of(Kind.FILE, call.project, [call.query.type]):
        raise BadInput(unknown_type(Kind.FILE, call.project, call.query.type))
    return list_matches(Kind.FILE, call)


@OPERATIONS.post("/rest/Files/{project}", "CreateFile", needs=Permission.EXECUTE, addresses=PROJECT)
def create_file(call: Call[Project, NoQuery, FileSpec]) -> CreateResponse:
    """Make a File, with nothing in it yet.

    To put something in: GetUploadInfo with `file_id`, upload it, then UpdateFile with `path`, the key.
    """
    made = files_service.create(Writer.from_call(call), call.body)
    return CreateResponse(message=f"File {made.name} created!", id=made.id)


@OPERATIONS.get("/rest/File/{id}", "GetFile", needs=Permission.VIEW, addresses=ONE)
def get_file(call: Call[File, NoQuery, None]) -> File:
    """One File; GetDownloadInfo of its `path` tells where to read it."""
    return call.target


@OPERATIONS.patch("/rest/File/{id}", "UpdateFile", needs=Permission.EXECUTE, addresses=ONE)
def update_file(call: Call[File, NoQuery, FileUpdate]) -> MessageResponse:
    """Change a File: the members given, and no others.

    `path` must be a key that GetUploadInfo gave for this File; the object at the one before is removed.
    """
    files_service.update(Writer.from_call(call), call.target.id, call.body)
    return MessageResponse(message=f"File {call.target.id} successfully updated!")


@OPERATIONS.delete("/rest/File/{id}", "DeleteFile", needs=Permission.EXECUTE, addresses=ONE)
def delete_file(call: Call[File, NoQuery, None]) -> MessageResponse:
    """Delete a File with its object."""
    files_service.delete(Writer.from_call(call), call.target.id)
    return MessageResponse(message=f"File {call.target.id} successfully deleted!")
