"""Pictures that were drawn lately, in the memory of this process."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

MOST_BYTES = 32 * 1024 * 1024
LARGEST = 4 * 1024 * 1024
"""Bytes of a picture that is kept."""


class Recent:
    """Files by key, up to `MOST_BYTES` in all; those not used for longest go first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[bytes, str]] = OrderedDict()
        self._size = 0

    def get(self, key: Hashable, make: Callable[[], tuple[bytes, str]]) -> tuple[bytes, str]:
        """The file of a key and its media type, made if it is not kept. Errors of `make` are not kept."""
        with self._lock:
            found = self._kept.get(key)
            if found:
                self._kept.move_to_end(key)
                return found
        made = make()
        if len(made[0]) <= LARGEST:
            with self._lock:
                before = self._kept.pop(key, (b"", ""))
                self._kept[key] = made
                self._size += len(made[0]) - len(before[0])
                while self._size > MOST_BYTES:
                    self._size -= len(self._kept.popitem(last=False)[1][0])
        return made
