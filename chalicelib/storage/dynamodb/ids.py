"""Ids: integers from one counter row per kind, reserved in blocks.

A container takes `BLOCK` ids of the kinds in `BLOCKS` at once and gives them out one after the other, so that single
creations seldom touch the row that all containers of a deployment share. The ids of one container increase; what is
left of a block when the container ends, or when more are wanted at once, is never used.
"""

from __future__ import annotations

import threading

from chalicelib.core.kinds import Kind
from chalicelib.storage.dynamodb.tables import CounterRow

BLOCK = 50
BLOCKS = frozenset(Kind)
"""The kinds of which a project has millions; ids of records stay without gaps."""
_lock = threading.Lock()
_left: dict[str, range] = {}
"""What is left of this container's blocks, by kind."""


def reserve(kind: str, count: int = 1) -> range:
    """Reserve the next `count` ids of a kind. They are never reserved again, used or not."""
    if kind not in BLOCKS or count >= BLOCK:
        with _lock:
            _left.pop(kind, None)  # later ids of this container are higher
        return _reserve(kind, count)
    with _lock:
        left = _left.get(kind, range(0))
        if len(left) < count:
            left = _reserve(kind, BLOCK)
        _left[kind] = left[count:]
        return left[:count]


def forget() -> None:
    """Forget the blocks of this container."""
    with _lock:
        _left.clear()


def _reserve(kind: str, count: int) -> range:
    last = CounterRow.add(f"ids|{kind}", "@", count)
    return range(last - count + 1, last + 1)


def last(kind: str) -> int:
    """The highest id reserved; 0 before the first."""
    return CounterRow.value(f"ids|{kind}")
