"""Videos shown side by side by time: which frame of each belongs to a moment.

The frames of the whole are counted by its lead, the first part that is a video. Frame 0 of the whole is the moment at
which each part shows its offset, a frame of its own; below 0 it begins that many frames later.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from math import floor
from typing import NamedTuple

TOLERANCE = Fraction(1, 200_000)
"""Seconds after a moment at which a frame still belongs to it: containers round the times of equal rates."""


class Clock(NamedTuple):
    """The times of a video's frames: `stamps` in units of `base` seconds, empty where the rate is constant."""

    frames: int
    rate: Fraction
    stamps: Sequence[int] = ()
    base: Fraction = Fraction(1)

    def time_of(self, frame: int) -> Fraction:
        """Seconds from frame 0 to a frame; before the first and after the last one, frames follow at `rate`."""
        if not self.stamps or frame < 0:
            return frame / self.rate
        last = min(frame, len(self.stamps) - 1)
        return (self.stamps[last] - self.stamps[0]) * self.base + (frame - last) / self.rate

    def frame_at(self, time: Fraction) -> int:
        """The last frame that has begun at a time in seconds after frame 0; outside of the video as `time_of`."""
        time += TOLERANCE
        if not self.stamps or time < 0:
            return floor(time * self.rate)
        found = bisect_right(self.stamps, floor(time / self.base) + self.stamps[0]) - 1
        last = len(self.stamps) - 1
        return found if found < last else last + floor((time - self.time_of(last)) * self.rate)


class Timeline(NamedTuple):
    """Parts shown side by side: the clock of each, None for an image, and the frame of each at frame 0 of the whole."""

    clocks: tuple[Clock | None, ...]
    offsets: tuple[int, ...]

    @property
    def lead(self) -> tuple[Clock, int]:
        """The clock of the first video and its offset; of images alone, a clock of one frame."""
        pairs = zip(self.clocks, self.offsets, strict=True)
        return next(((clock, offset) for clock, offset in pairs if clock), (Clock(1, Fraction(1)), 0))

    @property
    def frames(self) -> int:
        """The number of frames of the whole: until the last frame of each part has begun, at least 1."""
        clock, offset = self.lead
        ends = (
            each.time_of(each.frames - 1) - each.time_of(start)
            for each, start in zip(self.clocks, self.offsets, strict=True)
            if each
        )
        begin = clock.time_of(offset)
        return max(1, clock.frame_at(begin + max(ends, default=Fraction(0))) - offset + 1)

    def moment(self, frame: int) -> Fraction:
        """Seconds from frame 0 of the whole to a frame of it."""
        clock, offset = self.lead
        return clock.time_of(frame + offset) - clock.time_of(offset)

    def shown(self, part: int, frame: int) -> int | None:
        """The frame that a part shows at a frame of the whole; None before its first, and once its last has ended."""
        return self._shown(part, self.moment(frame))

    def partner(self, part: int, other: int, frame: int) -> int | None:
        """The frame that a part shows when a frame of another begins; None as `shown`."""
        clock, offset = self.clocks[other], self.offsets[other]
        return self._shown(part, clock.time_of(frame) - clock.time_of(offset) if clock else Fraction(0))

    def _shown(self, part: int, moment: Fraction) -> int | None:
        clock = self.clocks[part]
        if clock is None:
            return 0
        found = clock.frame_at(moment + clock.time_of(self.offsets[part]))
        return found if 0 <= found < clock.frames else None
