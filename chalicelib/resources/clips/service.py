"""Clips: parts of a video as a temporary file, cut within the request, or by the clip function where they are long."""

from __future__ import annotations

import hashlib
import io
import tempfile
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import msgspec

from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.core.kinds import Kind
from chalicelib.core.models.entities import Media
from chalicelib.errors import BadInput, Unavailable, reason_of
from chalicelib.queues import send
from chalicelib.resources.clips.messages import CutClip
from chalicelib.resources.frames.cameras import Cameras, cameras_of, cameras_of_clip, size_of
from chalicelib.resources.media import streams
from chalicelib.resources.temporary_files import service as temporary_files_service
from chalicelib.resources.temporary_files.schemas import TEMPORARY_FILE, ClipOrder, TemporaryFile, VideoClip
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import entities, records
from chalicelib.storage.dynamodb.progress import outcomes
from chalicelib.storage.objects import objects
from chalicelib.video.encoding import clip
from chalicelib.video.mp4.segments import SegmentInfo, header_size
from chalicelib.video.process import isolation

PATIENCE = 20.0
"""Seconds that a request waits for its clip; API Gateway waits 29."""
_PAUSE = 0.05
LARGEST_COPIED, LARGEST_ENCODED = 96 * 1024 * 1024, 4 * 1024 * 1024
"""Bytes of the fragments of a clip that the request itself cuts: copied, or decoded and encoded."""
SOON_ENCODED = 250_000_000
"""Pixels of a clip that the request itself encodes: some 6 seconds. A still video has few bytes and many frames."""
_IN_ONE_PIECE = 16 * 1024 * 1024
MOST_RANGES = 1000
LARGEST_CLIP = 8 * 1024**3
"""Bytes of a clip that is copied: it lies on the disk of its function, which has 10 GB."""
MOST_ENCODED = 20_000_000_000
"""Pixels of a clip that is encoded: some 13 minutes of the function at 25 million in a second."""


def get(
    media: Media,
    cameras: Cameras | None,
    user: int,
    ranges: list[str],
    quality: int | None,
    *,
    reencode: bool,
    check: Callable[[], None],
) -> VideoClip:
    """A clip: a short one is cut at once, a long one by the clip function while the request waits.

    Of a media that shows others, `cameras`, what all of them show, encoded anew. After a wait, `check` raises where the
    user may no longer have it.

    Raises:
        BadInput: a range is malformed or outside the video, or the media has nothing to stream, or it cannot be cut.
        Unavailable: it was not cut in time.
    """
    if cameras:
        wanted = _order_of_cameras(cameras, ranges, quality)
        return wait(_send(media, user, wanted).id, check)
    wanted = _order(media, ranges, quality, reencode=reencode)
    _check_size(media, wanted)
    if _is_short(media, wanted, quality):
        file = temporary_files_service.new_clip(media.project, user, wanted, _lookup(wanted))
        # The file is listed only once it is whole; a crash before that leaves an object that its bucket removes.
        return _answer(temporary_files_service.add(_record_clip(file, wanted)))
    return wait(_send(media, user, wanted).id, check)


def _is_short(media: Media, wanted: ClipOrder, quality: int | None) -> bool:
    """Whether the request itself has the time for a clip."""
    if not wanted.reencode:
        return _size(media, wanted) <= LARGEST_COPIED
    pixels = _pixels(wanted.ranges, streams.choose(media, quality).resolution)
    return pixels <= SOON_ENCODED and _size(media, wanted) <= LARGEST_ENCODED


def _pixels(ranges: Sequence[tuple[int, int]], resolution: Sequence[int]) -> int:
    return sum(last + 1 - first for first, last in ranges) * resolution[0] * resolution[1]


def _size(media: Media, wanted: ClipOrder) -> int:
    """Bytes of the fragments that a clip is made of, or about as many of an original."""
    if wanted.frame_table:
        video = _original(media, wanted)
        frames = sum(last + 1 - first for first, last in wanted.ranges)
        return video.found.size * frames // video.original.table.count
    return clip.copied_size(streams.segments(_places(media.project, wanted)[1]), wanted.ranges)


def _check_size(media: Media, wanted: ClipOrder) -> None:
    """Raise BadInput where a copied clip does not fit on the disk of the clip function."""
    if not wanted.reencode and (size := _size(media, wanted)) > LARGEST_CLIP:
        raise BadInput(
            f"frame_ranges: the fragments have {size / 1e9:.1f} GB, and a clip may have {LARGEST_CLIP / 1e9:.1f}. "
            "Ask for clips of fewer frames or a lower quality, or download the streaming file by its URL (presigned)."
        )


