"""The local stack killed with -9, or on a full disk: what it acknowledged is there when it is started again.

`make test` kills once, the night fifty times; every kill follows ingest, bulk edits and uploads over HTTP at a moment
drawn by lot. On a full disk (a small tmpfs, where the machine lets one be mounted) writes are refused with 503, health
is red, and nothing that was acknowledged is lost, whether the stack is stopped in order or killed.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import random
import subprocess
import threading
import time
import urllib.error
import urllib.request
import zipfile

import pytest
from PIL import Image

from tests.faults import figures
from tests.journeys.stack import Stack

pytestmark = pytest.mark.slow

BATCH = 110
NIGHT = 50
BOXES = 3000
"""Of an import."""


class Client:
    """Writes until the stack dies, and remembers what it was told."""

    def __init__(self, place):
        self.place = place
        self.boxes, self.edited, self.objects = [], {}, {}
        organization = self.ask("POST", "Organizations", {"name": "killed"})[1]["id"]
        self.project = self.ask("POST", "Projects", {"name": "killed", "organization": organization})[1]["id"]
        kind = self.ask("POST", f"MediaTypes/{self.project}", {"name": "v", "dtype": "video"})[1]["id"]
        spec = {"name": "b", "dtype": "box", "media_types": [kind]}
        spec["attribute_types"] = [{"name": "n", "dtype": "int", "default": 0}]
        self.type = self.ask("POST", f"LocalizationTypes/{self.project}", spec)[1]["id"]
        media = {"type": kind, "name": "m", "md5": "", "section": "s"}
        self.media = self.ask("POST", f"Medias/{self.project}", media)[1]["id"]

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Token {self.place['token']}", "Content-Type": "application/json"}
        asked = urllib.request.Request(f"{self.place['url']}/rest/{path}", data, headers, method=method)
        try:
            with urllib.request.urlopen(asked, timeout=60) as answer:
                body = answer.read()
                # a large answer is an object that is stored zipped
                is_zipped = answer.headers.get("Content-Encoding") == "gzip"
                return answer.status, json.loads(gzip.decompress(body) if is_zipped else body)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.loads(error.read())

    def insist(self, method, path, body=None):
        """Ask again after a 429 or 503, as a client does: a busy machine may not answer in the time of a request."""
        for _ in range(20):
            status, said = self.ask(method, path, body)
            if status not in (429, 503):
                break
            time.sleep(1)
        assert status < 300, (status, said)
        return said

    def put(self, url, content):
        """Upload a content to a presigned URL."""
        with urllib.request.urlopen(urllib.request.Request(url, content, method="PUT"), timeout=60):
            pass

    def work(self, statuses):
        """Create, edit in bulk and upload, one after the other, until a connection breaks or a write is refused."""
        number = len(self.edited)
        try:
            while True:
                number += 1
                box = {"media_id": self.media, "type": self.type, "frame": 0}
                status, made = self.ask("POST", f"Localizations/{self.project}", [box] * BATCH)
                statuses.append(status)
                if status != 201:
                    return
                self.boxes += made["id"]
                edit = {"attributes": {"n": number}, "ids": made["id"]}
                status, _ = self.ask("PATCH", f"Localizations/{self.project}", edit)
                statuses.append(status)
                if status == 200:
                    self.edited[number] = made["id"]
                content = os.urandom(300_000)
                status, upload = self.ask("GET", f"UploadInfo/{self.project}")
                self.put(upload["urls"][0], content)
                self.objects[upload["key"]] = content
        except (OSError, ValueError, KeyError, urllib.error.URLError):
            return

    def check(self):
        """Everything that was acknowledged is there, whole."""
        found = self.insist("GET", f"Localizations/{self.project}?type={self.type}")
        values = {each["id"]: each["attributes"]["n"] for each in found}
        assert set(self.boxes) <= set(values)
        for number, ids in self.edited.items():
            assert {values[each] for each in ids} == {number}
        box = {"media_id": self.media, "type": self.type, "frame": 0}
        made = self.insist("POST", f"Localizations/{self.project}", [box])["id"]
        assert made[0] not in values
        self.boxes += made
        return len(values)


def contents(stack):
    return [path.read_bytes() for path in (stack.home / ".limn" / "data" / "objects").iterdir()]


@pytest.mark.parametrize("kills", [1, pytest.param(NIGHT, marks=pytest.mark.nightly)])
def test_a_killed_stack_has_all_that_it_acknowledged(stack, kills):
    dice = random.Random(kills)
    client, counted = Client(stack.start(LIMN_JOBS="off")), 0
    for _ in range(kills):
        statuses = []
        worker = threading.Thread(target=client.work, args=(statuses,))
        worker.start()
        time.sleep(dice.uniform(0.1, 2.0))
        stack.kill()
        worker.join()
        client.place = stack.start(LIMN_JOBS="off")
        client.check()
        assert set(statuses) <= {200, 201, 202}
        figures.note("kills of the whole local stack", "survived", 1)
        figures.note("annotations acknowledged before kills", "found again", len(client.boxes) - counted)
        counted = len(client.boxes)
    kept = contents(stack)
    assert all(content in kept for content in client.objects.values())


@pytest.fixture
def small_disk(tmp_path):
    """60 MB for the stack's folder."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=60m", "tmpfs", str(place)], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("no tmpfs can be mounted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def fill(disk, client):
    """Leave no room on the disk, and write until that is refused; the file to remove."""
    ballast, statuses = disk / "ballast", []
    with ballast.open("wb", 0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 65536)
    for _ in range(50):
        client.work(statuses)
        if statuses[-1] == 503:
            return ballast
    raise AssertionError(f"a full disk was never noticed: {statuses[-50:]}")


