"""Erasures of persons: begin one, read reports."""

from __future__ import annotations

from chalicelib.core.models.accounts import Organization
from chalicelib.core.models.personal import ERASURE, Erasure
from chalicelib.core.permissions import Permission
from chalicelib.http.addresses import ORGANIZATION_ADDRESS, record_of_organization
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.resources.erasures import service
from chalicelib.resources.erasures.schemas import ErasureCreated, ErasureSpec
from chalicelib.storage.dynamodb import records

OPERATIONS = Operations(tag="Organizations", needs=Permission.ADMIN, addresses=ORGANIZATION_ADDRESS)


@OPERATIONS.get("/rest/Erasures/{organization}", "GetErasureList")
def list_erasures(call: Call[Organization, NoQuery, None]) -> list[Erasure]:
    """The erasures that administrators of the organization began, with their reports."""
    return records.list_linked(ERASURE, "organization", call.organization)


@OPERATIONS.post("/rest/Erasures/{organization}", "CreateErasure", audits="deletion")
def create_erasure(call: Call[Organization, NoQuery, ErasureSpec]) -> ErasureCreated:
    """Erase a person: name, addresses and network addresses go, the id stays. This cannot be undone.

    By staff who administer the organization, or by an administrator of every organization that the user is affiliated
    with or has a project of, unless administrators alone added the user there; nobody erases themselves. The account is
    closed at once, with its tokens and its identities at providers. A queue function then erases what is left in audit
    logs, comments, mails of jobs and logs of projects; `GET /rest/Erasure/{id}` shows when it is completed, where data
    was found, and when the last copy ends. Attributes, names of media and other content of projects stay. Repeated, the
    request goes on with an erasure that is not completed.
    """
    user = service.check_allowed(call.caller, call.organization, call.body.user)
    made = service.begin(call.caller, call.organization, user)
    return ErasureCreated(message=f"Erasure {made.id} of user {user.id} has begun!", id=made.id, object=made)


@OPERATIONS.get("/rest/Erasure/{id}", "GetErasure", addresses=record_of_organization(ERASURE))
def get_erasure(call: Call[Erasure, NoQuery, None]) -> Erasure:
    """An erasure with its report."""
    return call.target
