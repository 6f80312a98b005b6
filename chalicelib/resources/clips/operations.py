"""Clips of videos."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from chalicelib.core.kinds import Kind
from chalicelib.core.models.entities import Media
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Resource
from chalicelib.http.addresses import entity, look_again
from chalicelib.http.operation import Call, Operations
from chalicelib.resources.clips import service as clips_service
from chalicelib.resources.frames.cameras import cameras_of
from chalicelib.resources.frames.operations import PartNumber
from chalicelib.resources.temporary_files.schemas import VideoClip

OPERATIONS = Operations(tag="Clips and frames", function="media")


class ClipQuery(Resource, kw_only=True):
    """The frames and quality of a clip."""

    accepts: ClassVar = {"frameRanges": "frame_ranges"}

    frame_ranges: Annotated[list[str], Meta(description="Ranges of frames, `start:end`, both inclusive.")]
    quality: (
        Annotated[int, Meta(ge=0, description="Height of the streaming file to cut, or close to it; else the highest.")]
        | None
    ) = None
    reencode: Annotated[int, Meta(ge=0, description="Above 0: exactly the frames asked for, encoded anew.")] = 0
    part: PartNumber | None = None


_MEDIA = entity(Kind.MEDIA)


@OPERATIONS.get("/rest/GetClip/{id}", "GetClip", needs=Permission.VIEW, addresses=_MEDIA)
def get_clip(call: Call[Media, ClipQuery, None]) -> VideoClip:
    """Parts of a video as one MP4, for 24 hours.

    Without `reencode` the clip holds the whole fragments that the ranges touch, more frames than asked for;
    `segment_start_frames` and `segment_end_frames` tell which. Of a media that shows others, the ranges are counted as
    for GetFrame; all of them are encoded side by side at the rate of the first video, or with `part` one is cut.
    """
    query, media, ranges = call.query, call.target, call.query.frame_ranges
    cameras = cameras_of(media, call.scope, query.part)
    if cameras and query.part is not None:
        media, ranges = clips_service.ranges_of_part(cameras, query.part, ranges)
        cameras = None

    def check() -> None:
        scope, target = look_again(call, _MEDIA)
        cameras_of(target, scope, query.part)

    return clips_service.get(
        media, cameras, call.caller.id, ranges, query.quality, reencode=query.reencode > 0, check=check
    )