@pytest.mark.nightly
@pytest.mark.parametrize("way", ["stopped", "killed"])
def test_a_full_disk_loses_nothing(small_disk, way):
    stack = Stack(small_disk)
    try:
        client = Client(stack.start(LIMN_JOBS="off"))
        ballast = fill(small_disk, client)
        status, said = client.ask("GET", "HealthCheck")
        assert status == 503, said
        assert any(word in said["message"] for word in ("full", "space", "free"))
        if way == "stopped":
            stack.stop()
        else:
            stack.kill()
        ballast.unlink()
        client.place = stack.start(LIMN_JOBS="off")
        assert client.ask("GET", "HealthCheck")[0] == 200
        client.check()
        kept = contents(stack)
        assert all(content in kept for content in client.objects.values())
        figures.note("disks filled", way, 1)
    finally:
        stack.kill()


@pytest.mark.nightly
def test_a_disk_that_has_room_again_is_written_again(small_disk):
    stack = Stack(small_disk)
    try:
        client = Client(stack.start(LIMN_JOBS="off"))
        ballast = fill(small_disk, client)
        assert client.ask("GET", "HealthCheck")[0] == 503
        ballast.unlink()
        assert client.ask("GET", "HealthCheck")[0] == 200
        client.check()
        figures.note("disks filled", "freed", 1)
    finally:
        stack.kill()


def start_import(client, name="imported"):
    """Upload an archive of boxes on an image and import it into a project of this name; the uid of the import."""
    picture, archive = io.BytesIO(), io.BytesIO()
    Image.new("RGB", (64, 48)).save(picture, "PNG")
    boxes = [{"id": n, "image_id": 1, "category_id": 1, "bbox": [1, 1, 9, 9], "area": 81} for n in range(1, BOXES + 1)]
    images = [{"id": 1, "file_name": "a.png", "width": 64, "height": 48}]
    document = {"categories": [{"id": 1, "name": "Box"}], "images": images, "annotations": boxes}
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("instances.json", json.dumps(document))
        made.writestr("a.png", picture.getvalue())
    organization = client.insist("GET", f"Project/{client.project}")["organization"]
    project = client.insist("POST", "Projects", {"name": name, "organization": organization})["id"]
    upload = client.insist("GET", f"UploadInfo/{project}?filename=boxes.zip")
    client.put(upload["urls"][0], archive.getvalue())
    spec = {"key": upload["key"], "format": "coco", "create_types": True}
    return client.insist("POST", f"Imports/{project}", spec)["uid"]


def read(url):
    """The status and the content of a presigned URL."""
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


@pytest.mark.nightly
def test_what_a_full_disk_refused_is_not_there_and_what_is_there_can_be_read(small_disk):
    """A batch answered 503 is not stored, presigned URLs open what is stored, an import goes on at the next start.

    Without one it goes on when its delivery's time is over: its pause cannot be stored while the disk is full.
    """
    stack = Stack(small_disk)
    try:
        client = Client(stack.start(LIMN_JOBS="off"))
        upload = client.insist("GET", f"UploadInfo/{client.project}")
        with urllib.request.urlopen(urllib.request.Request(upload["urls"][0], b"kept", method="PUT"), timeout=60):
            [kept] = client.insist("POST", f"DownloadInfo/{client.project}", {"keys": [upload["key"]]})
        importing = start_import(client)
        ballast = fill(small_disk, client)
        refused, stored = set(), set()
        box = {"media_id": client.media, "type": client.type, "frame": 0}

        def write(numbers):
            for number in numbers:
                size = (1, 7, 110, 500)[number % 4]
                boxes = [{**box, "attributes": {"n": -number}}] * size
                status, _ = client.ask("POST", f"Localizations/{client.project}", boxes)
                (stored if status == 201 else refused).add(-number)

        writers = [threading.Thread(target=write, args=(range(first, 60, 4),)) for first in range(1, 5)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        assert refused
        assert read(kept["url"]) == (200, b"kept")
        ballast.unlink()
        assert client.ask("GET", "HealthCheck")[0] == 200
        found = {
            each["attributes"]["n"]
            for each in client.insist("GET", f"Localizations/{client.project}?attribute_lt=n::0")
        }
        assert found == stored
        figures.note("batches that a full disk refused", "not stored", len(refused))
        stack.kill()
        client.place = stack.start(LIMN_JOBS="off")
        for _ in range(240):
            done = client.insist("GET", f"Import/{importing}")
            if done["status"] in ("succeeded", "failed"):
                break
            time.sleep(0.5)
        assert (done["status"], done["message"]) == ("succeeded", None)
        assert client.insist("GET", f"LocalizationCount/{done['project']}") == BOXES
        client.check()
        figures.note("disks filled", "refused and read", 1)
    finally:
        stack.kill()
