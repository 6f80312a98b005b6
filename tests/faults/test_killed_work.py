"""The local stack killed with -9 while it transcodes, imports and runs jobs: every piece of work ends, and says how.

The slow tests kill once, the night fifty times, at moments drawn by lot. What was begun before one kill goes on, and
may die, with the next.
"""

from __future__ import annotations

import json
import random
import time
import uuid

import pytest

from tests.faults import figures
from tests.faults.test_killed_stack import BOXES, Client, start_import
from tests.journeys import test_jobs as jobs
from tests.journeys.stack import ROOT

pytestmark = pytest.mark.slow

NIGHT = 50
END_SECONDS = 900
"""In which something goes on after the last start, however busy the machine is."""
VIDEO = ROOT / "tests" / "data" / "bigbuckbunny.mp4"
ENVIRONMENT = {"LIMN_JOBS": "process", "LIMN_PIECE_SECONDS": "2"}


class Work:
    """A transcode, an import and a job of three steps, and how they end."""

    def __init__(self, client, runner):
        self.client = client
        self.imported = start_import(client, f"imported {time.monotonic_ns()}")
        self.gid, [self.job] = runner.launch(jobs.chain("echo one", "sleep 2", "echo three"), 1)
        self.transcode = self._start_transcode()

    def _start_transcode(self):
        client = self.client
        upload = client.insist("GET", f"UploadInfo/{client.project}?filename=v.mp4")
        client.put(upload["urls"][0], VIDEO.read_bytes())
        types = client.insist("GET", f"MediaTypes/{client.project}")
        kind = next(each["id"] for each in types if each["dtype"] == "video")
        [stored] = client.insist("POST", f"DownloadInfo/{client.project}", {"keys": [upload["key"]]})
        spec = {"type": kind, "url": stored["url"], "name": "v.mp4", "section": "s", "md5": ""}
        spec |= {"gid": str(uuid.uuid4()), "uid": str(uuid.uuid4()), "size": VIDEO.stat().st_size}
        return client.insist("POST", f"Transcodes/{client.project}", spec)["id"]

    def ends(self):
        """The status and the reason of each piece of work; a status of None while it goes on."""
        transcode = self.client.insist("GET", f"Transcode/{self.transcode}")["job"]
        imported = self.client.insist("GET", f"Import/{self.imported}")
        job = self.client.insist("GET", f"Job/{self.job}")
        found = {
            "transcode": (transcode["status"], transcode.get("message")),
            "import": (imported["status"], imported["message"]),
            "job": (job["status"], job["message"]),
        }
        going = ("pending", "running")
        return {kind: (None if state.lower() in going else state, why) for kind, (state, why) in found.items()}

    def progress(self):
        """What has been done of all transcodes and imports of the project."""
        lists = (self.client.insist("GET", f"{kind}/{self.client.project}") for kind in ("Transcodes", "Imports"))
        return [json.dumps(each) for each in lists]

    def check(self, told="work under kills of the whole local stack"):
        """What succeeded is whole; what failed says why. `told` is the figure in which it counts."""
        for kind, (state, why) in self.ends().items():
            is_done = state.lower() == "succeeded"
            assert is_done or (state.lower() in ("failed", "error") and why), (kind, state, why)
            figures.note(told, f"{kind}: {'done' if is_done else 'failed'}", 1)
            if is_done and kind == "import":
                project = self.client.insist("GET", f"Import/{self.imported}")["project"]
                assert self.client.insist("GET", f"LocalizationCount/{project}") == BOXES
            if is_done and kind == "transcode":
                number = self.client.insist("GET", f"Transcode/{self.transcode}")["spec"]["media_id"]
                assert self.client.insist("GET", f"Media/{number}")["num_frames"] == 132


@pytest.mark.parametrize("kills", [1, pytest.param(NIGHT, marks=pytest.mark.nightly)])
def test_work_ends_however_often_the_stack_is_killed(stack, kills):
    dice, begun = random.Random(kills), []
    client = Client(stack.start(**ENVIRONMENT))
    runner = jobs.Client(stack.place)
    runner.project, runner.user = client.project, client.insist("GET", "User/GetCurrent")["id"]
    for _ in range(kills):
        begun.append(Work(client, runner))
        time.sleep(dice.uniform(0.1, 8.0))
        stack.kill()
        client.place = stack.start(**ENVIRONMENT)
        figures.note("kills of the whole local stack", "at work", 1)
    deadline, seen = 0.0, None
    for work in begun:
        while not all(state for state, _ in work.ends().values()):
            if (now := work.progress()) != seen:
                deadline, seen = time.monotonic() + END_SECONDS, now
            assert time.monotonic() < deadline, work.ends()
            time.sleep(0.5)
        work.check()
