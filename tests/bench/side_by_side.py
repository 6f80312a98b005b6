"""Requests over HTTP to two running services in alternation: how much faster the second one is.

    python -m tests.bench.side_by_side OLD NEW [--rows 20000] [--repetitions 40] [--threads 4 16]
        [--imports 1] [--pids 123 456]

OLD and NEW are folders in which `make run` runs (its LIMN_HOME); the address and the token are read from there. Two
commits, each in a checkout, a folder and on a port of its own, are compared with each other so: absolute times drift
with the machine, the ratios of one run hardly do. With `--imports`, the threads create and read beside as many clients
that import boxes into the same project, 500 a request. With `--pids`, the processes of the two services (on Linux), the
processor time of each kind of request is printed, too: on a machine that does other work, it is what to compare. The
last rows are those of `side_by_side_files`; `--only clip` asks for rows whose names have that word.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import statistics
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import requests

ATTRIBUTES = [
    {"name": "flag", "dtype": "bool", "default": False},
    {"name": "count", "dtype": "int", "default": 0},
    {"name": "score", "dtype": "float", "default": 0.0},
    {"name": "letter", "dtype": "enum", "choices": list("abcd"), "default": "a"},
    {"name": "word", "dtype": "string", "default": "none"},
    {"name": "seen", "dtype": "datetime"},
    {"name": "place", "dtype": "geopos", "default": [-179.0, -89.0]},
    {"name": "label", "dtype": "string", "default": ""},
]
ENCODED = base64.b64encode(
    json.dumps(
        {
            "method": "and",
            "operations": [
                {
                    "method": "or",
                    "operations": [
                        {"attribute": "word", "operation": "icontains", "value": "s1"},
                        {"attribute": "letter", "operation": "eq", "value": "b"},
                    ],
                },
                {"attribute": "count", "operation": "gte", "value": 500},
            ],
        }
    ).encode()
).decode()


class Connection:
    """A running service, by the `local.json` of its folder."""

    def __init__(self, home: Path) -> None:
        found = json.loads((home / ".limn" / "local.json").read_text())
        self.base, self.token = found["url"] + "/rest", found["token"]
        self.session = self.connect()

    def connect(self) -> requests.Session:
        """A session of one thread."""
        session = requests.Session()
        session.headers["Authorization"] = f"Token {self.token}"
        return session

    def call(self, method: str, path: str, session: requests.Session | None = None, **more: Any) -> requests.Response:
        """The answer with its whole body; anything but success ends the run."""
        answer = (session or self.session).request(method, f"{self.base}/{path}", timeout=300, **more)
        if not answer.ok:
            sys.exit(f"{method} {path}: {answer.status_code} {answer.text[:300]}")
        return answer


class Service(Connection):
    """One running service with a project of `rows` boxes on `media` media, 500 boxes a request.

    Each request has boxes of all media in turn, or with `together` those of one media after the other.
    """

    def __init__(self, home: Path, rows: int, media: int, *, together: bool = False) -> None:
        super().__init__(home)
        self.begin(media)
        self.ids: list[int] = []
        for first in range(0, rows, 500):
            last = min(first + 500, rows)
            batch = [self.box(self.media[n * media // rows if together else n % media]) for n in range(first, last)]
            self.ids += self.call("POST", f"Localizations/{self.project}", json=batch).json()["id"]

    def begin(self, media: int) -> None:
        """A new project with its types and media."""
        name = f"side by side {uuid.uuid4().hex[:8]}"
        organization = self.made("Organizations", {"name": name})
        self.project = self.made("Projects", {"name": name, "organization": organization})
        typed = {"description": "", "attribute_types": [{"name": "site", "dtype": "string", "default": ""}]}
        self.video = self.made(f"MediaTypes/{self.project}", typed | {"name": "video", "dtype": "video"})
        boxes = {"name": "box", "dtype": "box", "media_types": [self.video], "attribute_types": ATTRIBUTES}
        self.box_type = self.made(f"LocalizationTypes/{self.project}", boxes)
        states = typed | {"name": "state", "association": "Frame", "media_types": [self.video]}
        self.state_type = self.made(f"StateTypes/{self.project}", states)
        self.random = random.Random(1)
        self.media = [self.made(f"Medias/{self.project}", self._video(number)) for number in range(media)]

    def made(self, path: str, body: dict[str, Any]) -> int:
        """The id of what one request made."""
        found = self.call("POST", path, json=body).json()["id"]
        return int(found[0] if isinstance(found, list) else found)

    def box(self, media: int) -> dict[str, Any]:
        """A box at random, with values as real projects have them."""
        take = self.random
        return {
            "type": self.box_type,
            "media_id": media,
            "frame": take.randrange(10_000),
            **{name: take.random() * 0.5 for name in ("x", "y", "width", "height")},
            "attributes": {
                "flag": bool(take.randrange(2)),
                "count": take.randrange(1000),
                "score": take.random(),
                "letter": take.choice("abcd"),
                "word": f"s{take.randrange(50)}",
                "seen": f"2024-{take.randrange(1, 13):02}-{take.randrange(1, 29):02}T10:00:00.000Z",
                "place": [take.uniform(-180, 180), take.uniform(-85, 85)],
                "label": f"label {take.randrange(2000)}",
            },
        }

    def state(self, media: int) -> dict[str, Any]:
        """A state of one frame."""
        frame = self.random.randrange(10_000)
        return {"type": self.state_type, "media_ids": [media], "frame": frame, "attributes": {"site": f"s{frame % 9}"}}

    def _video(self, number: int) -> dict[str, Any]:
        size = {"num_frames": 10_000, "fps": 30.0, "width": 1920, "height": 1080, "codec": "h264"}
        return {"type": self.video, "name": f"{number}.mp4", "md5": "", "section": "all", **size}


class Row(NamedTuple):
    """One kind of request: `send(service, turn)`; `times` of `--repetitions` are enough."""

    name: str
    send: Callable[[Service, int], Any]
    times: float = 1.0


def get(path: str, **params: Any) -> Callable[[Service, int], Any]:
    """A request that asks the same each time; `path` without the project."""
    return lambda to, turn: to.call("GET", f"{path}/{to.project}", params=params)


def _states(to: Service, turn: int) -> Any:
    return to.call("POST", f"States/{to.project}", json=[to.state(to.media[turn % 5])] * 100)


ROWS = [
    Row("get localization", lambda to, turn: to.call("GET", f"Localization/{to.ids[turn * 37 % len(to.ids)]}")),
    Row("get media", lambda to, turn: to.call("GET", f"Media/{to.media[turn % len(to.media)]}")),
    Row(
        "list of one media",
        lambda to, turn: to.call(
            "GET", f"Localizations/{to.project}", params={"media_id": to.media[turn % len(to.media)]}
        ),
    ),
    Row("count all", get("LocalizationCount")),
    Row("count, equality", get("LocalizationCount", attribute="word::s7")),
    Row("count, enum and bool", get("LocalizationCount", attribute="letter::b,flag::true")),
    Row("filter and sort, 100", get("Localizations", attribute_gt="score::0.5", sort_by="-score", stop=100)),
    Row("encoded search, 100", get("Localizations", encoded_search=ENCODED, stop=100)),
    Row("encoded search, count", get("LocalizationCount", encoded_search=ENCODED)),
    Row("media by related attribute", get("Medias", related_attribute="label::label 77")),
    Row("media list, 100", get("Medias", start=0, stop=100)),
    Row("list of 1,000", get("Localizations", start=0, stop=1000)),
    Row("list of 5,000", get("Localizations", start=0, stop=5000), 0.5),
    Row("project list", lambda to, turn: to.call("GET", "Projects")),
    Row("localization types", get("LocalizationTypes")),
    Row("create one", lambda to, turn: to.call("POST", f"Localizations/{to.project}", json=[to.box(to.media[0])])),
    Row(
        "patch one",
        lambda to, turn: to.call("PATCH", f"Localization/{to.ids[turn * 41]}", json={"attributes": {"count": turn}}),
    ),
    Row("create 100 states", _states, 0.5),
    Row(
        "states of one media",
        lambda to, turn: to.call("GET", f"States/{to.project}", params={"media_id": to.media[turn % 5]}),
    ),
    Row(
        "create 500",
        lambda to, turn: to.call("POST", f"Localizations/{to.project}", json=[to.box(to.media[1])] * 500),
        0.3,
    ),
    Row(
        "bulk PATCH of one media",
        lambda to, turn: to.call(
            "PATCH",
            f"Localizations/{to.project}",
            params={"media_id": to.media[2 + turn]},
            json={"attributes": {"count": 77}},
        ),
        0.3,
    ),
    Row(
        "bulk DELETE of one media",
        lambda to, turn: to.call(
            "DELETE", f"Localizations/{to.project}", params={"media_id": to.media[-1 - turn]}, json={}
        ),
        0.3,
    ),
]


Clock = Callable[[], float]


def processor_clock(pid: int) -> Clock:
    """The processor time of another process in seconds, all its threads together; Linux's number of that clock."""
    return partial(time.clock_gettime, (~pid << 3) | 2)


