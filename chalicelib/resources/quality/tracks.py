"""Agreement of tracks: HOTA and IDF1, as pure functions over the frames of one media after the other.

Sources: J. Luiten et al., "HOTA: A Higher Order Metric for Evaluating Multi-Object Tracking", 2021; E. Ristani et al.,
"Performance Measures and a Data Set for Multi-Target, Multi-Camera Tracking", 2016 (IDF1).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from chalicelib.resources.quality.matching import Shape, assign, similarity

THRESHOLDS = tuple(step / 20 for step in range(1, 20))
"""The similarities 0.05 to 0.95 over which HOTA is the mean."""
SAME_OBJECT = 0.5
"""The similarity from which IDF1 counts a frame as one of the same object."""
_SLACK = 1e-9
Edges = dict[int, dict[int, float]]


@dataclass
class _AtThreshold:
    """Sums of a threshold: of matched frames, their similarities, and their associations."""

    matched: int = 0
    similarity: float = 0.0
    association: float = 0.0


@dataclass
class TrackAgreement:
    """What was found of the tracks of two layers. `add` takes the frames of a media, `end_media` counts them."""

    reach: float
    reference: int = 0
    other: int = 0
    same: float = 0.0
    at: list[_AtThreshold] = field(default_factory=lambda: [_AtThreshold() for _ in THRESHOLDS])
    _frames: list[Edges] = field(default_factory=list)
    _lengths: tuple[dict[int, int], dict[int, int]] = field(default_factory=lambda: ({}, {}))

    def __post_init__(self) -> None:
        """Reset the counts of frames, for the first media and after decoding."""
        self._frames, self._lengths = [], (Counter(), Counter())

    def add(self, ours: Sequence[Shape], theirs: Sequence[Shape]) -> None:
        """Take in the shapes of a frame that belong to tracks; of a track one for each frame."""
        first, second = _by_track(ours), _by_track(theirs)
        for lengths, tracks in zip(self._lengths, (first, second), strict=True):
            for track in tracks:
                lengths[track] += 1
        edges: Edges = {}
        for track, shape in first.items():
            found = {other: similarity(shape, each, self.reach) for other, each in second.items()}
            if row := {other: value for other, value in found.items() if value > 0}:
                edges[track] = row
        if edges:
            self._frames.append(edges)

    def end_media(self) -> None:
        """Count the frames of a media. Tracks lie within one media, so its sums are independent of those of others."""
        ours, theirs = self._lengths
        self.reference += sum(ours.values())
        self.other += sum(theirs.values())
        if self._frames:
            self._associate(ours, theirs)
            self._identify()
        self._frames, self._lengths = [], (Counter(), Counter())

    def _associate(self, ours: dict[int, int], theirs: dict[int, int]) -> None:
        shared = _shared_frames(self._frames)
        aligned = {pair: value / (ours[pair[0]] + theirs[pair[1]] - value) for pair, value in shared.items()}
        counts: list[Counter[tuple[int, int]]] = [Counter() for _ in THRESHOLDS]
        for edges in self._frames:
            weights = {
                track: {other: aligned[track, other] * value for other, value in row.items()}
                for track, row in edges.items()
            }
            for pair in assign(weights):
                value = edges[pair.reference][pair.other]
                for threshold, sums, count in zip(THRESHOLDS, self.at, counts, strict=True):
                    if value < threshold - _SLACK:
                        break
                    sums.matched += 1
                    sums.similarity += value
                    count[pair.reference, pair.other] += 1
        for sums, count in zip(self.at, counts, strict=True):
            for (track, other), number in count.items():
                sums.association += number * number / (ours[track] + theirs[other] - number)

    def _identify(self) -> None:
        frames: defaultdict[int, dict[int, float]] = defaultdict(dict)
        for edges in self._frames:
            for track, row in edges.items():
                for other, value in row.items():
                    if value >= SAME_OBJECT - _SLACK:
                        frames[track][other] = frames[track].get(other, 0) + 1
        self.same += sum(pair.similarity for pair in assign(frames))

    def result(self) -> dict[str, Any] | None:
        """HOTA with its parts and IDF1, each 0 to 1; None where neither layer has tracks.

        The localization is the mean over the thresholds that some pair reaches. TrackEval counts the others as 1.
        """
        if not self.reference and not self.other:
            return None
        count = len(THRESHOLDS)
        detection = [each.matched / (self.reference + self.other - each.matched) for each in self.at]
        association = [each.association / max(1, each.matched) for each in self.at]
        located = [each.similarity / each.matched for each in self.at if each.matched]
        return {
            "hota": sum(math.sqrt(d * a) for d, a in zip(detection, association, strict=True)) / count,
            "detection": sum(detection) / count,
            "association": sum(association) / count,
            "localization": sum(located) / len(located) if located else None,
            "idf1": 2 * self.same / (self.reference + self.other),
            "identity_precision": self.same / self.other if self.other else None,
            "identity_recall": self.same / self.reference if self.reference else None,
            "reference_shapes": self.reference,
            "shapes": self.other,
        }


def _shared_frames(frames: Sequence[Edges]) -> dict[tuple[int, int], float]:
    """In how many frames two tracks may be the same object; a frame counts by its share of the similarities there."""
    found: defaultdict[tuple[int, int], float] = defaultdict(float)
    for edges in frames:
        columns: defaultdict[int, float] = defaultdict(float)
        for row in edges.values():
            for other, value in row.items():
                columns[other] += value
        for track, row in edges.items():
            whole = sum(row.values())
            for other, value in row.items():
                found[track, other] += value / (whole + columns[other] - value)
    return found


def _by_track(shapes: Sequence[Shape]) -> dict[int, Shape]:
    return {shape.track: shape for shape in shapes if shape.track is not None}
