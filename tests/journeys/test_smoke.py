"""`infra.deploy smoke` against a service that works: all its steps, and nothing is left."""

from __future__ import annotations

import uuid

import pytest
import requests

from infra import deploy
from tests.journeys.stack import Stack

pytestmark = pytest.mark.slow


def test_all_steps_of_the_smoke_test_work_and_its_project_is_gone(shared_stack: Stack, monkeypatch, capsys):
    place = shared_stack.place
    headers, url = {"Authorization": f"Token {place['token']}"}, place["url"]
    body = {"name": f"smoke {uuid.uuid4()}"}
    organization = requests.post(f"{url}/rest/Organizations", json=body, headers=headers, timeout=30).json()["id"]
    monkeypatch.setenv("LIMN_TOKEN", place["token"])
    assert deploy.main(["smoke", url, str(organization)]) == 0
    said = capsys.readouterr().out
    steps = ("health", "project", "upload", "transcode", "frame", "boxes", "delete")
    assert [line.split()[1] for line in said.splitlines()[:-1]] == list(steps)
    assert said.splitlines()[-1].startswith("all of it works")
    projects = requests.get(f"{url}/rest/Projects", headers=headers, timeout=30).json()
    assert not [each for each in projects if each["organization"] == organization]
