"""Invitations into an organization."""

from __future__ import annotations

import msgspec

from chalicelib.access import users
from chalicelib.core.models.accounts import USER, MailedToken, Organization
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Resource
from chalicelib.core.responses import MessageResponse
from chalicelib.errors import BadInput, Forbidden
from chalicelib.http.addresses import ORGANIZATION_ADDRESS, record_of_organization
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.resources.accounts import registration
from chalicelib.resources.accounts.invitations import INVITATION, Invitation, InvitationSpec, InvitationUpdate
from chalicelib.storage.audit.concern import concern
from chalicelib.storage.dynamodb import records

OPERATIONS = Operations(tag="Organizations", audits="membership")
ONE = record_of_organization(INVITATION)


class InvitationCreated(Resource, kw_only=True):
    """The answer to the creation of an invitation; its message has the link, which is not shown again."""

    message: str
    id: int
    user_id: int | None = None


class AcceptSpec(Resource, kw_only=True):
    """What accepts an invitation."""

    registration_token: MailedToken


@OPERATIONS.get(
    "/rest/Invitations/{organization}", "GetInvitationList", needs=Permission.MEMBER, addresses=ORGANIZATION_ADDRESS
)
def list_invitations(call: Call[Organization, NoQuery, None]) -> list[Invitation]:
    """The invitations of an organization, oldest first."""
    found = [
        registration.as_response(invitation) for invitation in records.list_children(INVITATION, call.organization)
    ]
    return sorted(found, key=lambda invitation: (invitation.created_datetime, invitation.id))


@OPERATIONS.post(
    "/rest/Invitations/{organization}", "CreateInvitation", needs=Permission.ADMIN, addresses=ORGANIZATION_ADDRESS
)
def create_invitation(call: Call[Organization, NoQuery, InvitationSpec]) -> InvitationCreated:
    """Invite an address, by mail where that is on; the answer has the link in any case.

    The link has a token of 256 bits, of which only the hash is stored: the answer and the mail are the only places that
    show it. It is good once, for seven days, and for the invited address.
    """
    made, link = registration.invite(call.organization, call.body.email, call.body.permission, call.caller)
    known = users.holders(call.body.email)
    verb = "accept" if known else "register"
    return InvitationCreated(message=f"User can {verb} at {link}", id=made.id, user_id=known[0].id if known else None)


@OPERATIONS.get("/rest/Invitation/{id}", "GetInvitation", needs=Permission.MEMBER, addresses=ONE)
def get_invitation(call: Call[Invitation, NoQuery, None]) -> Invitation:
    """One invitation."""
    return registration.as_response(call.target)


@OPERATIONS.patch("/rest/Invitation/{id}", "UpdateInvitation", needs=Permission.ADMIN, addresses=ONE)
def update_invitation(call: Call[Invitation, NoQuery, InvitationUpdate]) -> MessageResponse:
    """Change an invitation.

    That is its permission, or its acceptance for the user whose address it is, which does not count as the user's own.
    """
    if call.body.permission is None and call.body.status is None:
        raise BadInput("Nothing to change: give permission or status.")
    current = call.target
    if call.body.permission is not None:
        permission = call.body.permission
        current = records.edit(
            INVITATION, current.id, lambda item: msgspec.structs.replace(item, permission=permission)
        )
    if call.body.status == "Accepted" and current.status != "Accepted":
        known = users.holders(current.email)
        if len(known) == 1:
            registration.accept(current, known[0], added_by=0 if call.caller.is_staff else call.caller.id)
        else:
            records.edit(INVITATION, current.id, lambda item: msgspec.structs.replace(item, status="Accepted"))
    return MessageResponse(message=f"Invitation {current.id} successfully updated!")


@OPERATIONS.delete("/rest/Invitation/{id}", "DeleteInvitation", needs=Permission.ADMIN, addresses=ONE)
def delete_invitation(call: Call[Invitation, NoQuery, None]) -> MessageResponse:
    """Withdraw an invitation."""
    records.remove(INVITATION, call.target.id)
    return MessageResponse(message=f"Invitation {call.target.id} successfully deleted!")


@OPERATIONS.post("/rest/Accept", "AcceptInvitation", needs=Permission.SIGNED_IN)
def accept_invitation(call: Call[None, NoQuery, AcceptSpec]) -> MessageResponse:
    """Accept an invitation to the caller's address, with the token of its link."""
    invitation = registration.by_token(call.body.registration_token, call.caller)
    concern(organization=invitation.organization)
    user = records.get(USER, call.caller.id)
    if user.email.casefold() != invitation.email.casefold():
        raise Forbidden("The invitation is for another address.")
    registration.accept(invitation, user)
    return MessageResponse(message=f"You belong to organization {invitation.organization} now.")
