"""Second factors: enrolment, sign-ins with codes, recovery codes, replays, limits, resets."""

from __future__ import annotations

import base64
import re
import time
from urllib.parse import parse_qs, urlsplit

import pytest

from chalicelib.access import passwords
from chalicelib.access.identities import second_factors
from chalicelib.core.models.accounts import USER
from chalicelib.core.values import one_time_codes
from chalicelib.storage.dynamodb import records
from tests.races import meanwhile
from tests.resources.accounts.mails import PASSWORD, newest_mail_to
from tests.service import Api, join, new_user

SENT = {"limn-session": "1"}


def code_of(begun, step=0):
    """The code of an app that has the secret, so many steps from now."""
    secret = base64.b32decode(begun["secret"] + "=" * (-len(begun["secret"]) % 8))
    return one_time_codes.code_at(secret, int(time.time() // one_time_codes.STEP_SECONDS) + step)


def sign_in(user, **more):
    return Api(None).post("Token", {"username": user.username, "password": PASSWORD, **more})


@pytest.fixture
def enrolled(me):
    """What the app has, and the recovery codes."""
    begun = me.post("SecondFactor", {"password": PASSWORD}).json
    said = me.put("SecondFactor", {"code": code_of(begun, -1)})
    assert said.status == 200, said.body
    return begun, said.json["recovery_codes"]


@pytest.mark.parametrize(
    ("moment", "code"),
    [
        (59, "94287082"),
        (1111111109, "07081804"),
        (1111111111, "14050471"),
        (1234567890, "89005924"),
        (2000000000, "69279037"),
        (20000000000, "65353130"),
    ],
)
def test_codes_are_those_of_the_vectors_of_rfc_6238(moment, code):
    step = moment // one_time_codes.STEP_SECONDS
    assert one_time_codes.code_at(b"12345678901234567890", step, digits=8) == code
    assert one_time_codes.code_at(b"12345678901234567890", step) == code[2:]


def test_the_address_for_apps_names_issuer_account_and_secret(me, ada):
    begun = me.post("SecondFactor", {"password": PASSWORD}).json
    parts = urlsplit(begun["uri"])
    assert (parts.scheme, parts.netloc) == ("otpauth", "totp")
    assert parts.path == f"/Limn%3A{ada.username}"
    assert parse_qs(parts.query) == {"secret": [begun["secret"]], "issuer": ["Limn"]}


def test_enrolment_needs_the_password_and_counts_once_confirmed(me, ada):
    assert me.post("SecondFactor", {"password": "wrong horse 7"}).status == 400
    begun = me.post("SecondFactor", {"password": PASSWORD}).json
    assert me.get("SecondFactor").json["is_on"] is False
    assert sign_in(ada).status == 201
    assert me.put("SecondFactor", {"code": "000000" if code_of(begun) != "000000" else "111111"}).status == 403
    assert sign_in(ada).status == 201
    assert len(me.put("SecondFactor", {"code": code_of(begun)}).json["recovery_codes"]) == 10
    state = me.get("SecondFactor").json
    assert state["is_on"] is True
    assert state["recovery_codes"] == 10
    assert sign_in(ada).status == 403
    assert me.post("SecondFactor", {"password": PASSWORD}).status == 400


def test_a_sign_in_without_code_names_what_is_needed(enrolled, ada):
    said = sign_in(ada)
    assert said.status == 403
    assert said.json["needs"] == "code"
    assert sign_in(ada, password="wrong horse 7").status == 400
    begun, _ = enrolled
    made = sign_in(ada, code=code_of(begun))
    assert made.status == 201
    assert Api(ada, made.json["token"]).get("User/GetCurrent").json["id"] == ada.id


def test_browsers_sign_in_with_codes(enrolled, ada):
    begun, _ = enrolled
    browser = Api(None, headers=SENT)
    given = {"username": ada.username, "password": PASSWORD}
    assert browser.post("Session", given).json["needs"] == "code"
    said = browser.post("Session", {**given, "code": code_of(begun)})
    assert said.status == 201
    assert "Set-Cookie" in said.headers


def test_a_code_counts_once_and_none_before_it(enrolled, ada):
    begun, _ = enrolled
    later = code_of(begun, 1)
    assert sign_in(ada, code=later).status == 201
    assert sign_in(ada, code=later).status == 403
    assert sign_in(ada, code=code_of(begun)).status == 403


def test_the_code_of_the_enrolment_is_used_up(me, ada):
    begun = me.post("SecondFactor", {"password": PASSWORD}).json
    code = code_of(begun)
    assert me.put("SecondFactor", {"code": code}).status == 200
    assert sign_in(ada, code=code).status == 403


def test_codes_of_other_times_and_users_are_refused(enrolled, ada):
    begun, _ = enrolled
    assert sign_in(ada, code=code_of(begun, -3)).status == 403
    assert sign_in(ada, code=code_of(begun, 3)).status == 403
    foreign = base64.b32encode(one_time_codes.new_secret()).decode()
    assert sign_in(ada, code=code_of({"secret": foreign})).status == 403


def test_a_recovery_code_counts_once_in_any_writing(enrolled, me, ada):
    _, codes = enrolled
    assert sign_in(ada, code=codes[0].upper().replace("-", " ")).status == 201
    assert sign_in(ada, code=codes[0]).status == 403
    assert me.get("SecondFactor").json["recovery_codes"] == 9


@pytest.mark.parametrize("kind", ["app", "recovery"])
def test_of_two_sign_ins_at_once_one_uses_a_code(enrolled, me, ada, kind):
    begun, codes = enrolled
    code = code_of(begun, 1) if kind == "app" else codes[0]
    with meanwhile(lambda: sign_in(ada, code=code)) as other:
        answer = sign_in(ada, code=code)
    assert sorted((answer.status, other.answer.status)) == [201, 403]
    assert me.get("SecondFactor").json["recovery_codes"] == (10 if kind == "app" else 9)


def test_of_a_removal_and_a_sign_in_at_once_one_uses_a_code(enrolled, me, ada):
    begun, _ = enrolled
    code = code_of(begun, 1)
    with meanwhile(lambda: sign_in(ada, code=code)) as other:
        answer = me.delete("SecondFactor", {"code": code})
    assert (answer.status, other.answer.status) == (403, 201)
    assert me.get("SecondFactor").json["is_on"] is True


def test_new_recovery_codes_replace_the_old_ones(enrolled, me, ada):
    begun, codes = enrolled
    renewed = me.put("SecondFactor", {"code": code_of(begun)}).json["recovery_codes"]
    assert sign_in(ada, code=codes[0]).status == 403
    assert sign_in(ada, code=renewed[0]).status == 201


def test_wrong_codes_are_limited_and_recovery_codes_count_all_the_same(enrolled, ada):
    begun, codes = enrolled
    for _ in range(second_factors.ALLOWED_CODES):
        assert sign_in(ada, code=code_of(begun, 9)).status == 403
    said = sign_in(ada, code=code_of(begun))
    assert said.status == 429
    assert int(said.headers["Retry-After"]) > 0
    assert sign_in(ada, code=codes[0]).status == 201
    assert sign_in(ada, code=code_of(begun)).status == 201


def test_wrong_codes_of_a_day_are_limited(enrolled, ada, monkeypatch):
    monkeypatch.setattr(second_factors, "ALLOWED_IN_A_DAY", 2)
    begun, _ = enrolled
    for expected in (403, 403, 429):
        assert sign_in(ada, code=code_of(begun, 9)).status == expected


def test_the_user_is_told_of_wrong_codes_by_mail(enrolled, api, ada, configured):
    begun, _ = enrolled
    for _ in range(second_factors.ALLOWED_CODES):
        sign_in(ada, code=code_of(begun, 9))
    api.drain()
    assert newest_mail_to(ada.email)["subject"] == "Wrong codes for your account"


def test_secrets_and_codes_are_nowhere_in_the_tables(enrolled, me, ada):
    begun, codes = enrolled
    stored = records.get(USER, ada.id)
    text = repr(stored)
    assert begun["secret"] not in text
    assert not any(code in text for code in codes)
    shown = me.get("User/GetCurrent").body.decode() + me.get("SecondFactor").body.decode()
    assert not re.search(r"sealed|recovery\"|last_step", shown)


def test_a_code_ends_the_second_factor(enrolled, me, ada):
    begun, codes = enrolled
    assert me.delete("SecondFactor", {"code": code_of(begun, 7)}).status == 403
    assert me.delete("SecondFactor", {"code": codes[3]}).status == 200
    assert sign_in(ada).status == 201


def test_a_mail_tells_of_each_change_of_the_second_factor(enrolled, api, me, ada):
    begun, _ = enrolled
    changes = {
        "A second factor is in force.": lambda: None,
        "New recovery codes were made.": lambda: me.put("SecondFactor", {"code": code_of(begun)}),
        "The second factor was ended.": lambda: me.delete("SecondFactor", {"code": code_of(begun, 1)}),
        "An administrator ended the second factor": lambda: new_user(is_staff=True).delete(f"SecondFactor/{ada.id}"),
    }
    for told, change in changes.items():
        change()
        api.drain()
        assert told in str(newest_mail_to(ada.email))


def test_staff_resets_a_second_factor(enrolled, ada):
    staff = new_user(is_staff=True)
    assert staff.delete(f"SecondFactor/{ada.id}").status == 200
    assert sign_in(ada).status == 201


def test_administrators_of_all_organizations_of_a_user_reset_and_nobody_else(enrolled, me, ada):
    owner, other = new_user(is_staff=True), new_user(is_staff=True)
    admin = new_user()
    organizations = []
    for each in (owner, other):
        organization = each.made("Organizations", {"name": f"{each.user.username} reefs"})
        organizations.append(organization)
        each.made(f"Affiliations/{organization}", {"user": ada.id, "permission": "Member"})
    owner.made(f"Affiliations/{organizations[0]}", {"user": admin.user.id, "permission": "Admin"})
    assert admin.delete(f"SecondFactor/{ada.id}").status == 403
    assert new_user().delete(f"SecondFactor/{ada.id}").status == 403
    assert me.delete(f"SecondFactor/{ada.id}").status == 403
    other.made(f"Affiliations/{organizations[1]}", {"user": admin.user.id, "permission": "Admin"})
    project = other.made("Projects", {"name": "reef", "organization": organizations[1]})
    join(me, project, "View Only")
    assert admin.delete(f"SecondFactor/{ada.id}").status == 200
    assert sign_in(ada).status == 201


def test_a_restricted_token_touches_no_second_factor(me):
    token = me.post("AccessTokens", {"name": "script"}).json["token"]
    script = Api(me.user, token)
    assert script.get("SecondFactor").status == 403
    assert script.post("SecondFactor", {"password": PASSWORD}).status == 403


def test_the_password_is_changed_without_a_code(enrolled, me, ada):
    assert me.patch(f"User/{ada.id}", {"password": "battery staple 8", "current_password": PASSWORD}).status == 200
    assert passwords.is_match(records.get(USER, ada.id).password_hash, "battery staple 8")
