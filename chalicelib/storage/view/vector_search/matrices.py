"""Vectors in one matrix, and their exact distances from a center.

DuckDB copies a list before it compares it, number by number: 100 ms for 100,000 vectors of 512. simsimd takes 16 ms
where they are contiguous, as they are here.
"""

from __future__ import annotations

import heapq
import math
import operator
import sys
from array import array
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from chalicelib.query.tree import Nearest

NUMBER = 4
"""Bytes of a number in a vector."""
_BESIDE = 250
"""Bytes of a vector beside its numbers: its id and its position."""
MAX_DISTANCE = sys.float_info.max
"""Rows beyond it have no distance."""


class Distances:
    """The distances of the rows of a matrix from a center."""

    def __init__(self, nearest: Nearest, matrix: Matrix | None) -> None:
        self._nearest = nearest
        self._numbers: Sequence[int] = matrix.numbers if matrix else ()
        self._places: Mapping[int, int] = matrix.places if matrix else {}
        self._distances = matrix.distances(nearest) if matrix else array("d")
        self.reach = math.inf
        """The rank up to which `first` returned all rows."""
        self._low = -MAX_DISTANCE if nearest.lower is None else nearest.lower
        self._high = MAX_DISTANCE if nearest.upper is None else nearest.upper

    def load_deciding(self, numbers: Collection[int], wanted: int) -> None:
        """Prepare `rank` and `allows` of some rows, of which some come first: nothing to do."""

    @property
    def is_bounded(self) -> bool:
        """Whether rows without a distance are left out of the list."""
        return self._nearest.lower is not None or self._nearest.upper is not None

    def ranks(self) -> dict[int, float]:
        """The sort keys of all rows of the matrix."""
        return {number: self.rank(number) for number in self._numbers}

    def rank(self, number: int) -> float:
        """Sort keys, the first row lowest; infinite for a row without a distance, which is last in both directions."""
        distance = self._distance_of(number)
        return -distance if self._nearest.descending and distance < math.inf else distance

    def allows(self, number: int) -> bool:
        """Whether a row is within the bounds."""
        return not self.is_bounded or self._low <= self._distance_of(number) <= self._high

    def within(self) -> list[int]:
        """The ids of rows with a distance within the bounds."""
        return self._between(self._low, self._high)

    def first(self, most: int) -> list[int] | None:
        """The ids of the first rows within the bounds, including ties with the last; None if there are fewer."""
        if most > len(self._distances):
            return None
        come_first = heapq.nlargest if self._nearest.descending else heapq.nsmallest
        low, high = self._low, self._high
        found = come_first(most, [each for each in self._distances if low <= each <= high])
        if len(found) < most:
            return None
        return self._between(found[-1], high) if self._nearest.descending else self._between(low, found[-1])

    def _distance_of(self, number: int) -> float:
        place = self._places.get(number)
        return math.inf if place is None else self._distances[place]

    def _between(self, low: float, high: float) -> list[int]:
        return [number for number, each in zip(self._numbers, self._distances, strict=True) if low <= each <= high]


class Matrix:
    """Vectors of one length, as rows of 32-bit floats."""

    def __init__(self, length: int) -> None:
        self.length = length
        self.width = length * NUMBER
        """Bytes of a row."""
        self.numbers = array("q")
        """The ids of the rows."""
        self.places: dict[int, int] = {}
        """The row numbers by id."""
        self._rows = bytearray()
        self._lengths: array[float] | None = None
        """The Euclidean lengths of the rows, computed when angles are first needed."""

    @property
    def memory(self) -> int:
        """About how many bytes it takes."""
        return len(self._rows) + _BESIDE * len(self.numbers)

    def extend(self, vectors: Sequence[tuple[int, bytes]]) -> None:
        """Add the vectors of ids that have none yet."""
        first = len(self.numbers)
        self._rows += b"".join([vector for _, vector in vectors])
        self.numbers.extend([number for number, _ in vectors])
        self.places |= {number: first + place for place, (number, _) in enumerate(vectors)}
        self._lengths = None

    def drop(self, number: int) -> None:
        """Remove the vector of an id; the last row takes its place."""
        place, size = self.places.pop(number), self.width
        last, row = self.numbers.pop(), self._rows[-size:]
        del self._rows[-size:]
        if last != number:
            self.numbers[place], self.places[last] = last, place
            self._rows[place * size : (place + 1) * size] = row
        self._lengths = None

    def distances(self, nearest: Nearest) -> array[float]:
        """The distance of each row from a center: infinite where the angle is undefined, or beyond 32 bits."""
        match nearest.metric:
            case "l2norm":
                found = self._measure(nearest.center, "euclidean")
            case "l1norm":
                found = self._sum_differences(nearest.center)
            case "ip":
                found = array("d", [-each for each in self._measure(nearest.center, "inner")])
            case _:
                found = self._angles(nearest.center)
        if not math.isfinite(sum(found)):
            found = array("d", [each if math.isfinite(each) else math.inf for each in found])
        return found

    def _sum_differences(self, center: Sequence[float]) -> array[float]:
        """The sums of absolute differences, a measure that simsimd lacks."""
        numbers, middle, size = memoryview(self._rows).cast("f"), array("f", center), self.length
        return array(
            "d",
            [
                sum(map(abs, map(operator.sub, numbers[start : start + size], middle)))
                for start in range(0, len(numbers), size)
            ],
        )

    def _angles(self, center: Sequence[float]) -> array[float]:
        """One minus the cosines."""
        if self._lengths is None:
            self._lengths = self._measure((0.0,) * self.length, "euclidean")
        length = math.hypot(*array("f", center))
        together = zip(self._measure(center, "inner"), self._lengths, strict=True)
        return array(
            "d", [1 - inner / (length * own) if length and 0 < own < math.inf else math.inf for inner, own in together]
        )

    def _measure(self, center: Sequence[float], measure: Literal["euclidean", "inner"]) -> array[float]:
        import simsimd  # noqa: PLC0415 only queries by distance need it

        if not self.numbers:
            return array("d")
        one = memoryview(array("f", center)).cast("B").cast("f", shape=[1, self.length])
        rows = memoryview(self._rows).cast("f", shape=[len(self.numbers), self.length])
        found: Any = simsimd.cdist(one, rows, measure)
        return array("d", bytes(memoryview(found).cast("B")))
