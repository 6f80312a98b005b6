"""The two lists that people ask for most, held in memory: the annotations of media, and all media by name.

DuckDB plans and scans for each list: a millisecond or two of processor time, however short the list is. An order that
is held takes 24 bytes a row. The first lists of a view go to DuckDB; then the whole order is read once, and later
lists read only the rows that changed since. An order that changes often, or has too many rows, is left to DuckDB.

    held.places(query, ask)      the places of the documents that a checked query selects; None where it is not held
    held.note(changed)           ids that were created, changed or removed, while there are no readers
"""

# ruff: noqa: S608 statements are made of our own words and names

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple

from chalicelib.core.kinds import Kind
from chalicelib.query.compiler import sql
from chalicelib.query.operators import Op
from chalicelib.query.tree import And, Query, SortKey, Test

Ask = Callable[[sql.Statement], list[tuple[Any, ...]]]
FIRST_LISTS = 2
"""Lists that DuckDB answers before an order is read; twice as many each time that it was given up."""
MOST_STALE = 50
"""Changed rows that one list reads: with more, as after a bulk change, the order is given up."""
MOST_MOVED = 2_000
"""Changed rows beside an order, after which it is given up."""
MOST_ROWS = 300_000
"""Rows up to which annotations are held."""
MOST_MEDIA = 50_000
"""Rows up to which media are held."""
_ROW, _OF_MEDIA, _NAMED = 24, 400, 300
"""About how many bytes a row of an annotation, a media with annotations, and a media by name take."""
_LATEST, _LIVE = Test("latest", Op.EQ, value=True), Test("archive_state", Op.EQ, "live")
_BY_NAME = (SortKey(descending=False, column="name"),)


class HeldLists:
    """The held orders of one view."""

    def __init__(self) -> None:
        self._of_media = {kind: _OfMedia(kind) for kind in (Kind.LOCALIZATION, Kind.STATE)}
        self._by_name = _ByName()

    @property
    def memory(self) -> int:
        """About how many bytes they take."""
        return self._by_name.memory + sum(each.memory for each in self._of_media.values())

    def note(self, changed: Mapping[Kind, Collection[int]]) -> None:
        """Mark ids as created, changed or removed. There must be no readers."""
        self._by_name.note(changed[Kind.MEDIA])
        for kind, held in self._of_media.items():
            held.note(changed[kind])

    def places(self, query: Query, ask: Ask) -> list[int] | None:
        """The places of the documents that a checked query selects, in order; None where no held order has them.

        Args:
            query: a checked query without `nearest`.
            ask: runs a statement.
        """
        if query.kind is Kind.MEDIA:
            is_held = query.where == _LIVE and query.keys == _BY_NAME and query.incident is None
            return self._by_name.places(slice(query.start, query.stop), ask) if is_held else None
        wanted = _selection_of(query)
        found = self._of_media[query.kind].places(wanted, ask) if wanted else None
        return found if found is None else found[query.start : query.stop]


class _Wanted(NamedTuple):
    """A list of annotations: those of some media, of one type or of all."""

    media: tuple[int, ...]
    type: int | None


def _selection_of(query: Query) -> _Wanted | None:
    """The media of a query for all visible annotations of media, in the order of ids; None for any other query."""
    if not isinstance(query.where, And) or not query.kind.is_annotation:
        return None
    if query.keys or query.merge or query.exclude_parents or query.show_deleted:
        return None
    media: tuple[int, ...] | None = None
    type_ = None
    is_latest = False
    for term in query.where.terms:
        match term:
            case Test("media", Op.IN | Op.OVERLAPS, tuple(numbers)) if media is None:
                media = numbers
            case Test("type", Op.EQ, int(number)) if type_ is None:
                type_ = number
            case _ if term == _LATEST:
                is_latest = True
            case _:
                return None
    return _Wanted(media, type_) if media and is_latest else None


class _Held(ABC):
    """An order: read whole after some lists, then kept current."""

    most: int

    def __init__(self, kind: Kind) -> None:
        self._table = sql.table(kind)
        self._stale: set[int] | None = None
        """The ids that changed since the last list; None while the order is not held."""
        self._moved = self._lists = 0
        self._first = FIRST_LISTS
        self._lock = threading.Lock()

    def note(self, changed: Collection[int]) -> None:
        """Mark ids as changed. There must be no readers."""
        if self._stale is None or not changed:
            return
        self._stale.update(changed)
        if len(self._stale) > MOST_STALE or self._moved > MOST_MOVED:
            self._stale = None
            self._first *= 2
            self._clear()

    def _is_current(self, ask: Ask) -> bool:
        """Whether the order is held, after reading what is missing. The lock must be held."""
        if self._stale is None:
            self._lists += 1
            if self._lists <= self._first:
                return False
            self._lists = 0
            if ask(sql.Statement(f"SELECT count(*) FROM {self._table}", []))[0][0] > self.most:
                self._first *= 2
                return False
            self._read(ask)
            self._moved, self._stale = 0, set()
        elif self._stale:
            numbers = sorted(self._stale)
            places = ", ".join(f"${number}" for number in range(1, len(numbers) + 1))
            self._renew(numbers, ask(sql.Statement(f"{self._rows()} AND id IN ({places})", numbers)))
            self._moved += len(numbers)
            self._stale = set()
        return True

    @property
    @abstractmethod
    def memory(self) -> int:
        """About how many bytes it takes."""

    @abstractmethod
    def _rows(self) -> str:
        """A statement for all rows of the list, that ends with its condition."""

    @abstractmethod
    def _read(self, ask: Ask) -> None:
        """Read the whole order."""

    @abstractmethod
    def _renew(self, numbers: Iterable[int], rows: list[tuple[Any, ...]]) -> None:
        """Replace ids by their rows; those without a row are gone."""

    @abstractmethod
    def _clear(self) -> None:
        """Release the memory."""


