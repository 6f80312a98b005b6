"""Access tokens: what they reach, at which level, with which operations, from where, how long; and how they end."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.core.models.credentials import is_well_formed, key_of
from chalicelib.core.resource import now, timestamp
from chalicelib.resources.accounts import administration
from chalicelib.storage.dynamodb import credentials
from chalicelib.storage.dynamodb.transactions import Transaction
from tests.service import Api, join, new_project


def issued(api, **limits) -> Api:
    """A caller with a new access token of a user."""
    said = api.post("AccessTokens", {"name": "script", **limits})
    assert said.status == 201, said.body
    return Api(api.user, said.json["token"])


def in_days(days) -> str:
    return timestamp(datetime.now(UTC) + timedelta(days=days))


def shown(api) -> dict:
    [token] = api.get("AccessTokens").json
    return token


def test_it_is_shown_once_and_carries_a_checksum(api):
    said = api.post("AccessTokens", {"name": "script"})
    token = said.json["token"]
    assert token.startswith("limn_")
    assert is_well_formed(token)
    assert not is_well_formed(token[:-1] + ("0" if token[-1] != "0" else "1"))
    listed = api.get("AccessTokens")
    assert token not in listed.body.decode()
    assert key_of(token).partition("#")[2] not in listed.body.decode()
    assert said.json["object"]["name"] == shown(api)["name"] == "script"


def test_without_limits_it_does_what_its_user_does_but_for_the_account_and_staff(api, project, organization):
    token = issued(api)
    assert token.patch(f"Project/{project}", {"summary": "by a script"}).status == 200
    assert token.post("Projects", {"name": "of a script", "organization": organization}).status == 201
    assert token.patch(f"Organization/{organization}", {"access_token_days": 30}).status == 200
    for said in (
        token.post("Notify", {"message": "x"}),
        token.patch(f"User/{api.user.id}", {"first_name": "x"}),
        token.get("AccessTokens"),
        token.post("AccessTokens", {"name": "another"}),
        token.patch(f"AccessToken/{shown(api)['id']}", {"level": "Full Control"}),
        token.delete(f"AccessToken/{shown(api)['id']}"),
        token.get("Token"),
        token.delete("Token", id="0" * 16),
    ):
        assert said.status == 403


def test_it_reaches_the_named_projects_only(api, project, organization):
    other = new_project(api)
    token = issued(api, projects=[project])
    assert token.get(f"Project/{project}").status == 200
    assert token.get(f"Project/{other}").status == 404
    assert [each["id"] for each in token.get("Projects").json] == [project]
    assert token.get(f"Organization/{organization}").status == 404
    assert token.post("Projects", {"name": "x", "organization": organization}).status == 403
    assert api.post("AccessTokens", {"name": "x", "projects": [10**9]}).status == 400


def test_it_works_at_the_named_level_and_at_that_of_its_user(api, project, member):
    token = issued(api, level="View Only")
    assert token.get(f"Sections/{project}").status == 200
    assert token.post(f"Sections/{project}", {"name": "x"}).status == 403
    viewer = issued(member("View Only"))
    assert viewer.post(f"Sections/{project}", {"name": "x"}).status == 403


def test_it_calls_the_named_operations_only(api, project):
    reads, of_sections = issued(api, operations=["read"]), issued(api, operations=["Sections"])
    both = issued(api, operations=["read", "Sections"])
    section = {"name": "made by a script"}
    assert reads.get(f"Versions/{project}").status == 200
    assert reads.put(f"Medias/{project}", {"ids": [1]}).status == 200
    assert reads.post(f"Sections/{project}", section).status == 403
    assert reads.get(f"UploadInfo/{project}").status == 403
    assert of_sections.get(f"Versions/{project}").status == 403
    assert of_sections.post(f"Sections/{project}", section).status == 201
    assert both.get(f"Versions/{project}").status == 200
    assert both.post(f"Sections/{project}", {"name": "another"}).status == 201
    said = api.post("AccessTokens", {"name": "x", "operations": ["Sektions"]})
    assert (said.status, "Sections" in said.message) == (400, True)


def test_it_comes_from_the_named_networks_only(api, project):
    token = issued(api, networks=["192.0.2.7/24", "2001:db8::/32"])
    assert shown(api)["networks"] == ["192.0.2.0/24", "2001:db8::/32"]
    for client, status in (("192.0.2.200", 200), ("2001:db8::1", 200), ("192.0.3.1", 403), ("::1", 403), ("", 403)):
        token.client = client
        assert token.get(f"Project/{project}").status == status, client
    assert api.post("AccessTokens", {"name": "x", "networks": ["192.0.2.0/40"]}).status == 400


def test_it_ends_when_it_says(api, project):
    token = issued(api, expires_datetime=in_days(1))
    held, row = credentials.read(key_of(token.token))
    assert 0 < row.expires - time.time() <= 86400
    change = Transaction()
    credentials.put(change, held, int(time.time()))
    change.run()
    assert token.get(f"Project/{project}").status == 401


@pytest.mark.parametrize("end", [-1, 366, "2999-01-01", "tomorrow"])
def test_it_ends_within_a_year(api, end):
    end = in_days(end) if isinstance(end, int) else end
    said = api.post("AccessTokens", {"name": "x", "expires_datetime": end})
    assert (said.status, said.message.partition(":")[0]) == (400, "expires_datetime")


def test_an_organization_sets_a_shorter_life(api, organization, project):
    assert api.patch(f"Organization/{organization}", {"access_token_days": 7}).status == 200
    for more in ({}, {"projects": [project]}):
        said = api.post("AccessTokens", {"name": "x", "expires_datetime": in_days(8), **more})
        assert (said.status, "7 days" in said.message) == (400, True)
    token = issued(api)
    left = datetime.fromisoformat(shown(api)["expires_datetime"]) - datetime.now(UTC)
    assert timedelta(days=6) < left <= timedelta(days=7)
    assert token.get(f"Project/{project}").status == 200
    assert api.patch(f"Organization/{organization}", {"access_token_days": None}).status == 200
    assert api.get(f"Organization/{organization}").json["access_token_days"] is None


def test_a_change_counts_from_the_next_request_on(api, project):
    token = issued(api)
    assert token.post(f"Sections/{project}", {"name": "before"}).status == 201
    number = shown(api)["id"]
    assert api.patch(f"AccessToken/{number}", {"level": "View Only", "expires_datetime": in_days(2)}).status == 200
    assert token.post(f"Sections/{project}", {"name": "after"}).status == 403
    assert token.get(f"Sections/{project}").status == 200
    assert (shown(api)["level"], shown(api)["used_on"]) == ("View Only", now()[:10])
    assert api.patch(f"AccessToken/{number}", {}).status == 400


def test_an_ended_token_is_refused_at_once(api, project):
    token = issued(api)
    number = shown(api)["id"]
    assert token.get(f"Project/{project}").status == 200
    assert api.delete(f"AccessToken/{number}").status == 200
    assert token.get(f"Project/{project}").status == 401
    assert api.get("AccessTokens").json == []
    assert api.delete(f"AccessToken/{number}").status == 404


def test_tokens_of_others_are_not_there(api, member):
    issued(api)
    number, other = shown(api)["id"], member("Full Control")
    assert other.get("AccessTokens").json == []
    assert other.patch(f"AccessToken/{number}", {"name": "mine"}).status == 404
    assert other.delete(f"AccessToken/{number}").status == 404


def test_it_ends_with_the_account(api, project, member):
    user = member("Can Edit")
    token = issued(user)
    assert token.get(f"Project/{project}").status == 200
    administration.set_active(user.user, active=False)
    assert token.get(f"Project/{project}").status == 401


def test_a_membership_made_later_counts(api, project, stranger):
    token = issued(stranger)
    assert token.get(f"Project/{project}").status == 404
    join(stranger, project, "View Only")
    assert token.get(f"Project/{project}").status == 200
