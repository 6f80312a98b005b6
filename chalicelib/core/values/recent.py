"""Values that were made lately, in the memory of this process, bounded by their size in all."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class Recent(Generic[V]):
    """Values by key; those not used for longest go first."""

    def __init__(self, most: int, largest: int, size_of: Callable[[V], int]) -> None:
        """Keep values up to size `most` in all, none larger than `largest`."""
        self._most = most
        self._largest = largest
        self._size_of = size_of
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, V] = OrderedDict()
        self._size = 0

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        """The value of a key, made if it is not kept. Errors of `make` are not kept."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()
        if self._size_of(made) <= self._largest:
            with self._lock:
                if key in self._kept:
                    self._size -= self._size_of(self._kept.pop(key))
                self._kept[key] = made
                self._size += self._size_of(made)
                while self._size > self._most:
                    self._size -= self._size_of(self._kept.popitem(last=False)[1])
        return made

    def clear(self) -> None:
        """Forget all values."""
        with self._lock:
            self._kept.clear()
            self._size = 0
