"""Authentication, and the levels that memberships and affiliations give a caller."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import msgspec

from chalicelib.access import browser_sessions, grants
from chalicelib.access.masks import BITS_OF, Grants, level_of, mask_of
from chalicelib.core.models.accounts import AFFILIATION, MEMBERSHIP, PROJECT, TOKEN, USER, Membership, Project
from chalicelib.core.models.credentials import (
    Credential,
    GuestView,
    is_well_formed,
    key_of,
    probable_user,
    unpack_ids,
)
from chalicelib.core.models.definitions import VERSION
from chalicelib.core.models.share_links import SHARE_LINK, has_ended, view_of
from chalicelib.core.permissions import LEVEL_OF, Level
from chalicelib.core.records import RecordKind, padded
from chalicelib.core.resource import now
from chalicelib.core.time import clock
from chalicelib.errors import Conflict, Forbidden, LimnError, NotFound, Unauthenticated
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import ahead, credentials, record_rows, records
from chalicelib.storage.dynamodb.ahead import RowKey
from chalicelib.storage.dynamodb.tables import CredentialRow, RecordRow
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.log import tickets

SCHEMES = ("token", "bearer")
ANONYMOUS = "anonymous"
"""The user whose membership opens the permalinks of a project to everyone."""
DAY = 24 * 3600
PROVIDER_SECONDS = 3600
"""How long a sign-in with an identity provider goes on after the provider confirmed the user."""
_LONGEST_TOKEN = 200


@dataclass(frozen=True, kw_only=True)
class Caller:
    """The user of a request; id 0 is an anonymous caller."""

    id: int
    username: str = ""
    is_staff: bool = False
    credential: Credential | None = None
    """What the request came with; None for work of the service in the name of a user."""
    network_address: str = ""
    """The client's network address, as API Gateway sees it; empty where it is unknown."""

    @property
    def signed_in(self) -> bool:
        """Whether the request carried valid credentials."""
        return self.id > 0 or self.is_guest

    @property
    def is_guest(self) -> bool:
        """Whether the request comes by a share link: without a user."""
        return self.credential is not None and self.credential.kind == "guest"

    @property
    def guest_view(self) -> GuestView | None:
        """What a guest is shown; None for a user."""
        return self.credential.view if self.credential and self.is_guest else None

    @property
    def is_restricted(self) -> bool:
        """Whether the caller's levels differ within a project."""
        return settings().fine_grained_permissions or self.is_guest

    @property
    def launches(self) -> int:
        """How many launches by trigger rules led to the job that makes the request."""
        return self.credential.launches if self.credential else 0

    @property
    def token_hash(self) -> str:
        """The hash of the token of the request; empty without one."""
        return self.credential.id.partition("#")[2] if self.credential else ""

    @property
    def is_limited(self) -> bool:
        """Whether the credential gives less than a sign-in of the user."""
        return self.credential is not None and self.credential.is_limited

    def cap(self, level: Level, project: int | None = None) -> Level:
        """Limit a level of the user in a project, or in an organization, to what the credential gives."""
        return min(level, self._most(project))

    def narrow(self, known: Grants, project: int | None = None) -> Grants:
        """Limit the masks of the user in a project, or in an organization, to what the credential gives."""
        most = mask_of(self._most(project))
        if most == mask_of(Level.FULL):
            return known
        parts = {name: {number: mask & most for number, mask in masks.items()} for name, masks in known.parts.items()}
        return Grants(whole=known.whole & most, parts=parts)

    def _most(self, project: int | None) -> Level:
        found = self.credential
        if found is None:
            return Level.FULL
        return found.level if found.projects is None or project in found.projects else Level.NONE

    @classmethod
    def anonymous(cls, network_address: str = "") -> Caller:
        """A caller without credentials."""
        return cls(id=0, network_address=network_address)


class WrongNetwork(Forbidden):
    """The credential may not be used from the network of the request."""

    def __init__(self, caller: Caller) -> None:
        super().__init__("The token may not be used from this network address.")
        self.caller = caller


def caller_of(headers: Mapping[str, str], network_address: str = "") -> Caller:
    """The caller of a request, by its headers with lower-case names: Authorization, or else the cookie of a browser.

    A cookie whose sign-in has ended is none.

    Raises:
        Unauthenticated, Forbidden: as `authenticate`.
    """
    given = headers.get("authorization")
    if given or (by_cookie := browser_sessions.authorization(headers)) is None:
        return authenticate(given, network_address)
    try:
        return authenticate(by_cookie, network_address)
    except Unauthenticated:
        return Caller.anonymous(network_address)


