"""A stop of the local stack does not wait for those who wait for events, and prints nothing of DuckDB's."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from tests.journeys.stack import Stack

pytestmark = pytest.mark.slow
WAIT = 20


def test_followers_are_answered_when_the_stack_stops_and_nothing_is_said_of_leaks(tmp_path):
    stack = Stack(tmp_path)
    place = stack.start(LIMN_JOBS="off")
    web = requests.Session()
    web.headers["Authorization"] = f"Token {place['token']}"
    organization = web.post(f"{place['url']}/rest/Organizations", json={"name": "o"}, timeout=30).json()["id"]
    spec = {"name": "p", "organization": organization}
    project = web.post(f"{place['url']}/rest/Projects", json=spec, timeout=30).json()["id"]
    web.get(f"{place['url']}/rest/Medias/{project}", timeout=30)  # opens DuckDB

    def follow(_: int) -> requests.Response:
        asked = {"after": "now", "wait": WAIT}
        headers = dict(web.headers)
        return requests.get(f"{place['url']}/rest/Events/{project}", asked, headers=headers, timeout=60)

    with ThreadPoolExecutor(4) as threads:
        followers = [threads.submit(follow, number) for number in range(4)]
        time.sleep(2)  # until they wait
        assert stack.stop() == 0
        answers = [follower.result() for follower in followers]
    assert [answer.status_code for answer in answers] == [200] * 4
    assert all(answer.elapsed.total_seconds() < WAIT for answer in answers)
    assert "leak" not in stack.log()
    assert "nanobind" not in stack.log()
