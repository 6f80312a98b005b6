"""Clips: parts of a video as a temporary file, cut by a queue function while the request waits (`spec/4` §7.1)."""

from __future__ import annotations

import hashlib
import tempfile
import time
from fractions import Fraction
from pathlib import Path

import msgspec

from chalicelib.core.entities import Media
from chalicelib.errors import BadInput, LimnError, NotFound, Unavailable
from chalicelib.queues import send
from chalicelib.resources.clips.messages import CutClip
from chalicelib.resources.media import streams
from chalicelib.resources.temporary_files import service as temporary_files_service
from chalicelib.resources.temporary_files.schemas import TEMPORARY_FILE, ClipOrder, TemporaryFile, VideoClip
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import records
from chalicelib.storage.objects import objects, owners
from chalicelib.video import clip

PATIENCE = 20.0
"""Seconds that a request waits for its clip; API Gateway waits 29."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 0.5
MOST_RANGES = 1000


def order(media: Media, user: int, ranges: list[str], quality: int | None, *, reencode: bool) -> TemporaryFile:
    """Ask for a clip.

    Raises:
        BadInput: a range is malformed or outside the video, or the media has nothing to stream.
    """
    if len(ranges) > MOST_RANGES:
        message = f"frame_ranges: at most {MOST_RANGES} may be given."
        raise BadInput(message)
    stream = streams.choose(media, quality)
    found = clip.parse_ranges(ranges, streams.frames_of(stream))
    wanted = ClipOrder(
        media=media.id,
        path=stream.key.path,
        segment_info=stream.segments.path,
        ranges=list(found),
        fps=media.fps or 25.0,
        reencode=reencode,
    )
    lookup = hashlib.md5(msgspec.json.encode(wanted), usedforsecurity=False).hexdigest()
    file = temporary_files_service.order_clip(media.project, user, wanted, lookup)
    send(settings().clip_queue_url, CutClip(file=file.id))
    return file


def wait(number: int) -> VideoClip:
    """The clip once it is cut.

    Raises:
        BadInput: it could not be cut.
        Unavailable: it was not cut in time.
    """
    deadline, pause = time.monotonic() + PATIENCE, _FIRST_PAUSE
    while True:
        file = records.get(TEMPORARY_FILE, number)
        if file.status == "failed":
            raise BadInput("The clip could not be cut.", file.message)
        if file.status == "ready":
            return VideoClip(file=file, segment_start_frames=file.start_frames, segment_end_frames=file.end_frames)
        if time.monotonic() > deadline:
            message = f"The clip is not cut yet; it will be temporary file {number}."
            raise Unavailable(message)
        time.sleep(pause)
        pause = min(pause * 1.5, _LONGEST_PAUSE)


def cut(number: int) -> None:
    """Cut a clip that was asked for. Running it again overwrites the file with the same.

    Raises:
        BadInput: the video is damaged.
    """
    try:
        file = records.get(TEMPORARY_FILE, number)
    except NotFound:
        return
    if file.clip is None or file.status != "waiting":
        return
    wanted = file.clip
    keys = owners.authorize_many(
        owners.Named(file.project, wanted.media, path) for path in (wanted.path, wanted.segment_info)
    )
    video, segment_file = (
        keys[owners.Named(file.project, wanted.media, path)] for path in (wanted.path, wanted.segment_info)
    )
    source, segments = streams.RangeSource(video), streams.segments(segment_file)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "clip.mp4"
        if wanted.reencode:
            fps = Fraction(wanted.fps).limit_denominator(1001)
            made = clip.encode_clip(source, segments, wanted.ranges, fps, path)
        else:
            with path.open("wb") as out:
                made = clip.copy_clip(source, segments, wanted.ranges, out)
        with path.open("rb") as body:
            objects.write(temporary_files_service.key_of(file), body, "video/mp4")

    def ready(current: TemporaryFile) -> TemporaryFile | None:
        starts, ends = list(made.segment_start_frames), list(made.segment_end_frames)
        return msgspec.structs.replace(current, status="ready", start_frames=starts, end_frames=ends)

    records.edit(TEMPORARY_FILE, number, ready)


def fail(number: int, reason: Exception) -> None:
    """Note why a clip could not be cut."""
    message = reason.message if isinstance(reason, LimnError) else "Something went wrong on our side."

    def failed(current: TemporaryFile) -> TemporaryFile | None:
        if current.status != "waiting":
            return None
        return msgspec.structs.replace(current, status="failed", message=message)

    try:
        records.edit(TEMPORARY_FILE, number, failed)
    except NotFound:
        return