def compare(row: Row, services: list[Service], times: int, clocks: list[list[Clock]]) -> list[list[list[float]]]:
    """Milliseconds of each service by each clock, the first turn thrown away; who is first changes each turn.

    Args:
        row: the kind of request.
        services: the two services.
        times: the number of turns.
        clocks: pairs of clocks, one for each service.
    """
    taken: list[list[list[float]]] = [[[], []] for _ in clocks]
    for turn in range(times + 1):
        for which in (0, 1) if turn % 2 else (1, 0):
            began = [pair[which]() for pair in clocks]
            row.send(services[which], turn)
            for pair, found, start in zip(clocks, taken, began, strict=True):
                if turn:
                    found[which].append(1000 * (pair[which]() - start))
    return taken


def shown(times: list[list[float]]) -> str:
    """The medians and the least of two services' times, and how many times faster the second one is by both."""
    medians, least = [statistics.median(part) for part in times], [min(part) for part in times]
    return (
        f"{medians[0]:7.1f}, {least[0]:7.1f} {medians[1]:7.1f}, {least[1]:7.1f}   "
        f"{medians[0] / medians[1]:5.2f}, {least[0] / least[1]:5.2f}"
    )


def _rate(to: Service, threads: int, seconds: float, path: Callable[[Service, random.Random], Any]) -> list[float]:
    """Milliseconds of each request that `threads` threads send for some seconds."""
    end, taken, lock = time.perf_counter() + seconds, list[float](), threading.Lock()

    def work(number: int) -> None:
        session, mine, take = to.connect(), [], random.Random(number)
        while (began := time.perf_counter()) < end:
            method, address, more = path(to, take)
            to.call(method, address, session, **more)
            mine.append(1000 * (time.perf_counter() - began))
        with lock:
            taken.extend(mine)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(threads)))
    return taken


