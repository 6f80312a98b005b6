"""Invitations and password resets: single-use words that open an account for a while (`spec/3` §§2.3, 2.7, 3.3)."""

from __future__ import annotations

from typing import ClassVar, Literal

from chalicelib.core.accounts import Email
from chalicelib.core.permissions import OrganizationLevelName
from chalicelib.core.records import RecordKind
from chalicelib.core.resource import Resource, Timestamp

INVITATION_DAYS = 7
RESET_HOURS = 24
InvitationStatus = Literal["Pending", "Expired", "Accepted"]


class InvitationUpdate(Resource, kw_only=True):
    """What a PATCH of an invitation may carry; Accepted is the only status that may be set."""

    permission: OrganizationLevelName | None = None
    status: Literal["Accepted"] | None = None


class InvitationSpec(Resource, kw_only=True):
    """What creates an invitation."""

    email: Email
    permission: OrganizationLevelName


class Invitation(Resource, kw_only=True):
    """An invitation of an address into an organization."""

    also: ClassVar = {"organization_id": "organization", "created_by_id": "created_by"}

    id: int
    organization: int
    email: Email
    permission: OrganizationLevelName
    status: InvitationStatus = "Pending"
    created_by: int
    created_datetime: Timestamp
    created_username: str
    registration_token: str
    """A uuid: who knows it may register, or accept."""


class PasswordResetSpec(Resource, kw_only=True):
    """Whose password is to be reset."""

    email: Email


class PasswordReset(Resource, kw_only=True):
    """A reset that was mailed; its id is the hash of the word in the mail's link."""

    id: str
    user: int
    created: float
    """Seconds since the epoch."""


INVITATION = RecordKind(
    name="invitation",
    struct=Invitation,
    title="Invitation",
    parent=("organization", "organization"),
    claims=lambda invitation: {
        "registration_token": invitation.registration_token,
        **(
            {"email": f"{invitation.organization}|{invitation.email.casefold()}"}
            if invitation.status == "Pending"
            else {}
        ),
    },
)
PASSWORD_RESET = RecordKind(name="passwordreset", struct=PasswordReset, title="PasswordReset")
