"""Every operation with every kind of credential: what it may call follows from the declarations; it reaches no more.

Each credential is of the owner of a world, who may do everything there, and of a second world beside it: so every
refusal comes from the limits of the credential alone.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import pytest

from chalicelib.api.catalogue import OPERATIONS
from chalicelib.core.models.accounts import User
from chalicelib.core.models.credentials import ALL, READ, Credential, key_of, new_token
from chalicelib.core.permissions import LEVEL_OF, Level, Permission
from chalicelib.core.resource import now
from chalicelib.storage.dynamodb import credentials
from chalicelib.storage.dynamodb.transactions import Transaction
from tests.contract.test_permissions import IN_ORGANIZATION, IN_PROJECT, LEVELLED, PROJECT_LEVELS, ask
from tests.contract.world import World, build
from tests.service import Api, join
from tests.sweeps import sweep

MEMBERS_ONLY = [o for o in OPERATIONS if o.needs.level is Level.NONE]
CHANGING = [o for o in MEMBERS_ONLY if not o.is_read and o.scoped is not True]


@dataclass
class Worlds:
    """A world, another one of the same owner, and a caller with each kind of credential of the owner."""

    here: World
    there: World

    def held(self, kind: Any = "access", **limits: Any) -> Api:
        """The owner with a limited credential."""
        return hold(self.here.owner.user, kind, **limits)


def hold(user: User, kind: Any = "access", **limits: Any) -> Api:
    """A user with a limited credential."""
    token = new_token(kind, user.id)
    made = Credential(
        id=key_of(token), kind=kind, user=user.id, username=user.username, created_datetime=now(), **limits
    )
    change = Transaction()
    credentials.put(change, made, int(time.time()) + 3600, now()[:10])
    change.run()
    return Api(user, token)


@pytest.fixture(scope="module")
def worlds() -> Worlds:
    here, there = build(), build()
    join(here.owner, there.things["project"], "Full Control")
    made = Worlds(here, there)
    project = [here.things["project"]]
    made.of_job = made.held("job", projects=project, level=Level.EXECUTE)
    made.of_project = made.held(projects=project)
    made.of_levels = {level: made.held(level=LEVEL_OF[level]) for level in PROJECT_LEVELS}
    made.reading = made.held(operations=(READ,))
    made.of_groups = {tag: made.held(operations=(tag,)) for tag in ("Media", "Sections")}
    made.elsewhere = made.held(networks=("192.0.2.0/24",))
    expired = made.held()
    change = Transaction()
    held, _ = credentials.read(key_of(expired.token))
    credentials.put(change, held, int(time.time()) - 1)
    change.run()
    made.expired = expired
    return made


@sweep("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_an_expired_credential_opens_nothing(operation, worlds):
    assert ask(worlds.expired, operation, worlds.here).status == 401


@sweep("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_one_from_another_network_opens_nothing(operation, worlds):
    assert ask(worlds.elsewhere, operation, worlds.here).status == 403


@pytest.mark.slow
@sweep("operation", LEVELLED, ids=lambda operation: operation.id)
def test_one_of_a_project_reaches_no_other(operation, worlds):
    before = worlds.there.writes()
    for who in (worlds.of_job, worlds.of_project):
        assert ask(who, operation, worlds.there).status == 404
    assert worlds.there.writes() == before


@sweep("operation", IN_ORGANIZATION, ids=lambda operation: operation.id)
def test_one_of_a_project_reaches_no_organization(operation, worlds):
    before = worlds.here.writes()
    for who in (worlds.of_job, worlds.of_project):
        assert ask(who, operation, worlds.here).status == 404
    assert worlds.here.writes() == before


@pytest.mark.slow
@sweep("operation", IN_PROJECT, ids=lambda operation: operation.id)
def test_every_level_below_the_needed_one_is_forbidden(operation, worlds):
    before = worlds.here.writes()
    refusal = (403, 404) if operation.addresses.kind in ("bookmark", "favorite", "export") else (403,)
    for level, who in worlds.of_levels.items():
        if LEVEL_OF[level] < operation.needs.level:
            assert ask(who, operation, worlds.here).status in refusal, level
    if operation.needs is Permission.FULL:
        assert ask(worlds.of_job, operation, worlds.here).status in refusal
    assert worlds.here.writes() == before


@sweep("operation", [o for o in IN_ORGANIZATION if o.needs is Permission.ADMIN], ids=lambda operation: operation.id)
def test_one_below_full_control_administers_no_organization(operation, worlds):
    for level in PROJECT_LEVELS[:-1]:
        assert ask(worlds.of_levels[level], operation, worlds.here).status == 403, level


@sweep("operation", [o for o in OPERATIONS if not o.is_read], ids=lambda operation: operation.id)
def test_one_that_reads_changes_nothing(operation, worlds):
    before = worlds.here.writes()
    assert ask(worlds.reading, operation, worlds.here).status == 403
    assert worlds.here.writes() == before


@sweep("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_one_of_a_group_calls_no_other(operation, worlds):
    for tag, who in worlds.of_groups.items():
        if operation.tag != tag:
            assert ask(who, operation, worlds.here).status == 403, tag


@sweep("operation", CHANGING, ids=lambda operation: operation.id)
def test_one_with_limits_changes_no_account_and_makes_nothing(operation, worlds):
    before = worlds.here.writes()
    for who in (worlds.of_job, worlds.of_project, worlds.of_levels["Can Execute"]):
        assert ask(who, operation, worlds.here).status == 403
    assert worlds.here.writes() == before


def test_no_limited_credential_is_of_staff_or_changes_an_account():
    whole = Credential(id="access#x", kind="access", created_datetime=now(), operations=(ALL,))
    accounts = {o.id for o in OPERATIONS if o.tag == "Accounts" and not o.is_read}
    refused = {o.id for o in OPERATIONS if not o.takes(whole)}
    assert {o.id for o in OPERATIONS if o.needs is Permission.STAFF} <= refused
    signing_in = {"CreateObtainAuthToken", "CreateSession", "DeleteSession"}
    signing_in |= {"CreatePasskeyChallenge", "CreatePasskeySession"}
    assert accounts - refused == {"CreateUser", "CreatePasswordReset", *signing_in}, "open to anybody"


@sweep("operation", [o for o in IN_PROJECT if o.method == "GET"], ids=lambda operation: operation.id)
def test_one_within_its_limits_is_let_through(operation, worlds):
    for who in (worlds.of_project, worlds.of_levels["Full Control"]):
        assert ask(who, operation, worlds.here).status not in (401, 403)
