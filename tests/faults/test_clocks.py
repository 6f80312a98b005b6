"""The local stack whose clock jumps by a day and back, while work is under way: nothing is lost, and all work ends."""

from __future__ import annotations

import time
from datetime import datetime

import pytest

from tests.faults import figures
from tests.faults.test_killed_stack import BATCH, Client
from tests.faults.test_killed_work import END_SECONDS, ENVIRONMENT, Work
from tests.journeys import test_jobs as jobs
from tests.journeys.stack import Stack

pytestmark = [pytest.mark.slow, pytest.mark.nightly]

DAY = 86_400


@pytest.fixture
def stack(tmp_path):
    running = Stack(tmp_path, "tests.faults.shifted_clock")
    yield running
    running.kill()


def write(client):
    """Create boxes that are acknowledged."""
    box = {"media_id": client.media, "type": client.type, "frame": 0}
    client.boxes += client.insist("POST", f"Localizations/{client.project}", [box] * BATCH)["id"]


def check_order(client):
    """The feed has each box once, in the order of commits, whatever the clock said when it was made."""
    found, after = [], "0"
    path = f"Events/{client.project}?kinds=localization.created&after="
    while (page := client.insist("GET", path + after))["events"]:
        found += [number for each in page["events"] for number in each["data"]["ids"]]
        after = page["next"]
    made = [number for number in found if number in set(client.boxes)]
    assert made == client.boxes


@pytest.mark.parametrize("shift", [DAY, -DAY], ids=["a day ahead", "a day back"])
def test_a_clock_that_jumps_loses_nothing_and_all_work_ends(stack, shift):
    client = Client(stack.start(CLOCK_SHIFT="0", **ENVIRONMENT))
    runner = jobs.Client(stack.place)
    runner.project, runner.user = client.project, client.insist("GET", "User/GetCurrent")["id"]
    begun = []
    for clock, jump in ((shift, shift), (0, -shift)):
        begun.append(Work(client, runner))
        write(client)
        time.sleep(1)
        stack.kill()
        client.place = stack.start(CLOCK_SHIFT=str(clock), **ENVIRONMENT)
        client.check()
        write(client)
        made = client.insist("GET", f"Localization/{client.boxes[-1]}")["created_datetime"]
        assert abs(datetime.fromisoformat(made).timestamp() - time.time() - clock) < 3600
        deadline = time.monotonic() + END_SECONDS
        for work in begun:
            while not all(state for state, _ in work.ends().values()):
                assert time.monotonic() < deadline, (clock, work.ends())
                time.sleep(0.5)
        check_order(client)
        figures.note("jumps of the clock by a day", "ahead" if jump > 0 else "back", 1)
    for work in begun:
        work.check("work around jumps of the clock")
    figures.note("annotations acknowledged around jumps of the clock", "found again", client.check())
