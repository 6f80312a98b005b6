"""A large file up and down by `limn` and by the published `tator` client, over loopback.

    python -m tests.bench.transfers [--gib 10] [--home FOLDER]

Starts a local stack of its own, unless FOLDER is one in which `make run` runs (its LIMN_HOME). The
file is sparse, the stored objects are not: two of them need that much room. Seconds are of the wall clock, then
of the processor in this process; memory is what the process had at most so far.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from infra.client import Client, Profile
from infra.client.mirrors import folder
from infra.client.uploads import Journal, Target, Uploader, UploadFile
from tests.bench.programs import running
from tests.bench.side_by_side import Service
from tests.journeys.stack import connect

GIB = 1 << 30


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gib", type=float, default=10)
    parser.add_argument("--home", type=Path)
    given = parser.parse_args()
    with running(given.home) as home, tempfile.TemporaryDirectory(prefix="limn-bench-") as here:
        place = json.loads((home / ".limn" / "local.json").read_text())
        path = Path(here, "large.bin")
        with path.open("wb") as file:
            file.truncate(int(given.gib * GIB))
        project = Service(home, rows=0, media=0).project
        with Client(Profile(place["url"], place["token"]), connections=20) as client:
            compare(client, connect(place), project, path)


def compare(client: Client, api: Any, project: int, path: Path) -> None:
    """The same file up and down by both clients, `limn` first as it has the smaller peak."""
    from tator.util._download_file import _download_file
    from tator.util._upload_file import _upload_file

    size, back = path.stat().st_size, path.with_suffix(".back")
    keys: list[str] = []

    def send() -> None:
        journal = Journal(path.with_suffix(".sqlite"))
        keys.append(Uploader(client, Target(project), journal, parallel=4).store(UploadFile(path, path.name)))
        journal.close()

    def fetch() -> None:
        [found] = client.get_download_info(project, {"keys": [keys[0]]})
        assert folder._stream(client, found["url"], back, 0, lambda _: None) == size

    def send_by_tator() -> None:
        *_, (_, stored) = _upload_file(api, project, str(path), max_workers=4)
        keys.append(stored.key)

    def fetch_by_tator() -> None:
        [found] = api.get_download_info(project, {"keys": [keys[1]]})
        for _ in _download_file(api, project, found.url, str(back)):
            pass
        assert back.stat().st_size == size

    measure("limn: up", size, send)
    measure("limn: down", size, fetch)
    back.unlink()
    measure("tator: up", size, send_by_tator)
    measure("tator: down", size, fetch_by_tator)


def measure(name: str, size: int, work: Callable[[], None]) -> None:
    """Move bytes and print the pace."""
    began, used = time.perf_counter(), time.process_time()
    work()
    seconds, used = time.perf_counter() - began, time.process_time() - used
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{name:16}{seconds:8.1f} s{used:8.1f} s{size / seconds / 1e6:8.0f} MB/s{peak:8} MiB at most", flush=True)


if __name__ == "__main__":
    main()
