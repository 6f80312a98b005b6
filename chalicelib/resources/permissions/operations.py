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
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.resources.permissions import service as permissions_service
from chalicelib.storage.dynamodb import records

OPERATIONS = Operations(tag="Row protections", audits="membership")


def _maybe(path: dict[str, Any]) -> RowProtection | None:
    return records.maybe(ROW_PROTECTION, path["id"])


_ONE = plain(_maybe, id=int)


@OPERATIONS.get("/rest/RowProtections", "GetRowProtectionList", needs=Permission.SIGNED_IN)
def list_rows(call: Call[None, RowProtectionQuery, None]) -> list[RowProtection]:
    """The row protections on objects whose permissions the caller administers."""
    return permissions_service.list_protections(call.query, call.caller)


@OPERATIONS.post("/rest/RowProtections", "CreateRowProtection", needs=Permission.SIGNED_IN)
def create_row(call: Call[None, NoQuery, RowProtectionSpec]) -> CreateResponse:
    """Set what a user, group or organization may do with one object and its content.

    For callers with the ACL bit on the object: full control of its project, or an administrator of its organization.
    Row protections count where the deployment has fine-grained permissions on.
    """
    row = permissions_service.create(call.body, call.caller)
    return CreateResponse(message="Row protection created!", id=row.id)


@OPERATIONS.delete("/rest/RowProtections", "DestroyRowProtectionListApi", needs=Permission.SIGNED_IN)
def delete_rows(call: Call[None, RowProtectionQuery, None]) -> MessageResponse:
    """Delete the matching row protections, on objects whose permissions the caller administers."""
    if not given(call.query):
        raise BadInput("Give at least one filter of the row protections to delete.")
    rows = permissions_service.list_protections(call.query, call.caller)
    for row in rows:
        _remove(row)
    return MessageResponse(message=f"Deleted {len(rows)} row protections!")


@OPERATIONS.get("/rest/RowProtection/{id}", "GetRowProtection", needs=Permission.SIGNED_IN, addresses=_ONE)
def get_row(call: Call[RowProtection | None, NoQuery, None]) -> RowProtection:
    """One row protection."""
    return _own(call)


@OPERATIONS.patch("/rest/RowProtection/{id}", "UpdateRowProtection", needs=Permission.SIGNED_IN, addresses=_ONE)
def update_row(call: Call[RowProtection | None, NoQuery, RowProtectionUpdateSpec]) -> MessageResponse:
    """Change what a row protection allows."""
    row = _own(call)
    if call.body.permission is None:
        raise BadInput("Nothing to change: give permission.")
    permissions_service.change(row, call.body.permission)
    return MessageResponse(message=f"Row protection {row.id} updated successfully!")


@OPERATIONS.delete(
    "/rest/RowProtection/{id}",
    "DeleteRowProtection",
    needs=Permission.SIGNED_IN,
    addresses=_ONE,
    schema_answer=MessageResponse,
)
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
    permissions_service.note_place(permissions_service.place_of(row))
    records.discard(ROW_PROTECTION, row.id)
