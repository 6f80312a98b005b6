"""Passkeys as the second factor beside a password: in force, at sign-ins, lost, and ended."""

from __future__ import annotations

import pytest

from chalicelib.core.models.accounts import USER
from chalicelib.storage.dynamodb import records
from tests.resources.accounts.authenticator import PRESENT, Authenticator, text
from tests.resources.accounts.mails import PASSWORD
from tests.resources.accounts.passkey_users import SENT, Browser, begun, registered, sign_in
from tests.resources.accounts.test_second_factors import code_of
from tests.service import Api, new_user


@pytest.fixture
def guarded(me):
    """A passkey that is the second factor, and the recovery codes."""
    made = registered(me)
    asked = me.put("SecondFactor", {})
    assert asked.status == 403
    said = me.put("SecondFactor", {"passkey": made.sign(asked.json["passkey"])})
    assert said.status == 200, said.body
    return made, said.json["recovery_codes"]


def test_a_passkey_is_a_second_factor_beside_the_password(guarded, me, ada):
    made, codes = guarded
    assert len(codes) == 10
    assert me.get("SecondFactor").json["is_on"] is True
    said = sign_in(ada)
    assert said.status == 403
    asked = said.json["passkey"]
    assert asked["ids"] == [text(made.id)]
    assert asked["user_verification"] == "preferred"
    proof = made.sign(asked, flags=PRESENT)
    assert sign_in(ada, password="wrong horse 7", passkey=proof).status == 400
    assert sign_in(ada, passkey=proof).status == 201
    assert sign_in(ada, passkey=proof).status == 403
    browser = Api(None, headers=SENT)
    given = {"username": ada.username, "password": PASSWORD}
    asked = browser.post("Session", given).json["passkey"]
    assert browser.post("Session", {**given, "passkey": made.sign(asked)}).status == 201


def test_codes_of_an_app_that_is_not_there_are_refused(guarded, ada):
    assert sign_in(ada, code="000000").status == 403
    assert sign_in(ada, code=code_of({"secret": ""})).status == 403


def test_recovery_codes_count_where_the_passkey_is_lost(guarded, me, ada):
    _, codes = guarded
    assert sign_in(ada, code=codes[0]).status == 201
    assert sign_in(ada, code=codes[0]).status == 403
    assert me.delete("SecondFactor", {"code": codes[1]}).status == 200
    assert sign_in(ada).status == 201


def test_the_last_passkey_stays_while_it_is_the_second_factor(guarded, me, ada):
    made, _ = guarded
    [shown] = me.get("Passkeys").json
    said = me.delete(f"Passkey/{shown['id']}")
    assert said.status == 400
    asked = me.delete("SecondFactor", {}).json["passkey"]
    assert me.delete("SecondFactor", {"passkey": made.sign(asked)}).status == 200
    assert me.delete(f"Passkey/{shown['id']}").status == 200
    assert sign_in(ada).status == 201


def test_the_passkey_of_another_user_is_no_second_factor(guarded, ada):
    other = new_user(password_hash=records.get(USER, ada.id).password_hash)
    foreign = registered(other)
    assert sign_in(ada, passkey=foreign.sign(sign_in(ada).json["passkey"])).status == 403


def test_a_passkey_stands_for_the_code_of_an_app(me, ada):
    app = me.post("SecondFactor", {"password": PASSWORD}).json
    me.put("SecondFactor", {"code": code_of(app, -1)})
    made = Authenticator()
    assert me.post("Passkeys", made.make(begun(me, code=code_of(app)))).status == 201
    assert sign_in(ada, passkey=made.sign(sign_in(ada).json["passkey"])).status == 201
    assert sign_in(ada, code=code_of(app, 1)).status == 201


def test_who_has_lost_all_is_reset_by_staff(guarded, me, ada):
    made, _ = guarded
    assert new_user(is_staff=True).delete(f"SecondFactor/{ada.id}").status == 200
    assert me.get("Passkeys").json == []
    assert Browser().sign_in(made).status == 403
    assert sign_in(ada).status == 201
