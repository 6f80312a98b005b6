"""Work that one thread does for all that wait for it, such as a synchronization of a file."""

from __future__ import annotations

import threading
from collections.abc import Callable


class _Waiting:
    """A thread that waits for a round."""

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted
        self.is_served = False
        self.door = threading.Lock()
        self.door.acquire()


class Rounds:
    """Rounds of work, one at a time, each of which serves all that was there when it began.

    Threads that wait for a common lock get it one after the other, and each needs Python's lock too before the next one
    can go on. Here the end of a round releases all whom it served, and before them the thread that does the next round.
    """

    def __init__(self, work: Callable[[], int]) -> None:
        """Begin without a round.

        Args:
            work: one round; returns the number up to which it went.
        """
        self._work = work
        self._lock = threading.Lock()
        self._reached = 0
        self._is_running = False
        self._waiting: list[_Waiting] = []

    def wait_for(self, wanted: int) -> None:
        """Return when a round has reached a number; do it where no other thread does. Raises as the work."""
        mine = None
        with self._lock:
            if self._reached >= wanted:
                return
            if self._is_running:
                mine = _Waiting(wanted)
                self._waiting.append(mine)
            self._is_running = True
        if mine is not None:
            mine.door.acquire()
            if mine.is_served:
                return
        try:
            reached = self._work()
        except BaseException:
            self._end(self._reached)
            raise
        self._end(reached)

    def _end(self, reached: int) -> None:
        with self._lock:
            self._reached = reached
            served = [each for each in self._waiting if each.wanted <= reached]
            self._waiting = [each for each in self._waiting if each.wanted > reached]
            following = self._waiting.pop(0) if self._waiting else None
            self._is_running = following is not None
        if following is not None:
            following.door.release()
        for each in served:
            each.is_served = True
            each.door.release()