def authorization_of(headers: Mapping[str, str]) -> str | None:
    """The Authorization of a request, its own or that of its cookie, not checked."""
    return headers.get("authorization") or browser_sessions.authorization(headers)


def authenticate(authorization: str | None, network_address: str = "") -> Caller:
    """The caller of an Authorization header; an anonymous one without the header.

    Raises:
        Unauthenticated: the header is malformed, or its token is not, or no longer, valid.
        Forbidden: the token may not be used from this network.
    """
    if not authorization:
        return Caller.anonymous(network_address)
    token = token_in(authorization)
    if token is None:
        raise Unauthenticated("Invalid token header: it must be `Authorization: Token <key>`.")
    found = _find(token)
    if found is None:
        raise Unauthenticated("Invalid token.")
    caller = Caller(
        id=found.user,
        username=found.username,
        is_staff=found.is_staff,
        credential=found,
        network_address=network_address,
    )
    if not found.comes_from(network_address):
        raise WrongNetwork(caller)
    return caller


def _find(token: str) -> Credential | None:
    """The credential of a token; None where there is none, it has expired, or its user's account is closed."""
    if not is_well_formed(token):
        return None
    key = key_of(token)
    if len(rows := _rows_of(token)) > 1 and not ahead.is_read(rows[0]):
        ahead.fetch(rows)
    found = credentials.read(key) or _move(key)
    if found is None:
        return None
    credential, row = found
    if row.expires is None or row.expires <= clock.seconds():
        return None
    current = _as_it_is_now(credential)
    if current is not None:
        _note_use(current, row)
    return current


def _as_it_is_now(credential: Credential) -> Credential | None:
    """A credential as its share link or user lets it be now; None where that has ended."""
    if credential.kind == "guest":
        return _of_link(credential)
    if credential.is_limited:
        user = records.maybe(USER, credential.user)
        if user is None or not user.is_active:
            return None
        is_open = user.is_opened_by(credential.created_datetime) and user.is_confirmed(clock.seconds())
        return credential if is_open else None
    return credential


def _of_link(credential: Credential) -> Credential | None:
    """The credential of a guest with what its share link shows now; None where the link has ended."""
    link = records.maybe(SHARE_LINK, credential.holder)
    if link is None or has_ended(link):
        return None
    view = view_of(link, unpack_ids(credential.found))
    return msgspec.structs.replace(credential, projects=[link.project], level=Level.VIEW, view=view)


def session_end() -> int:
    """When a sign-in that is used now ends unless it is used again, in seconds since the epoch."""
    return int(clock.seconds()) + settings().session_days * DAY


def _note_use(credential: Credential, row: CredentialRow) -> None:
    """Note the first use of a day. A failure fails no request."""
    today = now()[:10]
    if credential.kind != "job" and (row.used or "") < today:
        with suppress(LimnError):
            is_prolonged = credential.kind == "session" and not credential.provider
            credentials.touch(row, today, session_end() if is_prolonged else None)


def _move(key: str) -> tuple[Credential, CredentialRow] | None:
    """Move a token that an earlier release stored with the records to the credentials; what it is there."""
    kind, _, hashed = key.partition("#")
    stored = records.maybe(TOKEN, hashed) if kind == "session" else None
    if stored is None or not stored.is_active:
        return None
    members = {name: getattr(stored, name) for name in ("user", "username", "is_staff", "name", "created_datetime")}
    made, row = (
        Credential(id=key, kind="session", **members),
        CredentialRow(key, expires=session_end(), used=now()[:10]),
    )
    change = Transaction()
    change.delete(RecordRow(*record_rows.key_of(TOKEN, hashed)), RecordRow.pk.exists())
    credentials.put(change, made, row.expires, row.used)
    try:
        change.run()
    except Conflict:  # another request moved it, or it was revoked
        return credentials.read(key)
    except LimnError:  # the function of media may not write it: one of the API moves it
        pass
    return made, row


def _rows_of(token: str) -> list[RowKey]:
    """The rows that authentication reads, in one call: of a limited credential also that of its user."""
    key = key_of(token)
    if key.startswith("session#"):
        return [credentials.row_key(key)]
    kind: RecordKind[Any] = SHARE_LINK if key.startswith("guest#") else USER
    return [credentials.row_key(key), RowKey(RecordRow, record_rows.key_of(kind, probable_user(token) or 0))]


def token_in(authorization: str) -> str | None:
    """The token of an Authorization header; None where the header is malformed."""
    scheme, _, token = authorization.strip().partition(" ")
    token = token.strip()
    return token if scheme.lower() in SCHEMES and token and len(token) <= _LONGEST_TOKEN else None


