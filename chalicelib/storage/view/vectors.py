"""Nearest neighbours: the vectors of a column in one matrix, their distances from a center, and the resulting order.

DuckDB copies a list before it compares it, number by number: 100 ms for 100,000 vectors of 512. simsimd takes 16 ms
where they are contiguous, as they are here. So a statement selects the rows of a list, and their distances are looked
up. All results are exact; there is no approximate index.

The vectors of a column are packed by the first query that needs distances; later queries fetch only what changed since.
"""

from __future__ import annotations

import heapq
import math
import operator
import sys
import threading
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from chalicelib.query.tree import Nearest, Query

Fetch = Callable[[Sequence[int] | None], list[tuple[int, bytes]]]
"""The vectors of the given ids that have one, by id; of all entities for None."""
Row = tuple[Any, ...]
Ask = Callable[[Sequence[int] | None], list[Row]]
"""The rows of a list in its order without distances: all, or those of the given ids. Each begins with its id."""

_NUMBER = 4
"""Bytes of a number in a vector."""
_BESIDE = 250
"""Bytes of a vector beside its numbers: its id and its position."""
_MARGIN, _FEWEST, _WIDER = 4, 256, 16
"""Candidates per wanted row, least candidates, and the factor for another attempt, where too few of the candidates were
in the list."""
_LARGEST = sys.float_info.max
"""Rows beyond it have no distance."""


class Distances:
    """The distances of the rows of a matrix from a center."""

    def __init__(self, nearest: Nearest, matrix: _Matrix | None) -> None:
        self._nearest = nearest
        self._numbers: Sequence[int] = matrix.numbers if matrix else ()
        self._places: Mapping[int, int] = matrix.places if matrix else {}
        self._distances = matrix.distances(nearest) if matrix else array("d")
        self._low = -_LARGEST if nearest.lower is None else nearest.lower
        self._high = _LARGEST if nearest.upper is None else nearest.upper

    @property
    def is_bounded(self) -> bool:
        """Whether rows without a distance are left out of the list."""
        return self._nearest.lower is not None or self._nearest.upper is not None

    def rank(self, number: int) -> float:
        """Sort keys, the first row lowest; infinite for a row without a distance, which is last in both directions."""
        distance = self._of(number)
        return -distance if self._nearest.descending and distance < math.inf else distance

    def allows(self, number: int) -> bool:
        """Whether a row is within the bounds."""
        return not self.is_bounded or self._low <= self._of(number) <= self._high

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

    def _of(self, number: int) -> float:
        place = self._places.get(number)
        return math.inf if place is None else self._distances[place]

    def _between(self, low: float, high: float) -> list[int]:
        return [number for number, each in zip(self._numbers, self._distances, strict=True) if low <= each <= high]


class _Matrix:
    """Vectors of one length, as rows of 32-bit floats."""

    def __init__(self, length: int) -> None:
        self.length = length
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
        place, size = self.places.pop(number), self.length * _NUMBER
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
            "d",
            [1 - inner / (length * own) if length and 0 < own < math.inf else math.inf for inner, own in together],
        )

    def _measure(self, center: Sequence[float], measure: Literal["euclidean", "inner"]) -> array[float]:
        import simsimd  # noqa: PLC0415 only queries by distance need it

        if not self.numbers:
            return array("d")
        one = memoryview(array("f", center)).cast("B").cast("f", shape=[1, self.length])
        rows = memoryview(self._rows).cast("f", shape=[len(self.numbers), self.length])
        found: Any = simsimd.cdist(one, rows, measure)
        return array("d", bytes(memoryview(found).cast("B")))


class Vectors:
    """The vectors of one column of a view."""

    def __init__(self) -> None:
        self._matrices: dict[int, _Matrix] = {}
        self._lengths: dict[int, int] = {}
        """The length of an id's vector."""
        self._stale: set[int] | None = None
        """The ids that changed since the matrix was packed; None before the first query."""
        self._lock = threading.Lock()

    @property
    def memory(self) -> int:
        """About how many bytes they take."""
        return sum(matrix.memory for matrix in list(self._matrices.values()))

    def note(self, changed: Iterable[int]) -> None:
        """Mark ids as created, changed or removed. There must be no readers."""
        if self._stale is not None:
            self._stale.update(changed)

    def distances(self, nearest: Nearest, fetch: Fetch) -> Distances:
        """The distances of all rows from a center; vectors of another length have none."""
        with self._lock:
            if self._stale is None or len(self._stale) > len(self._lengths):
                self._matrices, self._lengths = {}, {}
                self._put(fetch(None))
            elif self._stale:
                for number in self._stale & self._lengths.keys():
                    self._matrices[self._lengths.pop(number)].drop(number)
                self._put(fetch(sorted(self._stale)))
            self._stale = set()
            return Distances(nearest, self._matrices.get(len(nearest.center)))

    def _put(self, vectors: list[tuple[int, bytes]]) -> None:
        by_length: dict[int, list[tuple[int, bytes]]] = {}
        for each in vectors:
            by_length.setdefault(len(each[1]) // _NUMBER, []).append(each)
        by_length.pop(0, None)
        for length, some in by_length.items():
            self._matrices.setdefault(length, _Matrix(length)).extend(some)
            self._lengths |= dict.fromkeys((number for number, _ in some), length)


def order(query: Query, distances: Sequence[Distances], ask: Ask) -> list[Row]:
    """The rows of a query with `nearest`, its slice taken.

    Args:
        query: its `keys` order rows of the same distance.
        distances: those of each of `nearest`, in order.
        ask: returns the rows of its list, without slice and distances.
    """
    first = distances[0]
    wanted = sys.maxsize if query.stop is None else query.stop
    most = max(_FEWEST, _MARGIN * wanted)
    while True:
        some = first.first(most)
        among = first.within() if some is None and first.is_bounded else some
        rows = [row for row in ask(among) if all(each.allows(row[0]) for each in distances)]
        if some is None or len(rows) >= wanted:
            rows.sort(key=lambda row: [each.rank(row[0]) for each in distances])
            return rows[query.start : query.stop]
        most *= _WIDER


def within(distances: Sequence[Distances]) -> list[int] | None:
    """The ids of rows within all bounds; None where there are no bounds."""
    bounded = [each for each in distances if each.is_bounded]
    if not bounded:
        return None
    return [number for number in bounded[0].within() if all(each.allows(number) for each in bounded[1:])]
