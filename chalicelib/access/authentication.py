"""Authentication, and the levels that memberships and affiliations give a caller."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from chalicelib.access import grants
from chalicelib.access.masks import level_of
from chalicelib.core.accounts import AFFILIATION, MEMBERSHIP, PROJECT, TOKEN, USER, Membership, Project
from chalicelib.core.permissions import LEVEL_OF, Level
from chalicelib.core.records import padded
from chalicelib.errors import NotFound, Unauthenticated
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import records

SCHEMES = ("token", "bearer")
ANONYMOUS = "anonymous"
"""The user whose membership opens the permalinks of a project to everyone."""
_LONGEST_TOKEN = 200


@dataclass(frozen=True, kw_only=True)
class Caller:
    """The user of a request; id 0 is an anonymous caller."""

    id: int
    username: str = ""
    is_staff: bool = False
    token_hash: str = ""
    network_address: str = ""
    """The client's network address, as API Gateway sees it; empty where it is unknown."""

    @property
    def signed_in(self) -> bool:
        """Whether the request carried valid credentials."""
        return self.id > 0

    @classmethod
    def anonymous(cls, network_address: str = "") -> Caller:
        """A caller without credentials."""
        return cls(id=0, network_address=network_address)


def hash_of(token: str) -> str:
    """The hash that a token is stored and looked up by: a token is random enough to need no salt."""
    return hashlib.sha256(token.encode()).hexdigest()


def authenticate(authorization: str | None, network_address: str = "") -> Caller:
    """The caller of an Authorization header; an anonymous one without the header.

    Raises:
        Unauthenticated: the header is malformed, or its token is not, or no longer, valid.
    """
    if not authorization:
        return Caller.anonymous(network_address)
    scheme, _, token = authorization.strip().partition(" ")
    token = token.strip()
    if scheme.lower() not in SCHEMES or not token or len(token) > _LONGEST_TOKEN:
        raise Unauthenticated("Invalid token header: it must be `Authorization: Token <key>`.")
    try:
        stored = records.get(TOKEN, hash_of(token))
    except NotFound:
        raise Unauthenticated("Invalid token.") from None
    if not stored.is_active:
        raise Unauthenticated("Invalid token.")
    return Caller(
        id=stored.user,
        username=stored.username,
        is_staff=stored.is_staff,
        token_hash=stored.id,
        network_address=network_address,
    )


def membership(caller_id: int, project: int) -> Membership | None:
    """A user's membership of a project."""
    return records.find(MEMBERSHIP, project, padded(caller_id)) if caller_id else None


def project_level(caller: Caller, project: int) -> Level:
    """The caller's level in a project."""
    if settings().fine_grained_permissions:
        return level_of(grants.in_project(caller.id, project).whole)
    found = membership(caller.id, project)
    return LEVEL_OF[found.permission] if found else Level.NONE


def projects_of(caller: Caller) -> dict[int, Level]:
    """The projects that a caller may see, with the caller's level in each."""
    found = {item.project: LEVEL_OF[item.permission] for item in records.list_linked(MEMBERSHIP, "user", caller.id)}
    if settings().fine_grained_permissions:
        numbers = found.keys() | grants.subjects_in_reach(caller.id, "project")
        found = {number: project_level(caller, number) for number in numbers}
    return {number: level for number, level in found.items() if level > Level.NONE}


def organizations_of(caller: Caller) -> dict[int, Level]:
    """The organizations that a caller belongs to or may see, with the caller's level in each."""
    found: dict[int, Level] = {}
    for item in records.list_linked(AFFILIATION, "user", caller.id):
        found.setdefault(item.organization, LEVEL_OF[item.permission])
    if settings().fine_grained_permissions:
        numbers = found.keys() | grants.subjects_in_reach(caller.id, "target_organization")
        found = {number: organization_level(caller, number) for number in numbers}
    return {number: level for number, level in found.items() if level > Level.NONE}


def organization_level(caller: Caller, organization: int) -> Level:
    """The caller's level in an organization; with several affiliations the first counts."""
    if not caller.signed_in:
        return Level.NONE
    if settings().fine_grained_permissions:
        return level_of(grants.in_organization(caller.id, organization).whole)
    first = records.first(AFFILIATION, organization, f"{padded(caller.id)}|")
    return LEVEL_OF[first.permission] if first else Level.NONE


def anonymous() -> Caller | None:
    """The user whose permissions everybody has on permalinks; None where the deployment has no such user."""
    user = records.get_claimed(USER, "username", ANONYMOUS)
    return Caller(id=user.id, username=user.username) if user else None


def project_of(number: int) -> Project:
    """A project that was not deleted. Raises NotFound."""
    found = records.get(PROJECT, number)
    if found.deleted is not None:
        raise NotFound.of("Project", number)
    return found
