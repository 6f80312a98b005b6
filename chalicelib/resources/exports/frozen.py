"""The rows of versions of datasets: Parquet files of their own, which depend on no log, snapshot or definition.

    rows/000012.media.parquet, .localizations.parquet, .states.parquet      one part; `formats/writers/table.py` has the
columns     plan.json, counts.json                                                  what holds for all, and the counts
of parts

Labels keep their types and attributes, so that each export of a version maps its own classes. Those that a track has
between its localizations are there, too, marked as not keyed. In a part of a media's frames, media and states stand
again.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from chalicelib.core.models.datasets import DATASET, StoredExport, StoredVersion
from chalicelib.formats.manifest import as_text
from chalicelib.formats.model import Dataset, Group, Label, Media, State
from chalicelib.formats.registry import WRITERS
from chalicelib.formats.writers import table
from chalicelib.resources.exports import places, planning, rows
from chalicelib.resources.exports.rows import PartPlan
from chalicelib.resources.exports.schemas import Classes, Conventions, ExportSpec
from chalicelib.storage.dynamodb import records
from chalicelib.storage.objects import objects


class Prepared(Struct, frozen=True, kw_only=True):
    """The output of a plan for the other steps."""

    header: Dataset
    offsets: list[int]
    """Where the plan of each part begins in its object, and where the last one ends."""


class Written(Struct, frozen=True, kw_only=True):
    """The result of a part: its counts, and where in its object the content of the archive is."""

    labels: int = 0
    interpolated: int = 0
    left_out: int = 0
    simplified: int = 0
    media: int = 0
    samples: int = 0
    """Frames with labels, and images."""
    offset: int = 0
    length: int = 0


prepared = msgspec.json.Decoder(Prepared).decode
part_plan = msgspec.json.Decoder(PartPlan).decode
counts = msgspec.json.Decoder(list[Written]).decode


def write(version: StoredVersion, groups: Iterator[tuple[Group, int]], header: Dataset, index: int) -> Written:
    """Store the rows of one part."""
    labels = interpolated = lost = media = samples = 0
    with tempfile.TemporaryDirectory(prefix="limn-") as place:
        writers = {
            name: table.ParquetWriter(name, table.attributes_of(header, name), Path(place)) for name in table.COLUMNS
        }
        for group, without in groups:
            writers["media"].add(group.media)
            for state in group.states:
                writers["states"].add(state)
            for label in group.labels:
                writers["localizations"].add(label)
            labels, lost, samples = labels + len(group.labels), lost + without, samples + len(group.frames)
            interpolated += group.interpolated
            media += group.is_first
        for name, writer in writers.items():
            objects.write(places.rows_key(version, index, name), writer.finish())
    return Written(labels=labels, interpolated=interpolated, left_out=lost, media=media, samples=samples)


def plan(spec: ExportSpec, export: StoredExport) -> tuple[Dataset, list[PartPlan]]:
    """What holds for an export of a version, and its parts: those of the version, cut where pictures need it.

    Raises:
        NotFound: the version was deleted.
    """
    version: StoredVersion = records.get(DATASET, export.dataset or "")
    known = prepared(objects.read(places.plan_key(version)))
    done = counts(objects.read(places.counts_key(version)))
    media = [[(int(row["id"]), str(row["id"])) for row in _rows(version, index, "media")] for index in range(len(done))]
    splits = planning.split(spec.split, list(dict.fromkeys(each for of in media for each in of))) if spec.split else {}
    most = planning.limits_of(spec).pictures if spec.frames != "none" else None
    is_cut = WRITERS[spec.format].BY_FRAMES
    found = []
    for index, joined in _read_joined(version, known, is_cut=is_cut):
        numbers = [number for number, _ in media[index]]
        of = [splits[number] for number in numbers] if splits else None
        samples = max(sum(each.samples for each in done[index : index + joined]), 1)
        step = most if most and is_cut else samples
        for start in range(0, samples, step):
            stop = start + step if start + step < samples else None
            found.append(PartPlan(media=numbers, splits=of, start=start, stop=stop, frozen=index, joined=joined))
    return _header(spec, export, version, known.header, len(done)), found


def _read_joined(version: StoredVersion, known: Prepared, *, is_cut: bool) -> Iterator[tuple[int, int]]:
    """The parts of a version that are read together: the first, and how many.

    A format that takes media whole has those parts together that hold the frames of one.
    """
    body = objects.read(places.parts_key(version))
    begins = [
        index
        for index, (start, stop) in enumerate(pairwise(known.offsets))
        if is_cut or not part_plan(body[start:stop]).start
    ]
    for index, following in pairwise([*begins, len(known.offsets) - 1]):
        yield index, following - index


def groups(spec: ExportSpec, export: StoredExport, part: PartPlan) -> Iterator[tuple[Group, int]]:
    """The media of a part of an export of a version, with their rows and how many labels their classes leave out."""
    version: StoredVersion = records.get(DATASET, export.dataset or "")
    index = part.frozen or 0
    classes = spec.classes or Classes()
    media = [_row("media", row, Media) for row in _rows(version, index, "media")]  # the same in all parts of one media
    states: defaultdict[str, list[State]] = defaultdict(list)
    for row in _rows(version, index, "states"):
        state = _row("states", row, State)
        states[state.media].append(msgspec.structs.replace(state, class_name=_class(classes, state, None) or ""))
    of_track = {state.key: state for found in states.values() for state in found if state.association == "track"}
    labels: defaultdict[str, list[Label]] = defaultdict(list)
    lost: defaultdict[str, int] = defaultdict(int)
    joined = chain.from_iterable(_rows(version, index + at, "localizations") for at in range(part.joined))
    for row in joined:
        label = _row("localizations", row, Label)
        if not label.keyed and not spec.interpolate:
            continue
        name = _class(classes, label, of_track.get(label.track or ""))
        if name is None:
            lost[label.media] += 1
        else:
            labels[label.media].append(msgspec.structs.replace(label, class_name=name))
    own = _part_of(version, index)
    splits = dict(zip(part.media, part.splits or (), strict=False))
    place = 0
    for row in media:
        split = splits.get(row.id or 0)
        whole = Group(
            media=msgspec.structs.replace(row, split=split) if split else row,
            labels=labels[row.key],
            states=states[row.key],
            is_first=not own.start,
        )
        frames = whole.frames
        chosen = {n for at, n in enumerate(frames, place) if part.start <= at and (part.stop is None or at < part.stop)}
        begins = part.start <= place and (part.stop is None or place < part.stop)
        place += len(frames)
        if chosen or begins:
            some = [label for label in whole.labels if label.frame in chosen]
            yield (
                msgspec.structs.replace(whole, labels=some, is_first=whole.is_first and begins),
                (lost[row.key] if begins else 0),
            )


def _header(spec: ExportSpec, export: StoredExport, version: StoredVersion, known: Dataset, parts: int) -> Dataset:
    conventions = spec.conventions or Conventions()
    classes = spec.classes or Classes()
    names: set[str] = set()
    for index in range(parts):
        names |= _class_names(version, index, classes)
    renamed = {renamed for name in names if (renamed := (classes.rename or {}).get(name, name)) is not None}
    return msgspec.structs.replace(
        known,
        name=export.name,
        classes=rows.order_classes(renamed, classes.order or ()),
        splits=planning.splits_of(spec),
        picture=spec.image_format,
        task=conventions.task,
        first_pixel=conventions.first_pixel,
        created=export.created_datetime,
        source={"project": export.project, "seq": version.seq, "dataset": version.name, "export": export.uid},
    )


def _class_names(version: StoredVersion, index: int, classes: Classes) -> set[str]:
    """The classes of the rows of a part before they are renamed: as `Reader.class_names` has them."""
    column = f"{table.PREFIX}{classes.attribute}"
    names: set[str] = set()
    with _file(version, index, "localizations") as path:
        for type_, value in table.distinct(path, ("type", column)) if path else ():
            names.add(type_ if value is None or classes.attribute is None else as_text(value))
    with _file(version, index, "states") as path:
        for (value,) in table.distinct(path, (column,), "association=track") if path and classes.attribute else ():
            names |= {as_text(value)} if value is not None else set()
    return names


def _class(classes: Classes, row: Label | State, track: State | None) -> str | None:
    """The class of a row, by the same rule as of the project's own; see `schemas.Classes`."""
    name = row.type
    for each in (row, track):
        if classes.attribute and each is not None and (value := each.attributes.get(classes.attribute)) is not None:
            name = as_text(value)
            break
    return (classes.rename or {}).get(name, name)


