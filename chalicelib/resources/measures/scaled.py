"""Measures of shapes in the picture of one camera, whose scale is known (decision 224)."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from chalicelib.access import view_queries
from chalicelib.access.scope import Scope
from chalicelib.core.kinds import Kind
from chalicelib.core.measuring.cameras import Pixel
from chalicelib.core.measuring.figures import Measure
from chalicelib.core.measuring.figures import measure as measure_figure
from chalicelib.core.measuring.planes import Ground, Lens, Plane, Through, scale_of
from chalicelib.core.models.definitions import Definitions
from chalicelib.core.models.entities import Localization, Media
from chalicelib.core.permissions import Level
from chalicelib.core.values.refinements import check_mask
from chalicelib.errors import BadInput
from chalicelib.query.operators import Op
from chalicelib.query.tree import Query, Test, both
from chalicelib.resources.entities.service import Writer, types_of, unknown_type
from chalicelib.resources.frames.calibrations import calibration_key, check_size, read_camera_of, size_of
from chalicelib.resources.measures.figures import figure_of
from chalicelib.resources.measures.scaled_schemas import (
    Above,
    AltitudeColumn,
    Reference,
    Scale,
    ScaledMeasure,
    ScaledMeasureSpec,
    ScaledUpdate,
)
from chalicelib.resources.measures.schemas import StereoQuery
from chalicelib.resources.measures.service import MOST_SHAPES, assign, check_floats
from chalicelib.resources.media.selection import select
from chalicelib.resources.rewrites.schemas import RewriteAnswer
from chalicelib.resources.telemetry.files import frame_clock, start_of, table_of
from chalicelib.resources.telemetry.service import no_start
from chalicelib.storage.dynamodb import entities, records

PlaneOf = Callable[[int, Any], Plane | None]
"""The plane of a frame, and of what a shape on it has; None where it is not known."""
_PAIR = 2
_LEAST_PIXELS = 1.0
"""The shortest reference in pixels; shorter ones are left out."""
_MAX_METERS = 1e9
"""The largest length or altitude, so that areas are finite."""


def measure(media: Media, scope: Scope, spec: ScaledMeasureSpec) -> ScaledMeasure:
    """The measures of a shape on a frame of a media, without storing them.

    Raises:
        BadInput: the scale is wrong or not known on this frame, or the shape has no measures.
    """
    size = size_of(media)
    plane = _planes(media, scope, spec.scale)(spec.frame, None)
    if plane is None:
        raise BadInput(f"scale: it is not known on frame {spec.frame} of media {media.id}.")
    if spec.shape.mask is not None:
        check_mask(spec.shape, size)
    try:
        figure = figure_of(spec.shape, size)
        if figure is None:
            raise BadInput("shape: give a line, box or polygon; dots and skeletons have no measures.")
        found = measure_figure(figure, plane, spec.scale.point_error)
    except ValueError as failure:
        raise BadInput(f"shape: {failure}.") from None
    answer = ScaledMeasure(pixel=_pixel(plane, size))
    for name, value in _values(found).items():
        setattr(answer, name, value)
    return answer


def measure_all(writer: Writer, query: StereoQuery, body: ScaledUpdate) -> RewriteAnswer:
    """Set attributes of the lines, boxes, polygons and masks of media where the scale is known.

    Raises:
        BadInput: an attribute or type is unknown or no float, or the scale is wrong.
        NotFound: a media does not exist for the caller.
    """
    writer = writer.to_change(Kind.LOCALIZATION)
    definitions = records.definitions(writer.project)
    names = body.attributes.by_measure()
    check_floats(definitions, names)
    types = _types(definitions, writer.project, body, names)
    values: dict[int, dict[str, Any] | str] = {}
    reader = writer.scope.for_level(Level.VIEW)
    for media in select(reader, writer.project, body.media_ids, body.media_query):
        plane_of = _planes(media, reader, body.scale)
        size = size_of(media)
        for row in _rows(media, writer.scope, types):
            try:
                plane = plane_of(row.frame, row)
                figure = figure_of(row, size) if plane is not None else None
                if plane is None or figure is None:
                    continue
                found = _values(measure_figure(figure, plane, body.scale.point_error))
            except ValueError as failure:
                values[row.id] = f"It cannot be measured: {failure}."
                continue
            given = {name: found[each] for each, name in names.items() if each in found}
            if given:
                values[row.id] = given
        if len(values) > MOST_SHAPES:
            raise BadInput(f"More than {MOST_SHAPES} shapes are selected; name fewer media or types.")

    return assign(writer, definitions, values, is_dry=query.dry_run)


def _values(found: dict[str, Measure]) -> dict[str, float]:
    """The numbers of measures by the names of members."""
    return {name: each.value for name, each in found.items()} | {
        f"{name}_error": each.error for name, each in found.items()
    }


def _pixel(plane: Plane, size: tuple[int, int]) -> float | None:
    """What a pixel in the middle of the picture measures."""
    x, y = size[0] / 2, size[1] / 2
    try:
        return math.dist(plane.place((x - 0.5, y)), plane.place((x + 0.5, y)))
    except ValueError:
        return None


def _types(definitions: Definitions, project: int, body: ScaledUpdate, names: dict[str, str]) -> tuple[int, ...]:
    """The types whose localizations are measured. Raises BadInput for one that the project does not have."""
    known = definitions.types(Kind.LOCALIZATION)
    for number in body.types or ():
        if number not in known:
            raise BadInput(unknown_type(Kind.LOCALIZATION, project, number))
    if body.types is not None:
        return tuple(body.types)
    used = set(names.values())
    reference = body.scale.reference.type if body.scale.reference is not None else None
    found = [
        number
        for number, type_ in known.items()
        if number != reference and used <= {each.name for each in type_.attribute_types}
    ]
    if not found:
        raise BadInput(f"types: no type of localizations has all of {', '.join(sorted(used))}; name types.")
    return tuple(found)


def _rows(media: Media, scope: Scope, types: Sequence[int]) -> Iterator[Localization]:
    """The localizations of some types on a media."""
    where = both(Test("media", Op.EQ, media.id), Test("type", Op.IN, tuple(types)))
    view = view_queries.current(media.project)
    numbers = view_queries.ids(view, Query(kind=Kind.LOCALIZATION, where=where), scope)
    if len(numbers) > MOST_SHAPES:
        raise BadInput(f"Media {media.id} has {len(numbers)} localizations of these types; at most {MOST_SHAPES}.")
    for start in range(0, len(numbers), entities.ROWS_A_READ):
        found = entities.many(Kind.LOCALIZATION, numbers[start : start + entities.ROWS_A_READ])
        yield from (row.entity for row in found.values())


# --- the scale -------------------------------------------------------------------------------------------------------


def _planes(media: Media, scope: Scope, scale: Scale) -> PlaneOf:
    """What the camera of a media looks at. Raises BadInput where the scale is not given right."""
    if (scale.reference is None) == (scale.above is None):
        raise BadInput("scale: give either reference or above.")
    lens = _lens(media, scope, scale)
    if scale.reference is not None:
        found = _by_reference(media, scope, scale.reference, scale.point_error, lens)
    else:
        found = _by_altitude(media, scale.above, lens)  # type: ignore[arg-type]
    if lens is None:
        return found

    def plane(frame: int, row: Any) -> Plane | None:
        seen = found(frame, row)
        return None if seen is None else Through(seen, lens)

    return plane


def _lens(media: Media, scope: Scope, scale: Scale) -> Lens | None:
    """The lens of the camera of a media, if a calibration is named. Raises BadInput, or NotFound for its file."""
    if scale.lens is None:
        return None
    key = calibration_key(media, scope, scale.lens.file, scale.lens.file_id, "scale.lens.")
    camera, given = read_camera_of(key, scale.lens.side)
    size = size_of(media)
    check_size(given, size, media)
    width, height = given or size
    return Lens(camera.scaled(size[0] / width, size[1] / height), size)


def _by_reference(media: Media, scope: Scope, reference: Reference, point_error: float, lens: Lens | None) -> PlaneOf:
    """The scale of the references of the nearest frame that has one."""
    found: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
    for frame, known, pixels in _references(media, scope, reference, lens):
        found[frame].append((known, pixels))
    frames = sorted(found)

    def plane(frame: int, _: Any) -> Plane | None:
        at = bisect_left(frames, frame)
        near = min(frames[max(at - 1, 0) : at + 1], key=lambda each: abs(each - frame), default=None)
        if near is None or abs(near - frame) > reference.frames:
            return None
        pairs = found[near]
        share = reference.error / (sum(known for known, _ in pairs) / len(pairs))
        return scale_of(pairs, point_error, share)

    return plane


def _references(
    media: Media, scope: Scope, reference: Reference, lens: Lens | None
) -> Iterator[tuple[int, float, float]]:
    """The frame, known length and length in pixels of each reference of a media.

    Raises:
        BadInput: the type is no line and no dot, the length is not given right, or a layer has not two dots on a frame.
    """
    rows = _rows(media, scope, (reference.type,))
    width, height = size_of(media)
    if _reference_dtype(media, reference) == "line":
        for row in rows:
            x, y = (row.x or 0.0) * width, (row.y or 0.0) * height
            pixels = _apart(((x, y), (x + (row.u or 0.0) * width, y + (row.v or 0.0) * height)), lens)
            known = reference.length or _number(row.attributes.get(reference.attribute or ""))
            if known and pixels >= _LEAST_PIXELS:
                yield row.frame, known, pixels
        return
    dots: defaultdict[tuple[int, int], list[Pixel]] = defaultdict(list)
    for row in rows:
        if row.x is not None and row.y is not None:
            dots[row.frame, row.version].append((row.x * width, row.y * height))
    for (frame, version), places in dots.items():
        if len(places) != _PAIR:
            raise BadInput(
                f"scale.reference.type: frame {frame} of media {media.id} has {len(places)} dots of type "
                f"{reference.type} in version {version}; a reference is two."
            )
        if (pixels := _apart(places, lens)) >= _LEAST_PIXELS:
            yield frame, reference.length or 0.0, pixels


def _apart(places: Sequence[Pixel], lens: Lens | None) -> float:
    """The distance of two pixels without the distortion of a lens. Raises BadInput where the lens sees nothing."""
    try:
        return math.dist(*(lens.straight(each) if lens is not None else each for each in places))
    except ValueError as failure:
        raise BadInput(f"scale.reference: {failure}.") from None


def _reference_dtype(media: Media, reference: Reference) -> str:
    """Whether a reference is of lines or dots. Raises BadInput for other types, or without a length."""
    type_ = types_of(Kind.LOCALIZATION, media.project, [reference.type]).get(reference.type)
    if type_ is None:
        raise BadInput(f"scale.reference.{unknown_type(Kind.LOCALIZATION, media.project, reference.type)}")
    if type_.dtype not in ("line", "dot"):
        raise BadInput(f"scale.reference.type: {type_.name!r} is of dtype {type_.dtype}; give one of lines or dots.")
    if (reference.length is None) == (reference.attribute is None):
        raise BadInput("scale.reference: give either length or attribute.")
    if reference.attribute is not None and type_.dtype == "dot":
        raise BadInput("scale.reference.attribute: dots have no length of their own; give length.")
    return str(type_.dtype)


def _by_altitude(media: Media, above: Above, lens: Lens | None) -> PlaneOf:
    """The ground at the altitude of a frame, or of what a localization has."""
    if sum(each is not None for each in (above.altitude, above.attribute, above.telemetry)) != 1:
        raise BadInput("scale.above: give one of altitude, attribute and telemetry.")
    if (above.field_of_view is None) == (lens is None):
        raise BadInput("scale.above.field_of_view: give it, or scale.lens in its place, which has its own.")
    field_of_view = above.field_of_view or (lens.field_of_view if lens is not None else 0.0)
    size = size_of(media)
    series = _altitudes(media, above.telemetry) if above.telemetry is not None else None

    def plane(frame: int, row: Any) -> Plane | None:
        altitude = above.altitude
        if above.attribute is not None:
            own = row.attributes.get(above.attribute) if row is not None else None
            altitude = _number(own if own is not None else media.attributes.get(above.attribute))
        elif series is not None:
            altitude = series(frame)
        if altitude is None:
            return None
        return Ground(
            size=size,
            altitude=altitude,
            field_of_view=field_of_view,
            tilt=above.tilt,
            altitude_error=above.altitude_error,
            field_of_view_error=above.field_of_view_error,
            tilt_error=above.tilt_error,
        )

    return plane


def _altitudes(media: Media, column: AltitudeColumn) -> Callable[[int], float | None]:
    """The altitude at each frame, from telemetry. Raises BadInput without the file or the time of the first frame."""
    table = table_of(media, column.file, column.time, {column.column})
    if table is None:
        raise BadInput(f"scale.above.telemetry.file: media {media.id} has no attachment with the name {column.file!r}.")
    start = start_of(media, table, column.start)
    if start is None:
        raise BadInput(no_start(media))
    series, clock = table.series([column.column]), frame_clock(media)
    tolerance = math.inf if column.tolerance is None else column.tolerance

    def altitude(frame: int) -> float | None:
        found = series.value_at(start + clock(frame), column.join, tolerance)
        return _number(found[0]) if found else None

    return altitude


def _number(value: Any) -> float | None:
    """A number above 0 and below a billion; None for anything else."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if 0 < number < _MAX_METERS else None
