"""A user's own tokens and password: list them, revoke one, change the password with the present one."""

from __future__ import annotations

import hashlib
import time
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.access import authentication, passwords
from chalicelib.core.models.credentials import hash_of, key_of
from chalicelib.core.resource import now
from chalicelib.resources.accounts import administration
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import credentials
from chalicelib.storage.dynamodb.transactions import Transaction
from tests.races import meanwhile
from tests.resources.accounts.mails import PASSWORD, newest_mail_to, token_in
from tests.service import Api, new_user

NEW = "battery staple 8"
WRONG = "wrong horse 7"


def sign_in(nobody, user, password=PASSWORD, **more):
    return nobody.post("Token", {"username": user.username, "password": password, **more})


def change(api, **more):
    return api.patch(f"User/{api.user.id}", {"password": NEW, "current_password": PASSWORD, **more})


def test_the_list_names_tokens_and_never_shows_them(nobody, ada, me):
    made = sign_in(nobody, ada, name="laptop").json["token"]
    said = me.get("Token")
    assert said.status == 200
    first, second = said.json
    assert set(first) == {"id", "name", "created_datetime", "used_on", "expires_datetime", "is_present"}
    assert [first["is_present"], second["is_present"]] == [True, False]
    assert [first["name"], second["name"]] == ["", "laptop"]
    assert second["id"] == hashlib.sha256(made.encode()).hexdigest()[:16]
    assert made not in said.body.decode()
    assert made[:32] not in said.body.decode()


def test_a_revoked_token_ends_and_the_others_stay(nobody, ada, me):
    other = Api(ada, sign_in(nobody, ada).json["token"])
    gone = me.get("Token").json[1]["id"]
    assert me.delete("Token", id=gone).status == 200
    assert other.get("User/GetCurrent").status == 401
    assert [token["is_present"] for token in me.get("Token").json] == [True]
    assert me.delete("Token", id=gone).status == 404


def test_a_user_signs_out_by_revoking_the_present_token(me):
    [own] = me.get("Token").json
    assert me.delete("Token", id=own["id"]).status == 200
    assert me.get("User/GetCurrent").status == 401


def test_tokens_of_others_are_neither_listed_nor_revoked(me):
    other = new_user()
    [theirs] = other.get("Token").json
    assert theirs["id"] not in {token["id"] for token in me.get("Token").json}
    assert me.delete("Token", id=theirs["id"]).status == 404
    assert other.get("User/GetCurrent").status == 200


def test_a_revocation_needs_an_id_and_credentials(nobody, me):
    assert me.delete("Token").status == 400
    assert me.delete("Token", id="no-token").status == 400
    assert nobody.get("Token").status == 401
    assert nobody.delete("Token", id="0" * 16).status == 401


def test_the_present_password_sets_a_new_one_and_ends_other_tokens(api, nobody, ada, me):
    other = Api(ada, sign_in(nobody, ada).json["token"])
    nobody.post("PasswordReset", {"email": ada.email})
    api.drain()
    reset = token_in(newest_mail_to(ada.email)["text"], "reset_token")
    assert change(me).status == 200
    api.drain()
    assert "password" in newest_mail_to(ada.email)["text"].lower()
    assert me.get("User/GetCurrent").status == 200, "the caller stays signed in"
    assert other.get("User/GetCurrent").status == 401
    assert nobody.patch(f"User/{ada.id}", {"password": "third pass 99", "reset_token": reset}).status == 400
    assert sign_in(nobody, ada).status == 400
    assert sign_in(nobody, ada, NEW).status == 201


@pytest.mark.slow
def test_a_wrong_present_password_counts_towards_the_lock_out(nobody, ada, me):
    for _ in range(passwords.ALLOWED_FAILURES):
        said = change(me, current_password=WRONG)
        assert said.status == 400
        assert said.message.startswith("current_password: ")
    assert change(me).status == 400, "locked, as for a sign-in"
    assert sign_in(nobody, ada).status == 400


def test_only_the_user_changes_a_password_by_the_present_one(nobody, ada, me):
    staff = new_user(is_staff=True)
    body = {"password": NEW, "current_password": PASSWORD}
    assert staff.patch(f"User/{ada.id}", body).status == 403
    assert new_user().patch(f"User/{ada.id}", body).status == 403
    assert nobody.patch(f"User/{ada.id}", body).status == 401
    assert sign_in(nobody, ada).status == 201


def test_a_change_of_password_stands_alone_and_is_complete(ada, me):
    path = f"User/{ada.id}"
    for body, named in (
        ({"password": NEW}, "password: "),
        ({"current_password": PASSWORD}, "current_password: "),
        ({"password": NEW, "current_password": PASSWORD, "first_name": "X"}, "current_password: "),
        ({"password": NEW, "current_password": PASSWORD, "reset_token": "0" * 64}, "current_password: "),
        ({"password": "short", "current_password": PASSWORD}, "password: "),
        ({"password": ada.username, "current_password": PASSWORD}, "password: "),
    ):
        said = me.patch(path, body)
        assert (said.status, said.message.startswith(named)) == (400, True), said.body
    assert me.get("User/GetCurrent").json["first_name"] == "Ada"


def test_a_token_that_is_made_while_its_user_leaves_the_staff_is_not_of_staff():
    user = new_user(is_staff=True).user
    with meanwhile(lambda: administration.set_staff(user.username, staff=False)):
        token = passwords.issue_token(user, refresh=False)
    assert not authentication.authenticate(f"Token {token}").is_staff


def expire(api, seconds, day):
    """Let the token of a caller end in some seconds, last used on a day."""
    key = key_of(api.token)
    held, _ = credentials.read(key)
    change = Transaction()
    credentials.put(change, held, int(time.time()) + seconds, day)
    change.run()


def test_a_token_that_is_used_goes_on_and_says_when_it_was(me):
    expire(me, 60, "2001-02-03")
    [shown] = me.get("Token").json
    assert shown["used_on"] == now()[:10]
    left = datetime.fromisoformat(shown["expires_datetime"]) - datetime.now(UTC)
    assert timedelta(days=settings().session_days - 1) < left <= timedelta(days=settings().session_days)


def test_a_token_that_is_not_used_ends(me):
    expire(me, -1, now()[:10])
    assert me.get("User/GetCurrent").status == 401


def test_noting_the_use_of_a_token_does_not_bring_back_a_revoked_one(me):
    key = key_of(me.token)
    _, row = credentials.read(key)
    assert me.delete("Token", id=hash_of(me.token)[:16]).status == 200
    credentials.touch(row, now()[:10], int(time.time()) + 60)
    credentials.edit(key, lambda held: held)
    assert credentials.read(key) is None
    assert me.get("User/GetCurrent").status == 401
