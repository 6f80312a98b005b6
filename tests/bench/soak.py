"""`make soak`: mixed reads and writes on the local stack for MINUTES, then a burst of five times as many clients.

It holds that nothing fails, that what was acknowledged is there at the end, and that memory does not grow beyond what
is stored: after half of the time the service may take no more than `GROWTH` for each further thing made.
"""

from __future__ import annotations

import http.client
import json
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

from tests.faults import figures
from tests.journeys.stack import Stack

CLIENTS = 4
BURST = 5
BURST_SECONDS = 10.0
BATCH = 20
GROWTH = 40_000
"""Bytes of memory for each localization made: the local stack keeps tables, log and view in memory."""
ALLOWANCE = 60_000_000
"""Bytes that may come and go."""


class Load:
    """Clients at work, and what came of it."""

    def __init__(self, place):
        self.place = place
        self.statuses, self.made = Counter(), []
        self.latencies = []
        self._lock = threading.Lock()
        ask = self.client()
        found = ask("GET", "Organizations")[1] or [ask("POST", "Organizations", {"name": "soak"})[1]]
        self.project = ask("POST", "Projects", {"name": "soak", "organization": found[0]["id"]})[1]["id"]
        kind = ask("POST", f"MediaTypes/{self.project}", {"name": "soak", "dtype": "video"})[1]["id"]
        attributes = [{"name": "n", "dtype": "int", "default": 0}]
        spec = {"name": "soak", "dtype": "box", "media_types": [kind], "attribute_types": attributes}
        self.type = ask("POST", f"LocalizationTypes/{self.project}", spec)[1]["id"]
        self.media = ask("POST", f"Medias/{self.project}", {"type": kind, "name": "s", "md5": ""})[1]["id"]

    def client(self):
        """Somebody with a connection that stays open: asks, and gives status and document."""
        connection = http.client.HTTPConnection(urlsplit(self.place["url"]).netloc, timeout=60)
        headers = {"Authorization": f"Token {self.place['token']}", "Content-Type": "application/json"}

        def ask(method, path, body=None):
            began = time.monotonic()
            connection.request(method, f"/rest/{path}", json.dumps(body) if body is not None else None, headers)
            answer = connection.getresponse()
            text = answer.read()
            with self._lock:
                self.statuses[answer.status] += 1
                self.latencies.append(time.monotonic() - began)
            return answer.status, json.loads(text)

        return ask

    def work(self, end):
        """Create, read, change, read again; until the end."""
        ask = self.client()
        box = {"media_id": self.media, "type": self.type, "frame": 0}
        while time.monotonic() < end:
            status, said = ask("POST", f"Localizations/{self.project}", [box] * BATCH)
            if status == 201:
                with self._lock:
                    self.made += said["id"]
                ask("PATCH", f"Localization/{said['id'][0]}", {"attributes": {"n": 1}})
                ask("GET", f"Localization/{said['id'][0]}")
            ask("GET", f"LocalizationCount/{self.project}")
            ask("GET", f"Localizations/{self.project}?attribute=n::1&stop=50")
            ask("GET", f"Media/{self.media}")

    def run(self, clients, seconds):
        """So many clients for so long; how many requests a second were answered."""
        before, end = sum(self.statuses.values()), time.monotonic() + seconds
        threads = [threading.Thread(target=self.work, args=(end,)) for _ in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return (sum(self.statuses.values()) - before) / seconds


def memory_of(stack):
    """Bytes that the service has in memory."""
    lines = Path(f"/proc/{stack._process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS"))


def main():
    """Soak and tell."""
    minutes = float(os.environ.get("MINUTES", "10"))
    with tempfile.TemporaryDirectory() as home:
        stack = Stack(Path(home))
        try:
            _soak(stack, Load(stack.start()), minutes * 60)
        finally:
            stack.kill()


def _soak(stack, load, seconds):
    rate = load.run(CLIENTS, seconds / 2)
    middle, things = memory_of(stack), len(load.made)
    rate = (rate + load.run(CLIENTS, seconds / 2)) / 2
    grown = (memory_of(stack) - middle - ALLOWANCE) / max(1, len(load.made) - things)
    calm = dict(load.statuses)
    burst = load.run(CLIENTS * BURST, BURST_SECONDS)
    count = load.client()("GET", f"LocalizationCount/{load.project}?type={load.type}")[1]
    slowest = sorted(load.latencies)[int(len(load.latencies) * 0.99)]
    print(f"{seconds:.0f} s of {CLIENTS} clients: {rate:.0f} requests/s, {calm}; {middle / 1e6:.0f} MB in the middle")
    print(f"{CLIENTS * BURST} clients: {burst:.0f} requests/s, {dict(load.statuses)}; 99 % in {slowest * 1000:.0f} ms")
    print(
        f"{count} things for {len(load.made)} acknowledged; {max(grown, 0):.0f} bytes more for each in the second half"
    )
    figures.note("seconds soaked", "mixed load", round(seconds))
    figures.note("requests a second held", f"{CLIENTS} clients", round(rate))
    figures.note("requests a second in a burst", f"{CLIENTS * BURST} clients", round(burst))
    wrong = set(load.statuses) - {200, 201, 429, 503} or set(calm) - {200, 201}
    if wrong or count < len(load.made) or grown > GROWTH:
        sys.exit(f"wrong: {wrong}, {count} of {len(load.made)}, {grown:.0f}")


if __name__ == "__main__":
    main()
