"""Users whom the provider of an organization made by SCIM sign in with it, and nobody else as them."""

from __future__ import annotations

import msgspec
import pytest

from chalicelib.core.models.accounts import USER
from chalicelib.storage.dynamodb import records
from tests.resources.accounts.test_proven_addresses import prove
from tests.resources.identity_providers.provider import callback
from tests.service import Api, new_user


def provision(api, organization, email):
    token = api.post("AccessTokens", {"name": "scim", "operations": ["scim"]}).json["token"]
    said = Api(api.user, token).ask("POST", f"/scim/v2/{organization}/Users", {"userName": email})
    assert said.status == 201, said.body
    return int(said.json["id"])


@pytest.fixture
def provisioned(api, organization, provider):
    return provision(api, organization, provider.claims["email"])


def test_a_provisioned_user_signs_in_with_the_provider_of_the_organization(registered, provider, browser, provisioned):
    assert browser.sign_in(registered, provider).status == 303
    assert browser.user["id"] == provisioned


def test_one_of_another_organization_is_not_taken_over(registered, provider, browser):
    other = new_user(is_staff=True)
    elsewhere = other.made("Organizations", {"name": f"elsewhere {other.user.id}"})
    provision(other, elsewhere, provider.claims["email"])
    assert browser.sign_in(registered, provider).status == 409


def test_one_who_has_set_a_password_connects_the_account(registered, provider, browser, provisioned):
    records.edit(USER, provisioned, lambda user: msgspec.structs.replace(user, password_hash="x"))
    assert browser.sign_in(registered, provider).status == 409


def test_one_who_was_deactivated_is_kept_out(registered, provider, browser, provisioned, api, organization):
    token = api.post("AccessTokens", {"name": "scim", "operations": ["scim"]}).json["token"]
    scim = Api(api.user, token)
    assert browser.sign_in(registered, provider).status == 303
    path = f"/scim/v2/{organization}/Users/{provisioned}"
    change = {"Operations": [{"op": "replace", "path": "active", "value": False}]}
    assert scim.ask("PATCH", path, change).status == 200
    assert browser.ask("GET", "User/GetCurrent").status == 401
    assert browser.sign_in(registered, provider).status == 403


def test_the_provider_has_no_way_into_an_account_whose_owner_proved_the_address_since(
    registered, provider, browser, provisioned
):
    assert browser.sign_in(registered, provider).status == 303
    prove(provisioned, provider.claims["email"])
    assert browser.ask("GET", "User/GetCurrent").status == 401
    assert browser.sign_in(registered, provider).status == 409


def test_a_connection_that_was_begun_before_the_password_changed_is_not_made(
    registered, provider, browser, provisioned
):
    assert browser.sign_in(registered, provider).status == 303
    provider.claims = {**provider.claims, "sub": "another"}
    back = callback(f"/sign-in/{registered}", provider.authorize(browser.begin(registered, connect=True)))
    prove(provisioned, provider.claims["email"])
    said = browser.ask("GET", back)
    assert (said.status, b"changed meanwhile" in said.body) == (403, True)
