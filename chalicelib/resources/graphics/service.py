"""Pictures of localizations, and of the localizations of a track, cut out of their media."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import partial
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.access.scope import Scope
from chalicelib.core.kinds import Kind
from chalicelib.core.models.entities import Localization, Media, State
from chalicelib.errors import BadInput, NotFound
from chalicelib.formats.interpolation import shapes_between, stretches
from chalicelib.formats.model import members_of_shape, shape_of
from chalicelib.resources.annotations.interpolated import MOST_COMPUTED
from chalicelib.resources.annotations.regions import region
from chalicelib.resources.entities.service import type_of, types_of
from chalicelib.resources.frames import service as frames_service
from chalicelib.resources.frames.cameras import Cameras, cameras_of, size_of
from chalicelib.resources.frames.cameras import look_at as look_at_grid
from chalicelib.resources.graphics.cutouts import cut_out
from chalicelib.storage.dynamodb import entities

if TYPE_CHECKING:
    from chalicelib.video.files.source import Source
    from chalicelib.video.pictures.drawing import Grid, View

LONGEST_STRIP = 65_000
"""Pixels: more than that JPEG and GIF do not hold."""


class PictureStyle(Struct, frozen=True, kw_only=True):
    """How the picture of one localization is drawn; see `operations.graphics`."""

    form: str
    force_scale: str | None = None
    margins: tuple[int, int] | None = None
    max_height: int | None = None
    is_cut_out: bool = False


class TrackStyle(Struct, frozen=True, kw_only=True):
    """How the picture of a track is to look; see `operations.graphics`."""

    form: str
    force_scale: str
    is_tiled: bool
    fps: float


class Track(Struct, frozen=True, kw_only=True):
    """The localizations of a state that are shown, in order, and the media they lie on; `cameras` show others."""

    localizations: list[Localization]
    media: dict[int, Media]
    cameras: dict[int, Cameras]

    @property
    def modified(self) -> str:
        """When any of them was changed last."""
        moments = [localization.modified_datetime for localization in self.localizations]
        shown = (cameras.modified for cameras in self.cameras.values())
        return max(*moments, *(media.modified_datetime for media in self.media.values()), *shown)


def media_of(localization: Localization, scope: Scope) -> Media:
    """The media that a localization lies on. Raises NotFound where it was deleted or the caller may not see it."""
    found: Media = entities.get(Kind.MEDIA, localization.media)
    _refuse_unseen(scope, Kind.MEDIA, [found])
    return found


def draw(localization: Localization, media: Media, cameras: Cameras | None, style: PictureStyle) -> tuple[bytes, str]:
    """The picture of one localization, and its media type; of one on a media that shows others, of their grid.

    Raises:
        BadInput: the localization has no place, its frame does not exist, or the media has nothing to show.
    """
    from chalicelib.video.pictures.drawing import Drawing  # noqa: PLC0415 kept off the API's cold start
    from chalicelib.video.pictures.render import RenderOptions  # noqa: PLC0415

    scale = _scale(style.force_scale, 1) if style.force_scale else None
    dtype = type_of(Kind.LOCALIZATION, localization.project, localization.type).dtype
    sources, view = _look_at(media, cameras, [(0, localization)], dtype, style.margins)
    form: Any = style.form
    options = RenderOptions(format=form, force_scale=scale)
    drawing = Drawing((view,), options, None if scale else style.max_height)
    picture, form = frames_service.draw(sources, drawing, f"localization {localization.id}")
    if not style.is_cut_out:
        return picture, form
    part = region(localization, dtype, view.size, style.margins)
    return cut_out(picture, localization, dtype, part, view.size), form


def track(state: State, offset: int, length: int, scope: Scope, *, interpolates: bool = False) -> Track:
    """The localizations of a state that have a place, by frame, those from `offset` on, at most `length`.

    With `interpolates`, what is computed between them is among them, where the type of the state has it.

    Raises:
        BadInput: the state is not one of localizations, one of them is no box, it has none, or too many would be
            computed to reach `offset`.
        NotFound: their media was deleted, or the caller may not see it or one of them.
    """
    of = type_of(Kind.STATE, state.project, state.type)
    if of.association != "Localization":
        raise BadInput(f"State {state.id} is not one of localizations.")
    if interpolates and offset > MOST_COMPUTED:
        raise BadInput(f"offset: at most {MOST_COMPUTED} with interpolate.")
    rows = (row.entity for row in entities.many(Kind.LOCALIZATION, state.localizations).values())
    live: list[Localization] = sorted((row for row in rows if not row.variant_deleted), key=_by_frame)
    placed = [row for row in live if row.x is not None or row.points]
    shown: Iterable[Localization] = placed
    if interpolates and of.is_interpolated:
        _refuse_unseen(scope, Kind.LOCALIZATION, live)  # what is computed tells of both ends of a gap
        shown = _fill(live, placed)
    chosen = list(islice(shown, offset, offset + length))
    if not chosen:
        raise BadInput(f"State {state.id} has no localizations there; it has {len(placed)}.")
    boxes = types_of(Kind.LOCALIZATION, state.project, (row.type for row in chosen))
    if others := [row.id for row in chosen if row.type not in boxes or boxes[row.type].dtype != "box"]:
        raise BadInput(f"Localization {others[0]} of state {state.id} is not a box.")
    found = {number: row.entity for number, row in entities.many(Kind.MEDIA, (row.media for row in chosen)).items()}
    if missing := [row.media for row in chosen if row.media not in found]:
        raise NotFound.of("Media", missing[0])
    _refuse_unseen(scope, Kind.LOCALIZATION, chosen)
    _refuse_unseen(scope, Kind.MEDIA, found.values())
    cameras = {number: cameras for number, media in found.items() if (cameras := cameras_of(media, scope))}
    return Track(localizations=chosen, media=found, cameras=cameras)


def _by_frame(row: Localization) -> tuple[int, int]:
    return row.frame, row.id


def _fill(live: Iterable[Localization], placed: Iterable[Localization]) -> Iterator[Localization]:
    """The boxes of a track with those between them, by frame; localizations without a place begin gaps."""
    on: defaultdict[int, list[Localization]] = defaultdict(list)
    for row in live:
        on[row.media].append(row)
    pairs = [pair for rows in on.values() for pair in stretches(rows, lambda row: row.frame)]
    return merge(placed, *(_between(*pair) for pair in pairs), key=_by_frame)


def _between(first: Localization, second: Localization) -> Iterator[Localization]:
    one, two = (shape_of("box", partial(getattr, row)) for row in (first, second))
    if not one or not two or first.type != second.type:
        return
    angles = first.angle, second.angle
    for frame, values, angle in shapes_between("box", (one, two), angles, (first.frame, second.frame)):
        shape = members_of_shape("box", values)
        yield replace(first, frame=frame, angle=angle if any(angles) else None, mask=None, **shape)


def draw_track(found: Track, style: TrackStyle) -> tuple[bytes, str]:
    """The boxes of a track as an animation, or beside each other in one row; and the media type.

    Raises:
        BadInput: as `draw`, or the picture would be too large.
    """
    from chalicelib.video.pictures.drawing import Drawing  # noqa: PLC0415 kept off the API's cold start
    from chalicelib.video.pictures.render import RenderOptions  # noqa: PLC0415

    count = len(found.localizations)
    scale = _scale(style.force_scale, count)
    if style.is_tiled and scale[0] * count > LONGEST_STRIP:
        message = f"force_scale: {count} pictures of this width make more than {LONGEST_STRIP} pixels; ask for fewer."
        raise BadInput(message)
    on: defaultdict[int, list[tuple[int, Localization]]] = defaultdict(list)
    for index, localization in enumerate(found.localizations):
        on[localization.media].append((index, localization))
    looks = [
        _look_at(found.media[number], found.cameras.get(number), boxes, "box", None) for number, boxes in on.items()
    ]
    form: Any = style.form
    more: dict[str, Any] = {"tile": (count, 1)} if style.is_tiled else {"animate": style.fps}
    drawing = Drawing(tuple(view for _, view in looks), RenderOptions(format=form, force_scale=scale, **more))
    return frames_service.draw([source for sources, _ in looks for source in sources], drawing, "length")


def _refuse_unseen(scope: Scope, kind: Kind, rows: Iterable[Localization | Media]) -> None:
    """Raise NotFound unless the caller of this request may see all of them."""
    wanted = {row.id: row for row in rows}
    if unseen := wanted.keys() - {row.id for row in scope.visible(kind, wanted.values())}:
        raise NotFound.of(kind.capitalize(), min(unseen))


def _look_at(
    media: Media,
    cameras: Cameras | None,
    shapes: Iterable[tuple[int, Localization]],
    dtype: str,
    margins: tuple[int, int] | None,
) -> tuple[list[Source], View | Grid]:
    """How localizations of a media, each with its place in the picture's order, are drawn; and the media's bytes."""
    from chalicelib.video.pictures.drawing import Part  # noqa: PLC0415
    from chalicelib.video.pictures.render import Roi  # noqa: PLC0415

    def regions(size: tuple[int, int]) -> list[Part]:
        return [Part(index, shape.frame, Roi(*region(shape, dtype, size, margins))) for index, shape in shapes]

    if cameras:
        parts = regions(size_of(cameras))
        cameras.check((part.frame for part in parts), "frame")
        return look_at_grid(cameras, parts)
    file = frames_service.picture_source(media)
    height, width = file.resolution
    source, view = frames_service.look_at(file, regions((width, height)))
    return [source], view


def _scale(text: str, count: int) -> tuple[int, int]:
    """The size that `force_scale` asks for. Raises BadInput where that is malformed, or so many of it are too large."""
    from chalicelib.video.pictures import render as rendering  # noqa: PLC0415

    width, height = rendering.parse_size(text, "force_scale")
    if width * height * count > rendering.MAX_OUTPUT_PIXELS:
        raise BadInput(f"force_scale: {count} pictures of {width} x {height} pixels are too large.")
    return width, height
