"""The labels of a track between its keyed labels: one rule for every format, reader and writer.

Between two keyed labels of one track on one media, each number of the shape changes linearly with the frame. Boxes,
lines and dots are interpolated; polygons are not, for their points do not correspond. A gap is filled only between
labels of the same kind. Attributes, class and version are those of the earlier keyed label.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise

import msgspec

from chalicelib.formats.model import Label


def between(first: Label, second: Label) -> Iterator[Label]:
    """The labels on the frames between two keyed labels, in order; they have no id."""
    if first.kind != second.kind or first.kind == "poly":
        return
    length = second.frame - first.frame
    for frame in range(first.frame + 1, second.frame):
        share = (frame - first.frame) / length
        shape = tuple(a + (b - a) * share for a, b in zip(first.shape, second.shape, strict=True))
        yield msgspec.structs.replace(first, frame=frame, shape=shape, keyed=False, id=None, elemental_id="")


def interpolate(labels: Iterable[Label]) -> list[Label]:
    """The labels of one media with the gaps of its tracks filled, by frame; labels without a track as they are.

    A track with two labels on one frame is not interpolated next to that frame.
    """
    found = list(labels)
    tracks: defaultdict[str, list[Label]] = defaultdict(list)
    for label in found:
        if label.track is not None and label.keyed:
            tracks[label.track].append(label)
    for members in tracks.values():
        members.sort(key=lambda label: label.frame)
        frames = [label.frame for label in members]
        twice = {a for a, b in pairwise(frames) if a == b}
        for first, second in pairwise(members):
            if not twice & {first.frame, second.frame}:
                found += between(first, second)
    return sorted(found, key=lambda label: label.frame)
