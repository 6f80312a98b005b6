"""Bodies of organizations and their members. The records are in `core/models/accounts.py`: each layer reads them."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, UnsetType

from chalicelib.core.permissions import DefaultLevelName, OrganizationLevelName
from chalicelib.core.resource import WEB_URL, Id, Name, Resource
from chalicelib.core.usage_limits import UsageLimits
from chalicelib.core.values.public_projects import ForbidsPublic


class OrganizationUpdate(Resource, kw_only=True):
    """The body of a PATCH of an organization."""

    unused: ClassVar = {"effective_permission": "it is computed"}

    name: Name | None = None
    default_membership_permission: DefaultLevelName | None = None
    thumb: str | UnsetType | None = UNSET
    allowed_origins: Annotated[
        Annotated[list[Annotated[str, Meta(max_length=300), WEB_URL]], Meta(max_length=100)] | None,
        Meta(
            description="Origins, such as `https://media.example.org`, from which the service may read files that "
            "members name by URL, beside those that its operator allows. https at public addresses only.",
        ),
    ] = None

    access_token_days: Annotated[
        Annotated[int, Meta(ge=1, le=365)] | UnsetType | None,
        Meta(
            description="The longest life of access tokens that reach the organization or its projects, in days; null "
            "for a year. Tokens that exist keep their end."
        ),
    ] = UNSET
    usage_limits: UsageLimits | UnsetType | None = UNSET
    forbids_public_projects: ForbidsPublic | None = None


class OrganizationSpec(OrganizationUpdate, kw_only=True):
    """The body that creates an organization."""

    name: Name
    thumb: str | None = None
    usage_limits: UsageLimits | None = None
    access_token_days: Annotated[int, Meta(ge=1, le=365)] | None = None


class AffiliationUpdate(Resource, kw_only=True):
    """The body of a PATCH of an affiliation."""

    permission: Annotated[OrganizationLevelName | None, Meta(description="Member or Admin.")] = None


class AffiliationSpec(Resource, kw_only=True):
    """The body that creates an affiliation."""

    user: Id
    permission: Annotated[OrganizationLevelName, Meta(description="Member or Admin.")]
