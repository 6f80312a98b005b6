"""`python -m tests.bench.rows`: the processor's milliseconds of each kind of request; the table of docs/performance.md.

Of each the least of some runs is taken: on a machine that does other work too, more is somebody else's. `ROWS=100000`
says how many boxes there are. Run it in two checkouts in alternation to compare them.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import tests.bench.offline  # before anything reads the settings
import tests.service  # noqa: F401 starts AWS in this process
from infra.emulator.dynamodb import rows
from tests import roles
from tests.bench.__main__ import ATTRIBUTES
from tests.contract.world import build

ROWS = int(os.environ.get("ROWS", "10000"))
EACH = 500
"""Boxes of a media."""


class Bench:
    """A project with boxes, and what is asked of it."""

    def __init__(self) -> None:
        self.random = random.Random(1)
        world = build()
        # what tests look at in each call and each write is no part of the service
        rows.listeners.clear()
        roles._is_ours = lambda _: False
        self.api, self.project = world.owner, world.things["project"]
        media_type = {"media_types": [world.things["media_type"]]}
        self.box_type = self.api.made(
            f"LocalizationTypes/{self.project}",
            {"name": "bench", "dtype": "box", "attribute_types": ATTRIBUTES, **media_type},
        )
        self.state_type = self.api.made(
            f"StateTypes/{self.project}",
            {"name": "bench", "dtype": "state", "association": "Media", "attribute_types": [], **media_type},
        )
        self.media = [
            self.api.made(
                f"Medias/{self.project}", {"type": world.things["media_type"], "name": f"{number}.mp4", "md5": ""}
            )
            for number in range(max(20, ROWS // EACH))
        ]
        self.ids: list[int] = []

    def box(self, media: int | None = None) -> dict[str, Any]:
        """A box, of a media or of any."""
        source = self.random
        return {
            "type": self.box_type,
            "media_id": media or source.choice(self.media),
            "frame": source.randrange(10_000),
            "x": source.random() * 0.8,
            "y": source.random() * 0.8,
            "width": 0.1,
            "height": 0.1,
            "attributes": {
                "flag": source.random() < 0.5,
                "count": source.randrange(1000),
                "score": source.random(),
                "letter": source.choice("abcd"),
                "word": f"w{source.randrange(50)}",
                "label": f"label {source.randrange(2000)}",
                "seen": "2026-01-02T03:04:05.000Z",
                "place": [source.random() * 300 - 150, source.random() * 160 - 80],
            },
        }

    def fill(self) -> None:
        """Create the boxes, a media at a time."""
        bodies = iter([[self.box(media) for _ in range(EACH)] for media in self.media])
        self.row(f"create {EACH}", lambda: self._create(next(bodies)), times=len(self.media) - 1)

    def _create(self, body: list[dict[str, Any]]) -> Any:
        said = self.api.post(f"Localizations/{self.project}", body)
        self.ids += said.json["id"]
        return said

    def ask(self) -> None:
        """Ask everything."""
        api, project, pick = self.api, self.project, self.random.choice
        boxes, count = f"Localizations/{project}", f"LocalizationCount/{project}"
        one, spare = f"Localization/{self.ids[0]}", iter(self.media)
        self.row("create one", lambda: api.post(boxes, [self.box()]))
        self.row("patch one", lambda: api.patch(one, {"attributes": {"count": self.random.randrange(1000)}}))
        self.row("get by id", lambda: api.get(f"Localization/{pick(self.ids)}"))
        self.row("get by id, each of 4 × 25 in 4 threads", lambda: self._beside(25), 6, each=100)
        self.row("get media", lambda: api.get(f"Media/{pick(self.media)}"))
        self.row("list of one media", lambda: api.get(boxes, media_id=pick(self.media)))
        self.row("count all", lambda: api.get(count))
        self.row("count, equality", lambda: api.get(count, attribute="word::w7"))
        self.row("count, enum and bool", lambda: api.get(count, attribute="letter::a,flag::true"))
        self.row("filter + sort, 100", lambda: api.get(boxes, attribute_gt="score::0.5", sort_by="-score", stop=100))
        self.row("media list, 100", lambda: api.get(f"Medias/{project}", stop=100))
        self.row("list of 1,000", lambda: api.get(boxes, start=0, stop=1000), times=12)
        self.row("list of 5,000", lambda: api.get(boxes, start=0, stop=5000), times=6)
        self.row("project list", lambda: api.get("Projects"))
        self.row("localization types", lambda: api.get(f"LocalizationTypes/{project}"))
        states = [{"type": self.state_type, "media_ids": [self.media[0]], "frame": 0}] * 100
        self.row("create 100 states", lambda: api.post(f"States/{project}", states), times=6)
        self.row("states of one media", lambda: api.get(f"States/{project}", media_id=self.media[0], stop=100))
        self.row(f"bulk PATCH {EACH}", lambda: api.patch(boxes, {"attributes": {"count": 7}}, media_id=next(spare)), 5)
        self.row(f"bulk DELETE {EACH}", lambda: api.delete(boxes, {}, media_id=next(spare)), 5)

    def _beside(self, times: int) -> Any:
        """Read by id from four threads at once."""

        def read(seed: int) -> Any:
            pick = random.Random(seed)
            return [self.api.get(f"Localization/{pick.choice(self.ids)}") for _ in range(times)][-1]

        with ThreadPoolExecutor(4) as pool:
            return [*pool.map(read, range(4))][-1]

    def row(self, name: str, ask: Callable[[], Any], times: int = 25, each: int = 1) -> None:
        """Print the least of some runs, after one that does not count; of a run of several requests, for each."""
        ask()
        print(f"| {name} | {min(_milliseconds(ask) for _ in range(times)) / each:.2f} |", flush=True)


def _milliseconds(ask: Callable[[], Any]) -> float:
    began = time.process_time()
    said = ask()
    took = (time.process_time() - began) * 1e3
    if said.status >= 300:
        raise AssertionError((said.status, said.body[:300]))
    return took


def main() -> None:
    """Print the table."""
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, {ROWS:,} boxes\n\n| request | CPU ms |\n|---|---|")
    bench = Bench()
    bench.fill()
    bench.ask()


if __name__ == "__main__":
    main()
