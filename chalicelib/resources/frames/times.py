"""The times at which the source of a video shows its frames, from the segment file of a rendition."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated

from msgspec import Meta

from chalicelib.core.entities import Media
from chalicelib.core.resource import Resource
from chalicelib.errors import BadInput
from chalicelib.resources.media import streams

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
    from chalicelib.video.timing import unpack  # noqa: PLC0415 kept off the API's cold start

    info = streams.segments(streams.choose(media, None).segment_info)
    start = query.start or 0
    stop = min(info.frames, start + MOST_TIMES) if query.stop is None else query.stop
    if not 0 <= start <= stop <= info.frames or stop - start > MOST_TIMES:
        raise BadInput(
            f"start, stop: 0 <= start <= stop <= {info.frames}, the number of frames, and at most {MOST_TIMES} of them."
        )
    clock = info.file
    if clock.rate and min(clock.rate) > 0:
        rate = Fraction(*clock.rate)
    elif media.fps and 0 < media.fps < math.inf:
        rate = Fraction(media.fps).limit_denominator(1001) or Fraction(1, 1001)
    else:
        raise BadInput(f"Media {media.id} has no frame rate yet.")
    if clock.times and clock.base and min(clock.base) > 0:
        if info.frames > MOST_FRAMES:
            raise BadInput(f"The video has {info.frames} frames; times of more than {MOST_FRAMES} are not read here.")
        stamps = unpack(clock.times, info.frames)
        if len(stamps) != info.frames:
            raise BadInput("The segment file is damaged: it has not one time for each frame.")
        base = clock.base[0] / clock.base[1]
        seconds = [(stamp - stamps[0]) * base for stamp in stamps[start:stop]]
    else:
        seconds = [number * rate.denominator / rate.numerator for number in range(start, stop)]
    return FrameTimes(
        media=media.id,
        num_frames=info.frames,
        rate=list(rate.as_integer_ratio()),
        is_constant=not clock.times,
        start=start,
        times=[round(each, 6) for each in seconds],
    )
