"""Passkeys: registration, sign-ins with them alone and beside the password, and everything that must be refused."""

from __future__ import annotations

import re

import pytest

from chalicelib.access import rate_limits
from chalicelib.access.identities import passkeys
from chalicelib.core.models.accounts import USER
from chalicelib.resources.accounts import administration
from chalicelib.storage.dynamodb import records
from tests.resources.accounts import authenticator
from tests.resources.accounts.authenticator import EDDSA, ES256, PRESENT, RS256, VERIFIED, Authenticator, text
from tests.resources.accounts.mails import PASSWORD, newest_mail_to
from tests.resources.accounts.passkey_users import SENT, Browser, begun, registered, sign_in
from tests.resources.accounts.test_second_factors import code_of
from tests.service import Api, new_user


@pytest.mark.parametrize("algorithm", [ES256, EDDSA, RS256])
def test_a_passkey_of_each_algorithm_signs_in_alone(algorithm, me, ada):
    made = registered(me, Authenticator(algorithm))
    for _ in range(2):
        browser = Browser()
        said = browser.sign_in(made)
        assert said.status == 201, said.body
        cookie = said.headers["Set-Cookie"].partition(";")[0]
        assert Api(None, headers={**SENT, "cookie": cookie}).get("User/GetCurrent").json["id"] == ada.id


def test_one_without_a_counter_signs_in_again_and_again(me):
    made = registered(me, Authenticator(counts=False))
    assert [Browser().sign_in(made).status for _ in range(3)] == [201, 201, 201]


def test_passkeys_are_listed_named_and_removed(me):
    made = registered(me)
    [shown] = me.get("Passkeys").json
    assert shown["name"] == "phone"
    assert shown["used_on"] is None
    assert Browser().sign_in(made).status == 201
    assert me.patch(f"Passkey/{shown['id']}", {"name": "old phone"}).status == 200
    [shown] = me.get("Passkeys").json
    assert shown["name"] == "old phone"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", shown["used_on"])
    assert new_user().delete(f"Passkey/{shown['id']}").status == 404
    assert me.patch("Passkey/0000000000000000", {"name": "x"}).status == 404
    assert me.delete(f"Passkey/{shown['id']}").status == 200
    assert me.get("Passkeys").json == []
    assert Browser().sign_in(made).status == 403


def test_registering_needs_the_password_and_the_second_factor(me, ada):
    assert me.post("PasskeyRegistration", {"password": "wrong horse 7"}).status == 400
    app = me.post("SecondFactor", {"password": PASSWORD}).json
    me.put("SecondFactor", {"code": code_of(app, -1)})
    said = me.post("PasskeyRegistration", {"password": PASSWORD})
    assert said.status == 403
    assert said.json["needs"] == "code"
    assert "passkey" not in said.json
    assert begun(me, code=code_of(app))["username"] == ada.username


def test_the_question_names_the_service_the_user_and_what_is_there_already(me, ada):
    made = registered(me)
    asked = begun(me)
    assert asked["host"] == authenticator.HOST
    assert asked["display_name"] == ada.display_name
    assert asked["excluded_ids"] == [text(made.id)]
    assert asked["algorithms"] == [EDDSA, ES256, RS256]
    assert me.post("Passkeys", made.make(asked)).status == 409


def test_a_user_has_so_many_passkeys_at_most(me, monkeypatch):
    monkeypatch.setattr(passkeys, "PASSKEYS_A_USER", 1)
    asked = begun(me)
    registered(me)
    assert me.post("Passkeys", Authenticator().make(asked)).status == 400
    assert me.post("PasskeyRegistration", {"password": PASSWORD}).status == 400


def test_a_mail_tells_of_each_passkey_that_is_added_or_removed(me, ada, api):
    registered(me, name="security key")
    api.drain()
    assert "The passkey security key was added." in str(newest_mail_to(ada.email))
    assert me.delete(f"Passkey/{me.get('Passkeys').json[0]['id']}").status == 200
    api.drain()
    mail = newest_mail_to(ada.email)
    assert mail["subject"] == "Signing in to your account changed"
    assert "The passkey security key was removed." in str(mail)


