"""Imports of datasets."""

from __future__ import annotations

from chalicelib.core.models.accounts import Project
from chalicelib.core.permissions import Permission
from chalicelib.core.responses import MessageResponse
from chalicelib.http.addresses import WITHIN_PROJECT, record_of_project, visible_only, within
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.resources.imports import service as imports_service
from chalicelib.resources.imports.schemas import IMPORT, Import, ImportCreated, ImportSpec, StoredImport
from chalicelib.storage.dynamodb import records

OPERATIONS = Operations(tag="Datasets")


ONE = visible_only(within(record_of_project(IMPORT, "uid")), imports_service.is_visible)


@OPERATIONS.post(
    "/rest/Imports/{project}",
    "CreateImport",
    needs=Permission.TRANSFER,
    addresses=WITHIN_PROJECT,
    spends=("bytes",),
)
def start_import(call: Call[Project, NoQuery, ImportSpec]) -> ImportCreated:
    """Import a dataset from an archive that the caller uploaded.

    Formats: COCO, YOLO, Pascal VOC, MOT Challenge, CVAT 1.1, VIAME, CSV, JSON lines and Parquet. With `dry_run` the
    report says what would be created, mapped and refused, and nothing changes. An import of the same archive creates
    nothing twice. Ask GetImport how it goes.
    """
    made = imports_service.start(call.scope, call.target, call.body)
    what = "A dry run of the import" if made.spec.dry_run else "The import"
    return ImportCreated(
        message=f"{what} {made.uid} was started.", id=made.uid, uid=made.uid, object=imports_service.as_response(made)
    )


@OPERATIONS.get("/rest/Imports/{project}", "GetImportList", needs=Permission.VIEW, addresses=WITHIN_PROJECT)
def list_imports(call: Call[Project, NoQuery, None]) -> list[Import]:
    """The imports of a project, oldest first."""
    found = sorted(records.list_children(IMPORT, call.project), key=lambda each: (each.start_time, each.uid))
    return [imports_service.as_response(each) for each in found if imports_service.is_visible(each, call.scope)]


@OPERATIONS.get("/rest/Import/{uid}", "GetImport", needs=Permission.VIEW, addresses=ONE)
def get_import(call: Call[StoredImport, NoQuery, None]) -> Import:
    """One import: its progress and its report."""
    return imports_service.as_response(call.target)


@OPERATIONS.delete("/rest/Import/{uid}", "DeleteImport", needs=Permission.TRANSFER, addresses=ONE)
def cancel_import(call: Call[StoredImport, NoQuery, None]) -> MessageResponse:
    """Cancel an import, or remove a finished one; what it created stays."""
    imports_service.cancel(call.target)
    return MessageResponse(message=f"Import {call.target.uid} was removed; what it created stays.")
