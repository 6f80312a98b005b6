"""Comparing layers of annotations, frame by frame: pure functions over streams in the order of media and frame."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, groupby
from operator import itemgetter
from typing import Any

from chalicelib.resources.quality.matching import Pair, Shape, match
from chalicelib.resources.quality.metrics import Confusion, Tally, alpha_interval, alpha_of, table_of
from chalicelib.resources.quality.periods import result_of
from chalicelib.resources.quality.tracks import TrackAgreement

MOST_MEDIA = 1_000
"""Media that a report lists, of all pairs of layers together; `media_count` has their number."""
BLOCKS = 2_000
"""Media above this number are drawn together with others for the interval of alpha."""
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
class ShapeConflict:
    """A difference on a frame: a shape of either layer without partner, or a pair of different classes."""

    kind: str
    media: int
    frame: int
    one: Shape | None
    two: Shape | None


@dataclass
class Comparison:
    """What was found of a pair of layers. Its size does not depend on the number of shapes, nor of media."""

    reference: int
    version: int
    overall: Tally = field(default_factory=Tally)
    classes: dict[str, Tally] = field(default_factory=dict)
    people: dict[int, Tally] = field(default_factory=dict)
    weeks: dict[str, Tally] = field(default_factory=dict)
    worst: list[tuple[int, Tally]] = field(default_factory=list)
    """The media with the lowest F1, and some more."""
    most_media: int = MOST_MEDIA
    media_count: int = 0
    confusion: Confusion = field(default_factory=Confusion)
    states: Confusion = field(default_factory=Confusion)
    conflicts: list[ShapeConflict] = field(default_factory=list)
    conflict_count: int = 0
    tracks: TrackAgreement = field(default_factory=lambda: TrackAgreement(reach=1.0))
    listed: dict[tuple[str | None, str | None], int] = field(default_factory=dict)
    most_conflicts: int = MOST_CONFLICTS
    _media: Tally = field(default_factory=Tally)

    def __post_init__(self) -> None:
        """Make missing counts start at 0, also after decoding."""
        self.listed = Counter(self.listed)
        for name in ("classes", "people", "weeks"):
            setattr(self, name, defaultdict(Tally, getattr(self, name)))

    def end_media(self, number: int) -> None:
        """Count the frames that were added as those of a media."""
        self.tracks.end_media()
        self.media_count += 1
        self.worst.append((number, self._media))
        self._media = Tally()
        if len(self.worst) > 2 * self.most_media:
            self.worst = self._sort_media()

    def _sort_media(self) -> list[tuple[int, Tally]]:
        return sorted(self.worst, key=lambda each: (each[1].f1 or 0, each[0]))[: self.most_media]

    def add(
        self, media: int, frame: int, ours: Sequence[Shape], theirs: Sequence[Shape], pairs: Sequence[Pair]
    ) -> None:
        """Count the pairs of a frame, and what has no partner."""
        for pair in pairs:
            one, two = ours[pair.reference], theirs[pair.other]
            for tally in (*self._tallies(one.label, two.user), self.weeks[two.week]):
                tally.matched += 1
                tally.similarity += pair.similarity
            self.confusion.counts[one.label, two.label] += 1
            if one.label != two.label:
                self._add_conflict(media, frame, "class", one, two)
        for one in _others(ours, {pair.reference for pair in pairs}):
            for tally in self._tallies(one.label, None):
                tally.missing += 1
            self.confusion.counts[one.label, None] += 1
            self._add_conflict(media, frame, "missing", one, None)
        for two in _others(theirs, {pair.other for pair in pairs}):
            for tally in (*self._tallies(two.label, two.user), self.weeks[two.week]):
                tally.extra += 1
            self.confusion.counts[None, two.label] += 1
            self._add_conflict(media, frame, "extra", None, two)

    def _tallies(self, label: str, user: int | None) -> list[Tally]:
        found = [self.overall, self.classes[label], self._media]
        return found if user is None else [*found, self.people[user]]

    def _add_conflict(self, media: int, frame: int, kind: str, one: Shape | None, two: Shape | None) -> None:
        self.conflict_count += 1
        cell = (one.label if one else None, two.label if two else None)
        if len(self.conflicts) < self.most_conflicts and self.listed[cell] < self.most_conflicts / CELLS:
            self.listed[cell] += 1
            self.conflicts.append(ShapeConflict(kind, media, frame, one, two))

    def result(self) -> dict[str, Any]:
        """The members of a result in a report."""
        return {
            "reference": self.reference,
            "version": self.version,
            "overall": _measures(self.overall),
            "classes": [{"class": name, **_measures(tally)} for name, tally in sorted(self.classes.items())],
            "people": [{"user": user, **_measures(tally)} for user, tally in sorted(self.people.items())],
            "media": [{"media": number, **_measures(tally)} for number, tally in self._sort_media()],
            "media_count": self.media_count,
            "weeks": [
                {"week": week, **_measures(tally, _OF_WEEK)} for week, tally in sorted(self.weeks.items()) if week
            ],
            "confusion": {"labels": self.confusion.labels(), "matrix": self.confusion.matrix()},
            "kappa": self.confusion.kappa(),
            "tracks": self.tracks.result(),
            "states": result_of(self.states),
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


@dataclass
class Findings:
    """What was found of all pairs of layers so far, from media to media in the order of their ids.

    Attributes:
        pairs: a comparison for each pair.
        tables: how classes meet in media, for Krippendorff's alpha: of one media each, or of blocks of them.
        media: how many media were compared.
        shapes: how many shapes.
        after: the last media; 0 for none.
    """

    pairs: list[Comparison]
    tables: list[dict[tuple[str, str], float]] = field(default_factory=list)
    media: int = 0
    shapes: int = 0
    after: int = 0

    @classmethod
    def begin(cls, pairs: Sequence[tuple[int, int]], rules: Rules) -> Findings:
        """Nothing yet: of pairs of a reference and another version each."""
        conflicts, media = MOST_CONFLICTS // len(pairs), MOST_MEDIA // len(pairs)
        return cls(
            [
                Comparison(
                    one, two, most_conflicts=conflicts, most_media=media, tracks=TrackAgreement(reach=rules.reach)
                )
                for one, two in pairs
            ]
        )

    def alpha(self) -> float | None:
        """Krippendorff's alpha of the classes."""
        whole: Counter[tuple[str, str]] = Counter()
        for table in self.tables:
            whole.update(table)
        return alpha_of(whole)

    def alpha_interval(self) -> tuple[float, float] | None:
        """The bootstrap interval of 95 % of `alpha`."""
        return alpha_interval(self.tables)

    def end_media(self, number: int, units: list[list[str]]) -> None:
        """Count the frames that were added as those of a media, and the classes that layers gave to its objects."""
        for comparison in self.pairs:
            comparison.end_media(number)
        table = table_of(units)
        if self.media < BLOCKS:
            self.tables.append(dict(table))
        else:
            block = Counter(self.tables[self.media % BLOCKS])
            block.update(table)
            self.tables[self.media % BLOCKS] = dict(block)
        self.media += 1
        self.after = number


def compare(
    found: Findings,
    rows: Iterable[tuple[int, int, int, Shape]],
    layers: Sequence[int],
    rules: Rules,
    is_enough: Callable[[], bool] = lambda: False,
) -> bool:
    """Compare layers over all frames, and add what is found.

    Args:
        found: what was found of the media before.
        rows: media, frame, version and shape, in the order of media and frame.
        layers: all versions that take part.
        rules: how.
        is_enough: whether to stop; it is asked after each media.

    Returns:
        whether all rows were taken.
    """
    for media, of_media in groupby(rows, key=itemgetter(0)):
        units: list[list[str]] = []
        for frame, group in groupby(of_media, key=itemgetter(1)):
            shapes: Layers = {version: [] for version in layers}
            for _, _, version, shape in group:
                shapes[version].append(shape)
                found.shapes += 1
            for comparison in found.pairs:
                ours, theirs = shapes[comparison.reference], shapes[comparison.version]
                comparison.add(media, frame, ours, theirs, _pairs(ours, theirs, rules))
                comparison.tracks.add(ours, theirs)
            units.extend(_units(shapes, rules))
        found.end_media(media, units)
        if is_enough():
            return False
    return True


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
