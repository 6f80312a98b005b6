"""Users as an organization's identity provider provisions them by SCIM."""

from __future__ import annotations

from typing import ClassVar

from chalicelib.core.records import RecordKind
from chalicelib.core.resource import Resource, Timestamp


class ScimUser(Resource, kw_only=True):
    """What the identity provider of an organization calls a user."""

    personal: ClassVar = frozenset({"user_name", "external_id"})

    id: int
    organization: int
    user: int
    user_name: str
    """As the provider has it; unique in the organization, in any case. The name here may be another one."""
    external_id: str | None = None
    is_own: bool = False
    """Whether it made the account, which it then may change and close; of others it controls the affiliation alone."""
    added_by: int = 0
    """Who added a user whose account it did not make, as in the affiliation, which it may end and give again."""
    active: bool = True
    created_datetime: Timestamp
    modified_datetime: Timestamp


def claims_of(found: ScimUser) -> dict[str, str]:
    """The values that are unique in an organization."""
    names = {
        "user": f"{found.organization}|{found.user}",
        "user_name": f"{found.organization}|{found.user_name.casefold()}",
    }
    return names | ({"external_id": f"{found.organization}|{found.external_id}"} if found.external_id else {})


SCIM_USER = RecordKind(
    name="scimuser",
    struct=ScimUser,
    title="ScimUser",
    parent=("organization", "organization"),
    claims=claims_of,
)
