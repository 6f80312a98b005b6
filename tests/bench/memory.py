"""Memory of one process while clients make and delete many boxes, and what holds it.

    python -m tests.bench.memory HOME PID [--boxes 180000] [--clients 4] [--rest 240]

HOME is the folder in which `make run` runs (its LIMN_HOME), PID its process. Each client creates 500 boxes a request
and deletes them by media, so that nothing is alive in the end. `rest` seconds later the compaction has run. Printed is
the resident memory of the process by kind of mapping, as `/proc/PID/smaps` has it: the first arena of the C library
("heap"), its other arenas with those of Python and DuckDB ("anonymous"), and files.
"""

from __future__ import annotations

import argparse
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.bench.side_by_side import Service

A_REQUEST = 500


def main() -> None:
    """Print a line at the beginning, while the clients work, and at rest."""
    read = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    read.add_argument("home", type=Path)
    read.add_argument("pid", type=int)
    read.add_argument("--boxes", type=int, default=180_000)
    read.add_argument("--clients", type=int, default=4)
    read.add_argument("--rest", type=float, default=240.0)
    asked = read.parse_args()
    service = Service(asked.home, 0, asked.clients)
    show("before", asked.pid)
    peak, done = [0], threading.Event()
    watcher = threading.Thread(target=watch, args=(asked.pid, peak, done))
    watcher.start()
    with ThreadPoolExecutor(asked.clients) as pool:
        list(pool.map(lambda media: make_and_delete(service, media, asked.boxes // asked.clients), service.media))
    show(f"after {asked.boxes:,} boxes", asked.pid)
    end = time.monotonic() + asked.rest
    while time.monotonic() < end:
        time.sleep(asked.rest / 4)
        show("at rest", asked.pid)
    done.set()
    watcher.join()
    print(f"{'peak':24} {peak[0] / 1e6:6.0f} MB resident")


def make_and_delete(service: Service, media: int, boxes: int) -> None:
    """Create boxes on a media and delete them, until so many were created."""
    session = service.connect()
    place = f"Localizations/{service.project}"
    for _ in range(0, boxes, A_REQUEST):
        service.call("POST", place, session, json=[service.box(media) for _ in range(A_REQUEST)])
        service.call("DELETE", place, session, params={"media_id": media}, json={})


def watch(pid: int, peak: list[int], done: threading.Event) -> None:
    """Keep the largest resident memory in `peak`."""
    while not done.wait(0.2):
        peak[0] = max(peak[0], sum(maps_of(pid).values()))


def show(when: str, pid: int) -> None:
    """Print what a process holds."""
    parts = maps_of(pid)
    told = ", ".join(f"{name} {size / 1e6:.0f}" for name, size in sorted(parts.items(), key=lambda part: -part[1]))
    print(f"{when:24} {sum(parts.values()) / 1e6:6.0f} MB resident: {told}", flush=True)


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
