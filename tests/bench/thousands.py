"""`make bench SCALE=1000`: a project of so many thousand boxes, and many small ones; the tables of docs/scale.md.

The rows are made in the database and not through the API (`generated.py`). S3 is a folder on the disk that answers
as slowly (`slow_folder.py`). Processor time is what to read: the machine may be busy with other work.

    SCALE=100,1000     thousands of rows, one after the other; the last column is the exponent of growth between the
                       first and the last: 1 is linear, 0 is constant
    KEPT=/folder       keep what was made there, and use it the next time
    STEPS=ask          only some of the steps: make, export, anew, next, ask
    PROJECTS=1000      how many small projects; 0 leaves them out
"""

from __future__ import annotations

import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import tests.bench.offline  # noqa: F401 before anything reads the settings
from chalicelib.core.kinds import Kind
from chalicelib.query import check, parse
from chalicelib.query.parsers.parameters import LocalizationQuery
from chalicelib.query.statistics.aggregates import Written, bind
from chalicelib.storage.view.cache import Views, resident
from chalicelib.storage.view.database.engine import engine
from chalicelib.storage.view.snapshot import files, snapshots
from chalicelib.storage.view.view import View
from tests.bench import views as small
from tests.bench.generated import MEDIA_EACH, filled
from tests.bench.slow_folder import Folder, pointers, stored


def main() -> None:
    """Print the table for `SCALE` thousand rows, and that of small projects."""
    thousands = [int(each) for each in os.environ.get("SCALE", "100").split(",")]
    steps = os.environ.get("STEPS", ",".join(STEPS)).split(",")
    load = os.getloadavg()[0]
    print(f"rows with random UUIDs and boxes, 8 attributes; load of the machine {load:.1f} on {os.cpu_count()} cores")
    found: dict[str, dict[int, float]] = {}
    for each in thousands:
        with kept(each) as place:
            for step in steps:
                if step == "make" and (place / "pointer.json").exists():
                    continue
                for what, figure in run(step, str(place), str(each * 1000)):
                    found.setdefault(what, {})[each] = figure
    print_growth(thousands, found)
    projects = os.environ.get("PROJECTS", "1000")
    if projects != "0":
        run("many", projects)


@contextmanager
def kept(thousands: int) -> Iterator[Path]:
    """The folder of a project: one that stays where the environment names it."""
    if "KEPT" in os.environ:
        place = Path(os.environ["KEPT"]) / str(thousands)
        place.mkdir(parents=True, exist_ok=True)
        yield place
        return
    with tempfile.TemporaryDirectory(prefix="limn-bench-") as name:
        yield Path(name)


