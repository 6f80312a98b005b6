"""The sound of a video whose rate varies, on the clock of its renditions.

Renditions play frame n at n / rate, the average, whatever the source's time of frame n is. So that sound and picture
stay together, sound is resampled between knots, one about every second and more where the rate changes: the sound at
the source's time of a knot is heard where the renditions show that frame. Between knots, frame and sound are apart by
at most the duration of an average frame, in the source's time. Where the source runs more than three times as fast or
slow as the renditions, sound is not stretched: it plays at its own speed from the knot on, and is cut or followed by
its last sample; there, a knot comes every quarter of a second.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from msgspec import Struct

from chalicelib.video.timing import FrameTable

SLOWEST_RATE = 2
"""Typical frames per second below which sound is not stretched: of a timelapse nothing would be left to recognize."""
_MAX_RATIO = 3
_NEAR = Fraction(1, 4)
"""Seconds of the renditions between knots where sound is not stretched."""
_FAR = 1e9


class Knots(Struct, frozen=True):
    """Seconds in the source and in the renditions that belong together, both ascending; empty for a constant rate."""

    source: tuple[float, ...] = ()
    shown: tuple[float, ...] = ()


def is_constant(table: FrameTable) -> bool:
    """Whether every frame of a source is within half a frame of n / rate."""
    if _is_regular(table):
        return True
    times = table.times()
    step = float(1 / table.fps / Fraction(*table.base))
    begin, most = times[0], 0.5 * step
    return all(abs(time - begin - number * step) <= most for number, time in enumerate(times))


def _is_regular(table: FrameTable) -> bool:
    """Whether all frames are exactly 1 / rate apart."""
    times, step = table.times(), Fraction(table.base[1], table.base[0]) / table.fps
    return step.denominator == 1 and times == array("q", range(times[0], times[0] + table.count * int(step), int(step)))


def knots_of(table: FrameTable) -> Knots:
    """The knots of a source; none where its rate is constant, or very low between most frames.

    Pauses make the average low, and need knots the most.
    """
    if _typical_rate(table) < SLOWEST_RATE or is_constant(table):
        return Knots()
    step = max(1, round(table.fps))
    regular = sorted({*range(0, table.count - 1, step), table.count - 1, *_around_pauses(table)})
    numbers = [*_close(table, _bent(table, regular))]
    source = [float(table.time_of(number)) for number in numbers]
    shown = [float(number / table.fps) for number in numbers]
    line = [(-_FAR, -_FAR)]
    for index, (start, at) in enumerate(zip(source[:-1], shown[:-1], strict=True)):
        passed, lasts = source[index + 1] - start, shown[index + 1] - at
        line.append((start, at))
        if lasts <= 0 or not lasts / _MAX_RATIO <= passed <= lasts * _MAX_RATIO:
            plain = min(passed, lasts)
            line.append((start + plain, at + plain))
    line += [(source[-1], shown[-1]), (source[-1] + _FAR, shown[-1] + _FAR)]
    return Knots(tuple(pair[0] for pair in line), tuple(pair[1] for pair in line))


def _typical_rate(table: FrameTable) -> float:
    """Frames per second by the median of the steps between frames."""
    steps = sorted(after - before for before, after in pairwise(table.times()))
    return float(1 / (steps[len(steps) // 2] * Fraction(*table.base))) if steps else float(table.fps)


def _bent(table: FrameTable, regular: Sequence[int]) -> list[int]:
    """The frames of knots: the regular ones, and between two of them the furthest from the line that they make.

    A frame is far from it where its time in the source differs from the line by more than an average frame lasts.
    """
    times = table.times()
    most = float(1 / table.fps / Fraction(*table.base))
    found = [regular[0]]
    waiting = [*pairwise(regular)][::-1]
    while waiting:
        first, last = waiting.pop()
        begin, step = times[first], (times[last] - times[first]) / (last - first)
        off = [abs(time - begin - number * step) for number, time in enumerate(times[first:last])]
        furthest = first + off.index(max(off))
        if first < furthest and max(off) > most:
            waiting += [(furthest, last), (first, furthest)]
        else:
            found.append(last)
    return found


def _close(table: FrameTable, numbers: Sequence[int]) -> Iterator[int]:
    """The frames of knots, with more of them where sound is not stretched, so that it stays near its pictures."""
    step = max(1, int(table.fps * _NEAR))
    yield numbers[0]
    for first, last in pairwise(numbers):
        passed, lasts = table.time_of(last) - table.time_of(first), (last - first) / table.fps
        if not lasts / _MAX_RATIO <= passed <= lasts * _MAX_RATIO:
            yield from range(first + step, last, step)
        yield last


def _around_pauses(table: FrameTable) -> Iterator[int]:
    """The frames before and after each step that is longer than a second, so that a knot spans nothing else."""
    longest = max(1.0, _MAX_RATIO / float(table.fps)) * table.base[1] / table.base[0]
    for number, (before, after) in enumerate(pairwise(table.times())):
        if after - before > longest:
            yield from (number, number + 1)


class Stretch:
    """Resamples stereo sound that comes in order, from the source's clock to that of the renditions."""

    def __init__(self, knots: Knots, rate: int) -> None:
        self._rate = rate
        self._source = [time * rate for time in knots.source]
        self._shown = [time * rate for time in knots.shown]
        self._last: tuple[int, float, float] | None = None

    def source_of(self, seconds: float) -> float:
        """The source's seconds of a time in the renditions."""
        return _interpolate(seconds * self._rate, self._shown, self._source) / self._rate

    def put(
        self, at: int, left: array[float], right: array[float], least: int, most: int
    ) -> tuple[int, array[float], array[float]]:
        """Sound that begins at sample `at` of the source as sound of the renditions, with its first sample.

        Only samples from `least` up to `most` of the renditions are made.
        """
        begin, stop = at, at + len(left)
        if stop == at:
            return least, array("f"), array("f")
        left, right = left[:], right[:]
        if self._last is not None and self._last[0] == at - 1:
            begin = at - 1
            left, right = array("f", [self._last[1]]) + left, array("f", [self._last[2]]) + right
        # The samples after the last one of the sound before, up to the last one here.
        first = max(self._after(begin if begin < at else begin - 1), least)
        end = max(first, min(self._after(stop - 1), most))
        self._last = stop - 1, left[-1], right[-1]
        positions = self._positions(first, end, begin, stop - 1)
        before = [int(position) for position in positions]
        made = []
        for side in (left, right):
            side.append(side[-1])
            made.append(
                array(
                    "f",
                    [
                        side[whole] + (side[whole + 1] - side[whole]) * (position - whole)
                        for whole, position in zip(before, positions, strict=True)
                    ],
                )
            )
        return first, made[0], made[1]

    def _positions(self, first: int, end: int, begin: int, last: int) -> list[float]:
        """Where samples of the renditions lie between those of the source that begin at `begin`, up to `last`."""
        most = float(last - begin)
        found: list[float] = []
        while first < end:
            knot = _segment(first, self._shown)
            past = end if knot + 2 >= len(self._shown) else min(end, math.ceil(self._shown[knot + 1]))
            slope = _slope(knot, self._shown, self._source)
            start = self._source[knot] - begin - self._shown[knot] * slope
            some = [start + number * slope for number in range(first, past)]
            if some[0] < 0 or some[-1] > most:
                some = [min(most, max(0.0, position)) for position in some]
            found += some
            first = past
        return found

    def _after(self, position: int) -> int:
        """The first sample of the renditions that is after one of the source."""
        return math.floor(_interpolate(position, self._source, self._shown)) + 1


def _interpolate(value: float, given: Sequence[float], wanted: Sequence[float]) -> float:
    """The value on a line between knots; beyond its ends, that of the end."""
    if not given[0] < value < given[-1]:
        return wanted[0] if value <= given[0] else wanted[-1]
    knot = _segment(value, given)
    return wanted[knot] + (value - given[knot]) * _slope(knot, given, wanted)


def _segment(value: float, given: Sequence[float]) -> int:
    """The number of the knot before a value, such that another follows."""
    return min(max(bisect_right(given, value) - 1, 0), len(given) - 2)


def _slope(knot: int, given: Sequence[float], wanted: Sequence[float]) -> float:
    length = given[knot + 1] - given[knot]
    return (wanted[knot + 1] - wanted[knot]) / length if length else 0.0
