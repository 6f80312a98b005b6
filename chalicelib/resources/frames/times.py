"""The times at which the source of a video shows its frames, from the segment file of a rendition or a frame table."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated

from msgspec import Meta

from chalicelib.core.models.entities import Media
from chalicelib.core.resource import Resource
from chalicelib.errors import BadInput
from chalicelib.resources.media import streams
from chalicelib.resources.media.streams import OriginalVideo, Stream
from chalicelib.video.cameras import Clock, Timeline

MOST_TIMES = 100_000
"""Times of one answer."""
MOST_FRAMES = 2_000_000
"""Frames of a video of variable rate whose times are read within a request: 18 hours at 30 frames a second."""


class FrameTimesQuery(Resource, kw_only=True):
    """Which frames."""

    start: Annotated[int | None, Meta(description="The first frame; 0 if not given.")] = None
    stop: Annotated[
        int | None, Meta(description=f"The frame after the last one; at most {MOST_TIMES} after `start`, the default.")
    ] = None


class FrameTimes(Resource, kw_only=True):
    """When frames of a video are shown."""

    media: int
    num_frames: int
    rate: Annotated[list[int], Meta(description="Frames per second of the renditions, as numerator and denominator.")]
    is_constant: Annotated[
        bool, Meta(description="Whether the source shows frame n at n / rate, as the renditions and their sound do.")
    ]
    start: Annotated[int, Meta(description="The frame of the first time.")]
    times: Annotated[list[float], Meta(description="Seconds after the first frame, in the source, to the microsecond.")]
    parts: Annotated[
        list[list[int | None]] | None,
        Meta(description="Of a media that shows others: for each, the frame shown at each time; null for none."),
    ] = None


def times_of(media: Media, query: FrameTimesQuery) -> FrameTimes:
    """The times of the frames asked for.

    Raises:
        BadInput: the media has no streaming file, a frame does not exist, or the video is too long.
    """
    clock = clock_of(media)
    start, stop = _range(query, clock.frames)
    if clock.stamps:
        seconds = [float((stamp - clock.stamps[0]) * clock.base) for stamp in clock.stamps[start:stop]]
    else:
        seconds = [number * clock.rate.denominator / clock.rate.numerator for number in range(start, stop)]
    return FrameTimes(
        media=media.id,
        num_frames=clock.frames,
        rate=list(clock.rate.as_integer_ratio()),
        is_constant=not clock.stamps,
        start=start,
        times=[round(each, 6) for each in seconds],
    )


def times_side_by_side(media: Media, timeline: Timeline, query: FrameTimesQuery) -> FrameTimes:
    """The moments of the frames of a media that shows others, and what each part shows at them. Raises BadInput."""
    clock, _ = timeline.lead
    start, stop = _range(query, timeline.frames)
    return FrameTimes(
        media=media.id,
        num_frames=timeline.frames,
        rate=list(clock.rate.as_integer_ratio()),
        is_constant=not clock.stamps,
        start=start,
        times=[round(float(timeline.moment(frame)), 6) for frame in range(start, stop)],
        parts=[[timeline.shown(part, frame) for frame in range(start, stop)] for part in range(len(timeline.clocks))],
    )


def clock_of(media: Media) -> Clock:
    """The times of the frames of a video. Raises BadInput where it has no streaming file or is too long."""
    stream = streams.choose(media, None)
    return _clock_of_original(stream) if isinstance(stream, OriginalVideo) else _clock_of(stream, media)


def _range(query: FrameTimesQuery, frames: int) -> tuple[int, int]:
    """The first frame asked for and the one after the last. Raises BadInput."""
    start = query.start or 0
    stop = min(frames, start + MOST_TIMES) if query.stop is None else query.stop
    if not 0 <= start <= stop <= frames or stop - start > MOST_TIMES:
        raise BadInput(
            f"start, stop: 0 <= start <= stop <= {frames}, the number of frames, and at most {MOST_TIMES} frames."
        )
    return start, stop


def _clock_of_original(stream: OriginalVideo) -> Clock:
    from chalicelib.video.stretch import is_constant  # noqa: PLC0415 kept off the API's cold start

    table = stream.original.table
    _check_length(table.count)
    return Clock(table.count, table.fps, () if is_constant(table) else table.times(), Fraction(*table.base))


def _clock_of(stream: Stream, media: Media) -> Clock:
    from chalicelib.video.timing import unpack  # noqa: PLC0415 kept off the API's cold start

    info = streams.segments(stream.segment_info)
    clock = info.file
    if clock.rate and min(clock.rate) > 0:
        rate = Fraction(*clock.rate)
    elif media.fps and 0 < media.fps < math.inf:
        rate = Fraction(media.fps).limit_denominator(1001) or Fraction(1, 1001)
    else:
        raise BadInput(f"Media {media.id} has no frame rate yet.")
    if not (clock.times and clock.base and min(clock.base) > 0):
        return Clock(info.frames, rate)
    _check_length(info.frames)
    stamps = unpack(clock.times, info.frames)
    if len(stamps) != info.frames:
        raise BadInput("The segment file is damaged: it has not one time for each frame.")
    return Clock(info.frames, rate, stamps, Fraction(*clock.base))


def _check_length(frames: int) -> None:
    if frames > MOST_FRAMES:
        raise BadInput(f"The video has {frames} frames; times of more than {MOST_FRAMES} are not read here.")
