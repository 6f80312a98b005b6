"""`make bench`: what the hot paths take, as rates, ratios and counts, on this machine's local stack.

Everything goes through the same gateway events as over HTTP, without the socket. Figures of shared machines drift:
compare ratios within one run, and calls and units, which do not drift.
"""

from __future__ import annotations

import itertools
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from botocore.client import BaseClient

import tests.bench.offline  # before anything reads the settings
import tests.service  # noqa: F401 starts AWS in this process
from chalicelib.maintenance import compaction
from infra.emulator.dynamodb import rows
from infra.emulator.dynamodb.metering import metering
from tests import roles
from tests.bench import calibration, cold, views
from tests.bench import media as media_figures
from tests.contract.world import build

ROWS = 100_000
_random = random.Random(1)
ATTRIBUTES = [
    {"name": "flag", "dtype": "bool", "default": False},
    {"name": "count", "dtype": "int", "default": 0},
    {"name": "score", "dtype": "float", "default": 0.0},
    {"name": "letter", "dtype": "enum", "choices": list("abcd"), "default": "a"},
    {"name": "word", "dtype": "string", "default": ""},
    {"name": "label", "dtype": "string", "default": ""},
    {"name": "seen", "dtype": "datetime"},
    {"name": "place", "dtype": "geopos", "default": [0.0, 0.0]},
]


def main() -> None:
    """Run all and print a line each."""
    print(calibration.line(), flush=True)
    _title("import time of app.py, cold (aim under 0.6 s)")
    _line("import app", f"{_cold_start():.2f} s")
    for name, milliseconds in cold.imports():
        _line(f"  of which {name}", f"{milliseconds:.0f} ms")

    world = build()
    # what tests look at in each call and each write is no part of the service
    rows.listeners.clear()
    roles._is_ours = lambda _: False
    api, project = world.owner, world.things["project"]
    kind = api.made(
        f"LocalizationTypes/{project}",
        {"name": "bench", "dtype": "box", "media_types": [world.things["media_type"]], "attribute_types": ATTRIBUTES},
    )
    media = [
        api.made(f"Medias/{project}", {"type": world.things["media_type"], "name": f"{n}.mp4", "md5": ""})
        for n in range(200)
    ]

    def box() -> dict[str, Any]:
        return {
            "type": kind,
            "media_id": _random.choice(media),
            "frame": _random.randrange(10_000),
            "x": _random.random() * 0.8,
            "y": _random.random() * 0.8,
            "width": 0.1,
            "height": 0.1,
            "attributes": {
                "flag": _random.random() < 0.5,
                "count": _random.randrange(1000),
                "score": _random.random(),
                "letter": _random.choice("abcd"),
                "word": f"w{_random.randrange(50)}",
                "label": f"label {_random.randrange(2000)}",
                "seen": "2026-01-02T03:04:05.000Z",
                "place": [_random.random() * 300 - 150, _random.random() * 160 - 80],
            },
        }

    _title(f"creating {ROWS:,} boxes with 8 attributes, 500 at a time")
    ids: list[int] = []
    began = time.perf_counter()
    with metering() as meter:
        while len(ids) < ROWS:
            ids += api.made(f"Localizations/{project}", [box() for _ in range(500)])
    took = time.perf_counter() - began
    _line("created", f"{ROWS / took:,.0f} a second", f"{took / ROWS * 500 * 1e3:.0f} ms per 500")
    _line(
        "write units per box", f"{meter.total.write / ROWS:.2f}", f"calls per 500: {meter.total.calls * 500 / ROWS:.0f}"
    )

    compaction.run(300)  # bulk writes would pause for it (decision 144)

    _title(f"single requests at {ROWS:,} boxes")
    one = f"Localization/{ids[0]}"
    _time("create one", lambda: api.post(f"Localizations/{project}", [box()]), 201)
    _time("patch one", lambda: api.patch(one, {"attributes": {"count": _random.randrange(1000)}}))
    _time("get by id", lambda: api.get(f"Localization/{_random.choice(ids)}"))
    _time("list of one media's", lambda: api.get(f"Localizations/{project}", media_id=_random.choice(media)))
    _time("count all", lambda: api.get(f"LocalizationCount/{project}"))
    _time("count, string equality", lambda: api.get(f"LocalizationCount/{project}", attribute="word::w7"))
    _time(
        "filter + sort, first 100",
        lambda: api.get(f"Localizations/{project}", attribute_gt="score::0.5", sort_by="-score", stop=100),
    )
    _time("1,000 by start/stop", lambda: api.get(f"Localizations/{project}", start=0, stop=1000), times=10)
    _time("5,000 by start/stop", lambda: api.get(f"Localizations/{project}", start=0, stop=5000), times=5)
    _time("project list", lambda: api.get("Projects"))
    spare = iter(media)
    _time(
        "patch all of one media's",
        lambda: api.patch(f"Localizations/{project}", {"attributes": {"count": 7}}, media_id=next(spare)),
        times=5,
    )
    _time(
        "delete all of one media's", lambda: api.delete(f"Localizations/{project}", {}, media_id=next(spare)), times=5
    )

    _title(f"attributes of {ROWS:,} boxes")
    names = itertools.pairwise(f"word{number}" for number in itertools.count())
    api.patch(f"AttributeType/{kind}", _renaming("word", "word0"))
    _time("rename", lambda: api.patch(f"AttributeType/{kind}", _renaming(*next(names))), times=5)

    def renamed_and_asked() -> Any:
        old, new = next(names)
        api.patch(f"AttributeType/{kind}", _renaming(old, new))
        return api.get(f"Localizations/{project}", attribute=f"{new}::w7", stop=100)

    _time("rename, then 100 by equality", renamed_and_asked, times=5)

    if not os.environ.get("QUICK"):
        _title("views")
        views.main(_line)
        _title("video, against PyAV's plain loop that makes the same files")
        media_figures.main(_line)


