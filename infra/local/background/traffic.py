"""The requests that run at the moment, so that long work of the same process lets them go first.

Python runs one thread at a time. A compaction of 100,000 rows has seconds of work; without this, each request meanwhile
would take twice as long, and hundreds of milliseconds where it waits for the interpreter often. The same is true of
bulk writes beside single ones: a request that has worked for long pauses between its transactions while short requests
run that write, and these get the interpreter sooner.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from chalicelib.core.time.background import taking_turns

QUIET_SECONDS = 2.0
"""Seconds without a write after which long background work begins."""
PATIENCE_SECONDS = 600.0
"""Seconds after which it begins all the same."""
LONGEST_WAY = 0.1
"""Seconds that one piece of background work waits for requests at most, so that it comes to an end under load."""
LONG_WORK = 0.02
"""Seconds of processor time after which a request that writes is a long one."""
PAUSES = 4.0
"""How long the pauses of all long requests are together at most, in times of their work."""
LONGEST_PAUSE = 0.2
"""Seconds of a pause."""
LONGEST_PAUSES = 5.0
"""Seconds of all pauses of a request, which has 29."""
SWITCH, SHORT_SWITCH = 0.005, 0.0005
"""Seconds after which Python's lock is asked of the thread that holds it; otherwise, and while long requests run."""


class _Write:
    """A request that writes."""

    def __init__(self) -> None:
        self.worked = time.thread_time()
        """Processor time of the thread at its beginning or its last pause."""
        self.is_long = False
        self.patience = LONGEST_PAUSES


class Traffic:
    """The running requests of this process."""

    def __init__(self) -> None:
        """Begin without requests."""
        self._condition = threading.Condition()
        self._running = 0
        self._short = self._long = 0
        self.passed = 0
        """The number of requests that have ended."""
        self._last_write = -QUIET_SECONDS

    @contextmanager
    def passing(self, *, writes: bool) -> Iterator[None]:
        """Around a request."""
        write = _Write() if writes else None
        with self._condition:
            self._running += 1
            self._short += writes
        try:
            if write is None:
                yield
            else:
                with taking_turns(partial(self._end_turn, write)):
                    yield
        finally:
            with self._condition:
                self._running -= 1
                self.passed += 1
                if write is not None:
                    self._last_write = time.monotonic()
                    self._leave(write)
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

    def _end_turn(self, write: _Write) -> None:
        worked = time.thread_time() - write.worked
        if not write.is_long:
            if worked < LONG_WORK:
                return
            with self._condition:
                self._leave(write)
                write.is_long = True
                self._long += 1
                if self._long == 1:
                    sys.setswitchinterval(SHORT_SWITCH)
        if self._short and write.patience > 0:
            pause, began = min(LONGEST_PAUSE, PAUSES * self._long * worked), time.monotonic()
            with self._condition:
                self._condition.wait_for(lambda: not self._short, pause)
            write.patience -= time.monotonic() - began
        write.worked = time.thread_time()

    def _leave(self, write: _Write) -> None:
        if write.is_long:
            self._long -= 1
            if not self._long:
                sys.setswitchinterval(SWITCH)
            return
        self._short -= 1
        if not self._short:
            self._condition.notify_all()
