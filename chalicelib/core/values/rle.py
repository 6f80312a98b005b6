"""Masks as run lengths, in the compressed form of COCO.

A mask of `height` x `width` pixels is read column by column. Its runs are pixels outside, inside, outside and so on;
the first may be 0. Their text has groups of 5 bits, the lowest first, as the characters from `0` on. A sixth bit says
that more follow; from the fourth run on it has the difference to the run before the last. So an object has one text,
and `decode(encode(runs)) == runs`. All is linear in the runs and the bytes of pixels, without other libraries.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise

from chalicelib.errors import BadInput

MOST_CHARACTERS = 65_536
"""The longest text of one mask."""
MOST_PIXELS = 134_217_728
"""Pixels of the largest mask: of the largest image that is taken. A text of ten characters may say any number."""
LONGEST_SIDE = 65_536
"""Pixels of a side of a picture."""
MOST_CROSSINGS = 5_000_000
"""How often outlines may cross the columns of a picture: one around an object does some ten thousand times."""
_MAX_RUN_CHARACTERS = 7
"""Characters of a run: 35 bits."""


def encode(runs: Sequence[int]) -> str:
    """The text of run lengths."""
    text = bytearray()
    for place, run in enumerate(runs):
        value = run - runs[place - 2] if place > 2 else run  # noqa: PLR2004 as COCO has it
        while True:
            group, value = value & 31, value >> 5
            more = value != (-1 if group & 16 else 0)
            text.append(48 + group + (32 if more else 0))
            if not more:
                break
    return text.decode()


def decode(text: str) -> list[int]:
    """The run lengths of a text.

    Raises:
        ValueError: it is not such a text, or a run is negative.
    """
    runs: list[int] = []
    value = shift = 0
    for character in text.encode():
        group = character - 48
        if not 0 <= group < 64 or shift >= 5 * _MAX_RUN_CHARACTERS:  # noqa: PLR2004 six bits
            message = "it has a character or number that run lengths do not have"
            raise ValueError(message)
        value |= (group & 31) << shift
        shift += 5
        if group & 32:
            continue
        if group & 16:
            value -= 1 << shift
        if len(runs) > 2:  # noqa: PLR2004 as COCO has it
            value += runs[-2]
        if value < 0:
            message = "a run is negative"
            raise ValueError(message)
        runs.append(value)
        value = shift = 0
    if shift:
        message = "it ends within a number"
        raise ValueError(message)
    return runs


def area(runs: Sequence[int]) -> int:
    """The pixels of a mask."""
    return sum(runs[1::2])


def joined(runs: Iterable[int]) -> list[int]:
    """Runs without empty ones but the first."""
    found: list[int] = [0]
    for place, run in enumerate(runs):
        if place % 2 == (len(found) - 1) % 2:
            found[-1] += run
        elif run:
            found.append(run)
    return found


def without(runs: Sequence[int], other: Sequence[int]) -> list[int]:
    """The runs of the pixels of a mask that another one of the same picture does not have."""
    return _merged(runs, other, lambda own, taken: own and not taken)


def union(runs: Sequence[int], other: Sequence[int]) -> list[int]:
    """The runs of the pixels that either of two masks of the same picture has."""
    return _merged(runs, other, lambda one, two: one or two)


def _merged(one: Sequence[int], two: Sequence[int], is_inside: Callable[[bool, bool], bool]) -> list[int]:
    """The runs of the pixels that are inside by whether they are in the one and in the other mask."""
    first, second = list(accumulate(one)), list(accumulate(two))
    total = first[-1]
    changes, was, a, b = [0], False, 0, 0
    for place in sorted({0, *first, *second} - {total}):
        while a < len(first) and first[a] <= place:
            a += 1
        while b < len(second) and second[b] <= place:
            b += 1
        now = is_inside(a % 2 == 1, b % 2 == 1)
        if now != was:
            changes.append(place)
            was = now
    return [end - start for start, end in pairwise([*changes, total])]


def pixels(runs: Sequence[int]) -> bytes:
    """A byte for each pixel, column by column: 255 inside, 0 outside. Raises BadInput above `MOST_PIXELS`."""
    if (count := sum(runs)) > MOST_PIXELS:
        raise BadInput(f"mask: it has {count:,} pixels; at most {MOST_PIXELS:,} are drawn.")
    return b"".join((b"\xff" if place % 2 else b"\x00") * run for place, run in enumerate(runs))


def runs_of(columns: bytes) -> list[int]:
    """The runs of a byte for each pixel, column by column: any but 0 is inside."""
    flags = columns.translate(_INSIDE)
    runs, place, wanted = list[int](), 0, b"\x01"
    while place < len(flags):
        end = flags.find(wanted, place)
        end = len(flags) if end < 0 else end
        runs.append(end - place)
        place, wanted = end, b"\x00" if wanted == b"\x01" else b"\x01"
    return runs


_INSIDE = bytes([0] + [1] * 255)


def whole(runs: Sequence[int], size: tuple[int, int], corner: tuple[int, int], picture: tuple[int, int]) -> list[int]:
    """The runs of a whole picture from those of a part of it.

    Args:
        runs: of the part.
        size: of the part, height and width.
        corner: where it begins, top and left.
        picture: the size of the picture, height and width.
    """
    (height, width), (top, left), (tall, wide) = size, corner, picture
    spans = [
        (start - start // height * height + start // height * tall, length) for start, length in _spans(runs, height)
    ]
    first = left * tall + top
    found, end = [], 0
    for start, length in spans:
        found += [first + start - end, length]
        end = first + start + length
    assert width <= wide  # noqa: S101 the part is within the picture
    return joined([*found, tall * wide - end])


def part(runs: Sequence[int], picture: tuple[int, int]) -> tuple[int, int, int, int, list[int]]:
    """The smallest part of a picture that has all pixels of a mask: top, left, height, width, and its runs.

    An empty mask has the part of the first pixel.
    """
    tall = picture[0]
    ends = list(accumulate(runs))
    spans = [(start, end - start) for start, end in zip(ends[0::2], ends[1::2], strict=False) if end > start]
    if not spans:
        return 0, 0, 1, 1, [1]
    left, right = spans[0][0] // tall, (sum(spans[-1]) - 1) // tall + 1
    # a run that goes on in the next column has the whole height, and then runs stay as they are
    is_whole = any(start % tall + length > tall for start, length in spans)
    top = 0 if is_whole else min(start % tall for start, _ in spans)
    bottom = tall if is_whole else max(start % tall + length for start, length in spans)
    height, width = bottom - top, right - left
    found, end = [], 0
    for start, length in spans:
        column, row = divmod(start, tall)
        at = (column - left) * height + row - top
        found += [at - end, length]
        end = at + length
    return top, left, height, width, joined([*found, height * width - end])


def filled(rings: Iterable[Sequence[tuple[float, float]]], picture: tuple[int, int]) -> list[int]:
    """The runs of the pixels whose centres are within an odd number of outlines.

    Args:
        rings: points in pixels; holes are outlines, too.
        picture: height and width.

    Raises:
        BadInput: the outlines cross the columns of the picture more than `MOST_CROSSINGS` times.
    """
    tall, wide = picture
    _check_crossings(rings := [*rings], wide)
    crossings: defaultdict[int, list[float]] = defaultdict(list)
    for ring in rings:
        for (ax, ay), (bx, by) in zip(ring, [*ring[1:], ring[0]], strict=True):
            for column in _columns(ax, bx, wide):
                crossings[column].append(ay + (column + 0.5 - ax) / (bx - ax) * (by - ay))
    found, end = list[int](), 0
    for column in sorted(crossings):
        heights = [min(max(math.ceil(height - 0.5), 0), tall) for height in sorted(crossings[column])]
        for top, bottom in zip(heights[::2], heights[1::2], strict=False):
            if bottom > top:
                start = column * tall + top
                found += [start - end, bottom - top]
                end = start + bottom - top
    return joined([*found, wide * tall - end])


def _columns(one: float, other: float, wide: int) -> range:
    """The columns of a picture whose centres an edge between two places crosses."""
    first, last = sorted((math.ceil(one - 0.5), math.ceil(other - 0.5)))
    return range(max(first, 0), min(last, wide))


def _check_crossings(rings: Sequence[Sequence[tuple[float, float]]], wide: int) -> None:
    edges = (edge for ring in rings for edge in zip(ring, [*ring[1:], ring[0]], strict=True))
    if (count := sum(len(_columns(ax, bx, wide)) for (ax, _), (bx, _) in edges)) > MOST_CROSSINGS:
        raise BadInput(
            f"points: the outline crosses the columns of its picture {count:,} times; at most {MOST_CROSSINGS:,} are "
            "drawn as pixels. Make it simpler."
        )


def _spans(runs: Sequence[int], tall: int) -> list[tuple[int, int]]:
    """The runs inside, each with its first pixel, cut at the ends of columns."""
    found = []
    ends = list(accumulate(runs))
    for start, end in zip(ends[0::2], ends[1::2], strict=False):
        at = start
        while at < end:
            stop = min(end, at - at % tall + tall)
            found.append((at, stop - at))
            at = stop
    return found
