"""Shapes and tracks as iFDO and BIIGLE have them: numbers in pixels by the word of a shape, a list for each time.

A rectangle is its corners, a polygon ends where it begins, a circle is its centre and radius, an ellipse the ends of
its axes. `limn` beside an annotation holds what the formats do not: frames, ids, types, versions and attributes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from msgspec import Struct

from chalicelib.errors import BadInput
from chalicelib.formats.model import Group, Label, LabelKind, Media, Refined, State, corners_of
from chalicelib.formats.refined import outline, pixel_label
from chalicelib.formats.writers.science.viame import MOST_LABELS

_CORNERS, _CIRCLE, _LINE, _LEAST = 8, 3, 4, 6
_TOLERANCE = 1e-6
"""Pixels by which the corners of an upright box may be off its edges."""
Shaped = tuple[LabelKind, tuple[float, ...], Refined | None]


class Course(Struct, frozen=True):
    """An annotation: the keyed labels of one shape and class of a track, or one label without a track."""

    word: str
    labels: list[Label | None]
    """None where the track has a gap."""
    state: State | None
    """The state of its track; only in the track's first annotation."""

    @property
    def keyed(self) -> list[Label]:
        """Its labels without the gaps."""
        return [label for label in self.labels if label is not None]

    def pieces(self) -> Iterator[Course]:
        """Its parts between gaps of its labels; the labels of a part before a gap end with None."""
        state, start = self.state, 0
        for stop, label in enumerate(self.labels, 1):
            if label is None or stop == len(self.labels):
                yield Course(self.word, self.labels[start:stop], state)
                state, start = None, stop


def courses(group: Group, classes: set[str], words: Mapping[str, str]) -> tuple[list[Course], int]:
    """The annotations of a media, and how many labels are left out: those without a class or a size of their media.

    Args:
        group: the media, whole.
        classes: those of the dataset.
        words: what a format calls a box, dot, line and poly.

    Raises:
        BadInput: the media has more than `MOST_LABELS`.
    """
    media = group.media
    held = [label for label in group.labels if label.class_name in classes and media.width and media.height]
    if len(held) > MOST_LABELS:
        message = f"format: media {media.name!r} has {len(held)} labels; a file of this format holds {MOST_LABELS}."
        raise BadInput(message)
    found: dict[Any, list[Label]] = {}
    for label in held:
        word = words["line" if label.refined and label.refined.is_open else label.kind]
        key = (word, label.class_name, label.track) if label.track is not None else (word, "", label.frame, len(found))
        found.setdefault(key, []).append(label)
    waiting = {state.key: state for state in group.states if state.association == "track"}
    made = []
    for key, labels in found.items():
        track = labels[0].track
        made.append(Course(key[0], _with_gaps(labels), waiting.pop(track, None) if track is not None else None))
    return made, len(group.labels) - len(held)


def _with_gaps(labels: Sequence[Label]) -> list[Label | None]:
    between = {before.frame for before, after in pairwise(labels) if before.keyed and not after.keyed}
    keyed = [label for label in labels if label.keyed]
    found: list[Label | None] = []
    for before, after in pairwise(keyed):
        found.append(before)
        if after.frame > before.frame + 1 and before.frame not in between:
            found.append(None)
    return [*found, *keyed[-1:]]


def numbers_of(label: Label, media: Media) -> list[float]:
    """The numbers of a shape in pixels, without what its word does not say."""
    shape = pixel_label(label, media)
    if label.kind == "dot":
        return list(shape.shape)
    is_closed = label.kind == "poly" and not (label.refined and label.refined.is_open)
    points = outline(shape) if label.kind == "box" and not _is_ellipse(label) else corners_of(shape)
    return [number for point in [*points, *(points[:1] if is_closed else [])] for number in point]


def more_of(course: Course) -> dict[str, Any]:
    """The member `limn` of an annotation."""
    labels = []
    for label, following in pairwise([*course.labels, course.labels[-1]]):
        if label is not None:
            row = {"frame": label.frame, "elemental_id": label.elemental_id, "type": label.type}
            row |= {"version": label.version, "attributes": label.attributes, "gap": following is None}
            labels.append(row)
    state, track = course.state, course.keyed[0].track
    more: dict[str, Any] = {"labels": labels, "track": track}
    if state is not None:
        own = {"elemental_id": state.elemental_id, "type": state.type, "version": state.version}
        more["state"] = {**own, "class": state.class_name, "attributes": state.attributes}
    return more


def shape_of(word: str, numbers: Sequence[float]) -> Shaped:
    """The kind, numbers and refinement of a shape, in pixels. Raises ValueError."""
    word, count = word.casefold().replace("-", "").replace(" ", ""), len(numbers)
    if word in ("point", "singlepixel") and count == 2:  # noqa: PLR2004 x and y
        return "dot", tuple(numbers), None
    if word == "circle" and count == _CIRCLE:
        x, y, radius = numbers
        return "box", (x - radius, y - radius, 2 * radius, 2 * radius), Refined(is_ellipse=True)
    if word in ("rectangle", "ellipse") and count == _CORNERS:
        return _rectangle(numbers) if word == "rectangle" else _ellipse(numbers)
    if word in ("linestring", "polyline") and count == _LINE:
        x, y, u, v = numbers
        return "line", (x, y, u - x, v - y), None
    if word in ("linestring", "polyline") and count >= _LEAST and count % 2 == 0:
        return "poly", tuple(numbers), Refined(is_open=True)
    if word == "polygon" and count % 2 == 0:
        ring = numbers[:-2] if tuple(numbers[:2]) == tuple(numbers[-2:]) else numbers
        if len(ring) >= _LEAST:
            return "poly", tuple(ring), None
    raise ValueError(f"{count} numbers are not a {word[:40]!r}")


def _rectangle(numbers: Sequence[float]) -> Shaped:
    xs, ys = numbers[::2], numbers[1::2]
    left, top, right, bottom = min(xs), min(ys), max(xs), max(ys)
    on_edges = all(
        min(x - left, right - x) <= _TOLERANCE and min(y - top, bottom - y) <= _TOLERANCE
        for x, y in zip(xs, ys, strict=True)
    )
    if on_edges:
        return "box", (left, top, right - left, bottom - top), None
    width, height = math.dist((xs[0], ys[0]), (xs[1], ys[1])), math.dist((xs[1], ys[1]), (xs[2], ys[2]))
    angle = math.degrees(math.atan2(ys[1] - ys[0], xs[1] - xs[0]))
    return "box", (sum(xs) / 4 - width / 2, sum(ys) / 4 - height / 2, width, height), Refined(angle=angle)


def _ellipse(numbers: Sequence[float]) -> Shaped:
    """An ellipse of the ends of one axis, then of the other."""
    (x, y, u, v), (p, q, r, s) = numbers[:4], numbers[4:]
    width, height = math.dist((x, y), (u, v)), math.dist((p, q), (r, s))
    angle = math.degrees(math.atan2(v - y, u - x)) % 180
    shape = ((x + u) / 2 - width / 2, (y + v) / 2 - height / 2, width, height)
    return "box", shape, Refined(is_ellipse=True, angle=angle)


def _is_ellipse(label: Label) -> bool:
    return bool(label.refined and label.refined.is_ellipse)
