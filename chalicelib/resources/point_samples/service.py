"""Sampled points: where they lie, and their creation.

A point's elemental id is made of the sample and its number, so a repeated request finds the points that are there: it
may be sent again after an error.
"""

from __future__ import annotations

import hashlib
import math
import random
import uuid
from collections.abc import Iterator

from chalicelib.core.batches import batched
from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import LOCALIZATION_TYPE
from chalicelib.core.models.entities import LocalizationSpec, Media
from chalicelib.errors import BadInput, NotFound
from chalicelib.resources.annotations import creation
from chalicelib.resources.comments.schemas import Region
from chalicelib.resources.entities.service import Writer
from chalicelib.resources.media.selection import select
from chalicelib.resources.point_samples.schemas import PointSampleSpec
from chalicelib.storage.dynamodb import records

MOST_POINTS = 20_000
"""Points of one request."""
_NAMESPACE = uuid.UUID("9a1c4c53-3a0a-4f0e-9a57-6a2c1b0d9a11")
_WHOLE = Region(x=0.0, y=0.0, width=1.0, height=1.0)
Point = tuple[float, float]


def create(writer: Writer, spec: PointSampleSpec) -> tuple[list[int], int]:
    """Draw the points of a sample that do not exist yet.

    Returns:
        the ids of all points of the sample, and the number of frames.

    Raises:
        BadInput: both `frame` and `every`, a region beyond the frame, a type of another dtype, or too many points.
        NotFound: the type or a media is not in the project.
    """
    _check(writer.project, spec)
    chosen: list[tuple[Media, int]] = []
    for media in select(writer.scope, writer.project, spec.media_ids, spec.media_query):
        frames = _frames_of(media, spec)
        if (len(chosen) + len(frames)) * spec.count > MOST_POINTS:  # before they are listed: a media says any number
            raise BadInput(
                f"count: {len(chosen) + len(frames)} frames or more, of {spec.count} points each; a request draws at "
                f"most {MOST_POINTS} points."
            )
        chosen += [(media, frame) for frame in frames]
    specs = [each for media, frame in chosen for each in _specs_of(media, frame, spec)]
    numbers: list[int] = []
    for part in batched(specs, 500):
        numbers += creation.create_missing(Kind.LOCALIZATION, writer, part)
    return numbers, len(chosen)


def _check(project: int, spec: PointSampleSpec) -> None:
    if spec.frame is not None and spec.every is not None:
        raise BadInput("Give frame or every, not both.")
    region = spec.region
    if region is not None and (region.x + region.width > 1 or region.y + region.height > 1):
        raise BadInput("region: x + width and y + height are at most 1, the edge of the frame.")
    type_ = records.get(LOCALIZATION_TYPE, spec.type)
    if type_.project != project:
        raise NotFound.of("LocalizationType", spec.type)
    if type_.dtype != "dot":
        raise BadInput(f"type: the points need a localization type of dtype dot; {type_.name!r} is of {type_.dtype}.")


def _frames_of(media: Media, spec: PointSampleSpec) -> range:
    last = max(media.num_frames or 1, 1)
    if spec.every is not None:
        return range(0, last, spec.every)
    frame = spec.frame or 0
    if frame >= last:
        raise BadInput(f"frame: media {media.id} has frames 0 to {last - 1}; given {frame}.")
    return range(frame, frame + 1)


def _specs_of(media: Media, frame: int, spec: PointSampleSpec) -> Iterator[LocalizationSpec]:
    region = spec.region or _WHOLE
    sample = f"{spec.type}|{spec.version}|{spec.method}|{spec.count}|{spec.seed}|{_text_of(region)}|{media.id}|{frame}"
    for number, (x, y) in enumerate(points_of(spec.method, spec.count, region, sample)):
        element = str(uuid.uuid5(_NAMESPACE, f"{sample}|{number}"))
        yield LocalizationSpec(
            media_id=media.id, type=spec.type, frame=frame, version=spec.version, x=x, y=y, elemental_id=element
        )


def _text_of(region: Region) -> str:
    return f"{region.x},{region.y},{region.width},{region.height}"


def points_of(method: str, count: int, region: Region, sample: str) -> list[Point]:
    """The points of a frame, in the order in which they are labelled.

    Args:
        method: `random`, `stratified` or `grid`.
        count: how many; the cells of a grid have equal areas.
        region: where they lie, relative to the frame.
        sample: what the random numbers depend on; the same text gives the same points on every machine.
    """
    source = random.Random(hashlib.sha256(sample.encode()).digest())  # noqa: S311 not for secrets
    if method == "random":
        return [_within(region, source.random(), source.random()) for _ in range(count)]
    columns = math.ceil(math.sqrt(count))
    found = []
    for number in range(count):
        row, column = divmod(number, columns)
        # a shorter last row is lower by as much as its cells are wider: all cells have the same area
        width = min(columns, count - columns * row)
        across, down = (0.5, 0.5) if method == "grid" else (source.random(), source.random())
        found.append(_within(region, (column + across) / width, (row * columns + down * width) / count))
    return found


def _within(region: Region, across: float, down: float) -> Point:
    return region.x + across * region.width, region.y + down * region.height
