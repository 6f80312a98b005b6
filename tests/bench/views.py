"""What the view takes: queries, refreshes, cold starts and memory, and how each grows with the number of annotations.

At 10,000 and 100,000 localizations of eight attributes, and with BENCH_MILLION=1 at 1,000,000. The rows come from
commits of 500 made here, so that no table is measured; snapshots go to the object store of this process.
"""

from __future__ import annotations

import gc
import os
import random
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from chalicelib.core.kinds import DefinitionKind, Kind
from chalicelib.core.log.commits import Change, Commit
from chalicelib.core.models.definitions import LocalizationType, MediaType, Section
from chalicelib.core.models.entities import Localization, Media
from chalicelib.core.values.attributes import AttributeType
from chalicelib.query import check, parse
from chalicelib.query.parsers.bodies import FloatArrayQuery, LocalizationIdQuery
from chalicelib.query.parsers.parameters import LocalizationQuery
from chalicelib.storage.dynamodb import ids
from chalicelib.storage.view.snapshot import snapshots
from chalicelib.storage.view.snapshot.snapshot_records import current
from chalicelib.storage.view.view import View

SIZES = [10_000, 100_000, *([1_000_000] if os.environ.get("BENCH_MILLION") else [])]
VECTORS, DIMENSIONS = 100_000, 512
STAMP = "2026-01-02T03:04:05.678Z"
DTYPES = {
    "flag": "bool",
    "count": "int",
    "score": "float",
    "letter": "enum",
    "word": "string",
    "label": "string",
    "seen": "datetime",
    "place": "geopos",
}
MEDIA_EACH = 100
"""Localizations of each media."""
BOX, VECTOR = 1, 2
Line = Callable[..., None]
Question = tuple[str, dict[str, Any]]


def main(print_line: Line) -> None:
    """Measure it all, a line each: what, then the figure at each size, then how much it grew over the last step."""
    found: dict[str, list[float]] = {}
    units: dict[str, str] = {}
    for size in SIZES:
        for what, figure, unit in measured(size):
            found.setdefault(what, []).append(figure)
            units[what] = unit
    print_line("", *(f"{size:,}" for size in SIZES), "growth for 10 times the rows")
    for what, figures in found.items():
        growth = figures[-1] / figures[-2] if len(figures) > 1 and figures[-2] else 0.0
        shown = [f"{figure:,.2f} {units[what]}" for figure in figures]
        print_line(what, *shown, f"x {growth:.1f}")
    for what, figure, unit in nearest():
        print_line(what, f"{figure:,.2f} {unit}")


