"""Tokens and profiles: where they come from, and where they are kept."""

from __future__ import annotations

import json
import re
import stat
import time
from types import SimpleNamespace

import pytest

from chalicelib.resources.access_tokens import devices
from infra.client import client as connect
from infra.client import failures


def test_a_token_is_read_from_standard_input_and_kept_for_its_owner_only(limn, service, api, config):
    ran = limn("login", service, "--name", "work", stdin=f"{api.token}\n")
    assert ran.status == 0, ran.err
    assert stat.S_IMODE(config.stat().st_mode) == 0o600
    assert api.token in config.read_text()
    assert api.token not in ran.out + ran.err
    listed = limn("--json", "profile", "list")
    assert listed.json == [{"name": "work", "url": service, "project": None, "default": True}]


def test_a_token_that_the_service_refuses_is_not_stored(limn, service, config):
    ran = limn("login", service, stdin="wrong\n")
    assert ran.status == failures.NOT_PERMITTED
    assert not config.exists()


def test_a_configuration_that_others_may_read_is_refused(limn, signed_in, config):
    config.chmod(0o644)
    ran = limn("jobs", "list")
    assert (ran.status, f"chmod 600 {config}" in ran.err) == (failures.NOT_PERMITTED, True)


def test_a_token_is_never_sent_unencrypted_over_a_network(limn):
    ran = limn("login", "http://limn.example.org", stdin="secret\n")
    assert (ran.status, "unencrypted" in ran.err) == (failures.USAGE, True)


def test_no_option_takes_a_token(limn, service):
    for option in ("--token", "--password"):
        assert limn("login", service, option, "x").status == failures.USAGE


def test_the_token_of_a_profile_is_not_sent_to_another_address(limn, signed_in, monkeypatch):
    monkeypatch.setenv("LIMN_URL", "http://127.0.0.1:1")
    ran = limn("jobs", "list", "-p", 1)
    assert (ran.status, "no token for this service" in ran.err) == (failures.NOT_PERMITTED, True)


def test_the_environment_alone_is_enough(limn, service, api, project, monkeypatch):
    monkeypatch.setenv("LIMN_URL", service)
    monkeypatch.setenv("LIMN_TOKEN", api.token)
    assert limn("--json", "jobs", "list", "-p", project).json == []


def test_profiles_are_chosen_changed_and_removed(limn, service, api, config):
    for name in ("one", "two"):
        assert limn("login", service, "--name", name, stdin=api.token).status == 0
    assert limn("profile", "use", "two").status == 0
    assert limn("profile", "set", "-p", 7).status == 0
    listed = limn("--json", "profile", "list").json
    assert [(each["name"], each["project"], each["default"]) for each in listed] == [
        ("one", None, False),
        ("two", 7, True),
    ]
    assert limn("profile", "remove", "one").status == 0
    assert limn("profile", "use", "one").status == failures.USAGE


def test_the_exit_status_says_what_went_wrong(limn, signed_in, monkeypatch):
    assert limn("jobs", "show", "nothing").status == failures.NOT_FOUND
    assert limn("query", "media", "-f", "attribute=NoSuch::1").status == failures.REFUSED
    ran = limn("--json", "jobs", "list", "-p", 999_999)
    assert ran.status == failures.NOT_FOUND
    assert '"http_status": 404' in ran.err
    assert limn("query", "nothing").status == failures.USAGE
    monkeypatch.setenv("LIMN_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("LIMN_TOKEN", "x")
    monkeypatch.setattr("infra.client.exchange.ATTEMPTS", 1)
    assert limn("jobs", "list", "-p", 1).status == failures.NO_CONNECTION


@pytest.fixture
def person(monkeypatch, api):
    """Answers what a device asks, in the second pause between its requests, with the decision given."""
    found = SimpleNamespace(decision=None, told="", pauses=0)
    sleep = time.sleep

    def answer(pause):
        if pause != devices.INTERVAL_SECONDS:  # of another thread
            sleep(pause)
            return
        found.pauses += 1
        if found.pauses == 2:
            [code] = re.findall(r"[A-Z]{4}-[A-Z]{4}(?=\.$)", found.told)
            body = {"user_code": code, "decision": found.decision, "level": "View Only"}
            assert api.patch("DeviceAuthorization", body).status == 200

    found.read = lambda text: setattr(found, "told", text)
    monkeypatch.setattr("time.sleep", answer)
    monkeypatch.setattr("infra.client.cli.output.Output.tell", lambda _self, text: found.read(text))
    return found


def test_a_device_is_confirmed_in_the_console(limn, service, api, project, config, person):
    person.decision = "approve"
    ran = limn("login", service, "--device")
    assert ran.status == 0, ran.err
    assert api.user.username in ran.out
    assert person.pauses == 2
    assert "/#/device?code=" in person.told
    assert '"limn_' in config.read_text()
    assert limn("--json", "query", "media", "-p", project).status == 0
    [token] = api.get("AccessTokens").json
    assert (token["name"].startswith("limn on "), token["level"]) == (True, "View Only")


def test_a_denied_device_stores_nothing(limn, service, config, person):
    person.decision = "deny"
    ran = limn("--json", "login", service, "--device")
    assert (ran.status, json.loads(ran.err)["code"]) == (failures.REFUSED, "access_denied")
    assert not config.exists()


def test_a_program_signs_in_by_device(service, api, project, person):
    person.decision = "approve"
    with connect.sign_in(service, "notebook", show=person.read, level="Can Edit", projects=[project]) as client:
        assert client.get_project(project)["id"] == project
    [token] = api.get("AccessTokens").json
    assert (token["name"], token["projects"]) == ("notebook", [project])


def test_a_code_that_nobody_confirms_ends(service, person, monkeypatch):
    monkeypatch.setattr(devices, "SECONDS", 0)
    with pytest.raises(failures.Failure, match="Nobody confirmed"):
        connect.sign_in(service, show=person.read)
