"""Staff ends an account: its tokens at once, and every way back that was mailed."""

from __future__ import annotations

import pytest

from chalicelib.core.keys.object_keys import media_key
from chalicelib.storage.dynamodb.tables import RecordRow
from chalicelib.storage.objects import presigned
from tests.resources.accounts.mails import PASSWORD, link_in, mails_to, newest_mail_to, spec, token_in
from tests.service import Api, new_user


def end(staff, user, *, active=False):
    return staff.patch(f"User/{user.id}", {"is_active": active})


def test_an_ended_account_has_no_tokens_until_it_is_opened_again(api, me, ada):
    assert end(api, ada).status == 200
    assert me.get("User/GetCurrent").status == 401
    credentials = {"username": ada.username, "password": PASSWORD}
    assert Api(None).post("Token", credentials).status == 400
    assert end(api, ada, active=True).status == 200
    assert me.get("User/GetCurrent").status == 401
    assert Api(None).post("Token", credentials).status == 201


def test_only_staff_ends_or_opens_an_account(api, me, ada, stranger, nobody):
    for value in (False, True):
        assert me.patch(f"User/{ada.id}", {"is_active": value}).status == 403
        assert me.patch(f"User/{ada.id}", {"first_name": "B", "is_active": value}).status == 403
        assert stranger.patch(f"User/{ada.id}", {"is_active": value}).status == 403
        assert nobody.patch(f"User/{ada.id}", {"is_active": value}).status == 401
    assert me.get("User/GetCurrent").json["first_name"] == "Ada"


def test_no_mailed_link_opens_an_ended_account(api, nobody, me, ada):
    nobody.post("PasswordReset", {"email": ada.email})
    me.patch(f"User/{ada.id}", {"email": f"new-{ada.email}"})
    api.drain()
    reset = token_in(newest_reset(ada.email)["text"], "reset_token")
    end(api, ada)
    nobody.patch(f"User/{ada.id}", {"password": "battery staple 8", "reset_token": reset})
    assert nobody.ask("POST", link_in(newest_mail_to(f"new-{ada.email}")["text"]), raw=b"").status == 404
    for unlock in ({}, {"unlock_token": reset}):
        said = nobody.post("Token", {"username": ada.username, "password": "battery staple 8", **unlock})
        assert said.status == 400


def newest_reset(address):
    return next(mail for mail in reversed(mails_to(address)) if "reset_token" in mail["text"])


def test_remembered_urls_of_an_ended_account_are_forgotten(api, ada):
    presigned.urls(ada.id, [media_key(1, 1, media, "a.mp4") for media in (1, 2)], 86_400)

    def remembered():
        return list(RecordRow.query(f"presigned#{ada.id}", consistent_read=True))

    assert len(remembered()) == 2
    end(api, ada)
    assert remembered() == []


class TestMembersThatAreNotIgnored:
    def test_profile_and_avatar_count_at_creation(self, api, address):
        number = api.made("Users", spec(address, profile={"role": "diver"}, new_avatar="iVBORw0KGgoAAAA="))
        profile = api.get(f"User/{number}", presigned=60).json["profile"]
        assert profile["role"] == "diver"
        assert f"user_data/{number}/avatar.png" in profile["avatar"]
        assert api.post("Users", spec(address, new_avatar="x")).status == 400

    @pytest.mark.parametrize("value", ["1/1/1/secret.txt", "user_data/1/avatar.png", 7, [], "\u0000"])
    def test_the_key_of_a_picture_cannot_be_set(self, api, me, ada, address, value):
        assert api.post("Users", spec(address, profile={"avatar": value})).status == 400
        assert me.patch(f"User/{ada.id}", {"set_profile_keys": {"avatar": value}}).status == 400
        assert me.get("User/GetCurrent", presigned=60).json["profile"]["avatar"] is None

    def test_an_elemental_id_changes_and_stays_unique(self, me, ada):
        wanted = f"12345678-0000-4000-8000-{ada.id:012d}"
        assert me.patch(f"User/{ada.id}", {"elemental_id": wanted}).status == 200
        assert me.get("User/GetCurrent").json["elemental_id"] == wanted
        other = new_user()
        said = other.patch(f"User/{other.user.id}", {"elemental_id": wanted})
        assert (said.status, "elemental_id" in said.message) == (400, True)

    def test_a_refused_address_changes_nothing_else(self, me, ada):
        before = me.get("User/GetCurrent").json
        said = me.patch(f"User/{ada.id}", {"email": "NULL", "last_name": "B", "set_profile_keys": {"role": "diver"}})
        assert (said.status, "email" in said.message) == (400, True)
        assert me.get("User/GetCurrent").json == before

    def test_a_user_name_does_not_change(self, me, ada):
        assert me.patch(f"User/{ada.id}", {"username": ada.username}).status == 200
        said = me.patch(f"User/{ada.id}", {"username": "somebody else"})
        assert (said.status, "username" in said.message) == (400, True)

    def test_a_reset_token_without_a_password_is_refused(self, me, ada):
        said = me.patch(f"User/{ada.id}", {"first_name": "B", "reset_token": "x"})
        assert (said.status, "reset_token" in said.message) == (400, True)


def test_a_refusal_names_the_level_needed_and_the_level_held(api, project, organization, member, stranger):
    said = member("Can Edit").patch(f"Project/{project}", {"summary": "x"})
    assert (said.status, said.message) == (
        403,
        "You do not have permission to perform this action: it needs 'Full Control', and you have 'Can Edit'.",
    )
    api.made(f"Affiliations/{organization}", {"user": stranger.user.id, "permission": "Member"})
    said = stranger.patch(f"Organization/{organization}", {"name": "x"})
    assert "it needs 'Admin', and you have 'Member'" in said.message
