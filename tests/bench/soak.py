"""`make soak`: mixed load on the local stack for MINUTES, then a burst of five times as many clients.

The clients create, change, search, upload, decode, export, sign in and delete again, so that as much is there in the
last minute as in the tenth; RATE bounds their requests a second (0: as fast as they can). It holds that nothing fails,
that what was acknowledged is there at the end, and that memory is flat: from the fourth sixth of the time to the last,
what the service holds may grow by `ALLOWANCE`. Before that its caches fill.

Each sample of the memory is a line of `memory.jsonl` in the folder of the figures: bytes, and how many objects there
are of the most frequent types (`tests.bench.measured`).
"""

from __future__ import annotations

import http.client
import io
import itertools
import json
import os
import random
import statistics
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter, deque
from pathlib import Path
from urllib.parse import urlsplit

from tests.bench import measured
from tests.faults import figures
from tests.journeys.stack import Stack

CLIENTS = 4
BURST = 5
BURST_SECONDS = 10.0
BATCH = 20
KEPT = 40
"""Batches of boxes that stay: older ones are deleted."""
KEPT_MEDIA = 20
SAMPLES = 60
ALLOWANCE = 30_000_000
"""Bytes that may come and go."""
CLIP = Path(__file__).parents[1] / "data" / "bigbuckbunny.mp4"
IN_TURN = (
    *("boxes",) * 6, "search", "image", "state", "search", "events", "file", "leaf", "bookmark", "sign_in", "export",
    "clip", "passing_project",
)  # fmt: skip
"""What the clients do, one after another."""


