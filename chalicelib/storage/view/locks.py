"""Two small locks of the view: readers beside each other or one writer, and refreshes that callers share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Gate:
    """Many readers or one writer; a waiting writer goes before readers that come after it."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._readers = 0
        self._writers_waiting = 0
        self._writing = False

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Inside, nobody writes."""
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
        """Inside, nobody else reads or writes."""
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
    """A piece of work that callers want done after they came; who come while it waits share one doing.

    A caller must not take the result of a doing that began before it came: that one may have read the log too early.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._begun = 0
        self._done = 0
        self._running = False

    def run(self, work: Callable[[], None]) -> None:
        """Return once the work was done whole since this call. Raises what the work raises to the one who did it."""
        with self._condition:
            wanted = self._begun + 1
            while self._running and self._done < wanted:
                self._condition.wait()
            if self._done >= wanted:
                return
            self._running = True
            self._begun += 1
            mine = self._begun
        finished = False
        try:
            work()
            finished = True
        finally:
            with self._condition:
                self._running = False
                if finished:
                    self._done = mine
                self._condition.notify_all()
