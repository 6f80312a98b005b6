"""The sound of a video whose rate varies, on the clock of its renditions.

Renditions play frame n at n / rate, the average, whatever the source's time of frame n is. So that sound and picture
stay together, sound is resampled between knots, one about every second and more where the rate changes: the sound at
the source's time of a knot is heard where the renditions show that frame. Between knots, frame and sound are apart by
at most the duration of an average frame, in the source's time. Where the source runs more than three times as fast or
slow as the renditions, sound is not stretched: it plays at its own speed from the knot on, and is cut or followed by
its last sample.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from msgspec import Struct

from chalicelib.video.timing import FrameTable

SLOWEST_RATE = 2
"""Frames per second below which sound is not stretched: of a timelapse nothing would be left to recognize."""
_MOST = 3.0
_FAR = 1e9


class Knots(Struct, frozen=True):
    """Seconds in the source and in the renditions that belong together, both ascending; empty for a constant rate."""

    source: tuple[float, ...] = ()
    shown: tuple[float, ...] = ()


def is_constant(table: FrameTable) -> bool:
    """Whether every frame of a source is within half a frame of n / rate."""
    if _is_regular(table):
        return True
    import numpy as np  # noqa: PLC0415 - kept off the API's cold start

    times = np.asarray(table.times(), dtype=np.float64)
    seconds = (times - times[0]) * (table.base[0] / table.base[1])
    rate = float(table.fps)
    return bool(np.all(np.abs(seconds - np.arange(table.count) / rate) <= 0.5 / rate))


def _is_regular(table: FrameTable) -> bool:
    """Whether all frames are exactly 1 / rate apart; needs no numpy."""
    times, step = table.times(), Fraction(table.base[1], table.base[0]) / table.fps
    return step.denominator == 1 and times == array("q", range(times[0], times[0] + table.count * int(step), int(step)))


def knots_of(table: FrameTable) -> Knots:
    """The knots of a source; none where its rate is constant or very low."""
    if table.fps < SLOWEST_RATE or is_constant(table):
        return Knots()
    step = max(1, round(table.fps))
    regular = sorted({*range(0, table.count - 1, step), table.count - 1, *_around_pauses(table)})
    numbers = _bent(table, regular)
    source = [float(table.time_of(number)) for number in numbers]
    shown = [float(number / table.fps) for number in numbers]
    line = [(-_FAR, -_FAR)]
    for index, (start, at) in enumerate(zip(source[:-1], shown[:-1], strict=True)):
        passed, lasts = source[index + 1] - start, shown[index + 1] - at
        line.append((start, at))
        if lasts <= 0 or not lasts / _MOST <= passed <= lasts * _MOST:
            plain = min(passed, lasts)
            line.append((start + plain, at + plain))
    line += [(source[-1], shown[-1]), (source[-1] + _FAR, shown[-1] + _FAR)]
    return Knots(tuple(pair[0] for pair in line), tuple(pair[1] for pair in line))


def _bent(table: FrameTable, regular: Sequence[int]) -> list[int]:
    """The frames of knots: the regular ones, and between two of them the furthest from the line that they make.

    A frame is far from it where its time in the source differs from the line by more than an average frame lasts.
    """
    import numpy as np  # noqa: PLC0415 - kept off the API's cold start

    times = np.asarray(table.times(), dtype=np.float64) * (table.base[0] / table.base[1])
    most = 1 / float(table.fps)
    found = [regular[0]]
    waiting = [*pairwise(regular)][::-1]
    while waiting:
        first, last = waiting.pop()
        line = np.linspace(times[first], times[last], last - first + 1)
        off = np.abs(times[first : last + 1] - line)
        furthest = first + int(off.argmax())
        if first < furthest < last and off.max() > most:
            waiting += [(furthest, last), (first, furthest)]
        else:
            found.append(last)
    return found


def _around_pauses(table: FrameTable) -> Iterator[int]:
    """The frames before and after each step that is longer than a second, so that a knot spans nothing else."""
    longest = max(1.0, _MOST / float(table.fps)) * table.base[1] / table.base[0]
    for number, (before, after) in enumerate(pairwise(table.times())):
        if after - before > longest:
            yield from (number, number + 1)


class Stretch:
    """Resamples stereo sound that comes in order, from the source's clock to that of the renditions."""

    def __init__(self, knots: Knots, rate: int) -> None:
        import numpy as np  # noqa: PLC0415 - kept off the API's cold start

        self._np = np
        self._rate = rate
        self._source = np.asarray(knots.source) * rate
        self._shown = np.asarray(knots.shown) * rate
        self._last: tuple[int, float, float] | None = None

    def source_of(self, seconds: float) -> float:
        """The source's seconds of a time in the renditions."""
        return float(self._np.interp(seconds * self._rate, self._shown, self._source)) / self._rate

    def put(
        self, at: int, left: array[float], right: array[float], least: int, most: int
    ) -> tuple[int, array[float], array[float]]:
        """Sound that begins at sample `at` of the source as sound of the renditions, with its first sample.

        Only samples from `least` up to `most` of the renditions are made.
        """
        np = self._np
        sides = [np.frombuffer(side, dtype=np.float32) for side in (left, right)]
        begin, stop = at, at + len(left)
        if self._last is not None and self._last[0] == at - 1:
            begin = at - 1
            sides = [np.concatenate(([kept], side)) for kept, side in zip(self._last[1:], sides, strict=True)]
        # The samples after the last one of the sound before, up to the last one here.
        first = max(self._after(begin if begin < at else begin - 1), least)
        numbers = np.arange(first, max(first, min(self._after(stop - 1), most)), dtype=np.int64)
        if stop > at:
            self._last = stop - 1, float(sides[0][-1]), float(sides[1][-1])
        positions = np.interp(numbers, self._shown, self._source) - begin
        made = [array("f", np.interp(positions, np.arange(len(side)), side).astype(np.float32)) for side in sides]
        return first, made[0], made[1]

    def _after(self, position: int) -> int:
        """The first sample of the renditions that is after one of the source."""
        return int(self._np.floor(self._np.interp(position, self._source, self._shown))) + 1
