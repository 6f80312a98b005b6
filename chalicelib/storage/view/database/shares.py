"""What the projects of a container share: entries of caches, and turns to run statements.

An owner, a file of a project, may fill a cache while the others need no room. When the cache is full, the coldest entry
is dropped; but an owner with more than its share drops its own, so that one project cannot evict all others.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from chalicelib.core.time.deadline import remaining, time_ended

V = TypeVar("V")

SHARE = 0.4
"""The share of a full cache that a file may keep: a project has two."""
MOST_STATEMENTS = 8
"""Statements that run at once in a container."""
MOST_OF_PROJECT = 3
"""Statements of one project that run at once; more wait, at most until the time of their request ends."""


class Shares(Generic[V]):
    """Entries of several owners, in the order of their last use. Not safe for threads by itself."""

    def __init__(self) -> None:
        self._entries: OrderedDict[tuple[int, int], V] = OrderedDict()
        self._of: dict[int, OrderedDict[int, None]] = {}

    def __contains__(self, place: tuple[int, int]) -> bool:
        """Whether an owner has an entry."""
        return place in self._entries

    def __len__(self) -> int:
        """The number of entries."""
        return len(self._entries)

    def number_of(self, owner: int) -> int:
        """The number of an owner's entries."""
        return len(self._of.get(owner, ()))

    def use(self, owner: int, key: int) -> V | None:
        """An entry, which becomes the most recently used; None if it is missing."""
        found = self._entries.get((owner, key))
        if found is not None:
            self._entries.move_to_end((owner, key))
            self._of[owner].move_to_end(key)
        return found

    def use_all(self, owner: int, keys: Iterable[int]) -> dict[int, V]:
        """The entries that an owner has under some keys, which become the last used, in the order of the keys."""
        own = self._of.get(owner, OrderedDict())
        entries, found = self._entries, {}
        for key in keys:
            if key in own:
                place = owner, key
                found[key] = entries[place]
                entries.move_to_end(place)
                own.move_to_end(key)
        return found

    def put(self, owner: int, key: int, value: V) -> None:
        """Add or replace an entry, which becomes the last used."""
        self._entries[owner, key] = value
        self._entries.move_to_end((owner, key))
        own = self._of.setdefault(owner, OrderedDict())
        own[key] = None
        own.move_to_end(key)

    def pop(self, owner: int, key: int) -> V | None:
        """Remove an entry; None where there is none."""
        found = self._entries.pop((owner, key), None)
        if found is not None:
            del self._of[owner][key]
            if not self._of[owner]:
                del self._of[owner]
        return found

    def drop(self, owner: int | None) -> tuple[int, V]:
        """Remove the least recently used entry of an owner, or of all; returns its owner and the entry."""
        key = next(iter(self._entries)) if owner is None else (owner, next(iter(self._of[owner])))
        found = self.pop(*key)
        assert found is not None  # noqa: S101 for mypy: the key is one of an entry
        return key[0], found


class Turns:
    """Turns to run statements."""

    def __init__(self, most: int) -> None:
        self._semaphore = threading.BoundedSemaphore(most)

    @contextmanager
    def taking(self) -> Iterator[None]:
        """Hold a turn inside.

        Raises:
            Unavailable: the request's time ended before one was free.
        """
        left = remaining()
        if not self._semaphore.acquire(timeout=None if left is None else max(0.0, left)):
            raise time_ended()
        try:
            yield
        finally:
            self._semaphore.release()
