"""Sign-ins by device (RFC 8628): a program asks, a person confirms, the program gets an access token."""

from __future__ import annotations

import pytest

from chalicelib.access import rate_limits
from chalicelib.core.models.credentials import hash_of
from chalicelib.resources.access_tokens import devices
from chalicelib.resources.accounts import administration
from chalicelib.storage.dynamodb.tables import RecordRow
from tests.races import meanwhile
from tests.service import Api, new_project, new_user

ASKED = {"name": "limn on lab-3", "level": "Can Edit", "operations": ["read", "Media"]}


@pytest.fixture
def device():
    return Api(None)


def begun(device, **asked) -> dict:
    said = device.post("DeviceAuthorizations", {**ASKED, **asked})
    assert said.status == 201, said.body
    return said.json


def ask(device, codes):
    said = device.post("DeviceToken", {"device_code": codes["device_code"]})
    return said.json.get("error", said.status), said


def decide(api, codes, decision="approve", **limits):
    return api.patch("DeviceAuthorization", {"user_code": codes["user_code"], "decision": decision, **limits})


def test_a_device_gets_what_a_person_confirmed(api, project, device):
    codes = begun(device, projects=[project])
    assert ask(device, codes)[0] == "authorization_pending"
    shown = api.get("DeviceAuthorization", user_code=codes["user_code"].lower().replace("-", " "))
    assert {**ASKED, "projects": [project], "network_address": device.client}.items() <= shown.json.items()
    assert codes["device_code"] not in shown.body.decode()
    assert decide(api, codes).status == 200
    status, said = ask(device, codes)
    assert (status, said.json["token_type"]) == (201, "Token")
    assert 89 * 86400 < said.json["expires_in"] <= 90 * 86400
    program = Api(api.user, said.json["access_token"])
    assert program.get(f"Project/{project}").status == 200
    assert program.post(f"Sections/{project}", {"name": "x"}).status == 403, "its operations"
    assert program.get(f"Project/{new_project(api)}").status == 404, "its projects"
    [token] = api.get("AccessTokens").json
    assert {**ASKED, "projects": [project], "id": said.json["id"]}.items() <= token.items()
    assert ask(device, codes)[0] == "expired_token", "once"


def test_the_person_narrows_what_is_given(api, project, device):
    codes = begun(device, level="Full Control", operations=["all"])
    assert (
        decide(api, codes, level="View Only", operations=["read"], projects=[project], name="my laptop").status == 200
    )
    program = Api(api.user, ask(device, codes)[1].json["access_token"])
    assert program.get(f"Sections/{project}").status == 200
    assert program.post(f"Sections/{project}", {"name": "x"}).status == 403
    [token] = api.get("AccessTokens").json
    assert (token["name"], token["level"]) == ("my laptop", "View Only")


def test_a_denied_device_gets_nothing_and_an_answer_counts_once(api, device):
    codes = begun(device)
    assert decide(api, codes, "deny").status == 200
    assert decide(api, codes).status == 409
    assert decide(new_user(), codes).status == 409
    assert ask(device, codes)[0] == "access_denied"
    assert api.get("AccessTokens").json == []


def test_two_requests_at_once_make_one_token(api, device):
    codes = begun(device)
    decide(api, codes)
    with meanwhile(lambda: ask(device, codes)[0]) as other:
        assert ask(device, codes)[0] == "expired_token"
    assert other.answer == 201
    assert len(api.get("AccessTokens").json) == 1


def test_a_device_that_asks_too_often_is_told_so(api, device):
    codes = begun(device)
    assert [ask(device, codes)[0] for _ in range(3)] == ["authorization_pending", "slow_down", "slow_down"]
    decide(api, codes)
    assert ask(device, codes)[0] == 201


def test_codes_end_after_ten_minutes(api, device, monkeypatch):
    monkeypatch.setattr(devices, "SECONDS", 0)
    codes = begun(device)
    assert ask(device, codes)[0] == "expired_token"
    assert api.get("DeviceAuthorization", user_code=codes["user_code"]).status == 404
    assert decide(api, codes).status == 404


def test_only_hashes_of_codes_are_stored(api, device):
    codes = begun(device)
    decide(api, codes)
    letters = codes["user_code"].replace("-", "")
    row = RecordRow.find(f"device#{hash_of(letters)}", "@")
    for text in (codes["device_code"], codes["user_code"], letters):
        assert text not in str(row.attribute_values)
    token = ask(device, codes)[1].json["access_token"]
    assert token not in str(row.attribute_values)
    assert RecordRow.find(*row.key()) is None


def test_an_account_that_was_closed_meanwhile_gives_nothing(api, device):
    person = new_user()
    codes = begun(device)
    decide(person, codes)
    administration.set_active(person.user, active=False)
    assert ask(device, codes)[0] == "access_denied"


def test_only_a_sign_in_confirms(api, device):
    codes = begun(device)
    script = Api(api.user, api.post("AccessTokens", {"name": "script"}).json["token"])
    for who, status in ((script, 403), (Api(None), 401)):
        assert who.get("DeviceAuthorization", user_code=codes["user_code"]).status == status
        assert decide(who, codes).status == status


def test_limits_that_the_person_may_not_give_are_refused_and_the_device_still_waits(api, device):
    codes = begun(device, projects=[10**9], operations=["Sektions"])
    assert decide(api, codes).status == 400
    assert decide(api, codes, projects=None, operations=["read"]).status == 200
    assert ask(device, codes)[0] == 201


def test_codes_are_not_guessed_and_devices_do_not_flood(device, monkeypatch):
    person = new_user()
    monkeypatch.setattr(rate_limits, "TOKEN_TRIAL", rate_limits.Limit("few trials", by_caller=2))
    monkeypatch.setattr(rate_limits, "DEVICE_SIGN_IN", rate_limits.Limit("few devices", by_caller=2))
    flooding = Api(None)
    codes = begun(flooding)
    begun(flooding)
    assert flooding.post("DeviceAuthorizations", ASKED).status == 429
    for _ in range(3):  # right ones do not count
        assert person.get("DeviceAuthorization", user_code=codes["user_code"]).status == 200
    tried = [person.get("DeviceAuthorization", user_code="BBBB-BBBB").status for _ in range(3)]
    assert tried == [404, 404, 429]
    assert person.get("DeviceAuthorization", user_code=codes["user_code"]).status == 429


def test_the_audit_log_has_the_approval_and_the_sign_in(api, organization, device):
    codes = begun(device)
    decide(api, codes)
    made = ask(device, codes)[1].json["id"]
    entries = api.get(f"AuditLog/{organization}").json
    found = {each["operation"]: each for each in entries if each["target"] == f"access token {made}"}
    approved, taken = found["UpdateDeviceAuthorization"], found["CreateDeviceToken"]
    assert (approved["kind"], taken["kind"]) == ("token", "sign-in")
    assert approved["user"] == taken["user"] == api.user.id
    assert taken["network_address"] == device.client
    assert codes["user_code"] not in str(entries)
