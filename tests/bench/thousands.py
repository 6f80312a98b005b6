"""`make bench SCALE=1000`: a project of so many thousand boxes, and many small ones; the tables of docs/scale.md.

The rows are made in the database and not through the API: random UUIDs and boxes, eight attributes, a document each.
S3 is a folder on the disk that answers after `LATENCY` at `BANDWIDTH`. Processor time is what to read: the machine may
be busy with other work.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO
from unittest import mock

import msgspec

import tests.bench.offline  # noqa: F401 before anything reads the settings
from chalicelib.core.entities import Localization
from chalicelib.core.kinds import Kind
from chalicelib.core.resource import answer
from chalicelib.errors import NotFound
from chalicelib.query import check, parse
from chalicelib.query.aggregates import Written, bind
from chalicelib.query.geodesy import unit_sql
from chalicelib.query.layout import place_columns
from chalicelib.query.parsers.parameters import LocalizationQuery
from chalicelib.storage.objects import objects, view_objects
from chalicelib.storage.view import snapshots
from chalicelib.storage.view.cache import Views, resident
from chalicelib.storage.view.engine import engine
from chalicelib.storage.view.rows import DOCUMENT
from chalicelib.storage.view.snapshot_records import Manifest, Pointer
from chalicelib.storage.view.view import View
from tests.bench import views as small

LATENCY, BANDWIDTH = 0.015, 80e6
"""Of the simulated S3: seconds a request, and bytes a second of all requests together."""
BATCH = 100_000
MEDIA_EACH = 1000
"""Boxes of each media."""
STAMP = "2026-01-02T03:04:05.678Z"


class Folder:
    """An object store in a folder, as slow as S3."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.requests, self.bytes = 0, 0
        self.is_slow = False

    def write(self, key: Any, body: bytes | BinaryIO, content_type: str = "", bucket: Any = None) -> None:
        """Store an object."""
        path = self.root / str(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            if isinstance(body, bytes):
                file.write(body)
            else:
                while data := body.read(1 << 22):
                    file.write(data)

    def read_range(self, key: Any, offset: int, length: int, *, bucket: Any = None) -> bytes:
        """A range of an object."""
        self._wait(length)
        with (self.root / str(key)).open("rb") as file:
            file.seek(offset)
            return file.read(length)

    def get_view_object(self, _project: int, key: str) -> bytes:
        """A whole object."""
        path = self.root / key
        if not path.exists():
            raise NotFound.of("object", key)
        self._wait(path.stat().st_size)
        return path.read_bytes()

    def size(self, key: Any, *, bucket: Any = None) -> int | None:
        """The size of an object."""
        self._wait(0)
        path = self.root / str(key)
        return path.stat().st_size if path.exists() else None

    def _wait(self, length: int) -> None:
        self.requests += 1
        self.bytes += length
        if self.is_slow:
            time.sleep(LATENCY + length / BANDWIDTH)


def main() -> None:
    """Print the table for `SCALE` thousand rows, and that of small projects."""
    thousands = [int(each) for each in os.environ.get("SCALE", "100").split(",")]
    load = os.getloadavg()[0]
    print(f"rows with random UUIDs and boxes, 8 attributes; load of the machine {load:.1f} on {os.cpu_count()} cores")
    for each in thousands:
        with tempfile.TemporaryDirectory(prefix="limn-bench-") as place:
            made = [sys.executable, "-m", "tests.bench.thousands", "make", place, str(each * 1000)]
            subprocess.run(made, check=True)
            subprocess.run([*made[:3], "ask", place, str(each * 1000)], check=True)
    projects = os.environ.get("PROJECTS", "1000")
    subprocess.run([sys.executable, "-m", "tests.bench.thousands", "many", projects], check=True)


def make(root: Path, rows: int) -> None:
    """Make a project and its snapshot."""
    store = Folder(root)
    with stored(store):
        view = filled(rows)
        line("made", f"{rows:,} rows")
        began = time.process_time()
        snapshots.save(view, [])
        line("first snapshot, CPU s", f"{time.process_time() - began:.1f}", f"{peak() / 1e6:.0f} MB at most")
        view.close()
        view = snapshots.begin(1)
        rng = random.Random(2)
        changed = [small.box(rng.randrange(rows) + 1, rng, rows, 1) for _ in range(min(rows // 2, 50_000))]
        view.apply([small.commit_of(1, view.seq + 1, changed)])
        size = sum(path.stat().st_size for path in root.rglob("*.d*") if path.suffix in (".database", ".documents"))
        began = time.process_time()
        with mock.patch.object(snapshots, "ROWS_EXPORTED", 0):
            snapshots.save(view, [])
        after = sum(path.stat().st_size for path in root.rglob("*.d*") if path.suffix in (".database", ".documents"))
        figures = f"{time.process_time() - began:.1f}", f"{(after - size) / 1e6:.0f} MB written of {after / 1e6:.0f}"
        line("next, 50,000 rows changed", *figures)


def ask(root: Path, rows: int) -> None:
    """Open the snapshot and ask it: the first time, and again."""
    store = Folder(root)
    rng = random.Random(1)
    engine()
    with stored(store):
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


pointers: dict[int, Pointer] = {}


def stored(store: Folder) -> Any:
    """Inside, snapshots lie in a folder; their pointers too."""
    stack = mock.patch.multiple(objects, write=store.write, read_range=store.read_range, size=store.size)
    read = mock.patch.object(view_objects, "get", store.get_view_object)
    path = store.root / "pointer.json"

    def pointer(project: int) -> Pointer | None:
        return msgspec.json.decode(path.read_bytes(), type=Pointer) if path.exists() else None

    def advance(manifest: Manifest, where: str, **_: Any) -> Pointer:
        pointers[manifest.project] = Pointer(seq=manifest.seq, folder=where)
        path.write_bytes(msgspec.json.encode(pointers[manifest.project]))
        return pointers[manifest.project]

    def current(project: int) -> Manifest | None:
        found = pointer(project)
        return snapshots.manifest_of(project, found) if found else None

    class Both:
        def __enter__(self) -> None:
            stack.start()
            read.start()
            self.others = mock.patch.multiple(
                snapshots, pointer=pointer, advance=advance, current=current, retired=mock.MagicMock()
            )
            self.others.start()

        def __exit__(self, *_: object) -> None:
            self.others.stop()
            stack.stop()
            read.stop()

    return Both()


def filled(rows: int) -> View:
    """A project with so many boxes."""
    rng = random.Random(rows)
    commits = small.commits(1, rows, rng)
    view = View(1)
    view.apply([next(commits)])
    media = max(1, rows // MEDIA_EACH)
    for start in range(1, media + 1, 5000):
        some = [small.media(1, number) for number in range(start, min(start + 5000, media + 1))]
        view.apply([small.commit_of(1, view.seq + 1, some)])
    slots = view.state.layout.slots[Kind.LOCALIZATION][small.BOX]
    cursor = view.store.writer
    lon, lat, *vector = place_columns(slots["place"].column)
    columns = {
        "id": "i", "type": "1", "created_by": "1", "modified_by": "1", "media": f"1 + (i // {MEDIA_EACH}) % {media}",
        "created_datetime": "TIMESTAMP '2026-01-02 03:04:05.678' + to_milliseconds(i * 731)",
        "modified_datetime": "TIMESTAMP '2026-01-02 03:04:05.678' + to_milliseconds(i * 731)",
        "frame": "i % 10000", "version": "1", "elemental_id": "uuid()::VARCHAR", "mark": "0", "latest": "true",
        "variant_deleted": "false", "x": "random()", "y": "random()", "width": "random() / 4", "height": "random() / 4",
        slots["flag"].column: "random() < 0.5", slots["count"].column: "(random() * 1000)::BIGINT",
        slots["score"].column: "random()", slots["letter"].column: "chr(97 + (random() * 4)::INT % 4)",
        slots["word"].column: "'w' || (random() * 50)::INT % 50",
        slots["label"].column: "'label ' || (random() * 2000)::INT % 2000",
        slots["seen"].column: "TIMESTAMP '2026-01-01 03:04:05' + to_days((random() * 28)::INT)",
        lon: "random() * 360 - 180", lat: "random() * 180 - 90",
    }  # fmt: skip
    names = ", ".join(f'"{name}"' for name in columns)
    taken = ", ".join(f'{value} AS "{name}"' for name, value in columns.items())
    unit = ", ".join(f"{value} AS {name}" for name, value in zip(vector, unit_sql(lon, lat), strict=True))
    head, tail = template()
    wanted = ["id", "media", "frame", "elemental_id", "x", "y", "width", "height"]
    wanted += [slots[name].column for name in ("flag", "count", "score", "letter", "word", "label")] + [lon, lat]
    for start in range(1, rows + 1, BATCH):
        stop = min(start + BATCH, rows + 1)
        cursor.execute(f"CREATE OR REPLACE TEMP TABLE made AS SELECT {taken} FROM range({start}, {stop}) r(i)")
        found = cursor.execute("SELECT {} FROM temp.made ORDER BY id".format(", ".join(f'"{w}"' for w in wanted)))
        places = []
        while page := found.fetchmany(10_000):
            for row in page:
                body = head % row[:8] + tail % row[8:]
                places.append(
                    (
                        row[0],
                        view.store.documents.add(body.replace("True", "true").replace("False", "false").encode(), 1, 0),
                    )
                )
        cursor.execute("CREATE OR REPLACE TEMP TABLE places (id BIGINT, place BIGINT)")
        appender = cursor.appender("temp.main.places")
        appender.append_rows(places)
        appender.flush()
        cursor.execute(
            f"INSERT INTO localization ({names}, {', '.join(vector)}, {DOCUMENT}) SELECT m.*, {unit}, p.place"
            " FROM temp.made m JOIN temp.places p ON p.id = m.id ORDER BY m.id"
        )
    cursor.execute("DROP TABLE temp.made; DROP TABLE temp.places")
    view.state.highest[Kind.LOCALIZATION] = rows
    view.compress()
    return view


def template() -> tuple[str, str]:
    """The document of a box with places for its values, in two parts."""
    given = {"project": 1, "created_by": 1, "created_datetime": STAMP, "modified_by": 1, "modified_datetime": STAMP}
    thing = Localization(
        **given, id=91, type=1, media=92, frame=93, version=1, elemental_id="UUID", x=0.94, y=0.95, width=0.96,
        height=0.97, attributes={},
    )  # fmt: skip
    text = msgspec.json.encode(answer(thing)).decode()
    members = msgspec.json.decode(text)
    order = {"id": "%d", "media": "%d", "frame": "%d", "elemental_id": '"%s"'}
    order |= dict.fromkeys(("x", "y", "width", "height"), "%r")
    constant = {key: value for key, value in members.items() if key not in order and key != "attributes"}
    varying = ",".join(f'"{key}":{sign}' for key, sign in order.items())
    head = "{" + varying + "," + msgspec.json.encode(constant).decode()[1:-1]
    tail = ',"attributes":{"flag":%s,"count":%d,"score":%r,"letter":"%s","word":"%s","label":"%s","place":[%r,%r]}}'
    return head.replace("%Y", "%%Y"), tail


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


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["make", place, rows]:
            make(Path(place), int(rows))
        case ["ask", place, rows]:
            ask(Path(place), int(rows))
        case ["many", projects]:
            many(int(projects))
        case _:
            main()
