"""The plan of an export: its parts, each bounded in labels, media and pictures, and what holds for all of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from chalicelib.access import view_queries
from chalicelib.access.scope import Scope
from chalicelib.core.kinds import Kind
from chalicelib.core.models.datasets import ExportWork
from chalicelib.errors import BadInput
from chalicelib.formats.model import Dataset
from chalicelib.formats.model import Split as SplitName
from chalicelib.formats.registry import WRITERS
from chalicelib.resources.exports import rows
from chalicelib.resources.exports.rows import PartPlan, Reader
from chalicelib.resources.exports.schemas import Classes, Conventions, ExportSpec, Split
from chalicelib.resources.exports.selection import is_by_annotations, queries
from chalicelib.storage.view.view import View

LABELS_A_PART = 20_000
MEDIA_A_PART = 500
PICTURES_A_PART = 250
"""Some 25 MB of frames of HD, and some 15 s of a processor."""
CROPS_A_PART = 1_000
MAX_PICTURES = 1_000_000
"""Pictures of one media: of nine hours, all frames."""
_SPLITS: tuple[SplitName, ...] = ("train", "val", "test")


class Weight(Struct, frozen=True):
    """What a media, or some frames of it, adds to a part."""

    labels: int
    pictures: int


class Limits(Struct, frozen=True):
    """The most of a part."""

    labels: int
    pictures: int

    def holds(self, labels: int, pictures: int) -> bool:
        """Whether these counts are within the limits of a part."""
        return labels <= self.labels and pictures <= self.pictures


def limits_of(spec: ExportSpec) -> Limits:
    """The limits of the parts of an export."""
    return Limits(LABELS_A_PART, CROPS_A_PART if spec.frames == "crops" else PICTURES_A_PART)


def reader_of(spec: ExportSpec, view: View, scope: Scope) -> Reader:
    """The reader of an export's rows."""
    return Reader(
        view=view, found=queries(spec), scope=scope, classes=spec.classes or Classes(), interpolates=spec.interpolate
    )


def parts(spec: ExportSpec, reader: Reader) -> Iterator[PartPlan]:
    """The parts of an export: media in the order of their ids, as many as fit; a large media by its frames.

    Raises:
        BadInput: a media would give more than `MAX_PICTURES`: its number of frames is what a caller wrote.
    """
    view, scope, found = reader.view, reader.scope, reader.found
    counts = dict(view_queries.tally(view, found.localizations, scope, "media"))
    media = view_queries.pairs(view, found.media, scope, "num_frames")
    if is_by_annotations(spec):
        media = [each for each in media if counts.get(each[0])]
    media.sort()
    splits = split(spec.split, [(number, str(number)) for number, _ in media]) if spec.split else {}
    limits, labels, pictures = limits_of(spec), 0, 0
    waiting: list[int] = []

    def part() -> PartPlan:
        return PartPlan(media=list(waiting), splits=[splits[number] for number in waiting] if splits else None)

    for number, frames in media:
        weight = _weight(spec, counts.get(number, 0), frames or 1)
        if weight.pictures > MAX_PICTURES:
            raise BadInput(
                f"every: media {number} says that it has {frames:,} frames; at most {MAX_PICTURES:,} pictures are made "
                "of one. Give a larger number, or leave it out."
            )
        is_full = len(waiting) >= MEDIA_A_PART or not limits.holds(labels + weight.labels, pictures + weight.pictures)
        if waiting and is_full:
            yield part()
            waiting, labels, pictures = [], 0, 0
        if not limits.holds(weight.labels, weight.pictures) and WRITERS[spec.format].BY_FRAMES:
            own = [splits[number]] if splits else None
            for start, stop in _ranges(spec, reader, number, frames or 1, limits):
                yield PartPlan(media=[number], splits=own, start=start, stop=stop)
            continue
        waiting.append(number)
        labels, pictures = labels + weight.labels, pictures + weight.pictures
    if waiting:
        yield part()