def _renaming(old: str, new: str) -> dict[str, Any]:
    return {
        "entity_type": "LocalizationType",
        "current_name": old,
        "attribute_type_update": {"name": new},
    }


def _cold_start() -> float:
    code = "import time; t = time.perf_counter(); import app; print(time.perf_counter() - t)"
    runs = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout)
        for _ in range(5)
    ]
    return statistics.median(runs)


def _time(what: str, ask: Callable[[], Any], status: int = 200, times: int = 30) -> None:
    def once() -> float:
        began = time.perf_counter()
        said = ask()
        took = time.perf_counter() - began
        if said.status != status:
            raise AssertionError((what, said.status, said.body[:500]))
        return took

    once()
    used = time.process_time()
    with metering() as meter, _emulated() as emulated:
        taken = [once() for _ in range(times)]
    used, aws = (1e3 * each / times for each in (time.process_time() - used, sum(emulated)))
    calls = "  ".join(f"{usage.calls / times:.3g} {name}" for name, usage in meter.operations.items())
    units = f"{meter.total.read / times:.3g} read, {meter.total.write / times:.3g} write units"
    median = statistics.median(taken)
    processor = f"CPU {used:.2f} ms: service {used - aws:.2f}, emulated AWS {aws:.2f}"
    _line(what, f"{median * 1e3:.2f} ms", f"{1 / median:,.0f}/s", processor, units, calls)


@contextmanager
def _emulated() -> Iterator[list[float]]:
    """The seconds of the processor that each call to the emulated AWS takes while the block runs."""
    taken: list[float] = []
    call = BaseClient._make_api_call

    def timed(*given: Any) -> Any:
        began = time.thread_time()
        try:
            return call(*given)
        finally:
            taken.append(time.thread_time() - began)

    BaseClient._make_api_call = timed
    try:
        yield taken
    finally:
        BaseClient._make_api_call = call


def _title(text: str) -> None:
    print(f"\n{text}", flush=True)


def _line(*parts: str) -> None:
    print(
        "  " + "   ".join(part.ljust(width) for part, width in zip(parts, (28, 12, 12, 50, 34, 0), strict=False)),
        flush=True,
    )


if __name__ == "__main__":
    main()
