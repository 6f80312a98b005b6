"""Frames of media as pictures. Errors are JSON, and pictures where Accept prefers them, as `<img>` does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from functools import partial
from typing import Annotated, ClassVar

from msgspec import Meta

from chalicelib.access.authentication import Caller
from chalicelib.core.kinds import Kind
from chalicelib.core.models.entities import Media
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import SIZE, Id, Resource, shown
from chalicelib.errors import BadInput, Forbidden
from chalicelib.http.addresses import entity
from chalicelib.http.operation import Answer, Call, Operations
from chalicelib.resources.frames import calibrations
from chalicelib.resources.frames import cameras as frame_cameras
from chalicelib.resources.frames import service as frames_service
from chalicelib.resources.frames import times as frame_times
from chalicelib.resources.frames.calibrations import CalibrationFile
from chalicelib.resources.frames.cameras import Cameras, cameras_of
from chalicelib.resources.frames.service import FrameRequest
from chalicelib.resources.frames.times import FrameTimes, FrameTimesQuery

OPERATIONS = Operations(tag="Clips and frames", function="media")
FORMATS = ("png", "jpg", "gif", "mp4")
PartNumber = Annotated[
    int,
    Meta(ge=0, description="Of a media that shows others: what this one alone shows, from 0; a grid if not given."),
]

_PART = r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?\s*"
_ROI = f"{_PART}(:{_PART}){{3}}"


class FrameQuery(Resource, kw_only=True):
    """Which frames, and how they are to look."""

    names: ClassVar = {"rectified_file_id": "file"}

    frames: Annotated[
        list[Annotated[int, Meta(ge=0)]] | None, Meta(description="Numbers of the frames, from 0; `0` if not given.")
    ] = None
    tile: Annotated[
        Annotated[str, SIZE] | None, Meta(description="Columns and rows of the grid, `3x2`; square if not given.")
    ] = None
    roi: Annotated[
        Annotated[str, shown(f"^{_ROI}(,{_ROI})*$")] | None,
        Meta(description="The part to show, `width:height:x:y` relative to the frame; one, or one for each frame."),
    ] = None
    force_scale: Annotated[
        Annotated[str, SIZE] | None,
        Meta(description="Size in pixels after `roi`, `640x480`. The lowest file that has as many is decoded."),
    ] = None
    animate: (
        Annotated[int, Meta(ge=0, le=15, description="Frames per second of an animation in place of a grid.")] | None
    ) = None
    quality: (
        Annotated[int, Meta(ge=0, description="Height of the streaming file to use, or close to it; else the highest.")]
        | None
    ) = None
    part: PartNumber | None = None
    rectified_file: Annotated[
        Annotated[str, Meta(min_length=1, max_length=256)] | None,
        Meta(
            description="The attachment with the calibration of the first two cameras of a media that shows others. "
            "They are shown warped so that what both see is on the same row; with `part` 0 or 1 one of them."
        ),
    ] = None
    rectified_file_id: Annotated[Id | None, Meta(description="In its place, a file of the project.")] = None


@OPERATIONS.get(
    "/rest/GetFrame/{id}",
    "GetFrame",
    needs=Permission.VIEW,
    addresses=entity(Kind.MEDIA),
    returns="image/*",
    formats=FORMATS,
)
def get_frame(call: Call[Media, FrameQuery, None]) -> Answer:
    """Frames of a video, or an image, as one picture.

    Several frames are tiled, or with `animate` played. Frame n is the n-th frame in the order shown. Only the fragments
    that hold the frames are read.

    A media that shows others has a grid for each frame, by its `layout` of rows and columns. Its frames are counted by
    its first video; the others show the last frame that has begun by then (FrameTimes has the numbers), or nothing.
    """
    media, query = call.target, call.query
    cameras = cameras_of(media, call.scope, query.part)
    frames = tuple(query.frames or [0])
    _check_shown(call.caller, min(frames), max(frames) + 1)
    request = FrameRequest(
        frames=frames,
        form=call.accept or "png",
        tile=query.tile,
        roi=query.roi,
        force_scale=query.force_scale,
        animate=query.animate or 0,
        quality=query.quality,
    )
    if query.rectified_file is not None or query.rectified_file_id is not None:
        cameras = _rectify(call, cameras)
    if cameras:
        draw = partial(frame_cameras.render, cameras, request, query.part)
        return picture(call.headers, media.id, cameras.modified, draw)
    return picture(call.headers, media.id, media.modified_datetime, partial(frames_service.render, media, request))


def _rectify(call: Call[Media, FrameQuery, None], cameras: Cameras | None) -> Cameras:
    """The first two cameras of a media warped, or one of them. Raises BadInput."""
    from chalicelib.video.pictures.drawing import Mesh  # noqa: PLC0415 kept off the API's cold start

    query = call.query
    if cameras is None:
        raise BadInput(f"rectified_file: media {call.target.id} shows no other media; leave it out.")
    if query.part is not None and query.part > 1:
        raise BadInput("part: the rectified cameras are 0 and 1.")
    spec = CalibrationFile(file=query.rectified_file, file_id=query.rectified_file_id)
    found = calibrations.rectification(call.target, call.scope, spec, "rectified_")
    meshes = {
        side: Mesh(found.columns, found.rows, tuple(None if at is None else (at[0], at[1]) for at in places))
        for side, places in enumerate(found.meshes)
        if query.part in (None, side)
    }
    return replace(cameras, meshes=meshes, is_stacked=found.is_vertical)


def _check_shown(caller: Caller, start: int, stop: int) -> None:
    """Raise Forbidden for frames outside the span that a share link shows."""
    view = caller.guest_view
    if view is not None and view.frames is not None and not (view.frames[0] <= start and stop <= view.frames[1]):
        raise Forbidden(f"frames: this link shows frames {view.frames[0]} to {view.frames[1] - 1}.")


def picture(headers: dict[str, str], number: int, modified: str, draw: Callable[[], tuple[bytes, str]]) -> Answer:
    """The picture of something that was last changed at a time, or that the client has it already.

    Args:
        headers: of the request.
        number: the id.
        modified: when what the picture shows was changed last.
        draw: makes the picture and says its media type; called only where the client needs it.
    """
    fresh = {**_validators(number, modified), "Cache-Control": "private, no-cache", "Vary": "Accept"}
    if _is_fresh(headers, fresh):
        return Answer(status=304, content_type="image/png", headers=fresh)
    body, mime = draw()
    return Answer(content_type=mime, body=body, headers=fresh)


def _validators(number: int, modified: str) -> dict[str, str]:
    """The headers by which a client finds out later whether a picture is still the same."""
    moment = datetime.fromisoformat(modified).astimezone(UTC)
    tag = f'"{number}-{int(moment.timestamp() * 1000)}"'
    return {"Last-Modified": format_datetime(moment.replace(microsecond=0), usegmt=True), "ETag": tag}


def _is_fresh(headers: dict[str, str], now: dict[str, str]) -> bool:
    """Whether the client's copy is current: by its ETag if it sends one, else by the time."""
    if tags := headers.get("if-none-match"):
        return now["ETag"] in tags or tags.strip() == "*"
    since = headers.get("if-modified-since")
    if not since:
        return False
    try:
        return parsedate_to_datetime(since) >= parsedate_to_datetime(now["Last-Modified"])
    except (TypeError, ValueError):
        return False


@OPERATIONS.get("/rest/FrameTimes/{id}", "GetFrameTimes", needs=Permission.VIEW, addresses=entity(Kind.MEDIA))
def get_frame_times(call: Call[Media, FrameTimesQuery, None]) -> FrameTimes:
    """When the source of a video shows its frames.

    Renditions show frame n at n / `rate`. Where `is_constant` is false the source does not: these are its times, for
    instance to join frames with the log of an instrument. Of a media that shows others, `parts` has the frame that
    each of them shows.
    """
    view = call.caller.guest_view
    if view is not None and view.frames is not None:
        first, after = view.frames
        start = first if call.query.start is None else call.query.start
        stop = min(after, start + frame_times.MOST_TIMES) if call.query.stop is None else call.query.stop
        _check_shown(call.caller, start, stop)
        return frame_times.times_of(call.target, FrameTimesQuery(start=start, stop=stop))
    if cameras := cameras_of(call.target, call.scope):
        return frame_times.times_side_by_side(call.target, cameras.timeline, call.query)
    return frame_times.times_of(call.target, call.query)
