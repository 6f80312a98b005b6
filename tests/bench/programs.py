"""Boxes in and out by `limn`, by the published `tator` client, and from project to project by `limn migrate`.

    python -m tests.bench.programs [--rows 100000] [--home FOLDER]
    python -m tests.bench.programs --rows 1000000 --read

With `--read` the boxes are made first, then only read: as Arrow, and 100,000 by `limn query` as CSV and Parquet.
Starts a local stack of its own in a temporary folder, unless FOLDER is one in which `make run` runs (its LIMN_HOME).
Seconds are of the wall clock, then of the processor in this process: on a busy machine compare rows of one
run. Arrow is measured where pyarrow is installed.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from infra.client import Client, Profile
from infra.client.cli import queries
from infra.client.migration import migration
from infra.client.migration.ledger import Ledger
from infra.client.migration.move import Move, Options
from infra.client.migration.source import GentleClient
from infra.client.projects import Selection
from tests.bench.side_by_side import Service
from tests.journeys.stack import Stack, connect

AT_ONCE, PAGE = 500, 5_000
TURNS = 10
"""Parts of the rows in which ways are compared: others' work on the machine falls on all alike."""


def measure(name: str, rows: int, work: Callable[[], Any]) -> None:
    """Do something with rows and print its pace."""
    began, used = time.perf_counter(), time.process_time()
    done = work()
    seconds, used = time.perf_counter() - began, time.process_time() - used
    assert done == rows, (name, done, rows)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{name:44}{seconds:8.1f} s{used:8.1f} s{rows / seconds:10.0f} rows/s{peak:8} MiB at most", flush=True)


def measure_by_turns(rows: int, ways: dict[str, Callable[[int, int], int]]) -> None:
    """Do the same with rows in several ways, a tenth at a time in each, and print their paces.

    A service that starts, and other work on the machine, slow all ways alike; `ways` get the first row and the end.
    """
    spent = {name: [0.0, 0.0] for name in ways}
    for first in range(0, rows, rows // TURNS):
        end = min(first + rows // TURNS, rows)
        for name, work in ways.items():
            began, used = time.perf_counter(), time.process_time()
            assert work(first, end) == end - first, name
            spent[name][0] += time.perf_counter() - began
            spent[name][1] += time.process_time() - used
    for name, (seconds, used) in spent.items():
        print(f"{name:44}{seconds:8.1f} s{used:8.1f} s{rows / seconds:10.0f} rows/s", flush=True)


@contextmanager
def running(home: Path | None) -> Iterator[Path]:
    """A folder in which the local stack runs."""
    if home:
        yield home
        return
    with tempfile.TemporaryDirectory(prefix="limn-bench-") as folder:
        stack = Stack(Path(folder))
        try:
            stack.start()
            yield Path(folder)
        finally:
            stack.kill()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--read", action="store_true")
    given = parser.parse_args()
    with running(given.home) as home:
        place = json.loads((home / ".limn" / "local.json").read_text())
        if given.read:
            made = Service(home, given.rows, media=200)
            with Client(Profile(place["url"], place["token"])) as client:
                read(client, made.project, given.rows, home)
            return
        services = {name: Service(home, rows=0, media=20) for name in ("limn", "tator")}
        with Client(Profile(place["url"], place["token"])) as client:
            compare(client, connect(place), services, given.rows)
            move(client, services["limn"], given.rows, home)


def compare(client: Client, api: Any, services: dict[str, Service], rows: int) -> None:
    """The same boxes in and out by both clients."""
    import tator

    own, other = services["limn"], services["tator"]
    specs = [own.box(own.media[number % 20]) for number in range(rows)]
    foreign = [{**spec, "type": other.box_type, "media_id": other.media[n % 20]} for n, spec in enumerate(specs)]
    flat = [
        {
            **{k: v for k, v in spec.items() if k != "attributes"},
            **{f"attributes.{k}": v for k, v in spec["attributes"].items()},
        }
        for spec in specs
    ]
    created = tator.util.chunked_create
    ways: dict[str, Callable[[int, int], int]] = {
        "limn: write": lambda first, end: len(client.project(own.project).write(flat[first:end]).created),
        "tator: chunked_create": lambda first, end: sum(
            len(answer.id)
            for answer in created(
                api.create_localization_list, other.project, chunk_size=AT_ONCE, body=foreign[first:end]
            )
        ),
    }
    measure_by_turns(rows, ways)
    selection = client.project(own.project).localizations
    measure("limn: rows", rows, lambda: sum(1 for _ in selection()))
    read_as_arrow(selection, rows)
    measure("tator: get_localization_list by pages", rows, lambda: read_by_tator(api, other.project))


def read(client: Client, project: int, rows: int, home: Path) -> None:
    """All boxes as Arrow, and 100,000 as files of the command line."""
    some = min(rows, 100_000)
    for format_ in ("csv", "parquet"):
        found = queries.pages(client, "localizations", project, query={}, limit=some)
        work = partial(queries.write, found, home / f"boxes.{format_}", format_, sys.stdout.buffer)
        measure(f"limn query, {format_}", some, work)
    read_as_arrow(client.project(project).localizations, rows)


def read_as_arrow(selection: Callable[[], Selection[Any]], rows: int) -> None:
    """Boxes as tables, the ways that need most memory last; only where pyarrow and the others are installed."""
    if find_spec("pyarrow"):
        measure("limn: scan", rows, lambda: sum(batch.num_rows for batch in selection().scan()))
        measure("limn: to_arrow", rows, lambda: selection().to_arrow().num_rows)
    for name in ("polars", "pandas"):
        if find_spec("pyarrow") and find_spec(name):
            measure(f"limn: to_{name}", rows, lambda: len(getattr(selection(), f"to_{name}")()))  # noqa: B023 called now


def read_by_tator(api: Any, project: int) -> int:
    """All boxes by the published client, page by page."""
    import tator

    count, after = 0, 0
    while True:
        try:
            found = api.get_localization_list(project, after=after, stop=PAGE)
        except tator.exceptions.ApiException as error:  # it repeats nothing by itself
            if error.status != HTTPStatus.SERVICE_UNAVAILABLE:
                raise
            time.sleep(1)
            continue
        if not found:
            return count
        count, after = count + len(found), found[-1].id


def move(client: Client, source: Service, rows: int, home: Path) -> None:
    """The project of boxes into an empty one."""
    there = source.made(
        "Projects", {"name": f"copy of {source.project}", "organization": _organization(client, source)}
    )
    ledger = Ledger(home / "migration.sqlite")
    with GentleClient(client.profile) as gentle:
        job = Move(gentle, source.project, client, there, ledger, Options(parallel=4))

        def run() -> int:
            report = migration.run(job)
            assert migration.is_complete(report), report
            return int(report["counts"]["localization"]["target"])

        measure("limn migrate, to its report", rows, run)
        measure("limn migrate, a run that finds nothing", rows, run)
    ledger.close()


def _organization(client: Client, source: Service) -> int:
    return client.get_project(source.project)["organization"]


if __name__ == "__main__":
    main()
