"""Imports of datasets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from chalicelib.access.scope import Scope
from chalicelib.core.models.accounts import Project
from chalicelib.core.permissions import Level, Permission
from chalicelib.core.responses import MessageResponse
from chalicelib.http.addresses import WITHIN_PROJECT
from chalicelib.http.operation import Call, Found, NoQuery, Operation, ReadsNothingAhead
from chalicelib.resources.imports import service as imports_service
from chalicelib.resources.imports.schemas import IMPORT, Import, ImportCreated, ImportSpec, StoredImport
from chalicelib.storage.dynamodb import records

TAG = "Datasets"


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


def start_import(call: Call[Project, NoQuery, ImportSpec]) -> ImportCreated:
    """Start an import."""
    made = imports_service.start(call.scope, call.target, call.body)
    what = "A dry run of the import" if made.spec.dry_run else "The import"
    return ImportCreated(
        message=f"{what} {made.uid} was started.", id=made.uid, uid=made.uid, object=imports_service.as_response(made)
    )


def list_imports(call: Call[Project, NoQuery, None]) -> list[Import]:
    """The imports of a project, oldest first."""
    found = sorted(records.list_children(IMPORT, call.project), key=lambda each: (each.start_time, each.uid))
    return [imports_service.as_response(each) for each in found if imports_service.is_visible(each, call.scope)]


def get_import(call: Call[StoredImport, NoQuery, None]) -> Import:
    """One import."""
    return imports_service.as_response(call.target)


def cancel_import(call: Call[StoredImport, NoQuery, None]) -> MessageResponse:
    """Cancel an import, or remove a finished one."""
    imports_service.cancel(call.target)
    return MessageResponse(message=f"Import {call.target.uid} was removed; what it created stays.")


OPERATIONS = (
    Operation(
        id="CreateImport",
        method="POST",
        path="/rest/Imports/{project}",
        summary="Import a dataset from an archive that the caller uploaded.",
        details="Formats: COCO, YOLO, Pascal VOC, MOT Challenge, CVAT 1.1, CSV, JSON lines and Parquet. With `dry_run` "
        "the report says what would be created, mapped and refused, and nothing changes. An import of the same archive "
        "creates nothing twice. Ask GetImport how it goes.",
        needs=Permission.TRANSFER,
        addresses=WITHIN_PROJECT,
        body=ImportSpec,
        returns=ImportCreated,
        handler=start_import,
        tag=TAG,
    ),
    Operation(
        id="GetImportList",
        method="GET",
        path="/rest/Imports/{project}",
        summary="The imports of a project, oldest first.",
        needs=Permission.VIEW,
        addresses=WITHIN_PROJECT,
        returns=list[Import],
        handler=list_imports,
        tag=TAG,
    ),
    Operation(
        id="GetImport",
        method="GET",
        path="/rest/Import/{uid}",
        summary="One import: its progress and its report.",
        needs=Permission.VIEW,
        addresses=ONE,
        returns=Import,
        handler=get_import,
        tag=TAG,
    ),
    Operation(
        id="DeleteImport",
        method="DELETE",
        path="/rest/Import/{uid}",
        summary="Cancel an import, or remove a finished one; what it created stays.",
        needs=Permission.TRANSFER,
        addresses=ONE,
        returns=MessageResponse,
        handler=cancel_import,
        tag=TAG,
    ),
)
