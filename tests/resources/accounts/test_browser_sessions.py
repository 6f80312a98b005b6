"""Sign-ins of browsers: one cookie for all tabs, of no use to pages of other origins, ended by signing out."""

from __future__ import annotations

import pytest

from chalicelib.settings import override
from tests.resources.accounts.mails import PASSWORD
from tests.service import Api

OWN = {"limn-session": "1", "sec-fetch-site": "same-origin"}


def sign_in(user, **more):
    return Api(None, headers={**OWN, **more}).post("Session", {"username": user.username, "password": PASSWORD})


def cookie_of(said):
    return said.headers["Set-Cookie"].partition(";")[0]


@pytest.fixture
def signed_in(ada):
    said = sign_in(ada)
    assert said.status == 201, said.body
    return Api(ada, headers={**OWN, "cookie": cookie_of(said)})


def test_the_cookie_is_closed_to_scripts_and_to_other_sites(signed_in):
    sent = sign_in(signed_in.user).headers["Set-Cookie"]
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(sent.split("; "))
    with override(public_url="https://a1.execute-api.eu-west-1.amazonaws.com/api"):
        sent = sign_in(signed_in.user).headers["Set-Cookie"]
    assert sent.startswith("__Secure-limn=")
    assert {"HttpOnly", "SameSite=Strict", "Secure", "Path=/api"} <= set(sent.split("; "))
    with override(public_url="https://limn.example.org"):
        assert cookie_of(sign_in(signed_in.user)).startswith("__Host-limn=")
    with override(public_url="http://limn.example.org"):
        said = sign_in(signed_in.user)
    assert (said.status, "Set-Cookie" in said.headers) == (400, False)


@pytest.mark.parametrize(
    "foreign",
    [
        {"limn-session": None},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
    ],
    ids=str,
)
def test_requests_of_other_origins_are_not_signed_in_by_the_cookie(signed_in, foreign):
    assert signed_in.get("User/GetCurrent").json["id"] == signed_in.user.id
    headers = {name: value for name, value in {**signed_in.headers, **foreign}.items() if value}
    other = Api(None, headers=headers)
    assert other.get("User/GetCurrent").status == 401
    assert other.post("Organizations", {"name": "forged"}).status == 401
    assert other.delete("Session").status == 403
    assert other.post("Session", {"username": signed_in.user.username, "password": PASSWORD}).status == 403
    assert signed_in.get("User/GetCurrent").status == 200


def test_signing_out_ends_the_credential_for_all_tabs(signed_in):
    other = Api(signed_in.user, headers=dict(signed_in.headers))
    elsewhere = sign_in(signed_in.user)
    said = signed_in.delete("Session")
    assert said.status == 200
    assert "Max-Age=0" in said.headers["Set-Cookie"]
    assert other.get("User/GetCurrent").status == 401
    token = signed_in.headers["cookie"].partition("=")[2]
    assert Api(None, token=token).get("User/GetCurrent").status == 401
    assert Api(None, headers={**OWN, "cookie": cookie_of(elsewhere)}).get("User/GetCurrent").status == 200
    # a cookie whose sign-in has ended hinders neither another sign-in nor what needs none
    again = sign_in(signed_in.user, cookie=signed_in.headers["cookie"])
    assert again.status == 201


def test_a_token_signs_a_browser_in_and_outlives_it(me):
    user, token = me.user, me.token
    said = Api(None, token=token, headers=dict(OWN)).post("Session")
    assert said.status == 201
    browser = Api(user, headers={**OWN, "cookie": cookie_of(said)})
    assert browser.get("User/GetCurrent").status == 200
    assert browser.delete("Session").status == 200
    assert Api(None, token=token).get("User/GetCurrent").status == 200


def test_a_wrong_password_and_no_credential_set_no_cookie(ada):
    wrong = Api(None, headers=dict(OWN)).post("Session", {"username": ada.username, "password": "guess"})
    assert (wrong.status, "Set-Cookie" in wrong.headers) == (400, False)
    assert Api(None, headers=dict(OWN)).post("Session").status == 400


def test_no_answer_lets_pages_of_other_origins_read_with_the_cookie(signed_in):
    headers = signed_in.get("User/GetCurrent").headers
    assert headers["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Credentials" not in headers
    allowed = Api(None).ask("OPTIONS", "Session").headers["Access-Control-Allow-Headers"]
    assert "limn-session" not in allowed.lower()
