"""Tokens of mails: random, stored as hashes, and shown once."""

from __future__ import annotations

import pytest

from chalicelib.resources.accounts.invitations import INVITATION
from chalicelib.storage.dynamodb import records
from tests.resources.accounts.mails import newest_mail_to, token_in
from tests.service import Api, new_user


@pytest.fixture
def invited(api, organization, address):
    return api.post(f"Invitations/{organization}", {"email": address, "permission": "Admin"})


def test_no_answer_after_the_first_shows_the_token(api, organization, invited):
    token = token_in(invited.message)
    plain_member = new_user()
    api.made(f"Affiliations/{organization}", {"user": plain_member.user.id, "permission": "Member"})
    for reader in (api, plain_member):
        for path in (f"Invitations/{organization}", f"Invitation/{invited.json['id']}"):
            said = reader.get(path)
            assert said.status == 200
            assert token not in said.body.decode()
            shown = said.json[0] if isinstance(said.json, list) else said.json
            assert shown["registration_token"] is None
            assert "token_hash" not in shown


def test_what_is_stored_of_an_invitation_does_not_redeem_it(nobody, invited):
    stored = records.get(INVITATION, invited.json["id"])
    assert nobody.post("Users", {"registration_token": stored.token_hash}).status == 400
    assert token_in(invited.message) not in str(stored)


def test_tokens_are_random(api, organization):
    tokens = set()
    for number in range(4):
        body = {"email": f"{number}-{organization}@example.org", "permission": "Member"}
        tokens.add(token_in(api.post(f"Invitations/{organization}", body).message))
    assert len(tokens) == 4
    assert all(len(token) == 64 for token in tokens)
    assert len({token[:8] for token in tokens}) == len({token[-8:] for token in tokens}) == 4


def test_an_invitation_of_before_with_its_token_in_the_clear_is_void_and_hidden(api, organization, address, me):
    made = api.post(f"Invitations/{organization}", {"email": address, "permission": "Admin"})
    import msgspec

    old = "00000000-0000-1000-8000-000000000000"
    records.edit(
        INVITATION,
        made.json["id"],
        lambda item: msgspec.structs.replace(item, registration_token=old, token_hash=""),
    )
    assert old not in api.get(f"Invitations/{organization}").body.decode()
    assert me.post("Accept", {"registration_token": old}).status == 400


def test_a_reset_is_reported_by_mail(api, nobody, ada):
    nobody.post("PasswordReset", {"email": ada.email})
    api.drain()
    token = token_in(newest_mail_to(ada.email)["text"], "reset_token")
    assert nobody.patch(f"User/{ada.id}", {"password": "battery staple 8", "reset_token": token}).status == 200
    api.drain()
    assert "password was changed" in newest_mail_to(ada.email)["subject"]
    assert Api(None).post("Token", {"username": ada.username, "password": "battery staple 8"}).status == 201
