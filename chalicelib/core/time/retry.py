"""The retry policy for conflicts and throttling: exponential backoff with full jitter."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Retry:
    """A policy.

    Attributes:
        most: attempts, the first included.
        first: the longest pause before the second attempt, in seconds; each later one may be twice as long.
        longest: the bound of a pause, in seconds.
    """

    most: int
    first: float
    longest: float

    def attempts(self) -> Iterator[int]:
        """The numbers of the attempts, from 0, with a pause before each except the first."""
        for attempt in range(self.most):
            if attempt:
                self.pause(attempt)
            yield attempt

    def pause(self, attempt: int) -> None:
        """Sleep for a random part of the pause before an attempt, from 1."""
        time.sleep(min(self.longest, self.first * 2 ** min(attempt - 1, 20)) * random.random())  # noqa: S311 no secret

    def call(self, attempt: Callable[[], T], on: type[Exception]) -> T:
        """The result of a call, retried while it raises `on`; raises the error of the last attempt."""
        for number in self.attempts():
            try:
                return attempt()
            except on:
                if number == self.most - 1:
                    raise
        raise AssertionError(self.most)


CONFLICTS = Retry(most=30, first=0.004, longest=0.1)
"""For optimistic locks: another process changed the row first."""
LOG = Retry(most=40, first=0.004, longest=0.2)
"""For the number of a commit, which all writers of a project want."""
BUSY = Retry(most=10, first=0.1, longest=2.0)
"""For a service that is throttled."""
