"""Frame numbers and times of one video, in exact fractions.

**Frame n is the n-th frame of what the user sees**, counted from 0 in presentation order. A `FrameTable` is computed
once per source (`video.probe`), kept beside it, and is the only place where a frame number becomes a time.

Variable frame rate: every frame the source presents is exactly one frame of every rendition, whatever its duration.
Renditions play at a constant rate, the source's average, so frame numbers are source frame numbers everywhere and a
rendition's time n / rate is only approximately the source's time of frame n; the table keeps the exact one, and sound
is stretched to the renditions (`stretch`).
"""

from __future__ import annotations

import base64
import binascii
import zlib
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from msgspec import Struct

from chalicelib.errors import BadInput

# A table of ten million frames is 90 hours at 30 frames a second; decoding one takes 80 MB.
MAX_FRAMES = 10_000_000

# The rates cameras and editors mean when rounded timestamps give 29.97003 or 24.99997.
STANDARD_RATES = tuple(
    Fraction(rate) for rate in ("24", "25", "30", "50", "60", "15", "12", "10", "20", "5", "48", "100", "120", "240")
) + tuple(Fraction(nominal * 1000, 1001) for nominal in (24, 30, 60, 120))

# Bytes of an integer of 64 bits, seven bits in each.
_LONGEST_NUMBER = 10
_RATE_SLACK = Fraction(1, 10_000)
_LARGEST_RATE = 1000
_GUESSED_RATE = Fraction(25)
_LONGEST_STEP = 10
_UNUSUAL = 100


Span = tuple[int, int]
"""The first and the last of frames in a row."""


class Keyframe(Struct, frozen=True):
    """A place in the source where decoding can start.

    `frame` is the number of the first frame that is certainly decodable from here; `stamp` the decoding timestamp of
    its packet in the table's time base and `position` its byte offset, both None for "from the start of the file".
    """

    frame: int
    stamp: int | None = None
    position: int | None = None


class FrameTable(Struct, frozen=True):
    """When each frame of a source is presented, and where decoding can start.

    `base` is the source's time base and `rate` its constant or average frames per second, both as (numerator,
    denominator). `stamps` packs the presentation timestamps in units of `base`, strictly increasing; `keys` packs the
    keyframes. `counted` says that the source's packets do not carry usable timestamps, so that a frame is found by
    counting decoded frames from its keyframe; `by_position` that seeking goes by byte offset (transport streams).
    `lost` packs the numbers of frames of which decoding gives no picture, for a source whose frames are counted.
    `missing_ends` are the ends of the source at which damage took frames of which nothing is known, not even how many.
    `shift` is by how many units the pictures are later than the sound of the same moment (`quirks.shift_of`).
    """

    base: tuple[int, int]
    rate: tuple[int, int]
    count: int
    stamps: str
    keys: str
    counted: bool = False
    by_position: bool = False
    shift: int = 0
    lost: str = ""
    missing_ends: tuple[Literal["start", "end"], ...] = ()

    def lost_frames(self) -> frozenset[int]:
        """The numbers of the frames without a picture, of a source whose frames are counted."""
        return frozenset(_unpacked(self.lost)) if self.lost else frozenset()

    def times(self) -> Sequence[int]:
        """The presentation timestamp of every frame, in units of `base`."""
        return _unpacked(self.stamps)

    def keyframes(self) -> Sequence[Keyframe]:
        """Where decoding can start, in frame order; the first is always frame 0 from the start of the file."""
        return _unpacked_keys(self.keys)

    @property
    def start(self) -> Fraction:
        """The time of the first frame on the clock of the source's sound, in seconds."""
        return (self.times()[0] - self.shift) * Fraction(*self.base)

    @property
    def fps(self) -> Fraction:
        """Frames per second of the renditions, exactly."""
        return Fraction(*self.rate)

    @property
    def duration(self) -> Fraction:
        """Seconds from the first frame's start to the last frame's end, the last taken to be of average length."""
        return self.time_of(self.count - 1) + 1 / self.fps

    def time_of(self, frame: int) -> Fraction:
        """Seconds between the first frame and `frame` (0 ≤ frame < count) as presented by the source."""
        times = self.times()
        if not 0 <= frame < self.count:
            raise BadInput(f"Frame {frame} does not exist; the video has {self.count} frames.")
        return (times[frame] - times[0]) * Fraction(*self.base)

    def keyframe_for(self, frame: int) -> Keyframe:
        """The last place to start decoding from in order to see `frame`."""
        keys = self.keyframes()
        return keys[bisect_right(keys, frame, key=lambda key: key.frame) - 1]


def build_table(
    times: Sequence[int],
    keyframes: Iterable[Keyframe],
    base: Fraction,
    nominal_rate: Fraction | None,
    *,
    counted: bool = False,
    by_position: bool = False,
    shift: int = 0,
    lost: Sequence[int] = (),
    missing_ends: tuple[Literal["start", "end"], ...] = (),
) -> FrameTable:
    """Make a table of strictly increasing presentation `times` in units of `base` seconds.

    `nominal_rate` is what the container claims; it is believed only where the timestamps agree with it. Raises
    BadInput when there is no frame or there are too many.
    """
    if not times:
        raise BadInput("The file holds no video frame.")
    if len(times) > MAX_FRAMES:
        raise BadInput(f"The video has {len(times)} frames; at most {MAX_FRAMES} are allowed.")
    rate = average_rate(times, base, nominal_rate, passed=_passed(times, base) if by_position else None)
    keys = [key for key in keyframes if 0 < key.frame < len(times)]
    return FrameTable(
        base=base.as_integer_ratio(),
        rate=rate.as_integer_ratio(),
        count=len(times),
        stamps=_packed(times),
        keys=_packed(number for key in [Keyframe(0), *keys] for number in _numbers_of(key)),
        counted=counted,
        by_position=by_position,
        shift=shift,
        lost=_packed(lost) if lost else "",
        missing_ends=missing_ends,
    )


