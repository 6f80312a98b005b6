"""Sign-ins with identity providers, their end, and provisioning by SCIM, killed at every AWS call and asked again."""

from __future__ import annotations

import time
import uuid
from contextlib import suppress

import pytest

from chalicelib.access import users
from chalicelib.access.identities.providers import IDENTITY
from chalicelib.core.models.accounts import AFFILIATION, USER
from chalicelib.core.records import padded
from chalicelib.resources.identity_providers import oidc
from chalicelib.settings import override
from chalicelib.storage.dynamodb import records
from tests.faults.crashes import Killed, KilledReading, crasher, points
from tests.faults.rewind import restart
from tests.resources.identity_providers.browsers import Browser, register
from tests.resources.identity_providers.provider import Provider, callback
from tests.service import Api

pytestmark = pytest.mark.slow
LOGOUT = "http://schemas.openid.net/event/backchannel-logout"


@pytest.fixture
def hook():
    with crasher() as made:
        yield made
    restart()


@pytest.fixture
def provider():
    made = Provider()
    oidc.forget()
    with override(service_origins=[made.issuer]):
        yield made
    made.close()


@pytest.fixture
def registered(api, organization, provider):
    return register(api, organization, provider)


@pytest.fixture
def scim(api):
    token = api.post("AccessTokens", {"name": "scim", "operations": ["scim"]}).json["token"]
    return Api(api.user, token)


def each_crash(hook, prepare, work):
    """Run `work` on what `prepare` gives, killed at each of its calls; yields what was prepared, and where."""
    given = prepare()
    hook.arm()
    said = work(given)
    assert said.status < 400, said.body
    calls = list(hook.calls)
    assert len(calls) > 4, calls
    for number, mode in points(calls):
        given = prepare()
        hook.arm(number, mode)
        with suppress(Killed, KilledReading):
            work(given)
        hook.revive()
        hook.arm()
        restart()
        yield given, f"{mode} {number}: {hook.fired}"


def person(provider):
    """Another person at the provider."""
    name = uuid.uuid4().hex[:10]
    provider.claims = {"sub": name, "email": f"{name}@{provider.domain}", "preferred_username": name}
    return dict(provider.claims)


def the_user(email, organization):
    """The one user with an address, and how often the organization has it."""
    [user] = users.with_address(email)
    return user, len(records.list_children(AFFILIATION, organization, f"{padded(user.id)}|"))


def test_a_sign_in_that_was_cut_off_is_begun_again_and_makes_one_user(hook, registered, provider, organization):
    def sign_in(_):
        browser = Browser()
        begun = browser.ask("POST", f"SignIn/{registered}", {})
        if begun.status != 200:
            return begun
        return browser.ask("GET", callback(f"/sign-in/{registered}", provider.authorize(begun.json["url"])))

    for claims, where in each_crash(hook, lambda: person(provider), sign_in):
        browser = Browser()
        assert browser.sign_in(registered, provider).status == 303, where
        user, affiliations = the_user(claims["email"], organization)
        assert (browser.user["id"], affiliations) == (user.id, 1), where
        assert len(records.list_children(IDENTITY, user.id)) == 1, where


def test_a_renewal_that_was_cut_off_ends_at_worst_with_another_sign_in(hook, registered, provider, organization):
    def signed_in():
        claims, browser = person(provider), Browser()
        assert browser.sign_in(registered, provider).status == 303
        return claims, browser

    renew = lambda given: given[1].ask("POST", "SessionRenewal")  # noqa: E731
    for (claims, browser), where in each_crash(hook, signed_in, renew):
        assert browser.ask("POST", "SessionRenewal").status in (200, 401), where
        provider.claims = claims
        again = Browser()
        assert again.sign_in(registered, provider).status == 303, where
        assert again.user["id"] == the_user(claims["email"], organization)[0].id, where
        assert again.ask("POST", "SessionRenewal").status == 200, where


def test_a_logout_that_was_cut_off_is_told_again_and_ends_all_sign_ins(hook, registered, provider):
    def signed_in():
        claims, browser = person(provider), Browser()
        assert browser.sign_in(registered, provider).status == 303
        return claims, browser

    def log_out(given):
        claims = {"sub": given[0]["sub"], "jti": uuid.uuid4().hex, "events": {LOGOUT: {}}}
        token = provider.sign(provider.usual(**claims, iat=int(time.time())))
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        form = f"logout_token={token}".encode()
        return Api(None, headers=headers).ask("POST", f"BackChannelLogout/{registered}", raw=form)

    for given, where in each_crash(hook, signed_in, log_out):
        said = log_out(given)
        assert said.status == 200, (where, said.body)
        assert given[1].ask("GET", "User/GetCurrent").status == 401, where


def test_a_user_is_provisioned_once_however_often_the_provider_asks(hook, scim, organization):
    root = f"/scim/v2/{organization}/Users"
    create = lambda email: scim.ask("POST", root, {"userName": email})  # noqa: E731
    for email, where in each_crash(hook, lambda: f"{uuid.uuid4().hex[:10]}@reef.example.org", create):
        assert create(email).status in (201, 409), where
        [found] = scim.ask("GET", root, filter=f'userName eq "{email}"').json["Resources"]
        user, affiliations = the_user(email, organization)
        assert (found["id"], affiliations) == (str(user.id), 1), where


def test_a_deactivation_that_was_cut_off_is_finished_by_the_next(hook, scim, organization):
    root = f"/scim/v2/{organization}/Users"
    off = {"Operations": [{"op": "replace", "path": "active", "value": False}]}

    def make():
        return scim.ask("POST", root, {"userName": f"{uuid.uuid4().hex[:10]}@reef.example.org"}).json["id"]

    for number, where in each_crash(hook, make, lambda number: scim.ask("PATCH", f"{root}/{number}", off)):
        assert scim.ask("PATCH", f"{root}/{number}", off).json["active"] is False, where
        assert not records.get(USER, int(number)).is_active, where
        assert scim.ask("DELETE", f"{root}/{number}").status == 204, where