class _OfMedia(_Held):
    """The visible annotations of a kind by media: ids, places and types as they were read, and what changed since."""

    most = MOST_ROWS

    def __init__(self, kind: Kind) -> None:
        super().__init__(kind)
        self._media = "list_distinct(media)" if kind is Kind.STATE else "[media]"
        self._clear()

    @property
    def memory(self) -> int:
        return self._size

    def _clear(self) -> None:
        self._read_rows: dict[int, tuple[array[int], array[int], array[int]]] = {}
        self._gone: set[int] = set()
        """Ids whose rows among those are not valid any more."""
        self._new: dict[int, dict[int, tuple[int, int]]] = {}
        """By media and id, the place and type of rows that changed since."""
        self._media_of: dict[int, list[int]] = {}
        """The media of these rows."""
        self._size = 0

    def places(self, wanted: _Wanted, ask: Ask) -> list[int] | None:
        """The places of the annotations of some media, in the order of their ids; None where they are not held."""
        with self._lock:
            if not self._is_current(ask):
                return None
            found: dict[int, int] = {}
            for media in wanted.media:
                ids, places, types = self._read_rows.get(media, ((), (), ()))
                new = self._new.get(media, {})
                if wanted.type is None and (not self._gone or self._gone.isdisjoint(ids)):
                    if not new and len(wanted.media) == 1:
                        return list(places)
                    found.update(zip(ids, places, strict=True))
                else:
                    found |= {
                        number: place
                        for number, place, type_ in zip(ids, places, types, strict=True)
                        if number not in self._gone and wanted.type in (None, type_)
                    }
                found |= {number: place for number, (place, type_) in new.items() if wanted.type in (None, type_)}
        return [found[number] for number in sorted(found)]

    def _rows(self) -> str:
        return f"SELECT id, {self._media}, doc, type FROM {self._table} WHERE latest AND NOT variant_deleted"

    def _read(self, ask: Ask) -> None:
        lists = ", ".join(f"list({column} ORDER BY id)" for column in ("id", "doc", "type"))
        rows = f"SELECT id, unnest({self._media}) AS media, doc, type FROM {self._table}"
        text = f"SELECT media, {lists} FROM ({rows} WHERE latest AND NOT variant_deleted) GROUP BY media"
        read = ask(sql.Statement(text, []))
        self._clear()
        for media, ids, places, types in read:
            self._read_rows[media] = array("q", ids), array("q", places), array("q", types)
            self._size += _OF_MEDIA + _ROW * len(ids)

    def _renew(self, numbers: Iterable[int], rows: list[tuple[Any, ...]]) -> None:
        for number in numbers:
            self._gone.add(number)
            for media in self._media_of.pop(number, ()):
                del self._new[media][number]
        for number, media, place, type_ in rows:
            self._media_of[number] = media
            for each in media:
                self._new.setdefault(each, {})[number] = place, type_


class _ByName(_Held):
    """The media that are not archived, by name and id."""

    most = MOST_MEDIA

    def __init__(self) -> None:
        super().__init__(Kind.MEDIA)
        self._clear()

    @property
    def memory(self) -> int:
        return len(self._keys) * _NAMED

    def _clear(self) -> None:
        self._keys: list[tuple[str, int]] = []
        """Names and ids in their order; `_places` has the places in the same order."""
        self._places: list[int] = []
        self._names: dict[int, str] = {}

    def places(self, page: slice, ask: Ask) -> list[int] | None:
        """The places of some of the media in order; None where they are not held."""
        with self._lock:
            return self._places[page] if self._is_current(ask) else None

    def _rows(self) -> str:
        return f"SELECT id, name, doc FROM {self._table} WHERE archive_state = 'live'"

    def _read(self, ask: Ask) -> None:
        rows = ask(sql.Statement(self._rows(), []))
        rows.sort(key=lambda row: (row[1], row[0]))
        self._keys = [(name, number) for number, name, _ in rows]
        self._places = [place for _, _, place in rows]
        self._names = {number: name for number, name, _ in rows}

    def _renew(self, numbers: Iterable[int], rows: list[tuple[Any, ...]]) -> None:
        for number in numbers:
            if (name := self._names.pop(number, None)) is not None:
                at = bisect_left(self._keys, (name, number))
                del self._keys[at], self._places[at]
        for number, name, place in rows:
            at = bisect_left(self._keys, (name, number))
            self._keys.insert(at, (name, number))
            self._places.insert(at, place)
            self._names[number] = name