def _check_work(ranges: Sequence[tuple[int, int]], resolution: Sequence[int]) -> None:
    """Raise BadInput where the clip function could not encode a clip in its time."""
    frames, (height, width) = sum(last + 1 - first for first, last in ranges), resolution
    if (pixels := _pixels(ranges, resolution)) > MOST_ENCODED:
        raise BadInput(
            f"reencode: {frames} frames of {width} x {height} are {pixels / 1e9:.1f} billion pixels; a clip may have "
            f"{MOST_ENCODED // 10**9}. Ask for clips of at most {MOST_ENCODED // (height * width)} frames or a lower "
            "quality, or leave reencode out. Transcodes makes a whole video in another size, in the background."
        )


def _original(media: Media, wanted: ClipOrder) -> streams.OriginalVideo:
    """The video where it lies. Raises BadInput where the media has another meanwhile."""
    video = streams.choose(media, None)
    if not isinstance(video, streams.OriginalVideo) or video.frame_table.path != wanted.frame_table:
        raise BadInput(f"Media {media.id} has other files meanwhile.")
    return video


def _places(project: int, wanted: ClipOrder) -> tuple[streams.Place, streams.Place]:
    """The video of a clip and its segment file. Raises BadInput where the media may not name one of them."""
    found = streams.locate(project, wanted.media, (wanted.path, wanted.segment_info))
    if wanted.path not in found or wanted.segment_info not in found:
        raise BadInput(f"Media {wanted.media} names a video that is not its own.")
    return found[wanted.path], found[wanted.segment_info]


def _answer(file: TemporaryFile) -> VideoClip:
    return VideoClip(file=file, segment_start_frames=file.start_frames, segment_end_frames=file.end_frames)


def _order(media: Media, ranges: list[str], quality: int | None, *, reencode: bool) -> ClipOrder:
    _check_count(ranges)
    stream = streams.choose(media, quality)
    found = clip.parse_ranges(ranges, streams.frames_of(stream))
    if reencode or isinstance(stream, streams.OriginalVideo):
        _check_work(found, stream.resolution)
    if isinstance(stream, streams.OriginalVideo):
        # its groups of pictures are long and seldom closed: a clip of an original has exactly the frames asked for
        return ClipOrder(
            media=media.id,
            path=stream.key.path,
            segment_info="",
            frame_table=stream.frame_table.path,
            ranges=list(found),
            fps=media.fps or float(stream.original.table.fps),
            reencode=True,
        )
    return ClipOrder(
        media=media.id,
        path=stream.entry.path,
        segment_info=stream.entry.segment_info or "",
        ranges=list(found),
        fps=media.fps or 25.0,
        reencode=reencode,
    )


def _order_of_cameras(cameras: Cameras, ranges: list[str], quality: int | None) -> ClipOrder:
    _check_count(ranges)
    found = clip.parse_ranges(ranges, cameras.timeline.frames)
    width, height = size_of(cameras, quality)
    _check_work(found, (height, width))
    return ClipOrder(
        media=cameras.media.id,
        path="",
        segment_info="",
        ranges=list(found),
        fps=float(cameras.timeline.lead[0].rate),
        reencode=True,
        parts=[each.id for each in cameras.parts],
        quality=quality,
    )


def ranges_of_part(cameras: Cameras, part: int, ranges: list[str]) -> tuple[Media, list[str]]:
    """One part of a media that shows others, and its frames from the beginning of each range to its end.

    Raises:
        BadInput: there is no such part, a range is wrong, or the part shows nothing at one of its ends.
    """
    _check_count(ranges)
    ends = [frame for each in clip.parse_ranges(ranges, cameras.timeline.frames) for frame in each]
    media, frames = cameras.part(part, ends, "frame_ranges")
    return media, [f"{first}:{last}" for first, last in zip(frames[::2], frames[1::2], strict=True)]


def _check_count(ranges: list[str]) -> None:
    if len(ranges) > MOST_RANGES:
        raise BadInput(f"frame_ranges: at most {MOST_RANGES} may be given.")


def _lookup(wanted: ClipOrder) -> str:
    """A word for what a clip holds."""
    return hashlib.md5(msgspec.json.encode(wanted), usedforsecurity=False).hexdigest()


def order(media: Media, user: int, ranges: list[str], quality: int | None, *, reencode: bool) -> TemporaryFile:
    """Have the clip function cut a clip; the file that it will be. Raises BadInput as `get`."""
    wanted = _order(media, ranges, quality, reencode=reencode)
    _check_size(media, wanted)
    return _send(media, user, wanted)


def _send(media: Media, user: int, wanted: ClipOrder) -> TemporaryFile:
    file = temporary_files_service.order_clip(media.project, user, wanted, _lookup(wanted))
    send(settings().clip_queue_url, CutClip(file=file.id))
    return file


