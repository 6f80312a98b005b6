"""The first lists after a restart of the local stack, in a project of 100,000 boxes on 200 media.

    python -m tests.bench.restart [--rows 100000] [--media 200] [--restarts 3] [--home FOLDER]

Printed are milliseconds of the wall clock and of the processor of the service's process, for the first requests after a
start, each of another media, and the median of those after them. FOLDER keeps the rows for the next run: it is filled
where it is empty. What the process does by itself meanwhile is measured before, and printed, too.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path

from tests.bench.calibration import line
from tests.bench.side_by_side import Connection, Service, processor_clock
from tests.journeys.stack import Stack

FIRST, LATER = 6, 30
SETTLES = 4.0
"""Seconds after a start in which the process does what it does by itself."""


def main() -> None:
    """Fill a stack, and print a line for each restart."""
    read = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    read.add_argument("--rows", type=int, default=100_000)
    read.add_argument("--media", type=int, default=200)
    read.add_argument("--restarts", type=int, default=3)
    read.add_argument("--compacts", type=float, default=100.0, help="seconds until it is compacted at rest")
    read.add_argument("--home", type=Path)
    read.add_argument("--together", action="store_true", help="the boxes of a media are created in one request")
    asked = read.parse_args()
    print(line())
    with tempfile.TemporaryDirectory(prefix="limn-bench-") as folder:
        stack = Stack(asked.home or Path(folder))
        try:
            filled = fill(stack, asked)
            for _ in range(asked.restarts):
                stack.start()
                print(restarted(stack, filled), flush=True)
                stack.stop()
        finally:
            stack.kill()


def fill(stack: Stack, asked: argparse.Namespace) -> dict[str, int | list[int]]:
    """The project and the media of a stack that has stopped; its rows are made where it has none."""
    kept = stack.home / "filled.json"
    if not kept.exists():
        stack.start(COMPACT_EVERY="20")
        service = Service(stack.home, asked.rows, asked.media, together=asked.together)
        time.sleep(asked.compacts)
        stack.stop()
        kept.write_text(json.dumps({"project": service.project, "media": service.media}))
    found: dict[str, int | list[int]] = json.loads(kept.read_text())
    return found


def restarted(stack: Stack, filled: dict[str, int | list[int]]) -> str:
    """The times of the first lists of media, and the median of later ones."""
    service = Connection(stack.home)
    clock = processor_clock(stack.pid)
    time.sleep(SETTLES)
    began = clock()
    time.sleep(1)
    alone = clock() - began
    taken = []
    for number in range(FIRST + LATER):
        media = filled["media"][number * 7 % len(filled["media"])]
        wall, used = time.perf_counter(), clock()
        service.call("GET", f"Localizations/{filled['project']}", params={"media_id": media})
        taken.append((1000 * (time.perf_counter() - wall), 1000 * (clock() - used)))
    first = "  ".join(f"{wall:.0f}/{used:.0f}" for wall, used in taken[:FIRST])
    later = [statistics.median(each) for each in zip(*taken[FIRST:], strict=True)]
    return f"wall/CPU ms: {first}; later {later[0]:.1f}/{later[1]:.1f}; by itself {100 * alone:.0f} % of a core"


if __name__ == "__main__":
    main()
