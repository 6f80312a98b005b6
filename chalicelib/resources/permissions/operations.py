"""Row protections."""

from __future__ import annotations

from typing import Any

from chalicelib.access.row_protections import (
    ROW_PROTECTION,
    RowProtection,
    RowProtectionQuery,
    RowProtectionSpec,
    RowProtectionUpdateSpec,
)
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import given
from chalicelib.core.responses import CreateResponse, DeletedResponse, MessageResponse
from chalicelib.errors import BadInput, NotFound
from chalicelib.http.addresses import plain
from chalicelib.http.operation import Call, NoQuery, Operation
from chalicelib.resources.permissions import service as permissions_service
from chalicelib.storage.dynamodb import records

TAG = "Row protections"


def list_rows(call: Call[None, RowProtectionQuery, None]) -> list[RowProtection]:
    """List the matching rows on targets for which the caller has the ACL bit."""
    return permissions_service.list_protections(call.query, call.caller)


def create_row(call: Call[None, NoQuery, RowProtectionSpec]) -> CreateResponse:
    """Create a row protection."""
    row = permissions_service.create(call.body, call.caller)
    return CreateResponse(message="Row protection created!", id=row.id)


def delete_rows(call: Call[None, RowProtectionQuery, None]) -> MessageResponse:
    """Delete the matching rows."""
    if not given(call.query):
        raise BadInput("Name what the row protections to delete have in common: at least one parameter.")
    rows = permissions_service.list_protections(call.query, call.caller)
    for row in rows:
        _remove(row)
    return MessageResponse(message=f"Deleted {len(rows)} row protections!")


def get_row(call: Call[RowProtection | None, NoQuery, None]) -> RowProtection:
    """One row protection."""
    return _own(call)


def update_row(call: Call[RowProtection | None, NoQuery, RowProtectionUpdateSpec]) -> MessageResponse:
    """Change the permissions of a row protection."""
    row = _own(call)
    if call.body.permission is None:
        raise BadInput("Nothing to change: give permission.")
    permissions_service.change(row, call.body.permission)
    return MessageResponse(message=f"Row protection {row.id} updated successfully!")


def delete_row(call: Call[RowProtection | None, NoQuery, None]) -> DeletedResponse:
    """Delete a row protection."""
    row = _own(call)
    _remove(row)
    return DeletedResponse(message=f"Row protection {row.id} deleted successfully!", id=row.id)


def _own(call: Call[RowProtection | None, Any, Any]) -> RowProtection:
    if call.target is None:
        raise NotFound.of("RowProtection", call.path["id"])
    permissions_service.check_acl(call.caller, call.target)
    return call.target


def _remove(row: RowProtection) -> None:
    try:
        records.remove(ROW_PROTECTION, row.id)
    except NotFound:
        return


def _maybe(path: dict[str, Any]) -> RowProtection | None:
    return records.maybe(ROW_PROTECTION, path["id"])


_ONE = plain(_maybe, id=int)

OPERATIONS = (
    Operation(
        id="GetRowProtectionList",
        method="GET",
        path="/rest/RowProtections",
        summary="The row protections on objects whose permissions the caller administers.",
        needs=Permission.SIGNED_IN,
        query=RowProtectionQuery,
        returns=list[RowProtection],
        handler=list_rows,
        tag=TAG,
    ),
    Operation(
        id="CreateRowProtection",
        method="POST",
        path="/rest/RowProtections",
        summary="Set what a user, group or organization may do with one object and its content.",
        details="For callers with the ACL bit on the object: full control of its project, or an administrator of its "
        "organization. Row protections count where the deployment has fine-grained permissions on.",
        needs=Permission.SIGNED_IN,
        body=RowProtectionSpec,
        returns=CreateResponse,
        handler=create_row,
        tag=TAG,
    ),
    Operation(
        id="DestroyRowProtectionListApi",
        method="DELETE",
        path="/rest/RowProtections",
        summary="Delete the matching row protections, on objects whose permissions the caller administers.",
        needs=Permission.SIGNED_IN,
        query=RowProtectionQuery,
        returns=MessageResponse,
        handler=delete_rows,
        tag=TAG,
    ),
    Operation(
        id="GetRowProtection",
        method="GET",
        path="/rest/RowProtection/{id}",
        summary="One row protection.",
        needs=Permission.SIGNED_IN,
        addresses=_ONE,
        returns=RowProtection,
        handler=get_row,
        tag=TAG,
    ),
    Operation(
        id="UpdateRowProtection",
        method="PATCH",
        path="/rest/RowProtection/{id}",
        summary="Change what a row protection allows.",
        needs=Permission.SIGNED_IN,
        addresses=_ONE,
        body=RowProtectionUpdateSpec,
        returns=MessageResponse,
        handler=update_row,
        tag=TAG,
    ),
    Operation(
        id="DeleteRowProtection",
        method="DELETE",
        path="/rest/RowProtection/{id}",
        summary="Delete a row protection.",
        needs=Permission.SIGNED_IN,
        addresses=_ONE,
        returns=DeletedResponse,
        schema_answer=MessageResponse,
        handler=delete_row,
        tag=TAG,
    ),
)