class Load:
    """Clients at work, and what came of it."""

    def __init__(self, place):
        self.place = place
        self.statuses, self.made, self.failures = Counter(), 0, []
        self.latencies = []
        self._lock = threading.Lock()
        self._kept, self._media = deque(), deque()
        self._turns = itertools.cycle(IN_TURN)
        self._next = time.monotonic()
        ask = self.client()
        found = ask("GET", "Organizations")[1] or [ask("POST", "Organizations", {"name": "soak"})[1]]
        self.organization = found[0]["id"]
        self.somebody = {"username": "somebody", "password": "Correct-horse-9"}
        names = {"first_name": "Some", "last_name": "Body", "email": "somebody@example.org"}
        ask("POST", "Users", {**self.somebody, **names})
        self.project = ask("POST", "Projects", {"name": "soak", "organization": self.organization})[1]["id"]
        self.video = ask("POST", f"MediaTypes/{self.project}", {"name": "video", "dtype": "video"})[1]["id"]
        self.image_type = ask("POST", f"MediaTypes/{self.project}", {"name": "image", "dtype": "image"})[1]["id"]
        attributes = [{"name": "n", "dtype": "int", "default": 0}, {"name": "t", "dtype": "string"}]
        both = [self.video, self.image_type]
        spec = {"name": "soak", "dtype": "box", "media_types": both, "attribute_types": attributes}
        self.type = ask("POST", f"LocalizationTypes/{self.project}", spec)[1]["id"]
        spec = {"name": "track", "association": "Localization", "media_types": both}
        self.state_type = ask("POST", f"StateTypes/{self.project}", spec)[1]["id"]
        self.leaf_type = ask("POST", f"LeafTypes/{self.project}", {"name": "leaf"})[1]["id"]
        self.file_type = ask("POST", f"FileTypes/{self.project}", {"name": "file"})[1]["id"]
        job = ask("POST", f"Transcode/{self.project}", {**self._uploaded(ask, CLIP), "type": self.video})[1]
        self.media = job["object"]["spec"]["media_id"]
        while ask("GET", f"Transcode/{job['id']}")[1]["job"]["status"].lower() != "succeeded":
            time.sleep(2)

    def client(self, *, anonymous=False):
        """Somebody with a connection that stays open: asks, and gives status and document."""
        connection = http.client.HTTPConnection(urlsplit(self.place["url"]).netloc, timeout=60)
        known = {} if anonymous else {"Authorization": f"Token {self.place['token']}"}
        headers = {"Content-Type": "application/json", **known}

        def ask(method, path, body=None):
            self._wait()
            began = time.monotonic()
            connection.request(method, f"/rest/{path}", json.dumps(body) if body is not None else None, headers)
            answer = connection.getresponse()
            text = answer.read()
            with self._lock:
                self.statuses[answer.status] += 1
                self.latencies.append(time.monotonic() - began)
                if answer.status >= 400 and len(self.failures) < 20:
                    self.failures.append(f"{method} {path}: {answer.status} {text[:300]!r}")
            is_json = answer.headers.get("Content-Type", "").startswith("application/json")
            return answer.status, json.loads(text) if is_json and text else text

        return ask

    rate = 0.0
    """Requests a second of all clients together; 0 is as many as they can."""

    def _wait(self):
        if not self.rate:
            return
        with self._lock:
            now = time.monotonic()
            due = self._next = max(now, self._next + 1 / self.rate)
        time.sleep(due - now)

    def _uploaded(self, ask, content):
        """Upload a file; the members that name it."""
        name, data = (content.name, content.read_bytes()) if isinstance(content, Path) else content
        info = ask("GET", f"UploadInfo/{self.project}?filename={name}")[1]
        request = urllib.request.Request(info["urls"][0], data=data, method="PUT")
        urllib.request.urlopen(request, timeout=60).read()
        url = ask("POST", f"DownloadInfo/{self.project}?expiration=3600", {"keys": [info["key"]]})[1][0]["url"]
        return {"name": name, "url": url, "size": len(data), "md5": ""}

    def boxes(self, ask):
        """Create, read, change, delete the oldest."""
        box = {"media_id": self.media, "type": self.type, "frame": 0, "attributes": {"t": f"{random.random()}" * 5}}
        status, said = ask("POST", f"Localizations/{self.project}", [box] * BATCH)
        if status == 201:
            with self._lock:
                self.made += BATCH
                self._kept.append(said["id"])
                oldest = self._kept.popleft() if len(self._kept) > KEPT else None
            ask("PATCH", f"Localization/{said['id'][0]}", {"attributes": {"n": 1}})
            ask("GET", f"Localization/{said['id'][0]}")
            if oldest and ask("DELETE", f"Localizations/{self.project}", {"ids": oldest})[0] == 200:
                with self._lock:
                    self.made -= BATCH

    def search(self, ask):
        """Counts, filters and statistics."""
        ask("GET", f"LocalizationCount/{self.project}")
        ask("GET", f"Localizations/{self.project}?attribute=n::1&stop=50")
        ask("GET", f"Localizations/{self.project}?attribute_contains=t::{random.randrange(1000)}&stop=50")
        ask("GET", f"Medias/{self.project}?sort_by=-$created_datetime&stop=10")
        ask("GET", f"ChangeLog/{self.project}?entity_type=media&entity_id={self.media}&stop=10")
        ask("GET", f"Statistics/{self.project}?kind=localization&group_by=n&measure=count")
        ask("GET", f"Media/{self.media}?presigned=3600")

    def image(self, ask):
        """Import an image, delete the oldest."""
        from PIL import Image

        buffer = io.BytesIO()
        Image.effect_noise((320, 180), random.uniform(10, 90)).save(buffer, "PNG")
        spec = {**self._uploaded(ask, ("noise.png", buffer.getvalue())), "type": self.image_type, "section": "noise"}
        status, said = ask("POST", f"Medias/{self.project}", spec)
        if status == 201:
            with self._lock:
                self._media.append(said["id"] if isinstance(said["id"], int) else said["id"][0])
                oldest = self._media.popleft() if len(self._media) > KEPT_MEDIA else None
            if oldest:
                ask("GET", f"Media/{oldest}?presigned=3600")
                ask("DELETE", f"Media/{oldest}")

    def state(self, ask):
        """A track over new boxes, and its end."""
        box = {"media_id": self.media, "type": self.type, "frame": 3}
        boxes = ask("POST", f"Localizations/{self.project}", [box] * 3)[1]["id"]
        spec = {"type": self.state_type, "media_ids": [self.media], "localization_ids": boxes}
        made = ask("POST", f"States/{self.project}", [spec])[1]["id"][0]
        ask("GET", f"State/{made}")
        ask("DELETE", f"State/{made}")
        ask("DELETE", f"Localizations/{self.project}", {"ids": boxes})

    def events(self, ask):
        """The newest events."""
        newest = ask("GET", f"Events/{self.project}?after=0&limit=1")[1]
        ask("GET", f"Events/{self.project}?after={newest['behind']}&limit=100")

    def file(self, ask):
        """A file and a temporary file, and their end."""
        spec = {"type": self.file_type, "name": "report", "description": "", "attributes": {}}
        made = ask("POST", f"Files/{self.project}", spec)[1]["id"]
        ask("GET", f"File/{made}")
        ask("DELETE", f"File/{made}")
        uploaded = self._uploaded(ask, ("counts.csv", random.randbytes(5_000)))
        spec = {"name": "counts.csv", "url": uploaded["url"], "lookup": f"{random.random()}", "hours": 1}
        made = ask("POST", f"TemporaryFiles/{self.project}", spec)[1]["id"]
        ask("DELETE", f"TemporaryFile/{made}")

    def leaf(self, ask):
        """A leaf, and its end."""
        name = f"leaf{random.randrange(10**9)}"
        made = ask("POST", f"Leaves/{self.project}", [{"name": name, "type": self.leaf_type, "parent": None}])[1]["id"]
        ask("GET", f"Leaves/Suggestion/soak/{self.project}?query=leaf&minLevel=0")
        ask("DELETE", f"Leaf/{made[0]}")

    def bookmark(self, ask):
        """A bookmark, and its end."""
        name = f"bookmark {random.randrange(10**9)}"
        made = ask("POST", f"Bookmarks/{self.project}", {"name": name, "uri": "/1"})[1]["id"]
        ask("GET", f"Bookmarks/{self.project}")
        ask("DELETE", f"Bookmark/{made}")

    def sign_in(self, ask):
        """By name and password."""
        self.client(anonymous=True)("POST", "Token", self.somebody)
        ask("GET", "User/GetCurrent")

    def export(self, ask):
        """Start one, and remove that of the turn before."""
        for each in ask("GET", f"Exports/{self.project}")[1]:
            if each["status"].lower() == "succeeded":
                ask("DELETE", f"Export/{each['uid']}")
        ask("POST", f"Exports/{self.project}", {"format": "coco"})

    def clip(self, ask):
        """Frames and a clip of the video."""
        first = random.randrange(100)
        ask("GET", f"GetFrame/{self.media}?frames={first}")
        made = ask("GET", f"GetClip/{self.media}?frameRanges={first}:{first + 5}")[1]
        if isinstance(made, dict) and "file" in made:
            ask("DELETE", f"TemporaryFile/{made['file']['id']}")

    def passing_project(self, ask):
        """A project with something in it, read and deleted."""
        name = f"passing {random.randrange(10**9)}"
        project = ask("POST", "Projects", {"name": name, "organization": self.organization})[1]["id"]
        kind = ask("POST", f"MediaTypes/{project}", {"name": "video", "dtype": "video"})[1]["id"]
        ask("POST", f"Medias/{project}", {"type": kind, "name": "s", "md5": ""})
        ask("GET", f"MediaCount/{project}")
        ask("DELETE", f"Project/{project}")

    def run(self, clients, seconds, rate=0.0):
        """So many clients for so long; how many requests a second were answered."""
        self.rate = rate
        before, end = sum(self.statuses.values()), time.monotonic() + seconds
        threads = [threading.Thread(target=self._work, args=(end,)) for _ in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.rate = 0.0
        return (sum(self.statuses.values()) - before) / seconds

    def _work(self, end):
        ask = self.client()
        while time.monotonic() < end:
            with self._lock:
                turn = next(self._turns)
            try:
                getattr(self, turn)(ask)
            except (KeyError, TypeError, IndexError):  # an answer that is no success has been counted
                self.statuses["turns that ended early"] += 1


def main():
    """Soak and tell."""
    minutes, rate = float(os.environ.get("MINUTES", "10")), float(os.environ.get("RATE", "0"))
    with tempfile.TemporaryDirectory() as home:
        stack = Stack(Path(home), module="tests.bench.measured")
        try:
            _soak(stack, Load(stack.start()), minutes * 60, rate)
        finally:
            stack.kill()


def _soak(stack, load, seconds, rate):
    done, samples = threading.Event(), []
    watch = threading.Thread(target=_watch, args=(stack, load, seconds, done, samples))
    watch.start()
    rate = load.run(CLIENTS, seconds, rate)
    done.set()
    watch.join()
    calm = dict(load.statuses)
    sixth = len(samples) // 6
    early, late = (statistics.median(each["bytes"] for each in samples[part]) for part in (
        slice(3 * sixth, 4 * sixth), slice(-sixth, None)
    ))  # fmt: skip
    burst = load.run(CLIENTS * BURST, BURST_SECONDS)
    count = load.client()("GET", f"LocalizationCount/{load.project}?type={load.type}")[1]
    slowest = sorted(load.latencies)[int(len(load.latencies) * 0.99)]
    print(f"{seconds:.0f} s of {CLIENTS} clients: {rate:.0f} requests/s, {calm}")
    print(f"{early / 1e6:.0f} MB in the fourth sixth, {late / 1e6:.0f} MB in the last")
    print(f"{CLIENTS * BURST} clients: {burst:.0f} requests/s, {dict(load.statuses)}; 99 % in {slowest * 1000:.0f} ms")
    print(f"{count} boxes for {load.made} acknowledged", *load.failures, sep="\n")
    figures.note("seconds soaked", "mixed load", round(seconds))
    figures.note("requests a second held", f"{CLIENTS} clients", round(rate))
    figures.note("requests a second in a burst", f"{CLIENTS * BURST} clients", round(burst))
    figures.note(
        "kB of memory more in the last sixth of a soak than in the fourth", "", max(0, round((late - early) / 1e3))
    )
    wrong = set(load.statuses) - {200, 201, 202, 429, 503} or set(calm) - {200, 201, 202, 429}
    if 500 in load.statuses:
        told = ("Traceback", "ERROR")
        print(*(line for line in stack.log().splitlines() if any(word in line for word in told)), sep="\n")
    if wrong or count < load.made or late - early > ALLOWANCE:
        sys.exit(f"wrong: {wrong}, {count} of {load.made}, {late - early:.0f} bytes")


def _watch(stack, load, seconds, done, samples):
    """Take a sample of the memory again and again until it is done."""
    folder = Path(os.environ.get("LIMN_FIGURES", stack.home))
    began = time.monotonic()
    while not done.wait(seconds / SAMPLES):
        found = {
            "seconds": round(time.monotonic() - began),
            "requests": sum(load.statuses.values()),
            "boxes": load.made,
            **measured.sample(stack),
        }
        samples.append(found)
        with (folder / "memory.jsonl").open("a") as target:
            target.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
