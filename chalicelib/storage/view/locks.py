"""Two small locks of the view: a readers-writer lock, and refreshes that callers share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


class ReadWriteLock:
    """Many readers or one writer; a waiting writer precedes later readers."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._readers = 0
        self._writers_waiting = 0
        self._writing = False

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold the lock for reading: there is no writer."""
        with self._condition:
            while self._writing or self._writers_waiting:
                self._condition.wait()
            self._readers += 1
        try:
            yield
        finally:
            with self._condition:
                self._readers -= 1
                if not self._readers:
                    self._condition.notify_all()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the lock for writing: there are no other readers or writers."""
        with self._condition:
            self._writers_waiting += 1
            while self._writing or self._readers:
                self._condition.wait()
            self._writers_waiting -= 1
            self._writing = True
        try:
            yield
        finally:
            with self._condition:
                self._writing = False
                self._condition.notify_all()


class Shared:
    """Work that each caller needs done after its call; callers that wait together share one run.

    A caller must not take the result of a run that began before its call: that run may have read the log too early.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._begun = 0
        self._done = 0
        self._running = False
        self._waiting = 0

    def run(self, work: Callable[[bool], None]) -> None:
        """Return once a whole run was done since this call. The caller that runs the work gets its errors.

        Args:
            work: what to do; it gets whether only its own caller needs this run, so that what the caller read before
                is new enough for it.
        """
        with self._condition:
            wanted = self._begun + 1
            self._waiting += 1
            while self._running and self._done < wanted:
                self._condition.wait()
            self._waiting -= 1
            if self._done >= wanted:
                return
            self._running = True
            self._begun += 1
            mine, is_alone = self._begun, not self._waiting
        finished = False
        try:
            work(is_alone)
            finished = True
        finally:
            with self._condition:
                self._running = False
                if finished:
                    self._done = mine
                self._condition.notify_all()
