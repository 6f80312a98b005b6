"""Authentication, and the levels that memberships and affiliations give a caller."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from chalicelib.access import grants
from chalicelib.access.masks import level_of
from chalicelib.core.models.accounts import AFFILIATION, MEMBERSHIP, PROJECT, TOKEN, USER, Membership, Project
from chalicelib.core.permissions import LEVEL_OF, Level
from chalicelib.core.records import padded
from chalicelib.errors import NotFound, Unauthenticated
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import ahead, record_rows, records
from chalicelib.storage.dynamodb.ahead import Wanted
from chalicelib.storage.dynamodb.tables import RecordRow

SCHEMES = ("token", "bearer")
ANONYMOUS = "anonymous"
"""The user whose membership opens the permalinks of a project to everyone."""
_LONGEST_TOKEN = 200
_TOKEN = re.compile(r"[0-9a-f]{40}")
_TOKEN_USERS = 1 << 32


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
    token = token_in(authorization)
    if token is None:
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


def token_in(authorization: str) -> str | None:
    """The token of an Authorization header; None where the header is malformed."""
    scheme, _, token = authorization.strip().partition(" ")
    token = token.strip()
    return token if scheme.lower() in SCHEMES and token and len(token) <= _LONGEST_TOKEN else None


def new_token(user: int) -> str:
    """A random token of 40 hexadecimal digits, of which the last 8 are the user's id.

    So a request can read the membership beside the token. The id is never trusted: the stored token says whose it is.
    """
    return f"{secrets.token_hex(16)}{user % _TOKEN_USERS:08x}"


def probable_user(token: str) -> int | None:
    """The user whom a token names, if it is one of `new_token`."""
    return int(token[-8:], 16) if _TOKEN.fullmatch(token) else None


def level_of_member(found: Membership | None) -> Level:
    """The level that a membership gives."""
    return LEVEL_OF[found.permission] if found else Level.NONE


def membership_key(user: int, project: int) -> record_rows.Key:
    """Where a user's membership of a project is stored."""
    return record_rows.home(MEMBERSHIP, project, padded(user))


def read_ahead(authorization: str | None, wanted: Callable[[int | None], list[Wanted]]) -> None:
    """Read the token of an Authorization header ahead, together with the rows wanted for its probable user."""
    token = token_in(authorization) if authorization else None
    if token is not None and (more := wanted(probable_user(token))):
        ahead.fetch([Wanted(RecordRow, record_rows.key_of(TOKEN, hash_of(token))), *more])


def membership(caller_id: int, project: int) -> Membership | None:
    """A user's membership of a project."""
    return records.find(MEMBERSHIP, project, padded(caller_id)) if caller_id else None


def project_level(caller: Caller, project: int) -> Level:
    """The caller's level in a project."""
    if settings().fine_grained_permissions:
        return level_of(grants.in_project(caller.id, project).whole)
    return level_of_member(membership(caller.id, project))


def projects_of(caller: Caller, *, reads_along: bool = False) -> dict[int, Level]:
    """The projects that a caller may see, with the caller's level in each.

    With `reads_along` the projects and the caller's user are read with the memberships, for the rest of the request.
    """

    def beside(keys: list[record_rows.Key]) -> list[record_rows.Key]:
        return [record_rows.key_of(USER, caller.id), *((project, record_rows.ALONE) for project, _ in keys)]

    memberships = records.list_linked(MEMBERSHIP, "user", caller.id, beside if reads_along else None)
    found = {item.project: LEVEL_OF[item.permission] for item in memberships}
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
