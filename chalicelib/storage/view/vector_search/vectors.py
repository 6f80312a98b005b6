"""Nearest neighbours: the vectors of a column, their distances from a center, and the resulting order.

A statement selects the rows of a list, and their distances are looked up. Few vectors are held as they are
(`matrices.py`). Of many, codes are held, a quarter of the size, which tell which vectors can be among the nearest;
these are read from their documents (`estimated.py`). The answer is the same.

The first query that needs distances reads a column; later queries read only what changed since. Codes that were read
before the time of a request ended are kept, and the next query reads the rest.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

from chalicelib.core.time.deadline import remaining
from chalicelib.errors import Unavailable
from chalicelib.query.tree import Nearest, Query
from chalicelib.settings import settings
from chalicelib.storage.view.vector_search.codes import Codes
from chalicelib.storage.view.vector_search.estimated import EstimatedDistances
from chalicelib.storage.view.vector_search.matrices import NUMBER, Distances, Matrix

Row = tuple[Any, ...]
Ask = Callable[[Sequence[int] | None], list[Row]]
"""The rows of a list in its order without distances: all, or those of the given ids. Each begins with its id."""
AnyDistances = Distances | EstimatedDistances

WHOLE = 64_000_000
"""Bytes of vectors that are held uncoded."""
MOST_CHANGED = 20_000
"""Changed vectors kept beside the codes; beyond, all codes are read again."""
_SHARE = 0.4
"""The share of the memory for views that the codes of a column may take. More are read for each query."""
_MARGIN, _FEWEST, _WIDER = 4, 256, 16
"""Candidates per wanted row, least candidates, and the factor for another attempt, where too few of the candidates were
in the list."""


class VectorStore(Protocol):
    """Where the vectors of a column are stored."""

    @property
    def rows(self) -> int:
        """The number of vectors, at most."""

    def all(self) -> list[tuple[int, bytes]]:
        """All vectors, by id."""

    def some(self, numbers: Sequence[int]) -> list[tuple[int, bytes]]:
        """The vectors of the given ids that have one, by id."""

    def codes(self, start: int) -> Iterator[tuple[list[tuple[int, bytes]], int]]:
        """The codes of all vectors from a place on, by id, in parts, each with the place after it.

        A vector that changes may get another place; others keep theirs until `Vectors.move`.
        """


class Vectors:
    """The vectors of one column of a view."""

    def __init__(self) -> None:
        self._matrices: dict[int, Matrix] = {}
        """All vectors; where there are codes, those that changed since the codes were read."""
        self._lengths: dict[int, int] = {}
        """The length of an id's vector in a matrix."""
        self._codes: Codes | None = None
        self._rest: int | None = None
        """The place from which on codes are not held, None where all are."""
        self._next: int | None = None
        """The place from which on codes have yet to be read, None where they were read."""
        self._stale: set[int] | None = None
        """The ids whose vectors the next query reads: those that changed since the last one, or while codes are being
        read, and those without a code. None before the first query."""
        self._lock = threading.Lock()

    @property
    def memory(self) -> int:
        """About how many bytes they take."""
        codes = self._codes
        return sum(matrix.memory for matrix in list(self._matrices.values())) + (codes.memory if codes else 0)

    def mark_changed(self, changed: Iterable[int]) -> None:
        """Mark ids as created, changed or removed. There must be no readers."""
        if self._stale is not None:
            self._stale.update(changed)

    def move(self) -> None:
        """Note that rows may have got other places. There must be no readers."""
        if self._next is not None or self._rest is not None:
            self._stale = None

    def distances(self, nearest: Nearest, source: VectorStore) -> AnyDistances:
        """The distances of all rows from a center; vectors of another length have none.

        Raises:
            Unavailable: the time of the request ended, or something cannot be read now. What was read is kept.
        """
        with self._lock:
            if self._stale is None or len(self._stale) > self._most_stale():
                self._begin(source, len(nearest.center))
            if self._next is not None:
                self._read_codes(source)
            if self._stale:
                self._read_changes(source, self._stale)
            self._stale = set()
            exact = Distances(nearest, self._matrices.get(len(nearest.center)))
            if self._codes is None:
                return exact
            more = self._read_rest(source) if self._rest is not None else ()
            return EstimatedDistances(nearest, self._codes.estimate(nearest, more), exact, source.some)

    def _most_stale(self) -> int:
        """How many vectors may have changed before all are read again."""
        return len(self._lengths) if self._codes is None else MOST_CHANGED - len(self._lengths)

    def _begin(self, source: VectorStore, length: int) -> None:
        """Read all vectors, or prepare to read their codes."""
        self._matrices, self._lengths, self._codes, self._rest, self._next = {}, {}, None, None, None
        self._stale = None
        if source.rows * length * NUMBER <= WHOLE:
            self._put(source.all())
        else:
            self._codes, self._next = Codes(), 0
        self._stale = set()

    def _read_codes(self, source: VectorStore) -> None:
        """Read codes from where the last query stopped."""
        assert self._codes is not None and self._next is not None and self._stale is not None  # noqa: S101, PT018 for mypy
        room = settings().view_memory * _SHARE
        try:
            for rows, place in source.codes(self._next):
                self._stale.update(self._codes.add(rows))
                self._next = place
                if self._codes.memory > room:
                    self._rest = place
                    break
        except Unavailable as failure:
            if (left := remaining()) is None or left > 0:
                raise
            raise Unavailable(
                "The vectors of the project are being read. Try again: what was read is kept, and the next query reads "
                "the rest."
            ) from failure
        self._next = None

    def _read_changes(self, source: VectorStore, changed: set[int]) -> None:
        for number in changed & self._lengths.keys():
            self._matrices[self._lengths.pop(number)].drop(number)
        if self._codes is not None:
            self._codes.drop(changed)
        self._put(source.some(sorted(changed)))

    def _read_rest(self, source: VectorStore) -> Iterator[Codes]:
        """The codes that are not held."""
        assert self._rest is not None  # noqa: S101 for mypy: the caller checks it
        for rows, _ in source.codes(self._rest):
            codes = Codes()
            codes.add(rows)
            yield codes

    def _put(self, vectors: list[tuple[int, bytes]]) -> None:
        by_length: dict[int, list[tuple[int, bytes]]] = {}
        for each in vectors:
            by_length.setdefault(len(each[1]) // NUMBER, []).append(each)
        by_length.pop(0, None)
        for length, some in by_length.items():
            self._matrices.setdefault(length, Matrix(length)).extend(some)
            self._lengths |= dict.fromkeys((number for number, _ in some), length)


def order(query: Query, distances: Sequence[AnyDistances], ask: Ask) -> list[Row]:
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
        rows = ask(among)
        for each in distances[1:]:
            each.load_deciding([row[0] for row in rows], sys.maxsize)
            rows = [row for row in rows if each.allows(row[0])]
        first.load_deciding([row[0] for row in rows], wanted)
        rows = [row for row in rows if first.allows(row[0])]
        if some is None or sum(first.rank(row[0]) <= first.reach for row in rows) >= wanted:
            rows.sort(key=lambda row: [each.rank(row[0]) for each in distances])
            return rows[query.start : query.stop]
        most *= _WIDER


def within(distances: Sequence[AnyDistances]) -> list[int] | None:
    """The ids of rows within all bounds; None where there are no bounds."""
    bounded = [each for each in distances if each.is_bounded]
    if not bounded:
        return None
    found = bounded[0].within()
    for each in bounded[1:]:
        each.load_deciding(found, 0)
    return [number for number in found if all(each.allows(number) for each in bounded[1:])]