def measured(size: int) -> Iterator[tuple[str, float, str]]:
    """Figures at one size: what, how much, of what."""
    rng = random.Random(size)
    project = ids.reserve("project")[0]
    view = View(project)
    began = time.perf_counter()
    for commit in commits(project, size, rng):
        view.apply([commit])
    yield "load from the log", time.perf_counter() - began, "s"
    yield "memory per million", view.memory / size * 1e6 / 1e9, "GB"
    for what, given in questions(size, rng):
        yield what, milliseconds(view, LocalizationQuery(**given), documents=given.get("stop") == 100), "ms"
    one = LocalizationQuery(media_id=[size // MEDIA_EACH // 2])
    yield "list of one media's", milliseconds(view, one, documents=True), "ms"
    yield "refresh after one write", refresh(view, rng, size) * 1e3, "ms"
    began = time.perf_counter()
    snapshots.save(view, [])
    yield "writing a snapshot", time.perf_counter() - began, "s"
    rows = view.rows
    view.close()
    del view
    gc.collect()
    manifest = current(project)
    assert manifest
    began = time.perf_counter()
    loaded = snapshots.begin(project)
    yield "cold load from snapshot", time.perf_counter() - began, "s"
    assert loaded.rows == rows
    yield "memory so, per million", loaded.memory / size * 1e6 / 1e9, "GB"
    loaded.close()


def refresh(view: View, rng: random.Random, size: int) -> float:
    """How long it takes to take in a commit of one box, in seconds."""

    def one() -> None:
        view.apply([commit_of(view.project, view.seq + 1, [box(rng.randrange(size) + 1, rng, size, view.project)])])

    return timed(one, 50)


def questions(size: int, rng: random.Random) -> list[Question]:
    """The queries of the issue, by name: a count unless they stop at 100."""
    return [
        ("count all", {}),
        ("count by equality", {"attribute": ["word::w7"]}),
        ("count by two filters", {"attribute": ["letter::a"], "attribute_gt": ["count::500"]}),
        ("filter + sort, first 100", {"attribute_gt": ["score::0.5"], "sort_by": ["-score"], "stop": 100}),
        ("count by contains", {"attribute_contains": ["label::el 77"]}),
        ("count by related media", {"related_attribute": ["site::s3"]}),
        ("count by section", {"section": 1}),
        ("count by distance", {"attribute_distance": [f"place::300::{rng.random() * 100 - 50}::8.0"]}),
        ("count by great distance", {"attribute_distance": ["place::5000::10.0::8.0"]}),
        ("search string", {"search": "word:w1* AND count:[10 TO 20]"}),
        ("page by after, first 100", {"after": size // 2, "stop": 100}),
    ]


def nearest() -> Iterator[tuple[str, float, str]]:
    """Figures of nearest neighbours among vectors."""
    rng = random.Random(1)
    project = ids.reserve("project")[0]
    view = View(project)
    kind = LocalizationType(
        id=VECTOR,
        project=project,
        name="vector",
        elemental_id="",
        dtype="dot",
        attribute_types=[AttributeType(name="v", dtype="float_array", size=DIMENSIONS)],
    )
    view.apply([commit_of(project, 1, [Change("localization_type", VECTOR, raw(kind))])])
    some = [[rng.random() for _ in range(DIMENSIONS)] for _ in range(1000)]
    for start in range(0, VECTORS, 500):
        made = [
            localization(project, start + place, VECTOR, 1, {"v": some[rng.randrange(1000)]}) for place in range(500)
        ]
        view.apply([commit_of(project, view.seq + 1, made)])
    for metric in ("l2norm", "cosine", "ip"):
        wanted = FloatArrayQuery(name="v", center=some[0], metric=metric)  # type: ignore[arg-type]
        body = LocalizationIdQuery(float_array=[wanted])
        query = LocalizationQuery(type=VECTOR, stop=10)
        taken = milliseconds(view, query, body, documents=True)
        yield f"nearest 10 of {VECTORS:,} x {DIMENSIONS}, {metric}", taken, "ms"
    view.close()


def milliseconds(view: View, query: LocalizationQuery, body: Any = None, *, documents: bool = False) -> float:
    """How long a question takes from its parameters to its answer."""

    def ask() -> None:
        checked = check(parse(Kind.LOCALIZATION, query, body), view.definitions)
        if documents:
            view.documents(checked)
        else:
            view.count(checked)

    return timed(ask, 9) * 1e3


def timed(do: Callable[[], None], times: int) -> float:
    """The median of several runs in seconds, after one that does not count."""
    do()
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        do()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def commits(project: int, size: int, rng: random.Random) -> Iterator[Commit]:
    """A log: definitions, media, and boxes 500 at a time."""
    attributes = [AttributeType(name=name, dtype=dtype) for name, dtype in DTYPES.items()]  # type: ignore[arg-type]
    named = {"id": 1, "project": project, "elemental_id": ""}
    site = AttributeType(name="site", dtype="string")
    media_type = MediaType(**named, name="video", dtype="video", attribute_types=[site])
    box_type = LocalizationType(**named, name="box", dtype="box", attribute_types=attributes)
    section = Section(**named, name="s", path="s", tator_user_sections="s")
    definitions = {
        DefinitionKind.MEDIA_TYPE: media_type,
        DefinitionKind.LOCALIZATION_TYPE: box_type,
        DefinitionKind.SECTION: section,
    }
    yield commit_of(project, 1, [Change(kind, 1, raw(each)) for kind, each in definitions.items()])
    yield commit_of(project, 2, [media(project, number) for number in range(1, size // MEDIA_EACH + 1)])
    for place, start in enumerate(range(1, size + 1, 500)):
        yield commit_of(project, 3 + place, [box(start + each, rng, size, project) for each in range(500)])


def media(project: int, number: int) -> Change:
    """A video, one of ten in the section."""
    thing = Media(
        id=number,
        project=project,
        type=1,
        name=f"{number}.mp4",
        elemental_id="",
        created_by=1,
        created_datetime=STAMP,
        modified_by=1,
        modified_datetime=STAMP,
        attributes={"site": f"s{number % 20}", **({"tator_user_sections": "s"} if number % 10 == 0 else {})},
    )
    return Change("media", number, raw(thing))


def box(number: int, rng: random.Random, size: int, project: int = 1) -> Change:
    """A box with a value of each attribute."""
    attributes = {
        "flag": rng.random() < 0.5,
        "count": rng.randrange(1000),
        "score": rng.random(),
        "letter": rng.choice("abcd"),
        "word": f"w{rng.randrange(50)}",
        "label": f"label {rng.randrange(2000)}",
        "seen": f"2026-01-{rng.randrange(1, 29):02d}T03:04:05.000Z",
        "place": [rng.random() * 360 - 180, rng.random() * 180 - 90],
    }
    return localization(project, number, BOX, rng.randrange(size // MEDIA_EACH) + 1, attributes)


def localization(project: int, number: int, type_: int, of: int, attributes: dict[str, Any]) -> Change:
    """A localization of a media."""
    thing = Localization(
        id=number,
        project=project,
        type=type_,
        media=of,
        frame=number % 10_000,
        version=1,
        elemental_id=f"00000000-0000-4000-8000-{number:012x}",
        x=0.25,
        y=0.5,
        width=0.125,
        height=0.0625,
        created_by=1,
        created_datetime=STAMP,
        modified_by=1,
        modified_datetime=STAMP,
        attributes=attributes,
    )
    return Change("localization", number, raw(thing))


def raw(thing: Any) -> msgspec.Raw:
    """A thing's document."""
    return msgspec.Raw(msgspec.json.encode(thing))


def commit_of(project: int, seq: int, changes: list[Change]) -> Commit:
    """A commit."""
    return Commit(project=project, seq=seq, at=STAMP, user=1, changes=changes)
