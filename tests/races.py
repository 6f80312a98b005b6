"""Two requests at the same time, one inside the other, always in the same order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from chalicelib.storage.dynamodb.transactions import Transaction


@dataclass
class Other:
    """The other request."""

    answer: Any = None


@contextmanager
def meanwhile(request: Callable[[], Any], *, after: int = 0) -> Iterator[Other]:
    """Inside, the first write waits until another request was answered, so it is of what was read before.

    Args:
        request: the other request.
        after: how many writes go before the one that waits.
    """
    other, run, count = Other(), Transaction.run, [0]

    def held(self: Transaction) -> int:
        count[0] += 1
        if count[0] == after + 1:
            other.answer = request()
        return run(self)

    with mock.patch.object(Transaction, "run", held):
        yield other
    assert other.answer is not None, "there was no write to wait"
