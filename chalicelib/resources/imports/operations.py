"""Imports of datasets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from chalicelib.access.scope import Scope
from chalicelib.core.models.accounts import Project
from chalicelib.core.permissions import Level, Permission
from chalicelib.core.responses import MessageResponse
from chalicelib.http.addresses import WITHIN_PROJECT
from chalicelib.http.operation import Call, Found, NoQuery, Operations, ReadsNothingAhead
from chalicelib.resources.imports import service as imports_service
from chalicelib.resources.imports.schemas import IMPORT, Import, ImportCreated, ImportSpec, StoredImport
from chalicelib.storage.dynamodb import records

OPERATIONS = Operations(tag="Datasets")


@dataclass(frozen=True, kw_only=True)
class _Visible(ReadsNothingAhead):
    """`/rest/Import/{uid}`: an import whose report the caller may see; for others it does not exist."""

    what: str = IMPORT.name
    variables: dict[str, type] = field(default_factory=lambda: {"uid": str})

    def find(self, path: dict[str, Any], body: Any = None) -> Found[Any]:  # noqa: ARG002 the path says it
        """The import, or NotFound."""
        found = records.get(IMPORT, path["uid"])
        return Found(thing=found, project=found.project)

    def level(self, scope: Scope, found: Found[Any]) -> Level:
        """The caller's level in the project, if the import is visible."""
        if not imports_service.is_visible(found.thing, scope):
            return Level.NONE
        return scope.within_project(found.project or 0)


ONE = _Visible()


@OPERATIONS.post("/rest/Imports/{project}", "CreateImport", needs=Permission.TRANSFER, addresses=WITHIN_PROJECT)
def start_import(call: Call[Project, NoQuery, ImportSpec]) -> ImportCreated:
    """Import a dataset from an archive that the caller uploaded.

    Formats: COCO, YOLO, Pascal VOC, MOT Challenge, CVAT 1.1, CSV, JSON lines and Parquet. With `dry_run` the report
    says what would be created, mapped and refused, and nothing changes. An import of the same archive creates nothing
    twice. Ask GetImport how it goes.
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
