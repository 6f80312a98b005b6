"""`python -m tests.bench.vectors 1000`: nearest neighbours among so many thousand vectors; a table of docs/scale.md.

The vectors are random, or lie around a thousand centers. Their rows are made in the database and not through the API;
the snapshot lies in a folder (`thousands.py`). The answers are compared with those of numpy. Processor time is what to
read: the machine may be busy with other work.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

import tests.bench.offline  # noqa: F401 before anything reads the settings
from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Change
from chalicelib.core.models.definitions import LocalizationType
from chalicelib.core.models.entities import Localization
from chalicelib.core.resource import answer
from chalicelib.core.values.attributes import AttributeType
from chalicelib.query import check, parse, vector_codes
from chalicelib.query.layout import codes
from chalicelib.query.parsers.bodies import FloatArrayQuery, LocalizationIdQuery
from chalicelib.query.parsers.parameters import LocalizationQuery
from chalicelib.query.vector_codes import HEAD, STEPS
from chalicelib.storage.view.cache import resident
from chalicelib.storage.view.database.engine import engine
from chalicelib.storage.view.rows import DOCUMENT
from chalicelib.storage.view.snapshot import snapshots
from chalicelib.storage.view.vector_column import VectorColumn
from chalicelib.storage.view.view import View
from tests.bench import views as small
from tests.bench.thousands import Folder, line, peak, seen, stored

DIMENSIONS = 512
BATCH = 10_000
CENTERS = 1000
QUERIES = 3
MOST = (10, 100)
METRICS = ("l2norm", "cosine", "ip", "l1norm")


def batches(rows: int, style: str) -> Iterator[np.ndarray[Any, Any]]:
    """The vectors, some at a time, of numbers with four decimals."""
    rng = np.random.default_rng(1)
    around = rng.standard_normal((CENTERS, DIMENSIONS))
    for _ in range(0, rows, BATCH):
        made = rng.standard_normal((BATCH, DIMENSIONS), dtype=np.float32)
        if style == "clustered":
            made = around[rng.integers(0, CENTERS, BATCH)] + 0.2 * made
        yield made.round(4).astype(np.float32)


def coded(vectors: np.ndarray[Any, Any]) -> list[bytes]:
    """The codes of vectors, as `query/vector_codes.py` makes them."""
    exact = vectors.astype(np.float64)
    steps = np.ceil(STEPS * np.log2(np.abs(exact).max(axis=1) / vector_codes.MAX_CODE)).astype(int)
    size = np.power(2.0, steps / STEPS)[:, None]
    whole = np.rint(exact / size)
    errors = np.linalg.norm(exact - whole * size, axis=1) * (1 + 2**-20)
    squares, lengths = (whole**2).sum(axis=1).astype(int), np.linalg.norm(exact, axis=1)
    heads = zip(steps.tolist(), squares.tolist(), errors.tolist(), lengths.tolist(), strict=True)
    return [HEAD.pack(*head) + row.tobytes() for head, row in zip(heads, whole.astype(np.int8), strict=True)]


def make(root: Path, rows: int, style: str) -> None:
    """Make a project with so many vectors, and its snapshot."""
    with stored(Folder(root)):
        view = View(1)
        attribute = AttributeType(name="v", dtype="float_array", size=DIMENSIONS)
        type_ = LocalizationType(
            id=small.VECTOR, project=1, name="vector", elemental_id="", dtype="dot", attribute_types=[attribute]
        )
        definition = Change("localization_type", small.VECTOR, small.raw(type_))
        view.apply([small.commit_of(1, 1, [definition])])
        column = view.state.layout.slots[Kind.LOCALIZATION][small.VECTOR]["v"].column
        given = {
            "project": 1,
            "created_by": 1,
            "created_datetime": small.STAMP,
            "modified_by": 1,
            "modified_datetime": small.STAMP,
        }
        thing = Localization(
            **given, id=1, type=small.VECTOR, media=1, frame=0, version=1, elemental_id="", attributes={"v": [0.5]}
        )
        head, tail = msgspec.json.encode(answer(thing)).decode().replace('"id":1,', '"id":%d,').split("[0.5]")
        cursor = view.store.writer
        cursor.execute("CREATE TEMP TABLE made (id BIGINT, v BLOB, q BLOB, place BIGINT)")
        fixed = {"type": small.VECTOR, "media": "1 + m.id // 1000", "frame": 0, "version": 1, "mark": 0}
        fixed |= {"latest": "true", "variant_deleted": "false"}
        wanted = ", ".join(f'"{name}"' for name in fixed)
        number = 0
        for made in batches(rows, style):
            some = []
            for vector, code in zip(made, coded(made), strict=True):
                number += 1
                body = (head % number).encode() + msgspec.json.encode(vector.tolist()) + tail.encode()
                some.append((number, vector.tobytes(), code, view.store.documents.add(body, small.VECTOR, 0)))
            appender = cursor.appender("temp.main.made")
            appender.append_rows(some)
            appender.flush()
            cursor.execute(
                f"INSERT INTO localization (id, {wanted}, {column}, {codes(column)}, {DOCUMENT})"
                f" SELECT m.id, {', '.join(map(str, fixed.values()))}, m.v, m.q, m.place FROM temp.made m ORDER BY m.id"
            )
            cursor.execute("DELETE FROM temp.made")
            if number % (10 * BATCH) == 0:
                view.compress()
        view.state.highest[Kind.LOCALIZATION] = number
        snapshots._export = lambda *_: []  # type: ignore[assignment]  # the files of others are not measured here
        snapshots.save(view, [])
        view.close()


def ask(root: Path, rows: int, style: str) -> None:
    """Ask a cold container, then a warm one, and compare the answers."""
    store = Folder(root)
    rng = random.Random(7)
    engine()
    line(f"{rows:,} {style} vectors", f"{resident() / 1e6:.0f} MB before")
    centers = [each for made in batches(BATCH, style) for each in made[rng.sample(range(BATCH), QUERIES)]]
    centers = [(each + np.float32(0.1)).round(4) for each in centers]
    with stored(store):
        view = snapshots.begin(1)
        reads = counted()
        store.is_slow = True
        began, used = time.perf_counter(), time.process_time()
        asked(view, centers[0], "l2norm", 10)
        line(
            "first, wall s, CPU s", f"{time.perf_counter() - began:.1f}, {time.process_time() - used:.1f}", seen(store)
        )
        store.is_slow = False
        for metric in METRICS:
            right = exact(rows, style, centers, metric)
            for most in MOST:
                reads.clear()
                took, found = [], []
                for center in centers:
                    used = time.process_time()
                    found.append(asked(view, center, metric, most))
                    took.append((time.process_time() - used) * 1e3)
                same = sum(len(set(one) & set(other[:most])) for one, other in zip(found, right, strict=True))
                line(
                    f"nearest {most}, {metric}",
                    f"{sorted(took)[QUERIES // 2]:.0f} CPU ms",
                    f"recall {same / most / QUERIES:.3f}",
                    f"{sum(reads) / QUERIES:.0f} vectors read, {resident() / 1e6:.0f} MB",
                )
        changed = [
            small.localization(1, number, small.VECTOR, 1, {"v": [float(each) for each in centers[0]]})
            for number in rng.sample(range(1, rows), 100)
        ]
        view.apply([small.commit_of(1, view.seq + 1, changed)])
        used = time.process_time()
        found = asked(view, centers[0], "l2norm", 100)
        took = [(time.process_time() - used) * 1e3]
        assert sorted(found) == sorted(each.id for each in changed)
        line(
            "after 100 changes", f"{took[0]:.0f} CPU ms", f"{resident() / 1e6:.0f} MB", f"{peak() / 1e6:.0f} MB at most"
        )


def asked(view: View, center: np.ndarray[Any, Any], metric: Any, most: int) -> list[int]:
    """The ids of the nearest."""
    body = LocalizationIdQuery(float_array=[FloatArrayQuery(name="v", center=center.tolist(), metric=metric)])
    query = check(parse(Kind.LOCALIZATION, LocalizationQuery(type=small.VECTOR, stop=most), body), view.definitions)
    return view.ids(query)


def exact(rows: int, style: str, centers: list[np.ndarray[Any, Any]], metric: str) -> list[list[int]]:
    """The first ids for each center, from a look at each vector."""
    most = max(MOST)
    found: list[list[tuple[float, int]]] = [[] for _ in centers]
    for place, made in enumerate(batches(rows, style)):
        for number, center in enumerate(centers):
            distances = measured(made, center, metric)
            first = np.argpartition(distances, most)[:most]
            found[number] += zip(distances[first].tolist(), (first + 1 + place * BATCH).tolist(), strict=True)
            found[number] = sorted(found[number])[:most]
    return [[number for _, number in own] for own in found]


def measured(made: np.ndarray[Any, Any], center: np.ndarray[Any, Any], metric: str) -> np.ndarray[Any, Any]:
    """The distances of vectors from a center."""
    match metric:
        case "l2norm":
            return np.linalg.norm(made - center, axis=1)
        case "l1norm":
            return np.abs(made - center).sum(axis=1)
        case "ip":
            return -(made @ center)
    return 1 - made @ center / np.linalg.norm(made, axis=1) / np.linalg.norm(center)


def counted() -> list[int]:
    """A list that gets the number of vectors of each read from now on."""
    reads: list[int] = []
    read = VectorColumn.some

    def some(self: VectorColumn, numbers: Any) -> list[tuple[int, bytes]]:
        reads.append(len(numbers))
        return read(self, numbers)

    VectorColumn.some = some  # type: ignore[method-assign]
    return reads


def main(thousands: int) -> None:
    """Measure random and clustered vectors."""
    for style in ("random", "clustered"):
        with tempfile.TemporaryDirectory(prefix="limn-bench-") as place:
            for step in ("make", "ask"):
                made = [sys.executable, "-m", "tests.bench.vectors", step, place, str(thousands * 1000), style]
                subprocess.run(made, check=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["make", place, rows, style]:
            make(Path(place), int(rows), style)
        case ["ask", place, rows, style]:
            ask(Path(place), int(rows), style)
        case [thousands]:
            main(int(thousands))
