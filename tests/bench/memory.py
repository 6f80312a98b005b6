"""Memory of one process while clients make and delete many boxes, and what holds it.

    python -m tests.bench.memory [--boxes 180000] [--clients 4] [--rest 240]

It starts a local stack of its own in a temporary folder. Each client creates 500 boxes a request and deletes them by
media, so that nothing is alive in the end. `rest` seconds later the compaction has run. Printed is
the resident memory of the process by kind of mapping, as `/proc/PID/smaps` has it: the first arena of the C library
("heap"), its other arenas with those of Python and DuckDB ("anonymous"), and files; below it what the process itself
counts (`measured.py`): what the C library keeps of freed blocks, DuckDB, documents of views, blocks and objects.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import requests

from tests.bench import measured
from tests.bench.side_by_side import Service
from tests.journeys.stack import Stack

A_REQUEST = 500


def main() -> None:
    """Print a line at the beginning, while the clients work, and at rest."""
    read = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    read.add_argument("--boxes", type=int, default=180_000)
    read.add_argument("--clients", type=int, default=4)
    read.add_argument("--rest", type=float, default=240.0)
    asked = read.parse_args()
    with tempfile.TemporaryDirectory(prefix="limn-bench-") as folder:
        stack = Stack(Path(folder), "tests.bench.measured")
        try:
            stack.start()
            work(stack, asked)
        finally:
            stack.kill()


def work(stack: Stack, asked: argparse.Namespace) -> None:
    """Let clients work on a stack, and then rest."""
    service = Service(stack.home, 0, asked.clients)
    show("before", stack)
    peak, done = [0], threading.Event()
    watcher = threading.Thread(target=watch, args=(stack.pid, peak, done))
    watcher.start()
    with ThreadPoolExecutor(asked.clients) as pool:
        list(pool.map(lambda media: make_and_delete(service, media, asked.boxes // asked.clients), service.media))
    show(f"after {asked.boxes:,} boxes", stack)
    end = time.monotonic() + asked.rest
    while time.monotonic() < end:
        time.sleep(asked.rest / 4)
        show("at rest", stack)
    done.set()
    watcher.join()
    print(f"{'peak':24} {peak[0] / 1e6:6.0f} MB resident")


def make_and_delete(service: Service, media: int, boxes: int) -> None:
    """Create boxes on a media and delete them, until so many were created."""
    session = service.connect()
    place = f"{service.base}/Localizations/{service.project}"
    for _ in range(0, boxes, A_REQUEST):
        repeat(lambda: session.post(place, json=[service.box(media) for _ in range(A_REQUEST)]))
        repeat(lambda: session.delete(place, params={"media_id": media}, json={}))


def repeat(ask: Callable[[], requests.Response]) -> None:
    """Ask until the project does not grow faster than its snapshots are written."""
    while (answer := ask()).status_code == requests.codes.too_many_requests:
        time.sleep(1)
    answer.raise_for_status()


def watch(pid: int, peak: list[int], done: threading.Event) -> None:
    """Keep the largest resident memory in `peak`."""
    while not done.wait(0.2):
        peak[0] = max(peak[0], sum(maps_of(pid).values()))


def show(when: str, stack: Stack) -> None:
    """Print what a stack holds."""
    parts = maps_of(stack.pid)
    told = ", ".join(f"{name} {size / 1e6:.0f}" for name, size in sorted(parts.items(), key=lambda part: -part[1]))
    print(f"{when:24} {sum(parts.values()) / 1e6:6.0f} MB resident: {told}", flush=True)
    print(f"{'':24} {measured.told(measured.sample(stack))}", flush=True)


def maps_of(pid: int) -> dict[str, int]:
    """Resident bytes of a process by kind of mapping."""
    found: dict[str, int] = {}
    kind = ""
    for line in Path(f"/proc/{pid}/smaps").read_text("utf-8", "replace").splitlines():
        if head := re.match(r"[0-9a-f]+-[0-9a-f]+ (\S+) \S+ \S+ \S+\s*(.*)", line):
            name = head[2]
            kind = "heap" if name == "[heap]" else "files" if name.startswith("/") else "anonymous"
        elif line.startswith("Rss:"):
            found[kind] = found.get(kind, 0) + int(line.split()[1]) * 1024
    return found


if __name__ == "__main__":
    main()
