"""The local stack folds its logs on its own schedule, and starts again from what came of it."""

from __future__ import annotations

import json
import time

import pytest
import requests

from tests.journeys.stack import Stack

pytestmark = pytest.mark.slow

CHANGES = 60
PATIENCE = 60.0


def test_the_timer_compacts_a_project_that_grew_and_a_restart_begins_there(tmp_path):
    stack = Stack(tmp_path)
    place = stack.start(COMPACT_EVERY="0.2", LIMN_COMPACT_COMMITS="20")
    try:
        ask = requests.Session()
        ask.headers["Authorization"] = f"Token {place['token']}"

        def made(path, body):
            said = ask.post(f"{place['url']}/rest/{path}", json=body, timeout=30)
            assert said.status_code == 201, said.text
            return said.json()["id"]

        organization = made("Organizations", {"name": "reef"})
        project = made("Projects", {"name": "reef", "organization": organization})
        kind = made(f"MediaTypes/{project}", {"name": "image", "dtype": "image"})
        box = made(f"LocalizationTypes/{project}", {"name": "box", "dtype": "box", "media_types": [kind]})
        media = made(f"Medias/{project}", {"type": kind, "name": "a.jpg", "md5": ""})
        for frame in range(CHANGES):
            made(f"Localizations/{project}", {"type": box, "media_id": media, "frame": frame})
        assert is_compacted(stack, project)
        listed = f"{place['url']}/rest/Localizations/{project}"
        before = ask.get(listed, timeout=30).json()
        assert [each["frame"] for each in before] == list(range(CHANGES))
        assert stack.stop() == 0
        stack.start(COMPACT_EVERY="3600")
        assert ask.get(listed, timeout=30).json() == before
    finally:
        stack.kill()


def is_compacted(stack: Stack, project: int) -> bool:
    """Whether the schedule writes a snapshot of a project before patience is over."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        told = [json.loads(line) for line in stack.log().splitlines() if '"message":"compacted"' in line]
        if any(project in each["projects"] for each in told):
            return True
        time.sleep(0.1)
    return False
