"""Users and tokens, as a client meets them."""

from __future__ import annotations

import re
import uuid

import msgspec
import pytest

from chalicelib.access import passwords
from chalicelib.core.models.accounts import USER
from chalicelib.settings import override
from chalicelib.storage.dynamodb import records
from infra.emulator import aws
from infra.local.http import outbox
from tests.resources.accounts.mails import PASSWORD
from tests.service import Api, join, new_user


def sign_in(nobody, user, password=PASSWORD, **more):
    return nobody.post("Token", {"username": user.username, "password": password, **more})


class TestToken:
    def test_a_password_is_exchanged_for_a_token_that_works(self, nobody, ada):
        said = sign_in(nobody, ada)
        assert said.status == 201
        assert Api(None, said.json["token"]).get("User/GetCurrent").json["username"] == ada.username

    def test_the_user_name_counts_in_any_case(self, nobody, ada):
        said = nobody.post("Token", {"username": ada.username.upper(), "password": PASSWORD})
        assert said.status == 201

    def test_both_schemes_of_authorization_are_taken(self, nobody, ada):
        token = sign_in(nobody, ada).json["token"]
        bearer = Api(None, headers={"Authorization": f"Bearer {token}"})
        assert bearer.get("User/GetCurrent").status == 200

    def test_unknown_names_and_wrong_passwords_are_answered_alike(self, nobody, ada):
        wrong = sign_in(nobody, ada, "wrong")
        unknown = nobody.post("Token", {"username": "nobody at all", "password": "wrong"})
        assert wrong.status == unknown.status == 400
        assert wrong.json == unknown.json

    def test_three_wrong_passwords_lock_even_the_right_one_out(self, nobody, ada):
        for _ in range(3):
            assert sign_in(nobody, ada, "wrong").status == 400
        assert sign_in(nobody, ada).status == 400

    def test_the_lock_opens_ten_minutes_after_the_last_failure(self, nobody, ada, move_clock):
        for _ in range(3):
            sign_in(nobody, ada, "wrong")
        move_clock(passwords.LOCK_SECONDS + 1)
        assert sign_in(nobody, ada).status == 201
        for _ in range(2):  # counted from the start again
            sign_in(nobody, ada, "wrong")
        assert sign_in(nobody, ada).status == 201

    def test_refresh_ends_every_earlier_token_at_once(self, nobody, ada):
        old = sign_in(nobody, ada).json["token"]
        kept = sign_in(nobody, ada).json["token"]
        assert Api(None, old).get("User/GetCurrent").status == 200
        new = sign_in(nobody, ada, refresh=True).json["token"]
        assert Api(None, old).get("User/GetCurrent").status == 401
        assert Api(None, kept).get("User/GetCurrent").status == 401
        assert Api(None, new).get("User/GetCurrent").status == 200

    def test_no_more_than_twenty_tokens_of_a_user_are_good(self, nobody, ada):
        first = passwords.issue_token(ada, refresh=False)
        for _ in range(passwords.TOKENS_A_USER):
            passwords.issue_token(ada, refresh=False)
        assert Api(None, first).get("User/GetCurrent").status == 401
        assert len(records.get(USER, ada.id).tokens) == passwords.TOKENS_A_USER

    def test_the_token_itself_is_stored_nowhere(self, nobody, ada):
        token = sign_in(nobody, ada).json["token"]
        stored = msgspec.json.encode(records.get(USER, ada.id)).decode()
        assert token not in stored
        assert re.search(r"[0-9a-f]{64}", stored)

    def test_credentials_of_another_than_the_caller_are_refused(self, api, ada):
        assert sign_in(api, ada).status == 400

    @pytest.mark.parametrize("body", [{}, {"username": "a"}, {"username": 7, "password": "x"}, [], "x", None])
    def test_a_body_that_is_no_credentials_names_what_is_wrong(self, nobody, body):
        said = nobody.post("Token", body)
        assert said.status == 400
        assert said.json["message"]

    @pytest.mark.parametrize("header", ["Token", "Token ", "Basic abc", "Token a b c", "Token " + "f" * 5000])
    def test_a_malformed_header_is_401(self, header):
        assert Api(None, headers={"Authorization": header}).get("Projects").status == 401


