"""The labels of a track between its keyed labels: one rule for lists, exports, every format, reader and writer.

- Between two keyed labels of one track on one media, each number of the shape changes linearly with the frame.
- Corners of polygons are matched first (`_matched`): where one polygon has fewer corners, its longest edges are halved
  until both have as many; then the corners are paired so that they move least, in either direction of the outline.
- A label without a shape is the beginning of a gap: the object is not in the picture until the next keyed label.
- A gap is filled only between labels of the same type, and not next to a frame on which the track has two labels.
- A label of several tracks counts to the first of them.
- The points of polylines and skeletons correspond by their order. An angle changes on the shorter way. Masks and holes
  are not interpolated: between two masks there is the box.
- Attributes, class and version are those of the earlier keyed label.

`draw/interpolation.js` of the console has the same rule; `tests/console/browser/test_tracks.py` compares the two.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TypeVar

import msgspec

from chalicelib.errors import BadInput
from chalicelib.formats.model import Label, Refined

Shape = tuple[float, ...]
Point = tuple[float, float]
Member = TypeVar("Member")
MAX_FILLED_LABELS = 2_000_000
"""Labels that are computed for one media: some 700 MB."""
MOST_STARTS = 256
"""How many pairings of the corners of two polygons are tried in each direction, evenly spread."""


def blend(kind: str, first: Shape, second: Shape, *, is_ordered: bool = False) -> Callable[[float], Shape]:
    """The shapes between two of one kind, by the share of the way: 0 is the first, 1 the second.

    Args:
        kind: of both.
        first: the earlier shape.
        second: the later one.
        is_ordered: whether the points of a polygon correspond by their order: those of a polyline or skeleton.
    """
    if kind == "poly" and not (is_ordered and len(first) == len(second)):
        first, second = _matched(first, second)

    def at(share: float) -> Shape:
        return tuple(a + (b - a) * share for a, b in zip(first, second, strict=True))

    return at


def shapes_between(
    kind: str,
    shapes: tuple[Shape, Shape],
    angles: tuple[float | None, float | None],
    span: tuple[int, int],
    frames: Iterable[int] | None = None,
    *,
    is_ordered: bool = False,
) -> Iterator[tuple[int, Shape, float]]:
    """Each frame between two keyed labels, with the shape and the angle in degrees on it.

    Args:
        kind: of both shapes.
        shapes: the earlier and the later one.
        angles: theirs, in degrees; None is 0.
        span: the frames of the two labels.
        frames: those that are wanted, all between the two by default.
        is_ordered: as in `blend`.
    """
    shape_at = blend(kind, *shapes, is_ordered=is_ordered)
    start, end = span
    for frame in range(start + 1, end) if frames is None else frames:
        share = (frame - start) / (end - start)
        yield frame, shape_at(share), angle_between(angles[0] or 0.0, angles[1] or 0.0, share)


def stretches(members: Iterable[Member], frame_of: Callable[[Member], int]) -> Iterator[tuple[Member, Member]]:
    """The neighbours in a track, by frame, between whose frames there is a gap that may be filled."""
    track = sorted(members, key=frame_of)
    frames = [frame_of(member) for member in track]
    twice = {a for a, b in pairwise(frames) if a == b}
    for first, second in pairwise(track):
        if frame_of(second) > frame_of(first) + 1 and not twice & {frame_of(first), frame_of(second)}:
            yield first, second


def between(first: Label, second: Label) -> Iterator[Label]:
    """The labels on the frames between two keyed labels, in order; they have no id."""
    if (first.kind, first.type) != (second.kind, second.type) or not first.shape or not second.shape:
        return
    one, two = first.refined or Refined(), second.refined or Refined()
    is_ordered = one.is_open or bool(one.points) or one.visible is not None
    span = first.frame, second.frame
    steps = shapes_between(first.kind, (first.shape, second.shape), (one.angle, two.angle), span, is_ordered=is_ordered)
    for frame, shape, angle in steps:
        refined = msgspec.structs.replace(one, mask=None, holes=(), angle=angle) if first.refined or two.angle else None
        yield msgspec.structs.replace(
            first, frame=frame, shape=shape, refined=refined, keyed=False, id=None, elemental_id=""
        )


def angle_between(first: float, second: float, share: float) -> float:
    """The angle on the shorter way between two, in degrees."""
    return first + ((second - first + 180) % 360 - 180) * share


def interpolate(labels: Iterable[Label], still: Iterable[str] = ()) -> list[Label]:
    """The labels of one media with the gaps of its tracks filled, by frame; labels without a shape are left out.

    Args:
        labels: of the media; those without a track are kept as they are.
        still: the keys of tracks that are not interpolated.

    Raises:
        BadInput: more than `MAX_FILLED_LABELS` would be computed: frames are any numbers that a caller wrote.
    """
    found = list(labels)
    tracks: defaultdict[str, list[Label]] = defaultdict(list)
    for label in found:
        if label.track is not None and label.keyed:
            tracks[label.track].append(label)
    filled = 0
    for key in tracks.keys() - set(still):
        for first, second in stretches(tracks[key], lambda label: label.frame):
            filled += second.frame - first.frame - 1
            if filled > MAX_FILLED_LABELS:
                raise BadInput(
                    f"Media {first.media[:200]}: its tracks have more than {MAX_FILLED_LABELS:,} interpolated labels; "
                    "delete keyframes that are far from the others, or leave its tracks out."
                )
            found += between(first, second)
    return sorted((label for label in found if label.shape), key=lambda label: label.frame)


def _matched(first: Shape, second: Shape) -> tuple[Shape, Shape]:
    """Two polygons with as many corners each, in the order in which the corners correspond."""
    one, two = list(zip(first[::2], first[1::2], strict=True)), list(zip(second[::2], second[1::2], strict=True))
    one, two = _divided(one, len(two)), _divided(two, len(one))
    number = len(one)
    step = -(-number // MOST_STARTS)
    best, least = two, _distance(one, two)
    for order in (two, two[::-1]):
        for start in range(0, number, step):
            turned = order[start:] + order[:start]
            if (far := _distance(one, turned)) < least:
                best, least = turned, far
    return tuple(n for point in one for n in point), tuple(n for point in best for n in point)


def _divided(points: list[Point], number: int) -> list[Point]:
    """An outline with at least so many corners: its longest edge, and of several the first, is halved repeatedly."""
    made = list(points)
    while len(made) < number:
        edges = list(zip(made, [*made[1:], made[0]], strict=True))
        lengths = [_distance([a], [b]) for a, b in edges]
        at = lengths.index(max(lengths))
        (ax, ay), (bx, by) = edges[at]
        made.insert(at + 1, ((ax + bx) / 2, (ay + by) / 2))
    return made


def _distance(one: Sequence[Point], two: Sequence[Point]) -> float:
    """The sum of the squared distances of corners that correspond."""
    return sum((ax - bx) ** 2 + (ay - by) ** 2 for (ax, ay), (bx, by) in zip(one, two, strict=True))
