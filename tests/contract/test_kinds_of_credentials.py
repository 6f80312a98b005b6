"""Every operation with the kinds of credential that test_credentials.py does not make: ended ones, those of browsers.

A kind that is new has to be named here: the last test holds the list to the declaration.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, get_args

import msgspec
import pytest

from chalicelib.access import passwords
from chalicelib.api.catalogue import OPERATIONS
from chalicelib.core.models.accounts import USER
from chalicelib.core.models.credentials import READ, CredentialKind
from chalicelib.core.permissions import Level, Permission
from chalicelib.resources.scim.operations import PAGES as OF_SCIM
from chalicelib.storage.dynamodb import records
from tests.contract.test_credentials import hold
from tests.contract.test_permissions import GUARDED, LEVELLED, ask
from tests.contract.world import World, build
from tests.resources.accounts.mails import PASSWORD
from tests.resources.accounts.passkey_users import SENT, Browser, registered
from tests.resources.share_links.test_share_links import guest_of, link_to
from tests.service import Api, join, new_user
from tests.sweeps import sweep

SCIM = "scim"
COVERED = {
    "session": "test_permissions.py, and here: by passkey, in the cookie of a browser, after signing out",
    "access": "test_credentials.py, and here: for provisioning, for reading one project, of users who have left",
    "job": "test_credentials.py, and here: of users who have left",
    "guest": "share_links/test_kinds.py for each kind of link, projects/test_public.py, and here: of links that ended",
}


@dataclass
class Kinds:
    """A world, another one of the same owner, and who has which credential."""

    here: World
    there: World
    provisioning: Api
    reading: Api
    ended: dict[str, Api]
    by_passkey: Api
    """Somebody who is a member of nothing here, signed in by a passkey."""
    foreign_cookies: dict[str, Api]
    """The cookie of the owner's browser, as pages of others make it send it."""


@pytest.fixture(scope="module")
def kinds() -> Kinds:
    here, there = build(), build()
    project = here.things["project"]
    join(here.owner, there.things["project"], "Full Control")
    reading = hold(here.owner.user, projects=[project], operations=(READ,), level=Level.VIEW)
    return Kinds(
        here=here,
        there=there,
        provisioning=hold(here.owner.user, operations=(SCIM,)),
        reading=reading,
        ended=_ended(here),
        by_passkey=_signed_in_by_passkey(),
        foreign_cookies=_foreign_cookies(here),
    )


def _ended(world: World) -> dict[str, Api]:
    """Callers whose credential was good, and is not any more."""
    project = world.things["project"]
    number, token = link_to(world, media_ids=[world.things["media"]])
    guest = guest_of(token)
    assert guest.get(f"Medias/{project}").status == 200
    assert world.owner.delete(f"ShareLink/{number}").status == 200

    def leave(kind: str, **members: Any) -> Api:
        who = new_user()
        join(who, project, "Full Control")
        held = hold(who.user, kind, level=Level.EXECUTE)
        assert held.get(f"Medias/{project}").status == 200
        records.edit(USER, who.user.id, lambda user: msgspec.structs.replace(user, **members))
        return held

    signed_out = new_user()
    [own] = signed_out.get("Token").json
    assert signed_out.delete("Token", id=own["id"]).status == 200
    past = time.time() - 1
    return {
        "guest of a link that was deleted": guest,
        "access token of a closed account": leave("access", is_active=False),
        "access token of a user whom the provider no longer confirms": leave("access", confirmed_until=past),
        "job of a user whom the provider no longer confirms": leave("job", confirmed_until=past),
        "session after signing out": signed_out,
    }


def _signed_in_by_passkey() -> Api:
    who = new_user(password_hash=passwords.hash_password(PASSWORD))
    said = Browser().sign_in(registered(who))
    assert said.status == 201, said.body
    made = Api(None, headers={**SENT, "cookie": said.headers["Set-Cookie"].partition(";")[0]})
    assert made.get("User/GetCurrent").json["id"] == who.user.id
    return made


def _foreign_cookies(world: World) -> dict[str, Api]:
    cookie = f"limn-8000={world.owner.token}"
    assert Api(None, headers={**SENT, "cookie": cookie}).get(f"Medias/{world.things['project']}").status == 200
    return {
        "a link or picture": Api(None, headers={"cookie": cookie}),
        "a page of another site": Api(None, headers={**SENT, "cookie": cookie, "sec-fetch-site": "cross-site"}),
        "a page of a sibling": Api(None, headers={**SENT, "cookie": cookie, "sec-fetch-site": "same-site"}),
    }


@pytest.mark.slow
@sweep("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_what_has_ended_opens_nothing(operation, kinds):
    before = kinds.here.writes()
    for kind, who in kinds.ended.items():
        assert ask(who, operation, kinds.here).status == 401, kind
    assert kinds.here.writes() == before


@sweep("operation", GUARDED, ids=lambda operation: operation.id)
def test_a_cookie_opens_nothing_for_pages_of_others(operation, kinds):
    before = kinds.here.writes()
    for kind, who in kinds.foreign_cookies.items():
        assert ask(who, operation, kinds.here).status == 401, kind
    assert kinds.here.writes() == before


@sweep("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_a_token_for_provisioning_calls_nothing_else(operation, kinds):
    before = kinds.here.writes()
    assert ask(kinds.provisioning, operation, kinds.here).status == 403
    assert kinds.here.writes() == before


@sweep("operation", list(OF_SCIM), ids=lambda operation: operation.id)
def test_provisioning_reaches_no_organization_of_others(operation, kinds):
    before = kinds.there.writes()
    assert ask(kinds.provisioning, operation, kinds.there).status in (403, 404)
    assert kinds.there.writes() == before


@sweep("operation", LEVELLED, ids=lambda operation: operation.id)
def test_one_that_reads_a_project_reaches_no_other_and_changes_nothing(operation, kinds):
    before = kinds.there.writes()
    assert ask(kinds.reading, operation, kinds.there).status in ((404,) if operation.is_read else (403, 404))
    if not operation.is_read:
        assert ask(kinds.reading, operation, kinds.here).status in (403, 404)
    assert kinds.there.writes() == before


@sweep("operation", GUARDED, ids=lambda operation: operation.id)
def test_a_sign_in_by_passkey_gives_no_more_than_one_by_password(operation, kinds):
    if operation.needs is Permission.SIGNED_IN:
        return
    before = kinds.here.writes()
    assert ask(kinds.by_passkey, operation, kinds.here).status == (404 if operation in LEVELLED else 403)
    assert kinds.here.writes() == before


def test_each_is_let_through_where_it_may(kinds):
    project, organization = kinds.here.things["project"], kinds.here.things["organization"]
    assert kinds.reading.get(f"Medias/{project}").status == 200
    assert kinds.provisioning.get(f"/scim/v2/{organization}/Users").status == 200
    assert kinds.by_passkey.get("Projects").json == []


def test_every_kind_that_is_declared_is_covered():
    assert set(get_args(CredentialKind)) == COVERED.keys()
