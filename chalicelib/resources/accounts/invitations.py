"""Invitations, password resets and unlocks: mailed tokens that can be used once and expire. Only hashes are stored."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from chalicelib.core.models.accounts import Email
from chalicelib.core.permissions import OrganizationLevelName
from chalicelib.core.records import RecordKind
from chalicelib.core.resource import Id, Resource, Timestamp

INVITATION_DAYS = 7
RESET_HOURS = 24
CONFIRMATION_HOURS = 24
"""Hours for which the link that confirms a changed address is valid."""
InvitationStatus = Literal["Pending", "Expired", "Accepted"]


class InvitationUpdate(Resource, kw_only=True):
    """The body of a PATCH of an invitation; Accepted is the only status that can be set."""

    permission: Annotated[OrganizationLevelName | None, Meta(description="Member or Admin.")] = None
    status: Literal["Accepted"] | None = None


class InvitationSpec(Resource, kw_only=True):
    """The body that creates an invitation."""

    email: Email
    permission: Annotated[OrganizationLevelName, Meta(description="Member or Admin.")]


class Invitation(Resource, kw_only=True):
    """An invitation of an address into an organization. Its token is in the mail and in the answer to its creation."""

    also: ClassVar = {"organization_id": "organization", "created_by_id": "created_by"}
    hidden: ClassVar = frozenset({"token_hash"})
    personal: ClassVar = frozenset({"email", "created_username"})

    id: int
    organization: Id
    email: Email
    permission: Annotated[OrganizationLevelName, Meta(description="Member or Admin.")]
    status: Annotated[InvitationStatus, Meta(description="Pending, Accepted or Expired.")] = "Pending"
    created_by: int
    created_datetime: Timestamp
    created_username: Annotated[str, Meta(description="Name of the user that sent it.")]
    registration_token: Annotated[
        str | None, Meta(description="Null in every answer: older clients expect the member.")
    ] = None
    token_hash: Annotated[str, Meta(description="SHA-256 of the token in the invitation's link, in hex.")] = ""


class PasswordResetSpec(Resource, kw_only=True):
    """The address of the user whose password is reset."""

    email: Email


class PasswordReset(Resource, kw_only=True):
    """A reset that was mailed; its id is the hash of the token in the mail's link."""

    personal: ClassVar = frozenset({"email"})

    id: str
    user: int
    email: str = ""
    """The address it was mailed to: the reset is void after the user's address changes."""
    created: float
    """Seconds since the epoch."""


INVITATION = RecordKind(
    name="invitation",
    struct=Invitation,
    parent=("organization", "organization"),
    claims=lambda invitation: {
        **({"token": invitation.token_hash} if invitation.token_hash else {}),
        **(
            {"email": f"{invitation.organization}|{invitation.email.casefold()}"}
            if invitation.status == "Pending"
            else {}
        ),
    },
)
PASSWORD_RESET = RecordKind(name="passwordreset", struct=PasswordReset, links={"user": "user"})
