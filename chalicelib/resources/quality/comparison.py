"""Comparing layers of annotations, frame by frame: pure functions over streams in the order of media and frame."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, groupby
from typing import Any

from chalicelib.resources.quality.matching import Pair, Shape, match
from chalicelib.resources.quality.metrics import Confusion, Tally, alpha, alpha_interval
from chalicelib.resources.quality.tracks import TrackAgreement

MOST_CONFLICTS = 1_500
"""Conflicts that a report lists, of all pairs of layers together; `conflict_count` has their number."""
CELLS = 8
"""A cell of the confusion lists at most this part of the conflicts, so that rare ones are listed too."""
Layers = dict[int, list[Shape]]
"""Version → its shapes on a frame."""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """How shapes are compared.

    Attributes:
        threshold: the smallest similarity of a pair.
        reach: the distance of dots and lines at which their similarity is 0.
        class_aware: whether only shapes of the same class are paired.
    """

    threshold: float
    reach: float
    class_aware: bool


@dataclass(frozen=True, slots=True)
class Conflict:
    """A difference on a frame: a shape of either layer without partner, or a pair of different classes."""

    kind: str
    media: int
    frame: int
    one: Shape | None
    two: Shape | None


@dataclass
class Comparison:
    """What was found of a pair of layers."""

    reference: int
    version: int
    overall: Tally = field(default_factory=Tally)
    classes: defaultdict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    people: defaultdict[int, Tally] = field(default_factory=lambda: defaultdict(Tally))
    media: defaultdict[int, Tally] = field(default_factory=lambda: defaultdict(Tally))
    weeks: defaultdict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    confusion: Confusion = field(default_factory=Confusion)
    conflicts: list[Conflict] = field(default_factory=list)
    conflict_count: int = 0
    tracks: TrackAgreement = field(default_factory=lambda: TrackAgreement(reach=1.0))
    listed: Counter[tuple[str | None, str | None]] = field(default_factory=Counter)
    most_conflicts: int = MOST_CONFLICTS

    def add(
        self, media: int, frame: int, ours: Sequence[Shape], theirs: Sequence[Shape], pairs: Sequence[Pair]
    ) -> None:
        """Count the pairs of a frame, and what has no partner."""
        for pair in pairs:
            one, two = ours[pair.reference], theirs[pair.other]
            for tally in (*self._tallies(media, one.label, two.user), self.weeks[two.week]):
                tally.matched += 1
                tally.similarity += pair.similarity
            self.confusion.counts[one.label, two.label] += 1
            if one.label != two.label:
                self._note(media, frame, "class", one, two)
        for one in _others(ours, {pair.reference for pair in pairs}):
            for tally in self._tallies(media, one.label, None):
                tally.missing += 1
            self.confusion.counts[one.label, None] += 1
            self._note(media, frame, "missing", one, None)
        for two in _others(theirs, {pair.other for pair in pairs}):
            for tally in (*self._tallies(media, two.label, two.user), self.weeks[two.week]):
                tally.extra += 1
            self.confusion.counts[None, two.label] += 1
            self._note(media, frame, "extra", None, two)

    def _tallies(self, media: int, label: str, user: int | None) -> list[Tally]:
        found = [self.overall, self.classes[label], self.media[media]]
        return found if user is None else [*found, self.people[user]]

    def _note(self, media: int, frame: int, kind: str, one: Shape | None, two: Shape | None) -> None:
        self.conflict_count += 1
        cell = (one.label if one else None, two.label if two else None)
        if len(self.conflicts) < self.most_conflicts and self.listed[cell] < self.most_conflicts / CELLS:
            self.listed[cell] += 1
            self.conflicts.append(Conflict(kind, media, frame, one, two))

    def result(self) -> dict[str, Any]:
        """The members of a result in a report."""
        return {
            "reference": self.reference,
            "version": self.version,
            "overall": _measures(self.overall),
            "classes": [{"class": name, **_measures(tally)} for name, tally in sorted(self.classes.items())],
            "people": [{"user": user, **_measures(tally)} for user, tally in sorted(self.people.items())],
            "media": [{"media": number, **_measures(tally)} for number, tally in sorted(self.media.items())],
            "weeks": [
                {"week": week, **_measures(tally, _OF_WEEK)} for week, tally in sorted(self.weeks.items()) if week
            ],
            "confusion": {"labels": self.confusion.labels(), "matrix": self.confusion.matrix()},
            "kappa": self.confusion.kappa(),
            "tracks": self.tracks.result(),
            "conflicts": self._conflicts(),
            "conflict_count": self.conflict_count,
        }

    def _conflicts(self) -> list[dict[str, Any]]:
        place = {label: index for index, label in enumerate([*self.confusion.labels(), None])}
        return [
            {
                "kind": each.kind,
                "media": each.media,
                "frame": each.frame,
                "reference_id": each.one and each.one.id,
                "id": each.two and each.two.id,
                "user": each.two and each.two.user,
                "row": place[each.one.label if each.one else None],
                "column": place[each.two.label if each.two else None],
            }
            for each in self.conflicts
        ]


def _others(shapes: Sequence[Shape], taken: set[int]) -> Iterator[Shape]:
    return (shape for index, shape in enumerate(shapes) if index not in taken)


_OF_WEEK = ("matched", "extra", "precision", "mean_iou")


def _measures(
    tally: Tally, names: Sequence[str] = ("matched", "missing", "extra", "precision", "recall", "f1", "mean_iou")
) -> dict[str, Any]:
    return {name: getattr(tally, name) for name in names}


def compare(
    rows: Iterable[tuple[int, int, int, Shape]], layers: Sequence[int], pairs: Sequence[tuple[int, int]], rules: Rules
) -> tuple[list[Comparison], float | None, tuple[float, float] | None]:
    """Compare layers over all frames.

    Args:
        rows: media, frame, version and shape, in the order of media and frame.
        layers: all versions that take part.
        pairs: which are compared: reference and other.
        rules: how.

    Returns:
        a comparison for each pair; Krippendorff's alpha of the classes; its interval.
    """
    found = [
        Comparison(one, two, most_conflicts=MOST_CONFLICTS // len(pairs), tracks=TrackAgreement(reach=rules.reach))
        for one, two in pairs
    ]
    present = None
    units: defaultdict[int, list[list[str]]] = defaultdict(list)
    for (media, frame), group in groupby(rows, key=lambda row: row[:2]):
        if media != present:
            for comparison in found:
                comparison.tracks.end_media()
            present = media
        shapes: Layers = {version: [] for version in layers}
        for _, _, version, shape in group:
            shapes[version].append(shape)
        for comparison in found:
            ours, theirs = shapes[comparison.reference], shapes[comparison.version]
            comparison.add(media, frame, ours, theirs, _pairs(ours, theirs, rules))
            comparison.tracks.add(ours, theirs)
        units[media].extend(_units(shapes, rules))
    for comparison in found:
        comparison.tracks.end_media()
    return found, alpha(unit for each in units.values() for unit in each), alpha_interval(units)


def _pairs(ours: Sequence[Shape], theirs: Sequence[Shape], rules: Rules) -> list[Pair]:
    if not rules.class_aware:
        return match(ours, theirs, rules.threshold, rules.reach)
    found = []
    for label in {shape.label for shape in ours} & {shape.label for shape in theirs}:
        first = [index for index, shape in enumerate(ours) if shape.label == label]
        second = [index for index, shape in enumerate(theirs) if shape.label == label]
        matched = match([ours[i] for i in first], [theirs[i] for i in second], rules.threshold, rules.reach)
        found += [Pair(first[pair.reference], second[pair.other], pair.similarity) for pair in matched]
    return found


def _units(shapes: Layers, rules: Rules) -> list[list[str]]:
    """The classes that layers gave to the same object of a frame: shapes joined by pairs, one of each layer."""
    groups: list[dict[int, Shape]] = []
    group_of: dict[tuple[int, int], int] = {}
    for first, second in combinations(shapes, 2):
        for pair in match(shapes[first], shapes[second], rules.threshold, rules.reach):
            one, two = (first, pair.reference), (second, pair.other)
            place = group_of.get(one)
            if place is None:
                place = group_of[one] = len(groups)
                groups.append({first: shapes[first][pair.reference]})
            if two not in group_of and second not in groups[place]:
                group_of[two] = place
                groups[place][second] = shapes[second][pair.other]
    return [[shape.label for shape in group.values()] for group in groups if len(group) > 1]