def wait(number: int, check: Callable[[], None] = lambda: None) -> VideoClip:
    """The clip once it is cut, and `check` raised nothing.

    Raises:
        BadInput: it could not be cut.
        Unavailable: it was not cut in time.
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        file = records.get(TEMPORARY_FILE, number)
        if file.status == "failed":
            raise BadInput("The clip could not be cut.", file.message)
        if file.status == "ready":
            check()
            return _answer(file)
        if time.monotonic() > deadline:
            raise Unavailable(f"The clip is not cut yet; it will be temporary file {number}.")
        time.sleep(_PAUSE)


def cut(number: int) -> None:
    """Cut a clip that was asked for. Running it again overwrites the file with the same.

    Raises:
        BadInput: the video is damaged.
    """
    file = records.maybe(TEMPORARY_FILE, number)
    if file is None or file.clip is None or file.status != "waiting":
        return
    filled = _record_clip(file, file.clip)

    def ready(current: TemporaryFile) -> TemporaryFile | None:
        return msgspec.structs.replace(
            current, status="ready", start_frames=filled.start_frames, end_frames=filled.end_frames
        )

    records.edit(TEMPORARY_FILE, number, ready)


def _record_clip(file: TemporaryFile, wanted: ClipOrder) -> TemporaryFile:
    """The file with its clip, whose object is stored."""
    if wanted.parts:
        return _record_clip_of_cameras(file, wanted)
    if wanted.frame_table:
        return _record_original_clip(file, wanted)
    video, segment_info = _places(file.project, wanted)
    key, segments = temporary_files_service.key_of(file), streams.segments(segment_info)
    if wanted.reencode:
        made = _encode(wanted, video, segments, key)
    else:
        ranges = clip.copied_ranges(segments, wanted.ranges)
        source = streams.StreamSource(video, header_size(segments), ranges)
        if clip.copied_size(segments, wanted.ranges) <= LARGEST_COPIED:
            out = io.BytesIO()
            made = clip.copy_clip(source, segments, wanted.ranges, out)
            out.seek(0)
            objects.write(key, out.getvalue() if made.size <= _IN_ONE_PIECE else out, "video/mp4")
        else:
            with tempfile.TemporaryFile() as body:
                made = clip.copy_clip(source, segments, wanted.ranges, body)
                body.seek(0)
                objects.write(key, body, "video/mp4")
    starts, ends = list(made.segment_start_frames), list(made.segment_end_frames)
    return msgspec.structs.replace(file, status="ready", start_frames=starts, end_frames=ends)


def _encode(wanted: ClipOrder, video: streams.Place, segments: SegmentInfo, key: ObjectKey) -> clip.Clip:
    """Encode a clip in a child process and store it."""
    source = streams.StreamSource(video, header_size(segments))
    return _store(
        key, lambda path: isolation.run(clip.encode_clip, source, segments, wanted.ranges, _fps(wanted), path)
    )


def _record_original_clip(file: TemporaryFile, wanted: ClipOrder) -> TemporaryFile:
    """The file with its clip of a video where it lies, whose object is stored."""
    video = _original(entities.get(Kind.MEDIA, wanted.media), wanted)
    made = _store(
        temporary_files_service.key_of(file),
        lambda path: isolation.run(
            clip.encode_original_clip, video.source, video.original, wanted.ranges, _fps(wanted), path
        ),
    )
    starts, ends = list(made.segment_start_frames), list(made.segment_end_frames)
    return msgspec.structs.replace(file, status="ready", start_frames=starts, end_frames=ends)


def _record_clip_of_cameras(file: TemporaryFile, wanted: ClipOrder) -> TemporaryFile:
    """The file with its clip of a media that shows others, whose object is stored."""
    from chalicelib.video.side_by_side import encode_cameras  # noqa: PLC0415 kept off the API's cold start

    found = cameras_of(entities.get(Kind.MEDIA, wanted.media), None)
    if found is None or [each.id for each in found.parts] != wanted.parts:
        raise BadInput(f"Media {wanted.media} shows other media meanwhile.")
    numbers = [frame for first, last in wanted.ranges for frame in range(first, last + 1)]
    sources, cameras, size = cameras_of_clip(found, numbers, wanted.quality)
    made = _store(
        temporary_files_service.key_of(file),
        lambda path: isolation.run_all(encode_cameras, sources, cameras, size, wanted.ranges, _fps(wanted), path),
    )
    starts, ends = list(made.segment_start_frames), list(made.segment_end_frames)
    return msgspec.structs.replace(file, status="ready", start_frames=starts, end_frames=ends)


def _fps(wanted: ClipOrder) -> Fraction:
    return Fraction(wanted.fps).limit_denominator(1001)


def _store(key: ObjectKey, encode: Callable[[Path], clip.Clip]) -> clip.Clip:
    """Store the file that a child process writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "clip.mp4"
        made = encode(path)
        with path.open("rb") as body:
            objects.write(key, body, "video/mp4")
    return made


def reopen(number: int) -> None:
    """Let a clip that could not be cut wait again; another one stays as it is."""
    outcomes.reopen(TEMPORARY_FILE, number, status="waiting", message="")


def fail(number: int, reason: Exception) -> None:
    """Note why a clip could not be cut."""
    outcomes.end(TEMPORARY_FILE, number, going=("waiting",), status="failed", message=reason_of(reason))
