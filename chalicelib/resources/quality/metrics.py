"""Measures of agreement between layers: precision and recall, confusion, Cohen's kappa, Krippendorff's alpha.

Sources: J. Cohen, "A coefficient of agreement for nominal scales", 1960; K. Krippendorff, "Computing Krippendorff's
alpha-reliability", 2011 (nominal data, missing values allowed).
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

SAMPLES = 400
"""Resamples of an interval."""
Table = Mapping[tuple[Any, Any], float]
"""How often two values meet in units."""


@dataclass(slots=True)
class Tally:
    """Counts of matches: of matched pairs, of reference shapes without partner, of other shapes without partner."""

    matched: int = 0
    missing: int = 0
    extra: int = 0
    similarity: float = 0.0

    @property
    def precision(self) -> float | None:
        """The fraction of the other layer's shapes that are matched; None without shapes."""
        return _part(self.matched, self.matched + self.extra)

    @property
    def recall(self) -> float | None:
        """The part of the reference's shapes that have a partner; None without any."""
        return _part(self.matched, self.matched + self.missing)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall; None where both layers are empty."""
        return _part(2 * self.matched, 2 * self.matched + self.missing + self.extra)

    @property
    def mean_iou(self) -> float | None:
        """The mean similarity of the matched pairs; None without any."""
        return _part(self.similarity, self.matched)


def _part(part: float, whole: float) -> float | None:
    return part / whole if whole else None


@dataclass
class Confusion:
    """How often a class of the reference met a class of the other layer. None stands for no partner."""

    counts: dict[tuple[str | None, str | None], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Count pairs that are not there from 0, after decoding, too."""
        self.counts = Counter(self.counts)

    def labels(self) -> list[str]:
        """All classes, in alphabetical order."""
        return sorted({label for pair in self.counts for label in pair if label is not None})

    def matrix(self) -> list[list[int]]:
        """Rows are classes of the reference, columns those of the other layer; the last of each is 'no partner'."""
        names: list[str | None] = [*self.labels(), None]
        return [[self.counts[row, column] for column in names] for row in names]

    def kappa(self) -> float | None:
        """Cohen's kappa over matched pairs; None without pairs, or where chance alone explains all."""
        pairs = {pair: n for pair, n in self.counts.items() if None not in pair}
        return kappa(pairs)


def kappa(pairs: Mapping[tuple[Any, Any], int]) -> float | None:
    """Cohen's kappa of pairs of labels with their numbers; None where it is not defined."""
    total = sum(pairs.values())
    if not total:
        return None
    rows, columns = Counter[Hashable](), Counter[Hashable]()
    for (row, column), number in pairs.items():
        rows[row] += number
        columns[column] += number
    observed = sum(number for (row, column), number in pairs.items() if row == column) / total
    chance = sum(rows[label] * columns[label] for label in rows) / total**2
    return None if chance == 1 else (observed - chance) / (1 - chance)


def alpha_of(coincidences: Table) -> float | None:
    """Krippendorff's alpha for nominal data: 1 for agreement, 0 for chance; None where fewer than two values occur."""
    totals: defaultdict[Hashable, float] = defaultdict(float)
    for (one, _), number in coincidences.items():
        totals[one] += number
    whole = sum(totals.values())
    expected = whole**2 - sum(number**2 for number in totals.values())
    if not expected:
        return None
    observed = sum(number for (one, two), number in coincidences.items() if one != two)
    return 1 - (whole - 1) * observed / expected


def alpha_interval(tables: Sequence[Table]) -> tuple[float, float] | None:
    """The bootstrap interval of 95 % of alpha. Media are drawn with replacement, as their units depend on each other.

    Args:
        tables: the coincidences of each media, or of some media together.
    """
    if len(tables) < 2:  # noqa: PLR2004 nothing to draw from
        return None
    source = random.Random(0)  # noqa: S311 not for secrets
    found = []
    for _ in range(SAMPLES):
        total: Counter[tuple[Hashable, Hashable]] = Counter()
        for table in source.choices(tables, k=len(tables)):
            total.update(table)
        if (value := alpha_of(total)) is not None:
            found.append(value)
    if not found:
        return None
    found.sort()
    edge = 0.025
    return found[int(edge * len(found))], found[min(len(found) - 1, int((1 - edge) * len(found)))]


def table_of(units: Iterable[Sequence[Hashable]]) -> Counter[tuple[Any, Any]]:
    """How often values meet in units, each pair weighed by 1 / (values of its unit - 1)."""
    table: Counter[tuple[Any, Any]] = Counter()
    for values in units:
        if len(values) < 2:  # noqa: PLR2004 a pair
            continue
        counts = Counter(values)
        for one, of_one in counts.items():
            for two, of_two in counts.items():
                pairs = of_one * (of_two - (one == two))
                if pairs:
                    table[one, two] += pairs / (len(values) - 1)  # type: ignore[assignment]
    return table