class Imports:
    """Clients that import into the project of a service from `start` to `stop`; `rows` were created by then."""

    def __init__(self, to: Service, clients: int) -> None:
        self.rows = 0
        self._to, self._clients = to, clients
        self._stopping, self._lock = threading.Event(), threading.Lock()
        self._body = json.dumps([to.box(to.media[1]) for _ in range(500)]).encode()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Begin."""
        self._threads = [threading.Thread(target=self._work) for _ in range(self._clients)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End, when each client has its answer."""
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        session, sent = self._to.connect(), {"data": self._body, "headers": {"Content-Type": "application/json"}}
        while not self._stopping.is_set():
            self._to.call("POST", f"Localizations/{self._to.project}", session, **sent)
            with self._lock:
                self.rows += 500


LOADS: dict[str, Callable[[Service, random.Random], Any]] = {
    "creating": lambda to, take: ("POST", f"Localizations/{to.project}", {"json": [to.box(to.media[0])]}),
    "reading": lambda to, take: ("GET", f"Localization/{take.choice(to.ids)}", {}),
}


def loads(services: list[Service], threads: list[int], seconds: float, clients: int) -> Iterator[str]:
    """A line for each kind of load and number of threads: three rounds in alternation, beside imports of `clients`."""
    for number in threads:
        for name, path in LOADS.items():
            taken: list[list[float]] = [[], []]
            rows = [0, 0]
            for turn in range(3):
                for which in (0, 1) if turn % 2 else (1, 0):
                    imports = Imports(services[which], clients)
                    imports.start()
                    taken[which] += _rate(services[which], number, seconds / 3, path)
                    imports.stop()
                    rows[which] += imports.rows
            rates = [len(part) / seconds for part in taken]
            ends = [statistics.quantiles(part, n=100)[98] for part in taken]
            yield (
                f"{number:2} threads {name:9} {rates[0]:7.0f}/s, p99 {ends[0]:5.0f} ms {rates[1]:7.0f}/s, "
                f"p99 {ends[1]:5.0f} ms {rates[1] / rates[0]:6.2f}"
                + (f"; imported {rows[0] / seconds:,.0f} and {rows[1] / seconds:,.0f} rows/s" if clients else "")
            )


def main() -> None:
    """Fill both services alike and print a line for each kind of request."""
    read = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    read.add_argument("homes", nargs=2, type=Path, metavar="HOME")
    read.add_argument("--rows", type=int, default=20_000)
    read.add_argument("--media", type=int, default=40)
    read.add_argument("--repetitions", type=int, default=40)
    read.add_argument("--threads", type=int, nargs="*", default=[4, 16])
    read.add_argument("--pids", type=int, nargs=2)
    read.add_argument("--imports", type=int, default=0, metavar="CLIENTS")
    read.add_argument("--seconds", type=float, default=12.0)
    read.add_argument("--only", default="", help="parts of names of rows, with commas between")
    asked = read.parse_args()
    services = [Service(home, asked.rows, asked.media) for home in asked.homes]
    time.sleep(5)  # what the rows put off is done then
    clocks = [[time.perf_counter] * 2] + ([[processor_clock(pid) for pid in asked.pids]] if asked.pids else [])
    print(f"{'milliseconds: median, least':28} {'first':>16} {'second':>16}   times faster: medians, least")
    from tests.bench.side_by_side_files import FILE_ROWS

    for row in (*ROWS, *FILE_ROWS):
        if any(each in row.name for each in asked.only.split(",")):
            taken = compare(row, services, max(3, int(asked.repetitions * row.times)), clocks)
            print(f"{row.name:28} {' | '.join(map(shown, taken))}", flush=True)
    for line in loads(services, asked.threads, asked.seconds, asked.imports):
        print(line, flush=True)


if __name__ == "__main__":
    main()
