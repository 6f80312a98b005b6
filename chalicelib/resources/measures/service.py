"""Measures of dots and lines that both cameras of a media see (decision 212)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from chalicelib.access import view_queries
from chalicelib.access.scope import Scope
from chalicelib.core.kinds import Kind
from chalicelib.core.measuring.cameras import Pixel, Rig, Vector, length, middle_of, minus
from chalicelib.core.models.definitions import Definitions
from chalicelib.core.models.entities import Localization, Media
from chalicelib.core.permissions import Level
from chalicelib.errors import BadInput
from chalicelib.query.operators import Op
from chalicelib.query.tree import Query, Test
from chalicelib.resources.entities.service import Writer, types_of
from chalicelib.resources.frames.calibrations import rig_of, size_of
from chalicelib.resources.frames.cameras import Cameras
from chalicelib.resources.measures.schemas import (
    Calibrated,
    StereoMeasure,
    StereoMeasureSpec,
    StereoQuery,
    StereoUpdate,
)
from chalicelib.resources.media.selection import select
from chalicelib.resources.rewrites.bulk import with_values
from chalicelib.resources.rewrites.schemas import RewriteAnswer
from chalicelib.resources.rewrites.service import check_entities, dtypes_of, finish_assignment
from chalicelib.storage.dynamodb import entities, records

MOST_SHAPES = 100_000
"""Dots and lines of one request."""
_EPIPOLAR = tuple(0.05 * 1.2**step for step in range(70))
"""Distances along a ray, in lengths of the rig, of the points of an epipolar line: up to 17,000."""
_SIDES = (0, 1)
_CLEARLY = 2.0
"""Pixels by which the ends of a line in the other order must fit better to count."""


class _Stereo:
    """The first two cameras of a media, and their calibration."""

    def __init__(self, cameras: Cameras, rig: Rig, scale: float) -> None:
        self.cameras, self.scale, self.rig = cameras, scale, rig
        left, right = self.parts = cameras.parts[0], cameras.parts[1]
        self.sizes = size_of(left), size_of(right)

    def measure(self, left: Sequence[Pixel], right: Sequence[Pixel]) -> StereoMeasure:
        """The measure of places that both see, as fractions; the ends of a line in the other order if that fits better.

        Raises:
            ValueError: the places cannot be of the same thing.
        """
        here, there = self._pixels(0, left), self._pixels(1, right)
        straight, reason = self._locate_all(here, there)
        crossed, _ = self._locate_all(here, there[::-1]) if len(there) > 1 else (None, None)
        # ends at one height fit either way, so that the other order must fit better by what a hand does not miss
        best = crossed if crossed and (straight is None or crossed[0] < straight[0] - _CLEARLY) else straight
        if best is None:
            raise reason or ValueError("there are no places")
        error, points = best
        place = points[0] if len(points) == 1 else middle_of(*points)
        ends = length(minus(points[0], points[1])) * self.scale if len(points) > 1 else None
        x, y, z, away = (each * self.scale for each in (*place, length(place)))
        if not all(map(math.isfinite, (x, y, z, away, ends or 0.0))):
            raise ValueError("the place is too far away for a number")
        return StereoMeasure(length=ends, range=away, x=x, y=y, z=z, error=error)

    def _locate_all(
        self, here: Sequence[Pixel], there: Sequence[Pixel]
    ) -> tuple[tuple[float, list[Vector]] | None, ValueError | None]:
        """The error and the places that are seen at pixels of both cameras; or why there are none."""
        try:
            located = [self.rig.locate(*pair) for pair in zip(here, there, strict=True)]
        except ValueError as failure:
            return None, failure
        error = math.sqrt(sum(each * each for _, each in located) / len(located))
        return (error, [point for point, _ in located]), None

    def epipolar(self, left: Sequence[Pixel]) -> list[list[list[float]]]:
        """For each place of the left picture, the line in the right one, as far as it is in the picture."""
        unit, (width, height) = length(self.rig.translation), self.sizes[1]
        lines = (self.rig.epipolar_line(each, [unit * share for share in _EPIPOLAR]) for each in self._pixels(0, left))
        return [
            [[x / width, y / height] for x, y in line if -width <= x <= 2 * width and -height <= y <= 2 * height]
            for line in lines
        ]

    def _pixels(self, side: int, places: Sequence[Pixel]) -> list[Pixel]:
        width, height = self.sizes[side]
        return [(x * width, y * height) for x, y in places]


def measure(media: Media, scope: Scope, spec: StereoMeasureSpec) -> StereoMeasure:
    """The measure of what both cameras of a media see, and its epipolar lines.

    Raises:
        BadInput: the media shows no two cameras, has no calibration, or the places cannot be of the same thing.
        NotFound: a part or the file does not exist for the caller.
    """
    if spec.right is not None and len(spec.right) != len(spec.left):
        raise BadInput("right: give as many places as in left.")
    stereo = _stereo(media, scope, spec)
    left = [(x, y) for x, y in spec.left]
    try:
        lines = stereo.epipolar(left)
        found = stereo.measure(left, [(x, y) for x, y in spec.right]) if spec.right is not None else StereoMeasure()
    except ValueError as failure:
        raise BadInput(f"left, right: {failure}.") from None
    found.epipolar = lines
    return found


def measure_all(writer: Writer, query: StereoQuery, body: StereoUpdate) -> RewriteAnswer:
    """Set attributes of all dots and lines that are joined across the first two cameras of media.

    Raises:
        BadInput: an attribute is unknown or no float, a media shows no two cameras, or a calibration is wrong.
        NotFound: a media or file does not exist for the caller.
    """
    writer = writer.to_change(Kind.LOCALIZATION)
    definitions = records.definitions(writer.project)
    names = body.attributes.by_measure()
    check_floats(definitions, names)
    values: dict[int, dict[str, Any] | str] = {}
    reader = writer.scope.for_level(Level.VIEW)
    for media in select(reader, writer.project, body.media_ids, body.media_query):
        stereo = _stereo(media, reader, body)
        for left, right in _pairs(writer, stereo):
            try:
                found = stereo.measure(_places(left), _places(right))
            except ValueError as failure:
                values[left.id] = values[right.id] = f"It cannot be measured with {left.id}, {right.id}: {failure}."
                continue
            given = {name: value for each, name in names.items() if (value := getattr(found, each)) is not None}
            values[left.id] = values[right.id] = given

    return assign(writer, definitions, values, is_dry=query.dry_run)


def assign(
    writer: Writer, definitions: Definitions, values: Mapping[int, dict[str, Any] | str], *, is_dry: bool
) -> RewriteAnswer:
    """Give localizations their measures by id; a text in their place is why one cannot be measured.

    Raises:
        BadInput: that text, or a value breaks a rule of its attribute; nothing was changed.
    """

    def after(row: Localization) -> Any:
        given = values[row.id]
        if isinstance(given, str):
            raise BadInput(given)
        return with_values(definitions, Kind.LOCALIZATION, row, given)

    checked = check_entities(Kind.LOCALIZATION, writer, list(values), after)
    assigned = {number: given for number, given in values.items() if isinstance(given, dict)}
    return finish_assignment(checked, writer, Kind.LOCALIZATION, assigned, is_dry=is_dry)


def check_floats(definitions: Definitions, names: Mapping[str, str]) -> None:
    """Raise BadInput unless the attributes that get measures are there and of dtype float."""
    if not names:
        raise BadInput("attributes: name at least one, such as the length.")
    dtypes = dtypes_of(definitions, Kind.LOCALIZATION, names.values())
    if wrong := [name for name in names.values() if dtypes[name] != "float"]:
        raise BadInput(f"attributes: {wrong[0]!r} is of dtype {dtypes[wrong[0]]}; measures need float.")


def _pairs(writer: Writer, stereo: _Stereo) -> Iterator[tuple[Localization, Localization]]:
    """Dots and lines of both cameras that are joined, of one type and at one moment; each shape once.

    Joined are the localizations of a state, and those with the same elemental id in different versions.
    """
    view = view_queries.current(writer.project)
    of = {media.id: side for side, media in zip(_SIDES, stereo.parts, strict=True)}
    where = Test("media", Op.IN, tuple(of))
    numbers = view_queries.ids(view, Query(kind=Kind.LOCALIZATION, where=where), writer.scope)
    if len(numbers) > MOST_SHAPES:
        raise BadInput(f"Media {stereo.cameras.media.id} has {len(numbers)} localizations; at most {MOST_SHAPES}.")
    found: dict[int, Localization] = {}
    for start in range(0, len(numbers), entities.ROWS_A_READ):
        rows = entities.many(Kind.LOCALIZATION, numbers[start : start + entities.ROWS_A_READ])
        found |= {number: row.entity for number, row in rows.items()}
    dtypes = {
        number: type_.dtype
        for number, type_ in types_of(Kind.LOCALIZATION, writer.project, {row.type for row in found.values()}).items()
    }
    shapes = {number: row for number, row in found.items() if dtypes[row.type] in ("dot", "line") and row.x is not None}
    done: set[int] = set()
    for group in _groups(writer, shapes):
        sides: tuple[list[Localization], list[Localization]] = ([], [])
        for row in group:
            sides[of[row.media]].append(row)
        for left in sides[0]:
            partners = [row for row in sides[1] if row.type == left.type and _is_at_once(stereo.cameras, left, row)]
            if len(partners) == 1 and not {left.id, partners[0].id} & done:
                done |= {left.id, partners[0].id}
                yield left, partners[0]


def _groups(writer: Writer, shapes: dict[int, Localization]) -> Iterable[list[Localization]]:
    """The shapes that are joined with each other."""
    if not shapes:
        return
    view = view_queries.current(writer.project)
    holding = Query(kind=Kind.STATE, where=Test("localizations", Op.OVERLAPS, tuple(shapes)))
    numbers = view_queries.ids(view, holding, writer.scope)
    for start in range(0, len(numbers), entities.ROWS_A_READ):
        for row in entities.many(Kind.STATE, numbers[start : start + entities.ROWS_A_READ]).values():
            yield [shapes[number] for number in row.entity.localizations if number in shapes]
    families: defaultdict[str, list[Localization]] = defaultdict(list)
    for shape in shapes.values():
        families[shape.elemental_id].append(shape)
    yield from (family for family in families.values() if len(family) > 1)


def _is_at_once(cameras: Cameras, left: Localization, right: Localization) -> bool:
    """Whether one camera shows the frame of its shape when the frame of the other begins."""
    timeline = cameras.timeline
    return timeline.partner(1, 0, left.frame) == right.frame or timeline.partner(0, 1, right.frame) == left.frame


def _places(row: Localization) -> list[Pixel]:
    """A dot, or the ends of a line, as fractions of the picture."""
    x, y = row.x or 0.0, row.y or 0.0
    return [(x, y)] if row.u is None or row.v is None else [(x, y), (x + row.u, y + row.v)]


def _stereo(media: Media, scope: Scope, spec: Calibrated) -> _Stereo:
    """The cameras of a media with their calibration. Raises BadInput, or NotFound for a part that is hidden."""
    return _Stereo(*rig_of(media, scope, spec), spec.scale)