def run(*words: str) -> Iterator[tuple[str, float]]:
    """Run a step in a process of its own, whose memory is that of the step; its lines, each with its first figure."""
    made = [sys.executable, "-m", "tests.bench.thousands", *words]
    with subprocess.Popen(made, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        printed = list(process.stdout)
    if process.returncode:
        raise SystemExit(f"{words} ended with {process.returncode}")
    print("".join(printed), end="", flush=True)
    return iter([(what, float(figure)) for what, figure in map(figures, printed) if figure])


def figures(printed: str) -> tuple[str, str]:
    """What a printed line says, and its last plain number of the second column."""
    what, _, rest = printed.strip().partition("  ")
    return what, rest.split()[0].replace(",", "") if rest.split() else ""


def print_growth(thousands: list[int], found: dict[str, dict[int, float]]) -> None:
    """Print each figure at each size, and how it grows."""
    if len(thousands) < 2:
        return
    print("  " + "thousand rows".ljust(40) + "".join(f"{each:>10,}" for each in thousands) + "  exponent")
    for what, by_size in found.items():
        shown = "".join(f"{by_size[each]:>10,.2f}" if each in by_size else " " * 10 for each in thousands)
        first, last = min(by_size), max(by_size)
        exponent = ""
        if first < last and by_size[first] > 0 and by_size[last] > 0:
            exponent = f"{math.log(by_size[last] / by_size[first]) / math.log(last / first):>10.2f}"
        print("  " + what.ljust(40) + shown + exponent)


def make(store: Folder, rows: int) -> None:
    """Make a project and its first snapshot, without Parquet."""
    began = time.process_time()
    view = filled(rows)
    line("make the rows, CPU s", f"{time.process_time() - began:.1f}", most())
    began = time.process_time()
    with mock.patch.object(snapshots, "ROWS_EXPORTED", 0):
        snapshots.save(view, [])
    line(
        "store the files, CPU s",
        f"{time.process_time() - began:.1f}",
        most(),
        f"{stored_bytes(store.root) / 1e6:.0f} MB",
    )


def export(_store: Folder, rows: int) -> None:
    """Write a snapshot as Parquet."""
    view = snapshots.begin(1)
    began, size, written = time.process_time(), 0, 0
    with tempfile.TemporaryDirectory(prefix="limn-bench-") as place:
        for part, _, path in files.write(view, Path(place)):
            size, written = size + path.stat().st_size, written + part.rows
            path.unlink()
    if written < rows:
        raise SystemExit(f"{written} rows were written of {rows}")
    line("write Parquet, CPU s", f"{time.process_time() - began:.1f}", most(), f"{size / 1e6:.0f} MB")


def anew(_store: Folder, rows: int) -> None:
    """Write the database and the documents anew, as where most documents have no row any more."""
    view = snapshots.begin(1)
    began = time.process_time()
    copied = files.copy(view)
    copied.store.documents.seal()
    if copied.rows != view.rows:
        raise SystemExit(f"{copied.rows} rows were copied of {rows}")
    line("copy database and documents, CPU s", f"{time.process_time() - began:.1f}", most())


def next_snapshot(store: Folder, rows: int) -> None:
    """Change rows anywhere, and write the next snapshot."""
    view = snapshots.begin(1)
    rng = random.Random(2)
    changed = [small.box(rng.randrange(rows) + 1, rng, rows, 1) for _ in range(min(rows // 2, 50_000))]
    began = time.process_time()
    view.apply([small.commit_of(1, view.seq + 1, changed)])
    line("apply 50,000 changes, CPU s", f"{time.process_time() - began:.1f}", most())
    began, size = time.process_time(), stored_bytes(store.root)
    before = {path for path in store.root.rglob("*") if path.is_file()}
    pointer = (store.root / "pointer.json").read_bytes()
    with mock.patch.object(snapshots, "ROWS_EXPORTED", 0):
        snapshots.save(view, [])
    written = f"{(stored_bytes(store.root) - size) / 1e6:.0f} MB written"
    line("store 50,000 changes, CPU s", f"{time.process_time() - began:.1f}", most(), written)
    # What was kept stays as it was made.
    (store.root / "pointer.json").write_bytes(pointer)
    for path in store.root.rglob("*"):
        if path.is_file() and path not in before:
            path.unlink()


def stored_bytes(root: Path) -> int:
    """The bytes of all databases and documents."""
    return sum(path.stat().st_size for path in root.rglob("*.d*") if path.suffix in (".database", ".documents"))


def most() -> str:
    """The most memory that the process took."""
    return f"{peak() / 1e6:.0f} MB at most"


def ask(store: Folder, rows: int) -> None:
    """Open the snapshot and ask it: the first time, and again."""
    rng = random.Random(1)
    engine()
    before = resident()
    store.is_slow = True
    began, used = time.perf_counter(), time.process_time()
    view = snapshots.begin(1)
    line("open, wall s, CPU s", *since(began, used), seen(store))
    for what, given in questions(rows, rng):
        if what in ("equality", "sort + 100"):
            began, used = time.perf_counter(), time.process_time()
            answered(view, given)
            line(f"first {what}, wall s, CPU s", *since(began, used), seen(store))
    store.is_slow = False
    for what, given in questions(rows, rng):
        line(f"{what}, CPU ms", f"{cpu(lambda given=given: answered(view, given)):.1f}")
    for what, given, written in statistics_asked():
        took = cpu(lambda given=given, written=written: measured(view, given, written))
        line(f"{what}, CPU ms", f"{took:.1f}")
    box = lambda: [small.box(rng.randrange(rows) + 1, rng, rows, 1)]  # noqa: E731
    line("refresh, CPU ms", f"{cpu(lambda: view.apply([small.commit_of(1, view.seq + 1, box())])):.1f}")
    line("process, MB", f"{resident() / 1e6:.0f}", f"{before / 1e6:.0f} before", f"{threads()} threads")


def many(projects: int, rows: int = 50_000) -> None:
    """Many projects in one container, asked in turn."""
    with tempfile.TemporaryDirectory(prefix="limn-bench-") as place, stored(Folder(Path(place))):
        views = Views(lambda *_: [], begin=begin_small)
        for size in (100, rows):
            begin_small.rows = size  # type: ignore[attr-defined]
            before = resident()
            for project in range(1, projects + 1):
                views.current(project + size)
            took = []
            for _ in range(2):
                used = time.process_time()
                for project in range(1, projects + 1):
                    answered(views.current(project + size), {"attribute": ["word::w7"]})
                took.append((time.process_time() - used) / projects * 1e3)
            left = len(views._views)
            line(
                f"{projects:,} projects of {size:,}",
                f"{took[-1]:.2f} ms a query",
                f"{(resident() - before) / projects / 1e6:.2f} MB each",
                f"{resident() / 1e6:.0f} MB, {threads()} threads, {left} views",
            )


def begin_small(project: int) -> View:
    """A small project from one snapshot that all have."""
    rows = begin_small.rows  # type: ignore[attr-defined]
    manifests = begin_small.__dict__.setdefault("manifests", {})
    if rows not in manifests:
        view = filled(rows)
        snapshots.save(view, [])
        manifests[rows] = snapshots.manifest_of(1, pointers[1])
        view.close()
    view = snapshots.read(1, manifests[rows])
    view.project = project
    return view


def questions(rows: int, rng: random.Random) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is asked, by name: a count unless it stops."""
    yield "equality", {"attribute": ["word::w7"]}
    yield "two filters", {"attribute": ["letter::a"], "attribute_gt": ["count::500"]}
    yield "sort + 100", {"attribute_gt": ["score::0.5"], "sort_by": ["-score"], "stop": 100}
    yield "contains", {"attribute_contains": ["label::el 77"]}
    yield "related media", {"related_attribute": ["site::s3"]}
    yield "one media's list", {"media_id": [rng.randrange(max(1, rows // MEDIA_EACH)) + 1], "stop": 1000}
    yield "count", {}
    yield "distance 300 km", {"attribute_distance": [f"place::300::{rng.random() * 100 - 50}::8.0"]}


def statistics_asked() -> Iterator[tuple[str, dict[str, Any], Written]]:
    """The statistics, by name, with the query that selects."""
    yield "facets of five", {}, Written(facets=("letter", "word", "label", "flag", "$version"))
    yield "timeline of a media", {"media_id": [1]}, Written(group_by=("$frame::300",))
    yield "timeline of all", {}, Written(group_by=("$frame::300",))
    yield "MaxN per media and label", {}, Written(group_by=("$media", "letter"), measure=("maxn",))
    yield (
        "mean by month and media's site",
        {},
        Written(group_by=("seen::week", "$media.site"), measure=("mean::score",)),
    )
    yield "cells of 10 degrees", {}, Written(group_by=("place::10",))
    yield (
        "quantile and distinct",
        {},
        Written(group_by=("letter",), measure=("quantile::score::0.9", "distinct::label")),
    )


def measured(view: View, given: dict[str, Any], written: Written) -> None:
    """Ask a view for statistics."""
    query = check(parse(Kind.LOCALIZATION, LocalizationQuery(**given)), view.definitions)
    view.statistics(query, bind(written, query, view.definitions))


def answered(view: View, given: dict[str, Any]) -> None:
    """Ask a view."""
    query = check(parse(Kind.LOCALIZATION, LocalizationQuery(**given)), view.definitions)
    if "stop" in given:
        view.documents(query)
    else:
        view.count(query)


def cpu(do: Callable[[], None], times: int = 7) -> float:
    """The median of the processor's milliseconds for a call, after one that does not count."""
    do()
    taken = []
    for _ in range(times):
        began = time.process_time()
        do()
        taken.append((time.process_time() - began) * 1e3)
    return statistics.median(taken)


def since(began: float, used: float) -> tuple[str, str]:
    """Wall and processor seconds since an instant."""
    return f"{time.perf_counter() - began:.2f}", f"{time.process_time() - used:.2f}"


def seen(store: Folder) -> str:
    """How much was asked of S3 since the last time."""
    found = f"{store.requests} requests, {store.bytes / 1e6:.1f} MB"
    store.requests, store.bytes = 0, 0
    return found


def peak() -> float:
    """The most that the process took, in bytes."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def threads() -> int:
    """How many threads the process has."""
    return len(list(Path("/proc/self/task").iterdir()))


def line(*parts: str) -> None:
    """Print a row."""
    print("  " + "   ".join(part.ljust(width) for part, width in zip(parts, (30, 16, 26, 0), strict=False)), flush=True)


STEPS = {"make": make, "export": export, "anew": anew, "next": next_snapshot, "ask": ask}

if __name__ == "__main__":
    match sys.argv[1:]:
        case ["many", projects]:
            many(int(projects))
        case [step, place, rows]:
            with stored(folder := Folder(Path(place))):
                STEPS[step](folder, int(rows))
        case _:
            main()
