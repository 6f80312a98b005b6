"""Access tokens: a record of the user, and the credential that it made, which change and end together."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from chalicelib.access import authentication
from chalicelib.access.authentication import Caller
from chalicelib.core.models.accounts import AFFILIATION, ORGANIZATION, PROJECT
from chalicelib.core.models.credentials import ALL, READ, Credential, key_of, new_token
from chalicelib.core.permissions import LEVEL_OF
from chalicelib.core.resource import given, now, timestamp
from chalicelib.core.text.dates import read_date
from chalicelib.core.time import clock
from chalicelib.errors import BadInput
from chalicelib.resources.access_tokens.schemas import (
    ACCESS_TOKEN,
    DEFAULT_DAYS,
    LONGEST_DAYS,
    AccessToken,
    AccessTokenSpec,
    AccessTokenUpdate,
)
from chalicelib.storage.audit.concern import concern
from chalicelib.storage.dynamodb import credentials, ids, records
from chalicelib.storage.dynamodb.transactions import Transaction


def create(caller: Caller, spec: AccessTokenSpec, groups: Collection[str]) -> tuple[AccessToken, str]:
    """Make an access token; returns it, and the token, which is stored nowhere.

    Args:
        caller: its user.
        spec: the body.
        groups: the groups of operations that there are.

    Raises:
        BadInput: a member breaks a rule, or there are too many.
    """
    return store(plan(caller, spec, groups), caller.username)


def plan(caller: Caller, spec: AccessTokenSpec, groups: Collection[str]) -> AccessToken:
    """Check a body as `create` does, and return the access token, not stored and without a secret."""
    made = AccessToken(
        id=ids.reserve(ACCESS_TOKEN.name)[0],
        user=caller.id,
        name=spec.name,
        created_datetime=now(),
        expires_datetime="",
    )
    members = _check(caller, made, spec, groups)
    if "expires_datetime" not in members:
        days = min(DEFAULT_DAYS, _most_days(caller, members.get("projects")))
        members["expires_datetime"] = timestamp(clock.utc_now() + timedelta(days=days))
    return msgspec.structs.replace(made, **members)


def store(
    planned: AccessToken, username: str, also: Callable[[Transaction], None] = lambda _: None
) -> tuple[AccessToken, str]:
    """Store what `plan` made, in one transaction with what `also` adds; the access token, and its secret.

    Raises:
        BadInput: the user has as many as are allowed.
    """
    token = new_token("access", planned.user)
    made = msgspec.structs.replace(planned, credential=key_of(token))
    concern(target=f"access token {made.id}")

    def add(change: Transaction) -> None:
        _put(change, username, made, None)
        also(change)

    records.create(ACCESS_TOKEN, made, also=add)
    return made, token


def change(caller: Caller, token: AccessToken, body: AccessTokenUpdate, groups: Collection[str]) -> AccessToken:
    """Change the members given; the credential follows at once. Raises BadInput as `create`."""
    members = _check(caller, token, body, groups)
    if not members:
        raise BadInput("Nothing to change: give name, projects, level, operations, networks or expires_datetime.")
    held = credentials.read(token.credential)
    used = held[1].used if held else None
    return records.edit(
        ACCESS_TOKEN,
        token.id,
        lambda current: msgspec.structs.replace(current, **members),
        also=lambda change, _before, after: _put(change, caller.username, after, used),
    )


def end(token: AccessToken) -> None:
    """End an access token, at once and everywhere. Raises NotFound: it has ended."""
    change = Transaction()
    records.drop(change, ACCESS_TOKEN, token)
    credentials.remove(change, [token.credential])
    change.run()


def with_use(tokens: Sequence[AccessToken]) -> list[AccessToken]:
    """Access tokens that have not expired, with the day of their last use."""
    held = credentials.many(token.credential for token in tokens)
    return [
        msgspec.structs.replace(token, used_on=held[token.credential][1].used) if token.credential in held else token
        for token in tokens
    ]


def _put(change: Transaction, username: str, token: AccessToken, used: str | None) -> None:
    credential = Credential(
        id=token.credential,
        kind="access",
        user=token.user,
        username=username,
        holder=token.id,
        projects=token.projects,
        level=LEVEL_OF[token.level],
        operations=tuple(token.operations),
        networks=tuple(token.networks),
        created_datetime=token.created_datetime,
    )
    credentials.put(change, credential, int(datetime.fromisoformat(token.expires_datetime).timestamp()), used)


def _check(caller: Caller, token: AccessToken, body: AccessTokenUpdate, groups: Collection[str]) -> dict[str, Any]:
    """Check a body; its members as they are stored."""
    members = given(body)
    if body.networks is not None:
        members["networks"] = [_network(index, text) for index, text in enumerate(body.networks)]
    for index, name in enumerate(body.operations or ()):
        if name not in (ALL, READ, *groups):
            known = ", ".join((ALL, READ, *sorted(groups)))
            raise BadInput(f"operations[{index}]: {name!r} is no group of operations; there are {known}.")
    projects = members.get("projects", token.projects)
    if members.get("projects"):
        levels = authentication.projects_of(caller)
        for index, number in enumerate(members["projects"]):
            if number not in levels:
                raise BadInput(f"projects[{index}]: you are no member of project {number}.")
    if body.expires_datetime is not None:
        members["expires_datetime"] = _end(body.expires_datetime, _most_days(caller, projects))
    return members


def _network(index: int, text: str) -> str:
    try:
        return str(ipaddress.ip_network(text, strict=False))
    except ValueError:
        raise BadInput(f"networks[{index}]: {text!r} is no network such as 192.0.2.0/24 or 2001:db8::/32.") from None


def _end(text: str, days: int) -> str:
    end = read_date("expires_datetime", text)
    today = clock.utc_now()
    if not today < datetime.fromisoformat(end) <= today + timedelta(days=days, minutes=5):
        raise BadInput(f"expires_datetime: it must be within {days} days from now.")
    return end


def _most_days(caller: Caller, projects: Collection[int] | None) -> int:
    """The longest life of a token: the least that an organization which it reaches sets."""
    if projects is None:
        numbers = {item.organization for item in records.list_linked(AFFILIATION, "user", caller.id)}
    else:
        numbers = {project.organization for project in records.many(PROJECT, projects).values()}
    found = records.many(ORGANIZATION, numbers).values()
    return min((each.access_token_days for each in found if each.access_token_days), default=LONGEST_DAYS)