def _weight(spec: ExportSpec, labels: int, frames: int) -> Weight:
    if spec.frames == "every":
        return Weight(labels, -(-frames // (spec.every or 1)))
    return Weight(labels, {"none": 0, "crops": labels}.get(spec.frames, min(labels, frames)))


def _ranges(
    spec: ExportSpec, reader: Reader, media: int, frames: int, limits: Limits
) -> Iterator[tuple[int, int | None]]:
    """Ranges of a media's frames that fit into a part each; the last one has no end."""
    query = reader.found.on(Kind.LOCALIZATION, [media])
    counts = dict(view_queries.tally(reader.view, query, reader.scope, "frame"))
    pictured = range(0, frames, spec.every or 1) if spec.frames == "every" else ()
    start = labels = pictures = 0
    for frame in sorted({*counts, *pictured}):
        of_labels = counts.get(frame, 0)
        of_pictures = {"none": 0, "crops": of_labels, "frames": 1}.get(spec.frames, int(frame in pictured))
        if frame > start and not limits.holds(labels + of_labels, pictures + of_pictures):
            yield start, frame
            start, labels, pictures = frame, 0, 0
        labels, pictures = labels + of_labels, pictures + of_pictures
    yield start, None


def split(wanted: Split, media: Sequence[tuple[int, str]]) -> dict[int, SplitName]:
    """The split of each media, given with a word that does not change: by rank of a hash of the seed and the word."""

    def rank(each: tuple[int, str]) -> bytes:
        return hashlib.sha256(f"{wanted.seed}:{each[1]}".encode()).digest()

    ranked = sorted(media, key=rank)
    ends = [round(len(ranked) * share) for share in (wanted.train, wanted.train + wanted.val)]
    return {
        number: _SPLITS[0 if index < ends[0] else 1 if index < ends[1] else 2]
        for index, (number, _) in enumerate(ranked)
    }


def splits_of(spec: ExportSpec) -> tuple[SplitName, ...]:
    """The splits that media can be in."""
    shares = msgspec.structs.asdict(spec.split) if spec.split else {}
    return tuple(name for name in _SPLITS if shares.get(name))


def header_of(spec: ExportSpec, work: ExportWork, reader: Reader) -> Dataset:
    """The description of the whole dataset, for its writer."""
    conventions = spec.conventions or Conventions()
    view, classes = reader.view, classes_of(spec, reader)
    return Dataset(
        name=work.name,
        classes=classes,
        splits=splits_of(spec),
        label_attributes=attributes_of(view, Kind.LOCALIZATION),
        state_attributes=attributes_of(view, Kind.STATE),
        media_attributes=attributes_of(view, Kind.MEDIA),
        picture=spec.image_format,
        task=conventions.task,
        first_pixel=conventions.first_pixel,
        skeletons=_skeletons(view, classes),
        created=work.created_datetime,
        source={"project": work.project, "seq": work.seq, "export": work.uid},
        taxa=reader.taxa(classes),
    )


def _skeletons(view: View, classes: Sequence[str]) -> dict[str, tuple[tuple[str, ...], tuple[tuple[int, int], ...]]]:
    """By class the skeleton of the type of its name, else of the only type that has one."""
    types = [each for each in view.definitions.types(Kind.LOCALIZATION).values() if getattr(each, "skeleton", None)]
    found: dict[str, Any] = {
        each.name: (tuple(each.skeleton.points), tuple((a, b) for a, b in each.skeleton.edges))  # type: ignore[union-attr]
        for each in types
    }
    only = next(iter(found.values())) if len(found) == 1 and not found.keys() & {*classes} else None
    return {name: each for name in classes if (each := found.get(name, only)) is not None}


def attributes_of(view: View, kind: Kind) -> dict[str, str]:
    """The dtypes of all attributes of a kind by name; `mixed` where types give one name different dtypes."""
    found: dict[str, str] = {}
    for definition in view.definitions.types(kind).values():
        for attribute in definition.attribute_types:
            known: Any = found.setdefault(attribute.name, attribute.dtype)
            if known != attribute.dtype:
                found[attribute.name] = "mixed"
    return found


def classes_of(spec: ExportSpec, reader: Reader) -> tuple[str, ...]:
    """The classes of an export in the order of their numbers."""
    return rows.order_classes(reader.class_names(), (spec.classes.order if spec.classes else None) or ())