def _passed(times: Sequence[int], base: Fraction) -> int:
    """Units of `base` between the first time and the last, without jumps of the clock.

    The clock of a transport or program stream begins anew where recordings were joined. A step is a jump where it is
    longer than ten seconds and a hundred times the usual step.
    """
    steps = sorted(after - before for before, after in pairwise(times))
    if not steps:
        return 0
    usual = steps[len(steps) // 2]
    longest = max(int(_LONGEST_STEP / base), usual * _UNUSUAL)
    return sum(usual if step > longest else step for step in steps)


def average_rate(
    times: Sequence[int], base: Fraction, nominal_rate: Fraction | None, passed: int | None = None
) -> Fraction:
    """Frames per second, 1/1000 at the slowest seen in practice to 1000: the average, cleaned of rounding.

    `passed` is how many units of `base` the frames take, by default those between the first time and the last.

    Containers round timestamps (Matroska to the millisecond), so a rate is recognised when it explains the first and
    last timestamp within one tick each: first the container's own claim, then the standard rates.
    """
    span = (times[-1] - times[0] if passed is None else passed) * base
    if span <= 0:
        return min(nominal_rate, Fraction(_LARGEST_RATE)) if nominal_rate and nominal_rate > 0 else _GUESSED_RATE
    measured = (len(times) - 1) / span
    slack = min(2 * base / span + _RATE_SLACK, Fraction(1, 20))
    if nominal_rate and abs(nominal_rate / measured - 1) <= slack:
        meant = min(STANDARD_RATES, key=lambda rate: abs(rate / nominal_rate - 1))
        if abs(meant / nominal_rate - 1) <= _RATE_SLACK:
            # FLV writes 29.97 and means 30000/1001.
            return meant
        return min(nominal_rate.limit_denominator(1_000_000), Fraction(_LARGEST_RATE))
    nearest = min(STANDARD_RATES, key=lambda rate: abs(rate / measured - 1))
    if abs(nearest / measured - 1) <= slack:
        return nearest
    return min(_short(measured), Fraction(_LARGEST_RATE))


def _short(rate: Fraction) -> Fraction:
    """`rate` with few enough digits for every container's 32-bit fields, never 0."""
    if rate < 1:
        return 1 / (1 / rate).limit_denominator(1001)
    return rate.limit_denominator(1001)


def joined(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Spans that do not overlap in order, those that touch as one."""
    found: list[Span] = []
    for first, last in sorted(spans):
        begin = found.pop()[0] if found and found[-1][1] == first - 1 else first
        found.append((begin, last))
    return tuple(found)


def _numbers_of(key: Keyframe) -> tuple[int, int, int, int]:
    """A keyframe as four integers; the last two bits say which of stamp and position are known."""
    known = (key.stamp is not None) + 2 * (key.position is not None)
    return key.frame, key.stamp or 0, key.position or 0, known


def _packed(numbers: Iterable[int]) -> str:
    """Integers of up to 64 bits as text; regular ones shrink to almost nothing.

    Differences of differences are zero for a constant frame rate; written as variable-length bytes (seven bits each,
    sign in the lowest) and deflated, an hour at 30 frames a second takes about 300 characters, jittery phones' video
    about one character a frame.
    """
    out = bytearray()
    last = last_step = 0
    for number in numbers:
        step = number - last
        change = step - last_step
        last, last_step = number, step
        change = (change << 1) ^ (change >> 127)
        while change > 127:  # noqa: PLR2004 - seven bits and a flag for more
            out.append(change & 127 | 128)
            change >>= 7
        out.append(change)
    return base64.b64encode(zlib.compress(bytes(out), 9)).decode()


@lru_cache(maxsize=4)
def _unpacked(text: str) -> array[int]:
    """The inverse of `_packed`. Raises BadInput for a damaged text."""
    return unpack(text, MAX_FRAMES * 4)


def unpack(text: str, most: int) -> array[int]:
    """At most this many integers that `_packed` made text of. Raises BadInput for a damaged text, or for more."""
    numbers = array("q")
    last = last_step = value = shift = 0
    try:
        inflating = zlib.decompressobj()
        data = inflating.decompress(base64.b64decode(text, validate=True), _LONGEST_NUMBER * most)
        if not inflating.eof:
            raise BadInput("The frame table is damaged.", f"It has more than {most} numbers, or is cut.")
        for byte in data:
            value |= (byte & 127) << shift
            if byte > 127:  # noqa: PLR2004 - seven bits and a flag for more
                shift += 7
                if shift >= 7 * _LONGEST_NUMBER:
                    raise BadInput("The frame table is damaged.", "A number has more than 64 bits.")
                continue
            last_step += (value >> 1) ^ -(value & 1)
            last += last_step
            numbers.append(last)
            value = shift = 0
    except (binascii.Error, zlib.error, OverflowError) as error:
        raise BadInput("The frame table is damaged.", str(error)) from error
    return numbers


@lru_cache(maxsize=4)
def _unpacked_keys(text: str) -> tuple[Keyframe, ...]:
    """The keyframes packed four integers each."""
    numbers = iter(_unpacked(text))
    return tuple(
        Keyframe(frame, stamp if known & 1 else None, position if known & 2 else None)
        for frame, stamp, position, known in zip(numbers, numbers, numbers, numbers, strict=True)
    )
