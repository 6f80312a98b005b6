"""Items in batches, as `itertools.batched` of Python 3.12 has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of `size` items in turn, the last one shorter; none of no items."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
