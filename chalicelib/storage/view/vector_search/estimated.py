"""Distances of vectors that are held as codes: estimated for all, exact for those that decide an answer.

The list of a query needs its first rows in exact order, and the rows within its bounds. Estimates tell which vectors
can be among them (`codes.py`); the vectors of these are read, and no others.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Collection, Sequence

from chalicelib.query.tree import Nearest
from chalicelib.storage.view.vector_search.codes import Estimates
from chalicelib.storage.view.vector_search.matrices import MAX_DISTANCE, Distances, Matrix

MOST_READ = 2_000
"""Vectors that a query reads to decide its order and bounds, beside four for each wanted row. More than that so close
together are in the order of their estimates."""
_MOST_CANDIDATES = 20_000
"""Candidates that a statement selects from, beside four for each wanted row."""
_FEW = 8
"""The share of all vectors, as a divisor, from which on candidates are not looked for: the statement selects first."""

Read = Callable[[Sequence[int]], list[tuple[int, bytes]]]
"""The vectors of the given ids that have one, by id."""


class EstimatedDistances:
    """The distances of a column's vectors from a center, with the methods of `Distances`."""

    def __init__(self, nearest: Nearest, estimates: Estimates, changed: Distances, read: Read) -> None:
        """Begin.

        Args:
            nearest: the center, the distance and the bounds.
            estimates: of all vectors but the changed ones.
            changed: the distances of the vectors that changed since.
            read: reads vectors.
        """
        self._nearest = nearest
        self._estimates = estimates
        self._changed = changed
        self._read = read
        low = -MAX_DISTANCE if nearest.lower is None else nearest.lower
        high = MAX_DISTANCE if nearest.upper is None else nearest.upper
        self._low, self._high = (-high, -low) if nearest.descending else (low, high)
        self._ranges: dict[int, tuple[float, float]] = {}
        self._exact: dict[int, float] = changed.ranks()
        self.reach = math.inf

    @property
    def is_bounded(self) -> bool:
        """Whether rows without a distance are left out of the list."""
        return self._changed.is_bounded

    def rank(self, number: int) -> float:
        """Sort keys, the first row lowest; infinite for a row without a distance. Call `load_deciding` before."""
        rank = self._exact.get(number)
        return rank if rank is not None else sum(self._ranges.get(number, (math.inf,))) / 2

    def allows(self, number: int) -> bool:
        """Whether a row is within the bounds. Call `load_deciding` before."""
        return not self.is_bounded or self._low <= self.rank(number) <= self._high

    def within(self) -> list[int]:
        """The ids of rows with a distance within the bounds."""
        found = list(self._estimates.candidates(self._low, self._high))
        self._ranges |= {number: (lower, upper) for number, lower, upper in found}
        self._settle_bounds([number for number, _, _ in found], MOST_READ)
        own = [number for number in self._exact if number not in self._ranges]
        return [number for number in (*self._ranges, *own) if self._low <= self.rank(number) <= self._high]

    def first(self, most: int) -> list[int] | None:
        """Ids that include the first rows within the bounds and all up to the rank `reach`; None where too many are."""
        self.reach = math.inf
        if most > len(self._estimates) // _FEW:
            return None
        reach = self._estimates.reach(most, self._low)
        if reach is None or reach > self._high:
            return None
        found = list(self._estimates.candidates(self._low, reach))
        limit = _MOST_CANDIDATES + 4 * most
        if len(found) > limit:
            found = heapq.nsmallest(limit, found, key=lambda each: (each[1] + each[2], each[0]))
        self.reach = reach
        self._ranges |= {number: (lower, upper) for number, lower, upper in found}
        own = [number for number, rank in self._exact.items() if self._low <= rank <= reach]
        return [*{number for number, _, _ in found}.union(own)]

    def load_deciding(self, numbers: Collection[int], wanted: int) -> None:
        """Read the vectors that decide which of some rows are within the bounds and come first.

        Args:
            numbers: ids of rows.
            wanted: how many come first; where all are wanted, the first are in exact order.
        """
        missing = [number for number in numbers if number not in self._ranges and number not in self._exact]
        if missing:
            self._ranges |= {number: (lower, upper) for number, lower, upper in self._estimates.ranks(missing)}
        most = MOST_READ + 4 * min(wanted, MOST_READ)
        if self.is_bounded:
            self._settle_bounds(numbers, most)
        ranges = {number: self._range(number) for number in numbers if self.allows(number)}
        last = math.inf
        if wanted < len(ranges):
            last = heapq.nsmallest(wanted, (upper for _, upper in ranges.values()))[-1] if wanted else -math.inf
        close = [number for number, (lower, upper) in ranges.items() if lower < upper and lower <= last]
        self._compute(heapq.nsmallest(most, close, key=lambda number: (ranges[number], number)))

    def _range(self, number: int) -> tuple[float, float]:
        rank = self._exact.get(number)
        return (rank, rank) if rank is not None else self._ranges.get(number, (math.inf, math.inf))

    def _settle_bounds(self, numbers: Collection[int], most: int) -> None:
        unsure = []
        for number in numbers:
            lower, upper = self._range(number)
            if lower < self._low <= upper or lower <= self._high < upper:
                unsure.append(number)
        self._compute(unsure[:most])

    def _compute(self, numbers: list[int]) -> None:
        """Read vectors."""
        numbers = [number for number in numbers if number not in self._exact]
        if not numbers:
            return
        length = len(self._nearest.center)
        matrix = Matrix(length)
        matrix.extend([(number, packed) for number, packed in self._read(numbers) if len(packed) == matrix.width])
        self._exact |= dict.fromkeys(numbers, math.inf) | Distances(self._nearest, matrix).ranks()
