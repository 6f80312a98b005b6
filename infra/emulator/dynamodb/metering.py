"""What DynamoDB would charge: sizes of items and the units of every call.

With `metering()` open, each call is counted with the units AWS would bill: a read costs a unit per 4 KB begun (half of
that when it is eventually consistent), a write one per 1 KB begun, and both double inside a transaction.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

READ_BLOCK, WRITE_BLOCK = 4096, 1024


def text_size(text: str) -> int:
    """The length of a string in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


def value_size(value: dict[str, Any]) -> int:  # noqa: PLR0911 -- one for each type
    """What DynamoDB counts for one attribute value (`{"S": "x"}`), in bytes."""
    ((kind, inner),) = value.items()
    if kind == "S":
        return text_size(inner)
    if kind == "N":
        return number_size(inner)
    if kind in ("BOOL", "NULL"):
        return 1
    if kind == "B":
        return len(inner)
    if kind == "M":
        return 3 + sum(1 + text_size(name) + value_size(each) for name, each in inner.items())
    if kind == "L":
        return 3 + sum(1 + value_size(each) for each in inner)
    return sum(value_size({kind[0]: each}) for each in inner)


@lru_cache(maxsize=16_384)
def number_size(text: str) -> int:
    """A number takes a byte for every two significant digits, one more, and one for a minus sign."""
    if text.isdigit() and not text.startswith("0"):
        return (len(text.rstrip("0")) + 1) // 2 + 1
    digits = text.lower().partition("e")[0].lstrip("+-").replace(".", "").strip("0")
    return (len(digits) + 1) // 2 + 1 + text.startswith("-")


def item_size(item: dict[str, dict[str, Any]]) -> int:
    """What DynamoDB counts for an item: attribute names and values, in bytes."""
    return sum(text_size(name) + value_size(value) for name, value in item.items())


def read_units(size: int, *, consistent: bool) -> float:
    """Units of reading `size` bytes at once (one item, or all a query examined)."""
    units = max(1, -(-size // READ_BLOCK))
    return float(units) if consistent else units / 2


def write_units(size: int) -> float:
    """Units of writing (or deleting) an item of `size` bytes."""
    return float(max(1, -(-size // WRITE_BLOCK)))


@dataclass
class Usage:
    """The sum of the calls of one operation."""

    calls: int = 0
    read: float = 0.0
    write: float = 0.0


@dataclass
class Meter:
    """Usage by operation name (`PutItem`, `Query`, …), of all threads while it is open."""

    operations: dict[str, Usage] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def record(self, operation: str, read: float, write: float) -> None:
        """Add one call."""
        with self._lock:
            usage = self.operations.setdefault(operation, Usage())
            usage.calls += 1
            usage.read += read
            usage.write += write

    def __getitem__(self, operation: str) -> Usage:
        return self.operations.get(operation, Usage())

    @property
    def total(self) -> Usage:
        """All operations together."""
        each = list(self.operations.values())
        return Usage(sum(u.calls for u in each), sum(u.read for u in each), sum(u.write for u in each))


meters: list[Meter] = []


def record(operation: str, read: float = 0.0, write: float = 0.0) -> None:
    """Count a call in every open meter."""
    for meter in tuple(meters):
        meter.record(operation, read, write)


@contextmanager
def metering() -> Iterator[Meter]:
    """Count every DynamoDB call of this process while the block runs. Blocks may overlap and nest."""
    meter = Meter()
    meters.append(meter)
    try:
        yield meter
    finally:
        # by identity: a meter equals another that counted the same
        meters[:] = [other for other in meters if other is not meter]
