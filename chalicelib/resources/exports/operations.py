"""Exports of a project's data in the formats of other tools. They belong to the user who made them."""

from __future__ import annotations

from chalicelib.core.models.accounts import Project
from chalicelib.core.models.datasets import EXPORT, StoredExport
from chalicelib.core.permissions import Permission
from chalicelib.core.responses import MessageResponse
from chalicelib.http.addresses import WITHIN_PROJECT, own_record_of_project
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.resources.exports import service as exports_service
from chalicelib.resources.exports.schemas import Export, ExportCreated, ExportSpec
from chalicelib.storage.audit.concern import concern

OPERATIONS = Operations(tag="Datasets")


ONE = own_record_of_project(EXPORT, "uid")


@OPERATIONS.post(
    "/rest/Exports/{project}",
    "CreateExport",
    needs=Permission.VIEW,
    addresses=WITHIN_PROJECT,
    audits="export",
    spends=("bytes",),
)
def create_export(call: Call[Project, NoQuery, ExportSpec]) -> ExportCreated:
    """Export media and annotations as an archive: COCO, YOLO, Pascal VOC, MOT, CVAT, tables and others.

    The archive has what the caller may see at one commit. It is made in the background: GetExport tells the progress,
    and then the link. It is deleted after seven days.
    """
    export = exports_service.create(call.target, call.scope, call.body)
    return ExportCreated(message=f"Export {export.uid} started!", id=export.uid, uid=export.uid)


@OPERATIONS.get("/rest/Exports/{project}", "GetExportList", needs=Permission.VIEW, addresses=WITHIN_PROJECT)
def list_exports(call: Call[Project, NoQuery, None]) -> list[Export]:
    """The caller's exports of a project, oldest first."""
    return [exports_service.as_response(each) for each in exports_service.list_exports(call.project, call.caller.id)]


@OPERATIONS.get("/rest/Export/{uid}", "GetExport", needs=Permission.VIEW, addresses=ONE)
def get_export(call: Call[StoredExport, NoQuery, None]) -> Export:
    """One export of the caller: its progress, size, expiry and, once it is there, a link to the archive."""
    export = exports_service.as_response(call.target, linked=True)
    if export.url:
        concern(project=call.project, kind="download", target=f"export {export.uid}")
    return export


@OPERATIONS.delete("/rest/Export/{uid}", "DeleteExport", needs=Permission.VIEW, addresses=ONE)
def delete_export(call: Call[StoredExport, NoQuery, None]) -> MessageResponse:
    """Cancel an export that is at work, or delete one that is there."""
    exports_service.remove(call.target)
    return MessageResponse(message=f"Export {call.target.uid} deleted!")
