"""Mails, registrations and trials of tokens are limited for each caller and address."""

from __future__ import annotations

import dataclasses
import uuid
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

from chalicelib.access import rate_limits
from chalicelib.access.authentication import Caller
from chalicelib.errors import TooMany
from chalicelib.settings import override
from tests.resources.accounts.mails import mails_to, spec
from tests.service import Api, affiliate, new_user


def lower(monkeypatch, what, **limits):
    """Make a limit small enough for a test."""
    changed = dataclasses.replace(getattr(rate_limits, what), **limits)
    monkeypatch.setattr(rate_limits, what, changed)


def any_address():
    return f"{uuid.uuid4().hex[:10]}@example.org"


def test_resets_are_limited_for_an_address_and_for_a_caller(api, ada, monkeypatch):
    said = [Api(None).post("PasswordReset", {"email": ada.email}).status for _ in range(8)]
    assert said == [201] * 5 + [429] * 3
    api.drain()
    assert len(mails_to(ada.email)) == 5
    lower(monkeypatch, "PASSWORD_RESET", by_caller=3)
    one = Api(None)
    said = [one.post("PasswordReset", {"email": any_address()}) for _ in range(4)]
    assert [answer.status for answer in said] == [400] * 3 + [429]
    assert 0 < int(said[-1].headers["Retry-After"]) <= rate_limits.HOUR


def test_a_limit_says_nothing_about_whether_an_account_exists(ada):
    def answers(address):
        said = [Api(None).post("PasswordReset", {"email": address}) for _ in range(7)]
        return [answer.body for answer in said if answer.status == 429]

    known, unknown = answers(ada.email), answers(any_address())
    assert len(known) == len(unknown) == 2
    assert set(known) == set(unknown)


def test_requests_in_parallel_do_not_outrun_a_limit(ada):
    with ThreadPoolExecutor(12) as pool:
        said = list(pool.map(lambda _: Api(None).post("PasswordReset", {"email": ada.email}).status, range(12)))
    assert (said.count(201), said.count(429)) == (5, 7)


def test_trials_of_tokens_are_limited_and_right_ones_are_not_counted(api, nobody, organization, monkeypatch):
    lower(monkeypatch, "TOKEN_TRIAL", by_caller=3)
    for _ in range(4):
        address = any_address()
        made = api.post(f"Invitations/{organization}", {"email": address, "permission": "Member"})
        token = made.message.rpartition("=")[2]
        assert nobody.post("Users", spec(address, registration_token=token)).status == 201
    said = [nobody.post("Users", spec(any_address(), registration_token=uuid.uuid4().hex)).status for _ in range(4)]
    assert said == [400] * 3 + [429]
    reset = {"password": "battery staple 8", "reset_token": uuid.uuid4().hex}
    assert nobody.patch(f"User/{api.user.id}", reset).status == 429
    assert nobody.get("/email-confirmation/x").status == 429
    assert Api(None).patch(f"User/{api.user.id}", reset).status == 400, "others are not held up"


def test_invitations_are_limited_for_a_caller_and_an_address(api, organization, monkeypatch):
    lower(monkeypatch, "INVITATION", by_caller=4, by_address=2)
    path, address = f"Invitations/{organization}", any_address()
    for _ in range(2):
        assert api.delete(f"Invitation/{api.made(path, {'email': address, 'permission': 'Member'})}").status == 200
    assert api.post(path, {"email": address.upper(), "permission": "Member"}).status == 429
    assert api.post(path, {"email": any_address(), "permission": "Member"}).status == 201
    assert api.post(path, {"email": any_address(), "permission": "Member"}).status == 429


def test_mails_to_members_are_limited(api, project, monkeypatch):
    lower(monkeypatch, "PROJECT_MAIL", by_address=2)
    body = {"recipients": [api.user.email], "subject": "s", "text": "t"}
    assert [api.post(f"Email/{project}", body).status for _ in range(3)] == [201, 201, 429]


def test_notices_to_the_operator_are_limited(api, monkeypatch):
    lower(monkeypatch, "NOTIFICATION", by_caller=2)
    with override(notify_address="operator@example.org"):
        assert [api.post("Notify", {"message": "x"}).status for _ in range(3)] == [200, 200, 429]


def test_changes_of_an_address_are_limited(me, ada, monkeypatch):
    lower(monkeypatch, "ADDRESS_CHANGE", by_caller=2)
    said = [me.patch(f"User/{ada.id}", {"email": any_address()}).status for _ in range(3)]
    assert said == [200, 200, 429]


@pytest.mark.parametrize("path", ["User/Exists", "Users"])
def test_lookups_of_strangers_are_limited(api, nobody, me, ada, stranger, monkeypatch, path):
    for there in ({"username": stranger.user.username}, {"email": any_address()}):
        lower(monkeypatch, "LOOKUP", by_caller=2, name=f"lookup by {path} and {min(there)}")
        if path == "User/Exists":
            assert [nobody.get(path, **there).status for _ in range(3)] == [200, 200, 429]
        assert [me.get(path, username=ada.username).status for _ in range(4)] == [200] * 4
        assert [me.get(path, **there).status for _ in range(3)] == [200, 200, 429]
        assert [api.get(path, **there).status for _ in range(4)] == [200] * 4


@pytest.mark.parametrize("place", ["Affiliations", "Memberships", "SCIM"])
def test_strangers_are_added_no_more_often_than_they_are_looked_up(monkeypatch, place):
    owner = new_user()
    organization = owner.made("Organizations", {"name": f"limit of {place}"})
    project = owner.made("Projects", {"name": "limit", "organization": organization})
    token = owner.post("AccessTokens", {"name": "SCIM", "operations": ["scim"]}).json["token"]
    scim = Api(owner.user, token, {"Content-Type": "application/scim+json"})
    known = new_user()
    affiliate(known, organization)

    def add(user):
        if place == "SCIM":
            return scim.post(f"/scim/v2/{organization}/Users", {"userName": user.email}).status
        path = f"{place}/{organization if place == 'Affiliations' else project}"
        level = "Member" if place == "Affiliations" else "View Only"
        return owner.post(path, {"user": user.id, "permission": level}).status

    refused = 409 if place == "SCIM" else 201
    lower(monkeypatch, "LOOKUP", by_caller=2, name=f"lookup by {place}")
    assert add(known.user) == 201
    assert [add(new_user().user) for _ in range(3)] == [refused, refused, 429]
    missing = msgspec.structs.replace(known.user, id=10**9, email=any_address())
    assert add(missing) == 429


def test_registrations_are_limited_and_staff_is_not(api, nobody, monkeypatch, configured):
    configured(anonymous_registration=True)
    lower(monkeypatch, "REGISTRATION", by_caller=1)
    assert [nobody.post("Users", spec(any_address())).status for _ in range(2)] == [201, 429]
    assert [api.post("Users", spec(any_address())).status for _ in range(2)] == [201, 201]


def test_a_limit_ends_with_its_hour(move_clock):
    limit = rate_limits.Limit(f"test {uuid.uuid4()}", by_caller=1)
    caller = Caller.anonymous("192.0.2.1")
    rate_limits.check(limit, caller)
    with pytest.raises(TooMany):
        rate_limits.check(limit, caller)
    move_clock(rate_limits.HOUR + 1)
    rate_limits.check(limit, caller)


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
    ],
)
def test_a_network_of_ipv6_counts_as_one_caller(one, other, is_same):
    names = {rate_limits.name_of(Caller.anonymous(address)) for address in (one, other)}
    assert (len(names) == 1) == is_same
