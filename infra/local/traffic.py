"""The requests that run at the moment, so that background work of the same process lets them go first.

Python runs one thread at a time. A compaction of 100,000 rows has seconds of work; without this, each request meanwhile
would take twice as long, and hundreds of milliseconds where it waits for the interpreter often.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

QUIET_SECONDS = 2.0
"""Seconds without a write after which long background work begins."""
PATIENCE_SECONDS = 600.0
"""Seconds after which it begins all the same."""
LONGEST_WAY = 0.1
"""Seconds that one piece of background work waits for requests at most, so that it comes to an end under load."""


class Traffic:
    """The running requests of this process."""

    def __init__(self) -> None:
        """Begin without requests."""
        self._condition = threading.Condition()
        self._running = 0
        self.passed = 0
        """The number of requests that have ended."""
        self._last_write = -QUIET_SECONDS

    @contextmanager
    def passing(self, *, writes: bool) -> Iterator[None]:
        """Around a request."""
        with self._condition:
            self._running += 1
        try:
            yield
        finally:
            with self._condition:
                self._running -= 1
                self.passed += 1
                if writes:
                    self._last_write = time.monotonic()
                if not self._running:
                    self._condition.notify_all()

    @property
    def is_idle(self) -> bool:
        """Whether no request runs."""
        return not self._running

    def wait_for_requests(self) -> None:
        """Return when no request runs, or after `LONGEST_WAY`."""
        if self._running:
            with self._condition:
                self._condition.wait_for(lambda: not self._running, LONGEST_WAY)

    def wait_until_quiet(self, stopping: threading.Event) -> bool:
        """Return when nothing was written for `QUIET_SECONDS`, or after `PATIENCE_SECONDS`; whether it is to stop."""
        end = time.monotonic() + PATIENCE_SECONDS
        while (now := time.monotonic()) < end and now - self._last_write < QUIET_SECONDS:
            if stopping.wait(min(end, self._last_write + QUIET_SECONDS) - now):
                return True
        return stopping.is_set()