class TestUsers:
    def spec(self, **more):
        name = f"new-{uuid.uuid4().hex[:8]}"
        return {
            "username": name,
            "first_name": "New",
            "last_name": "User",
            "email": f"{name}@example.org",
            "password": PASSWORD,
            **more,
        }

    def test_nobody_registers_where_registration_is_closed(self, nobody):
        assert nobody.post("Users", self.spec()).status == 400

    def test_staff_makes_users(self, api):
        spec = self.spec()
        said = api.post("Users", spec)
        assert said.status == 201
        assert said.json["message"] == f"User {spec['username']} created!"
        assert api.get(f"User/{said.json['id']}").json["email"] == spec["email"]

    def test_a_name_is_taken_once_in_any_case(self, api):
        spec = self.spec()
        assert api.post("Users", spec).status == 201
        said = api.post("Users", self.spec(username=spec["username"].upper()))
        assert said.status == 400
        assert "username" in said.message

    @pytest.mark.parametrize(
        ("member", "value"),
        [
            ("username", ""),
            ("username", "a\u0000b"),
            ("username", "x" * 151),
            ("email", "nonsense"),
            ("email", "a@b\r\nBcc: c@d"),
            ("password", "short"),
            ("password", "12345678901"),
            ("first_name", 7),
        ],
    )
    def test_a_bad_member_is_named(self, api, member, value):
        said = api.post("Users", self.spec(**{member: value}))
        assert said.status == 400
        assert member in said.message + said.json["details"] or "email address" in said.message

    def test_no_answer_shows_what_is_secret(self, api):
        number = api.made("Users", self.spec())
        body = api.get(f"User/{number}").body.decode()
        assert "argon2" not in body
        assert "password" not in body
        assert "tokens" not in body

    def test_users_are_found_by_name_address_and_elemental_id(self, api, ada):
        assert api.get("Users", username=ada.username.upper()).json[0]["id"] == ada.id
        assert api.get("Users", email=ada.email).json[0]["id"] == ada.id
        assert api.get("Users", elemental_id=ada.elemental_id).json[0]["id"] == ada.id
        assert api.get("Users", username="nobody at all").json == []
        assert api.get("Users").status == 400

    def test_whether_a_user_exists_is_told_to_anybody(self, nobody, ada):
        assert nobody.get("User/Exists", username=ada.username).json is True
        assert nobody.get("User/Exists", username="nobody at all").json is False

    def test_only_oneself_staff_and_companions_see_a_user(self, api, project, member, stranger):
        companion = member("View Only")
        assert companion.get(f"User/{api.user.id}").status == 200
        assert stranger.get(f"User/{api.user.id}").status == 403
        assert stranger.get("User/999999999").status == 403
        assert api.get("User/999999999").status == 404
        assert stranger.get(f"User/{stranger.user.id}").status == 200

    def test_a_user_changes_itself_and_nobody_else(self, ada):
        me = Api(ada, passwords.issue_token(ada, refresh=False))
        assert me.patch(f"User/{ada.id}", {"first_name": "Augusta", "set_profile_keys": {"a": 1}}).status == 200
        assert me.get("User/GetCurrent").json["first_name"] == "Augusta"
        assert me.get("User/GetCurrent").json["profile"] == {"a": 1}
        assert new_user().patch(f"User/{ada.id}", {"first_name": "x"}).status == 403

    def test_an_avatar_must_be_a_small_picture(self, ada):
        me = Api(ada, passwords.issue_token(ada, refresh=False))
        assert me.patch(f"User/{ada.id}", {"new_avatar": "bm8gcGljdHVyZQ=="}).status == 400
        assert me.patch(f"User/{ada.id}", {"new_avatar": "iVBORw0KGgoAAAA="}).status == 200
        assert me.get("User/GetCurrent", presigned=60).json["profile"]["avatar"].startswith("http")
        assert me.patch(f"User/{ada.id}", {"clear_avatar": 1}).status == 200
        assert me.get("User/GetCurrent", presigned=60).json["profile"]["avatar"] is None


class TestNotifications:
    def test_the_other_administrators_get_a_mail_about_a_new_affiliation(self, api, organization, stranger):
        other = new_user()
        api.made(f"Affiliations/{organization}", {"user": other.user.id, "permission": "Admin"})
        api.made(f"Affiliations/{organization}", {"user": stranger.user.id, "permission": "Member"})
        api.drain()
        told = [mail for mail in outbox.sent(aws.REGION) if stranger.user.username in mail["text"]]
        assert [mail["to"] for mail in told] == [[other.user.email]]

    def test_the_operator_hears_of_new_users_and_members(self, api, project, stranger):
        name = f"new-{uuid.uuid4().hex[:8]}"
        spec = {"username": name, "first_name": "N", "last_name": "N", "email": f"{name}@example.org"}
        with override(notify_address="operator-of-users@example.org"):
            api.made("Users", {**spec, "password": PASSWORD})
            api.made(f"Memberships/{project}", {"user": stranger.user.id, "permission": "Can Edit"})
            api.drain()
        told = [mail["text"] for mail in outbox.sent(aws.REGION) if "operator-of-users@example.org" in mail["to"]]
        assert [sum(word in text for text in told) for word in (name, "Can Edit")] == [1, 1]
        assert len(told) == 2
        assert PASSWORD not in str(told)


def test_a_stranger_learns_ids_and_names_only(project, member):
    known, stranger = member("View Only"), new_user()
    staff = new_user(is_staff=True, profile={"phone": "1"})
    [seen] = stranger.get("Users", username=staff.user.username).json
    assert (seen["id"], seen["email"], seen["is_staff"], seen["profile"]) == (staff.user.id, "", False, {})
    assert stranger.get("Users", email=staff.user.email).json[0]["email"] == staff.user.email
    join(staff, project, "View Only")
    assert known.get("Users", username=staff.user.username).json[0]["email"] == staff.user.email
