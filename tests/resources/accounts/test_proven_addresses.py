"""Whoever proves by mail that an account's address is theirs is alone in it: who made it before has no way back."""

from __future__ import annotations

import uuid

import pytest

from chalicelib.access import passwords
from chalicelib.core.models.accounts import USER
from chalicelib.storage.dynamodb import records
from tests.queue_runner import drain
from tests.resources.accounts.mails import PASSWORD, newest_mail_to, token_in
from tests.resources.accounts.passkey_users import Browser, registered
from tests.service import Api, affiliate, new_user

NEW = "battery staple 8"


@pytest.fixture
def address():
    return f"{uuid.uuid4().hex[:10]}@example.net"


class Maker:
    """Somebody with an organization of their own, who provisions accounts for the addresses of others."""

    def __init__(self):
        self.api = new_user()
        self.organization = self.api.made("Organizations", {"name": f"traps {uuid.uuid4().hex[:8]}"})
        token = self.api.post("AccessTokens", {"name": "scim", "operations": ["scim"]}).json["token"]
        self.scim = Api(self.api.user, token)

    def make(self, email):
        said = self.scim.post(f"/scim/v2/{self.organization}/Users", {"userName": email})
        assert said.status == 201, said.body
        return int(said.json["id"])

    def change(self, number, name, value):
        body = {"Operations": [{"op": "replace", "path": name, "value": value}]}
        return self.scim.patch(f"/scim/v2/{self.organization}/Users/{number}", body)


@pytest.fixture
def maker():
    return Maker()


def prove(number, address):
    """Set a password by the mail to an address; the user with a token."""
    nobody = Api(None)
    assert nobody.post("PasswordReset", {"email": address}).status == 201
    drain()
    token = token_in(newest_mail_to(address)["text"], "reset_token")
    said = nobody.patch(f"User/{number}", {"password": NEW, "reset_token": token})
    assert said.status == 200, said.body
    user = records.get(USER, number)
    said = nobody.post("Token", {"username": user.username, "password": NEW})
    assert said.status == 201, said.body
    return Api(user, said.json["token"])


def test_the_provider_that_made_it_does_not_move_its_address_to_another_mailbox(maker, address):
    number = maker.make(address)
    prove(number, address)
    maker.change(number, "emails", [{"value": f"evil-{address}", "primary": True}])
    assert records.get(USER, number).email == address


def test_the_provider_that_made_it_does_not_close_it_and_takes_its_own_places_alone(maker, address):
    number = maker.make(address)
    owner = prove(number, address)
    other = new_user()
    affiliate(owner, elsewhere := other.made("Organizations", {"name": f"other {uuid.uuid4().hex[:8]}"}))
    assert maker.change(number, "active", False).status == 200
    assert owner.get(f"Organization/{elsewhere}").status == 200
    assert owner.get(f"Organization/{maker.organization}").status == 404


@pytest.fixture
def declared():
    """Somebody who registered with the address of another, and is signed in."""
    hashed = passwords.hash_password(PASSWORD)
    return new_user(password_hash=hashed, email_standing="declared")


def test_tokens_that_were_made_before_it_was_proven_end(declared):
    held = Api(declared.user, declared.post("AccessTokens", {"name": "back door"}).json["token"])
    assert held.get("User/GetCurrent").status == 200
    owner = prove(declared.user.id, declared.user.email)
    assert held.get("User/GetCurrent").status == 401
    later = Api(owner.user, owner.post("AccessTokens", {"name": "mine"}).json["token"])
    assert later.get("User/GetCurrent").status == 200
    # another reset, of an owner who forgot the password, ends no script
    prove(owner.user.id, owner.user.email)
    assert later.get("User/GetCurrent").status == 200


def test_passkeys_and_codes_that_were_made_before_it_was_proven_end(declared):
    browser, device = Browser(), registered(declared)
    assert browser.sign_in(device).status == 201
    prove(declared.user.id, declared.user.email)
    assert browser.sign_in(device).status == 403


def test_an_address_that_staff_vouched_for_keeps_what_its_user_made():
    user = new_user()
    held = Api(user.user, user.post("AccessTokens", {"name": "script"}).json["token"])
    prove(user.user.id, user.user.email)
    assert held.get("User/GetCurrent").status == 200