DEEP = b', "more": ' + b"[" * 5000 + b"]" * 5000
HOSTILE = {
    "another origin": ({"origin": "https://evil.example.org"}, 403),
    "the same host on another port": ({"origin": "http://localhost:8001"}, 403),
    "an address instead of the name": ({"origin": "http://127.0.0.1:8000"}, 403),
    "within a frame of another origin": ({"crossOrigin": True}, 403),
    "another host": ({"host": "evil.example.org"}, 403),
    "another ceremony": ({"type": "payment.get"}, 403),
    "an unknown challenge": ({"challenge": text(bytes(32))}, 403),
    "an empty challenge": ({"challenge": ""}, 403),
    "a challenge beyond ASCII": ({"challenge": "ö"}, 403),
    "client data that are nested deeply": ({"more": DEEP}, 400),
    "nobody present": ({"flags": VERIFIED}, 403),
    "a backup of what has none": ({"flags": PRESENT | VERIFIED | 16}, 400),
    "extensions that are not there": ({"flags": PRESENT | VERIFIED | 128}, 400),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_sign_ins_are_refused(case, me):
    wrong, status = HOSTILE[case]
    made = registered(me)
    said = Browser().sign_in(made, **wrong)
    assert said.status == status, said.body
    assert "Set-Cookie" not in said.headers
    assert Browser().sign_in(made).status == 201


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_registrations_are_refused(case, me):
    wrong, status = HOSTILE[case]
    if "flags" in wrong:
        wrong = {"flags": wrong["flags"] | authenticator.CREDENTIAL}
    said = me.post("Passkeys", Authenticator().make(begun(me), **wrong))
    assert said.status == status, said.body
    assert me.get("Passkeys").json == []


def test_one_that_did_not_verify_its_user_does_not_sign_in_alone(me):
    made = registered(me)
    said = Browser().sign_in(made, flags=PRESENT)
    assert said.status == 403
    assert "PIN" in said.message


def test_a_challenge_counts_once_and_in_its_browser_only(me):
    made = registered(me)
    browser = Browser()
    proof = made.sign(browser.ask())
    assert Api(None, headers=SENT).post("PasskeySession", proof).status == 403
    other = Browser()
    other.ask()
    assert other.api.post("PasskeySession", proof).status == 403
    assert browser.api.post("PasskeySession", proof).status == 201
    assert browser.api.post("PasskeySession", proof).status == 403


def test_a_challenge_of_another_purpose_or_user_does_not_count(me, ada):
    made = registered(me)
    asked = begun(me)
    browser = Browser()
    browser.ask()
    browser.api.headers = {**SENT, "cookie": f"limn-8000-passkey={asked['challenge']}"}
    assert browser.api.post("PasskeySession", made.sign(asked)).status == 403
    assert me.post("Passkeys", Authenticator().make(asked | browser.ask())).status == 403
    other = new_user(password_hash=records.get(USER, ada.id).password_hash)
    assert other.post("Passkeys", Authenticator().make(begun(me))).status == 403


def test_a_challenge_ends(me, move_clock):
    made = registered(me)
    challenge = passkeys.ask_anybody().challenge
    move_clock(passkeys.SECONDS + 1)
    browser = Api(None, headers={**SENT, "cookie": f"limn-8000-passkey={challenge}"})
    said = browser.post("PasskeySession", made.sign({"challenge": challenge}))
    assert said.status == 403
    assert "five minutes" in said.message


def test_a_counter_that_goes_back_is_refused(me):
    made = registered(me)
    assert Browser().sign_in(made, counter=7).status == 201
    for counter in (7, 6, 0):
        said = Browser().sign_in(made, counter=counter)
        assert said.status == 403
        assert "counter" in said.message
    assert Browser().sign_in(made, counter=8).status == 201


def test_what_was_altered_after_the_signature_is_refused(me):
    made = registered(me)
    for member in ("client_data", "authenticator_data", "signature"):
        browser = Browser()
        asked = browser.ask()
        proof, other = made.sign(asked), made.sign(asked, crossOrigin=False, counter=900, flags=PRESENT | VERIFIED)
        if member == "client_data":
            other["client_data"] = text(b" " + authenticator.Authenticator._client_data("webauthn.get", asked, {}))
        assert browser.api.post("PasskeySession", {**proof, member: other[member]}).status == 403, member


def test_the_key_of_another_passkey_or_user_does_not_count(me):
    made, stranger = registered(me), Authenticator()
    stranger.id, stranger.handle = made.id, made.handle
    assert Browser().sign_in(stranger).status == 403
    other = registered(me, Authenticator(EDDSA))
    other.id = made.id
    assert Browser().sign_in(other).status == 403
    for handle in (text(b"999999"), text(b"x" * 64), text("²".encode()), None):
        made.handle = handle
        assert Browser().sign_in(made).status in (400, 403), handle


def test_the_passkey_of_one_user_is_none_of_another(me, ada):
    made = registered(me)
    other = new_user(password_hash=records.get(USER, ada.id).password_hash)
    registered(other)
    made.handle = text(str(other.user.id).encode())
    assert Browser().sign_in(made).status == 403


@pytest.mark.parametrize(
    "key",
    [
        {1: 2, 3: -35, -1: 2, -2: bytes(48), -3: bytes(48)},
        {1: 2, 3: -7, -1: 1, -2: bytes(32), -3: bytes(32)},
        {1: 2, 3: -7, -1: 2, -2: bytes(32), -3: bytes(32)},
        {1: 1, 3: -7, -1: 6, -2: bytes(32)},
        {1: 3, 3: -257, -1: b"\xff" * 128, -2: b"\x01\x00\x01"},
        {1: 3, 3: -257, -1: b"\xff" * 256, -2: b"\x03"},
        {1: 4, 3: 5, -1: bytes(32)},
        {3: -7},
        {1: 2, 3: -7, -1: 1, -2: 5, -3: "x"},
        [1, 2],
        "key",
    ],
)
def test_keys_of_other_kinds_are_bad_input(key, me):
    said = me.post("Passkeys", Authenticator().make(begun(me), key=key))
    assert said.status == 400, said.body
    assert "ES256" in said.message


@pytest.mark.parametrize(
    "garbage", [b"\xff", b"\xa1", b"\x00", b"\x9f" * 40, b"\x5f\xff", b"\xbb" + b"\xff" * 8, b"{}"]
)
def test_garbage_is_bad_input(garbage, me):
    asked = begun(me)
    body = Authenticator().make(asked)
    assert me.post("Passkeys", {**body, "attestation": text(garbage)}).status == 400
    assert me.post("Passkeys", {**body, "client_data": text(garbage)}).status == 400
    assert me.post("Passkeys", {**body, "client_data": "A"}).status == 400
    made = registered(me)
    browser = Browser()
    for member in ("client_data", "authenticator_data"):
        proof = made.sign(browser.ask())
        assert browser.api.post("PasskeySession", {**proof, member: text(garbage)}).status in (400, 403), member
    assert browser.api.post("PasskeySession", {**made.sign(browser.ask()), "signature": text(garbage)}).status == 403


def test_pages_of_others_begin_and_finish_nothing(me):
    made = registered(me)
    assert Api(None).post("PasskeyChallenge").status == 403
    browser = Browser()
    proof = made.sign(browser.ask())
    browser.api.headers |= {"sec-fetch-site": "cross-site"}
    assert browser.api.post("PasskeySession", proof).status == 403


def test_closed_accounts_and_users_of_providers_do_not_sign_in(me, ada):
    made = registered(me)
    administration.set_active(ada, active=False)
    assert Browser().sign_in(made).status == 403
    administration.set_active(ada, active=True)
    assert Browser().sign_in(made).status == 201


def test_challenges_are_limited_by_network_address(monkeypatch):
    monkeypatch.setattr(rate_limits, "PASSKEY_CHALLENGE", rate_limits.Limit("sign-ins by passkey", by_caller=2))
    browser = Api(None, headers=SENT)
    answers = [browser.post("PasskeyChallenge") for _ in range(3)]
    assert [each.status for each in answers] == [201, 201, 429]
    assert int(answers[2].headers["Retry-After"]) > 0
    assert Api(None, headers=SENT).post("PasskeyChallenge").status == 201


def test_a_locked_password_does_not_lock_passkeys(me, ada):
    made = registered(me)
    for _ in range(4):
        assert sign_in(ada, password="wrong horse 7").status == 400
    assert sign_in(ada).status == 400
    assert Browser().sign_in(made).status == 201


def test_a_restricted_token_touches_no_passkeys(me):
    token = me.post("AccessTokens", {"name": "script"}).json["token"]
    script = Api(me.user, token)
    assert script.get("Passkeys").status == 403
    assert script.post("PasskeyRegistration", {"password": PASSWORD}).status == 403


def test_registrations_removals_and_sign_ins_are_in_the_audit_log(me, ada):
    owner = new_user(is_staff=True)
    organization = owner.made("Organizations", {"name": "reef watch"})
    owner.made(f"Affiliations/{organization}", {"user": ada.id, "permission": "Member"})
    made = registered(me)
    assert Browser().sign_in(made).status == 201
    assert Browser().sign_in(made, host="evil.example.org").status == 403
    [shown] = me.get("Passkeys").json
    assert me.delete(f"Passkey/{shown['id']}").status == 200
    entries = owner.get(f"AuditLog/{organization}").json
    told = [(each["operation"], each["kind"], each["user"]) for each in entries]
    assert ("CreatePasskey", "account", ada.id) in told
    assert ("CreatePasskeySession", "sign-in", ada.id) in told
    assert ("CreatePasskeySession", "refusal", None) in told
    assert ("DeletePasskey", "account", ada.id) in told
    assert text(made.id) not in str(entries)
