"""The times at which the source of a video shows its frames, from the segment file of a rendition or a frame table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, NamedTuple

from msgspec import Meta

from chalicelib.core.models.entities import Media
from chalicelib.core.resource import Resource
from chalicelib.errors import BadInput
from chalicelib.resources.media import streams
from chalicelib.resources.media.streams import OriginalVideo, Stream

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


def times_of(media: Media, query: FrameTimesQuery) -> FrameTimes:
    """The times of the frames asked for.

    Raises:
        BadInput: the media has no streaming file, a frame does not exist, or the video is too long.
    """
    stream = streams.choose(media, None)
    clock = _clock_of_original(stream) if isinstance(stream, OriginalVideo) else _clock_of(stream, media)
    start = query.start or 0
    stop = min(clock.frames, start + MOST_TIMES) if query.stop is None else query.stop
    if not 0 <= start <= stop <= clock.frames or stop - start > MOST_TIMES:
        raise BadInput(
            f"start, stop: 0 <= start <= stop <= {clock.frames}, the number of frames, and at most {MOST_TIMES} frames."
        )
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


class _Clock(NamedTuple):
    """The times of a video's frames: `stamps` in units of `base` seconds, empty where the rate is constant."""

    frames: int
    rate: Fraction
    stamps: Sequence[int] = ()
    base: Fraction = Fraction(1)


def _clock_of_original(stream: OriginalVideo) -> _Clock:
    from chalicelib.video.stretch import is_constant  # noqa: PLC0415 kept off the API's cold start

    table = stream.original.table
    _check_length(table.count)
    return _Clock(table.count, table.fps, () if is_constant(table) else table.times(), Fraction(*table.base))


def _clock_of(stream: Stream, media: Media) -> _Clock:
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
        return _Clock(info.frames, rate)
    _check_length(info.frames)
    stamps = unpack(clock.times, info.frames)
    if len(stamps) != info.frames:
        raise BadInput("The segment file is damaged: it has not one time for each frame.")
    return _Clock(info.frames, rate, stamps, Fraction(*clock.base))


def _check_length(frames: int) -> None:
    if frames > MOST_FRAMES:
        raise BadInput(f"The video has {frames} frames; times of more than {MOST_FRAMES} are not read here.")
