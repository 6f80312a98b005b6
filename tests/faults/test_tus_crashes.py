"""A resumable upload, killed at each of its AWS calls: the client asks how far it is and goes on from there."""

from __future__ import annotations

import sys
import zlib

import pytest

from chalicelib.resources.uploads import tus
from chalicelib.settings import settings
from tests import objects
from tests.contract import world as worlds
from tests.faults import figures
from tests.faults.crashes import MODES, Killed, KilledReading, crasher
from tests.faults.rewind import restart, rewinding
from tests.resources.uploads.tus_client import BYTES, VERSION, asked, pairs, upload_of

# moto leaves the spooled files of uploads to the garbage collector
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
MIB = 1024 * 1024
CHUNK = 4 * MIB
CONTENT = bytes(range(256)) * (9 * MIB // 256)
"""Two chunks that become a part, and one that is the rest."""
SHARE = 18
MOST_REQUESTS = 12
DONE, GONE, AGAIN = 300, (404, 410), (409, 503)


class Client:
    """Uploads a file as tus clients do: after whatever went wrong it asks for the offset."""

    def __init__(self, rig):
        self.rig = rig
        self.path = ""
        self.acknowledged = 0
        self.key = ""

    def upload(self):
        """Until all is there, then give it up again; what is wrong on the way is told."""
        project = self.rig.things["project"]
        begin = {**BYTES, "Upload-Length": len(CONTENT), "Upload-Metadata": pairs(project=project, filename="a.mp4")}
        while not self.path:
            said = self.rig.ask("POST", "/files/", **begin)
            if said is not None:
                self.path = said.headers["Location"].removeprefix(settings().public_url)
        for _ in range(MOST_REQUESTS):
            said = self.rig.ask("HEAD", self.path, **VERSION)
            if said is None:
                continue
            offset = int(said.headers["Upload-Offset"])
            if offset < self.acknowledged:
                yield f"{self.acknowledged} bytes were acknowledged, and {offset} are there"
            if offset == len(CONTENT):
                break
            body = CONTENT[offset : offset + CHUNK]
            said = self.rig.ask("PATCH", self.path, body, **BYTES, **{"Upload-Offset": offset})
            if said is not None:
                self.acknowledged = int(said.headers["Upload-Offset"])
        else:
            yield "the upload never came to its end"
            return
        with self.rig.hook.resting():
            upload = upload_of(self.path)
            if not upload.is_finished or objects.read(upload.key) != CONTENT:
                yield "the object is not what was sent"
            self.key = upload.key

    def remove(self):
        """Give the upload up again."""
        for _ in range(MOST_REQUESTS):
            if self.rig.ask("DELETE", self.path, **VERSION) is not None:
                return


class Rig:
    def __init__(self, undo, hook):
        self.undo, self.hook = undo, hook
        world = worlds.build()
        self.owner, self.things = world.owner, world.things
        undo.mark()

    def ask(self, method, path, body=None, **headers):
        """The answer, None where the process died or asked to try again."""
        try:
            said = asked(self.owner, method, path, body, **headers)
        except (Killed, KilledReading):
            said = None
        if self.hook.dead:
            self.hook.revive()
            restart()
            return None
        if said.status in AGAIN:
            return None
        assert said.status < DONE or (method == "DELETE" and said.status in GONE), (method, said.status, said.body)
        return said

    def point(self, number=0, mode=""):
        """One upload with one crash; what was wrong, None where that call was not made."""
        self.undo.back()
        self.hook.arm(number, mode)
        client = Client(self)
        wrong = list(client.upload())
        if not wrong:
            wrong += [f"nobody names {key}" for key in self._kept() - {client.key}]
            client.remove()
            wrong += [f"{key} stays though it was given up" for key in self._kept()]
        return wrong if self.hook.fired or not number else None

    def _kept(self):
        """The objects that are there, but for chunks and multiparts, which rules of the bucket end."""
        return {key for _, key in self.undo.new_objects() if "/chunks/" not in key and not key.startswith("upload of ")}


@pytest.fixture(scope="module")
def rig():
    with rewinding() as undo, crasher() as hook:
        undo.mark()
        yield Rig(undo, hook)
        undo.back()


def sweep(rig, chosen=lambda number, mode: True):
    assert rig.point() == []
    calls = list(rig.hook.calls)
    assert sum(call == "s3.UploadPart" for call in calls) >= 2
    points, wrong = 0, []
    for mode in MODES:
        for number in range(1, len(calls) + 1):
            if chosen(number, mode) and (told := rig.point(number, mode)) is not None:
                points += 1
                wrong += [f"{mode} call {number}, {calls[number - 1]}: {each}" for each in told]
    return points, len(calls), wrong


@pytest.mark.slow
def test_a_sample_of_all_crash_points_loses_nothing_of_an_upload(rig):
    points, _, wrong = sweep(rig, lambda number, mode: zlib.crc32(f"tus {mode} {number}".encode()) % SHARE == 0)
    assert not wrong, "\n".join(wrong)
    assert points > 1


@pytest.mark.nightly
def test_every_crash_point_loses_nothing_of_an_upload(rig):
    points, calls, wrong = sweep(rig)
    figures.note("crash points of resumable uploads", "tus", points)
    sys.stdout.write(f"{points} of {calls * len(MODES)} crash points of an upload\n")
    assert not wrong, "\n".join(wrong)
    assert points >= calls * len(MODES) * 0.9


@pytest.mark.slow
def test_the_sweep_notices_bytes_that_were_acknowledged_too_early(rig, monkeypatch):
    real = tus.objects.write
    monkeypatch.setattr(tus.objects, "write", lambda key, body, *more: real(key, body[:-1], *more))
    assert any("not what was sent" in wrong for wrong in rig.point())
