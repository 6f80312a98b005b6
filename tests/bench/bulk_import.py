"""`ROWS=1000000 python -m tests.bench.bulk_import`: an import by the API beside the compaction, then the first query.

The API, DynamoDB, S3 and the compaction are one process, so all take from the same processor: import and compaction
are slower than on AWS, in about the same proportion. The compaction begins every `EVERY` seconds (60), as its
schedule says.

What is printed of requests is their longest time with their pauses, and how many were refused. A query is asked of a
container without views: when the import has ended, and again with the largest tail that writers leave.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import tests.bench.offline
import tests.service  # noqa: F401 starts AWS in this process
from chalicelib.core.kinds import Kind
from chalicelib.maintenance import compaction
from chalicelib.storage.log import growth, log
from chalicelib.storage.view.cache import FOLLOW_SECONDS, Views
from chalicelib.storage.view.snapshot import snapshots
from chalicelib.storage.view.snapshot.snapshot_records import pointer
from tests.bench.rows import EACH, ROWS, Bench
from tests.storage.commits import all_of

EVERY = float(os.environ.get("EVERY", "60"))
"""Seconds between two runs of the compaction."""
RUN_SECONDS = 600.0
"""The time of a run: fifteen minutes without what it keeps for its end."""
WRITERS = 4


class Import:
    """An import and what became of its requests."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.longest = self.paused = 0.0
        self.making = self.serving = 0.0
        """Processor seconds of the bodies, which are the clients' part, and of the requests with the database."""
        self.refused = self.tail = 0
        self._left = iter(range(ROWS // EACH))
        self._lock = threading.Lock()
        self._seconds = threading.local()

    def run(self) -> None:
        """Send all rows, by some writers at once; what is refused is sent again when the answer says so."""
        growth._sleep = self._pause  # pauses are counted
        threads = [threading.Thread(target=self._write) for _ in range(WRITERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _pause(self, seconds: float) -> None:
        with self._lock:
            self.paused += seconds
        time.sleep(seconds)

    def _write(self) -> None:
        for number in self._left:
            used = time.thread_time()
            body = [self.bench.box(self.bench.media[number % len(self.bench.media)]) for _ in range(EACH)]
            with self._lock:
                self.making += time.thread_time() - used
            while True:
                began, used = time.perf_counter(), time.thread_time()
                said = self.bench.api.post(f"Localizations/{self.bench.project}", body)
                took, used = time.perf_counter() - began, time.thread_time() - used
                with self._lock:
                    self.serving += used
                    self.longest = max(self.longest, took)
                    self.refused += said.status == 429
                    self.tail = max(self.tail, growth.by_project().get(self.bench.project, 0))
                if said.status == 201:
                    break
                if said.status != 429:
                    raise AssertionError((said.status, said.body[:300]))
                time.sleep(float(said.headers["Retry-After"]))


@contextmanager
def compacting() -> Iterator[list[float]]:
    """Inside, the compaction runs on its schedule; yields the processor seconds of its runs that had an effect.

    Those of DuckDB's own threads are not in them.
    """
    stop, took = threading.Event(), list[float]()

    def work() -> None:
        while not stop.wait(EVERY):
            began = time.thread_time()
            if compaction.run(RUN_SECONDS):
                took.append(time.thread_time() - began)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield took
    finally:
        stop.set()
        thread.join()


def ask(project: int) -> tuple[int, float, float]:
    """The first query of a cold container: the changes that it applied, and its wall and processor seconds."""
    applied = 0

    def read(number: int, seq: int) -> Iterator[Any]:
        nonlocal applied
        for commit in log.read_after(number, seq):
            applied += len(commit.changes)
            yield commit

    began, used = time.perf_counter(), time.process_time()
    view = Views(read, begin=snapshots.begin).current(project)
    view.count(all_of(Kind.LOCALIZATION))
    return applied, time.perf_counter() - began, time.process_time() - used


def print_query(what: str, project: int) -> None:
    """Ask and print."""
    applied, wall, used = ask(project)
    print(f"{what}: {applied:,} changes applied, {wall:.1f} s ({used:.1f} s CPU); a request has {FOLLOW_SECONDS:.0f} s")


def timed(do: Callable[[], None]) -> tuple[float, float]:
    """The wall and processor seconds of a call."""
    began, used = time.perf_counter(), time.process_time()
    do()
    return time.perf_counter() - began, time.process_time() - used


def main() -> None:
    """Import, then ask."""
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, {ROWS:,} boxes in requests of {EACH}", flush=True)
    bench = Bench()
    bench.api.get(f"LocalizationCount/{bench.project}")
    work = Import(bench)
    with compacting() as runs:
        wall, used = timed(work.run)
        print(f"import: {wall:.0f} s ({used:.0f} s CPU), {ROWS / wall:,.0f} rows/s; {WRITERS} writers")
        print(f"of the CPU: requests {work.serving:.0f} s, the clients' bodies {work.making:.0f} s")
        print(f"requests: longest {work.longest:.1f} s, {work.refused} refused, {work.paused:.0f} s of pauses in all")
        print(f"changes without a snapshot: {work.tail:,} at most; writers pause from {growth.SLOW_FROM:,}", flush=True)
        print_query("first query after the import", bench.project)
    print(f"the compaction wrote {len(runs)} times, {sum(runs):.0f} s CPU in all")
    compaction.compact(bench.project, growth.by_project().get(bench.project, 0), force=True)
    found = pointer(bench.project)
    assert found, "no snapshot"
    growth.SLOW_FROM = growth.MOST  # fill up to the bound, without pauses
    work = Import(bench)
    work._left = iter(range(min(ROWS, growth.MOST) // EACH))
    work.run()
    print_query("first query with the largest tail", bench.project)


if __name__ == "__main__":
    main()
