"""Pictures of localizations and tracks; errors are JSON."""

from __future__ import annotations

from functools import partial
from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta

from chalicelib.core.kinds import Kind
from chalicelib.core.models.entities import Localization, State
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import SIZE, Resource
from chalicelib.errors import BadInput
from chalicelib.http.addresses import entity
from chalicelib.http.operation import Answer, Call, Operations
from chalicelib.resources.frames.cameras import cameras_of
from chalicelib.resources.frames.operations import FORMATS, PartNumber, picture
from chalicelib.resources.graphics import service as graphics_service
from chalicelib.resources.graphics.service import PictureStyle, TrackStyle

OPERATIONS = Operations(tag="Clips and frames", function="media")
MOST_BOXES = 100

Margin = Annotated[int, Meta(ge=0, le=65_535)]


class LocalizationGraphicQuery(Resource, kw_only=True):
    """How the picture of a localization is to look."""

    force_scale: Annotated[Annotated[str, SIZE] | None, Meta(description="Size in pixels, `640x480`.")] = None
    max_height: (
        Annotated[int, Meta(ge=1, description="Height in pixels that is not to be exceeded; the shape stays.")] | None
    ) = None
    use_default_margins: Annotated[
        bool, Meta(description="Margins by the shape: 10 pixels for dots and lines, none for boxes and polygons.")
    ] = True
    margin_x: Annotated[
        Margin | None, Meta(description="Pixels left and right; given where `use_default_margins` is false.")
    ] = None
    margin_y: Annotated[
        Margin | None, Meta(description="Pixels above and below; given where `use_default_margins` is false.")
    ] = None
    mask: Annotated[
        bool,
        Meta(description="Whether what is outside of the shape is transparent; as PNG only."),
    ] = False
    part: PartNumber | None = None


class StateGraphicQuery(Resource, kw_only=True):
    """How the picture of a track is to look."""

    accepts: ClassVar = {"forceScale": "force_scale"}

    mode: Annotated[
        Literal["animate", "tile"], Meta(description="One after the other, or beside each other in a row.")
    ] = "animate"
    fps: Annotated[float, Meta(gt=0, le=100, description="Pictures per second of an animation.")] = 2
    force_scale: Annotated[Annotated[str, SIZE], Meta(description="Size of every picture in pixels.")] = "224x224"
    length: Annotated[int, Meta(ge=1, le=MOST_BOXES, description="How many localizations at most.")] = MOST_BOXES
    offset: Annotated[int, Meta(ge=0, lt=2**31, description="How many localizations to pass over, by frame.")] = 0
    interpolate: Annotated[
        bool, Meta(description="Include what the track has between its localizations; it counts in length and offset.")
    ] = False


@OPERATIONS.get(
    "/rest/LocalizationGraphic/{id}",
    "GetLocalizationGraphic",
    needs=Permission.VIEW,
    addresses=entity(Kind.LOCALIZATION),
    returns="image/*",
    formats=FORMATS,
)
def localization_graphic(call: Call[Localization, LocalizationGraphicQuery, None]) -> Answer:
    """The part of an image or a frame that a localization marks, as a picture.

    In pixels of the largest image or streaming file, with margins, and never less than 3 on a side. A part that reaches
    over the border is shifted inside and keeps its size. On a media that shows others it is a part of their grid, or
    with `part` of what one of them shows then.
    """
    found, query = call.target, call.query
    margins = None
    if not query.use_default_margins:
        if query.margin_x is None or query.margin_y is None:
            raise BadInput("margin_x and margin_y: both are needed where use_default_margins is false.")
        margins = query.margin_x, query.margin_y
    media = graphics_service.media_of(found, call.scope)
    cameras = cameras_of(media, call.scope, query.part)
    modified = max(found.modified_datetime, cameras.modified if cameras else media.modified_datetime)
    if cameras and query.part is not None:
        media, (frame,) = cameras.part(query.part, [found.frame], "frame")
        found, cameras = msgspec.structs.replace(found, frame=frame), None
    if query.mask and call.accept not in (None, "png"):
        raise BadInput("mask: only PNG has transparency; accept image/png.")
    look = PictureStyle(
        form=call.accept or "png",
        force_scale=query.force_scale,
        margins=margins,
        max_height=query.max_height,
        is_cut_out=query.mask,
    )
    return picture(call.headers, found.id, modified, partial(graphics_service.draw, found, media, cameras, look))


@OPERATIONS.get(
    "/rest/StateGraphic/{id}",
    "GetStateGraphic",
    needs=Permission.VIEW,
    addresses=entity(Kind.STATE),
    returns="image/*",
    formats=FORMATS,
)
def state_graphic(call: Call[State, StateGraphicQuery, None]) -> Answer:
    """What the boxes of a track mark, frame by frame, as an animation or a row of pictures.

    Only of states of localizations, and only of boxes.
    """
    state, query = call.target, call.query
    count = query.offset, query.length
    found = graphics_service.track(state, *count, call.scope, interpolates=query.interpolate)
    look = TrackStyle(
        form=call.accept or "png", force_scale=query.force_scale, is_tiled=query.mode == "tile", fps=query.fps
    )
    modified = max(state.modified_datetime, found.modified)
    return picture(call.headers, state.id, modified, lambda: graphics_service.draw_track(found, look))