def _part_of(version: StoredVersion, index: int) -> PartPlan:
    known = prepared(objects.read(places.plan_key(version)))
    start, stop = known.offsets[index : index + 2]
    return part_plan(objects.read_range(places.parts_key(version), start, stop - start))


@contextmanager
def _file(version: StoredVersion, index: int, name: str) -> Iterator[Path | None]:
    """The file of a table of a part; None where the table is empty."""
    with tempfile.TemporaryDirectory(prefix="limn-") as place:
        path = Path(place) / "rows.parquet"
        objects.download(places.rows_key(version, index, name), path)
        yield path if path.stat().st_size else None


def _rows(version: StoredVersion, index: int, name: str) -> Iterator[dict[str, Any]]:
    """The rows of a table of a part."""
    with _file(version, index, name) as path:
        if path:
            yield from table.read_parquet(path)


def _row(name: str, values: dict[str, Any], struct: type[Any]) -> Any:
    row = table.row_of(name, values)
    assert isinstance(row, struct)  # noqa: S101 for mypy
    return row


def numbers_of(found: Sequence[Written]) -> dict[str, int]:
    """The sums of the counts of parts."""
    return {
        name: sum(getattr(each, name) for each in found)
        for name in ("labels", "interpolated", "left_out", "simplified", "media")
    }