def level_of_member(found: Membership | None) -> Level:
    """The level that a membership gives."""
    return LEVEL_OF[found.permission] if found else Level.NONE


def membership_key(user: int, project: int) -> record_rows.Key:
    """Where a user's membership of a project is stored."""
    return record_rows.home(MEMBERSHIP, project, padded(user))


def read_ahead(authorization: str | None, wanted: Callable[[int | None], list[RowKey]]) -> None:
    """Read the token of an Authorization header ahead, together with the rows wanted for its probable user."""
    token = token_in(authorization) if authorization else None
    if token is not None and (more := wanted(probable_user(token))):
        ahead.fetch([*_rows_of(token), *more])


def membership(caller_id: int, project: int) -> Membership | None:
    """A user's membership of a project."""
    return records.find(MEMBERSHIP, project, padded(caller_id)) if caller_id else None


def project_level(caller: Caller, project: int) -> Level:
    """The caller's level in a project."""
    if caller.is_restricted:
        return level_of(grants_in_project(caller, project).whole)
    return caller.cap(level_of_member(membership(caller.id, project)), project)


def grants_in_project(caller: Caller, project: int) -> Grants:
    """The caller's masks in a project, with fine-grained permissions; of a guest those of the share link."""
    if caller.credential and caller.is_guest:
        return _grants_of_guest(caller.credential, project)
    return caller.narrow(grants.in_project(caller.id, project), project)


def _grants_of_guest(credential: Credential, project: int) -> Grants:
    """What a guest is shown: media with their annotations, and of the project what these are made of."""
    found = records.maybe(PROJECT, project)
    view = credential.view
    if view is None or found is None or found.deleted is not None or project not in (credential.projects or ()):
        return Grants()
    shown, alone = mask_of(Level.VIEW), BITS_OF[Level.VIEW]
    if view.is_whole:
        return Grants(whole=shown)
    numbers = [each.id for each in records.list_children(VERSION, project)]
    versions = dict.fromkeys((each for each in numbers if view.versions is None or each in view.versions), alone)
    parts = {"section": dict.fromkeys([view.section] if view.section else (), shown)}
    return Grants(whole=alone, parts={**parts, "media": dict.fromkeys(view.media, shown), "version": versions})


def grants_in_organization(caller: Caller, organization: int) -> Grants:
    """The caller's masks in an organization, with fine-grained permissions."""
    return caller.narrow(grants.in_organization(caller.id, organization))


def projects_of(caller: Caller, *, reads_along: bool = False) -> dict[int, Level]:
    """The projects that a caller may see, with the caller's level in each.

    With `reads_along` the projects, the numbers of their last commits and the caller's user are read with the
    memberships, for the rest of the request.
    """

    def beside(keys: list[record_rows.Key]) -> list[RowKey]:
        projects = dict.fromkeys(project for project, _ in keys)
        return [
            RowKey(RecordRow, record_rows.key_of(USER, caller.id)),
            *(RowKey(RecordRow, (project, record_rows.ALONE)) for project in projects),
            *(tickets.key(int(project.partition("#")[2])) for project in projects),
        ]

    memberships = records.list_linked(MEMBERSHIP, "user", caller.id, beside if reads_along else None)
    found = {item.project: LEVEL_OF[item.permission] for item in memberships}
    if settings().fine_grained_permissions:
        numbers = found.keys() | grants.subjects_in_reach(caller.id, "project")
        found = {number: project_level(caller, number) for number in numbers}
    return _within_reach({number: caller.cap(level, number) for number, level in found.items()})


def organizations_of(caller: Caller) -> dict[int, Level]:
    """The organizations that a caller belongs to or may see, with the caller's level in each."""
    found: dict[int, Level] = {}
    for item in records.list_linked(AFFILIATION, "user", caller.id):
        found.setdefault(item.organization, LEVEL_OF[item.permission])
    if settings().fine_grained_permissions:
        numbers = found.keys() | grants.subjects_in_reach(caller.id, "target_organization")
        found = {number: organization_level(caller, number) for number in numbers}
    return _within_reach({number: caller.cap(level) for number, level in found.items()})


def _within_reach(levels: dict[int, Level]) -> dict[int, Level]:
    return {number: level for number, level in levels.items() if level > Level.NONE}


def organization_level(caller: Caller, organization: int) -> Level:
    """The caller's level in an organization; with several affiliations the first counts."""
    if not caller.signed_in:
        return Level.NONE
    if settings().fine_grained_permissions:
        return level_of(grants_in_organization(caller, organization).whole)
    first = records.first(AFFILIATION, organization, f"{padded(caller.id)}|")
    return caller.cap(LEVEL_OF[first.permission]) if first else Level.NONE


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
