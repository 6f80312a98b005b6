"""Keeps the views of projects that are written to fresh, beside the requests (`storage/view/following.py`).

A container of Lambda stands still between requests, so in a deployment the next query applies what was written, or the
compaction has.
"""

from __future__ import annotations

import threading

from chalicelib.storage.view.following import MANY, SOME, follow_written
from infra.local.background.traffic import Traffic
from infra.local.sqlite import database

EVERY = 0.05
"""Seconds between two looks, each of which costs some microseconds where nothing was written."""


class Follower:
    """A thread that follows bulk writes, from `start` to `stop`."""

    def __init__(self, traffic: Traffic) -> None:
        """Do not begin yet.

        Args:
            traffic: of the process's requests: between them, less is followed at once.
        """
        self._traffic = traffic
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to look."""
        self._stopping.clear()
        self._thread = threading.Thread(target=self._work, name="follower", daemon=True)
        self._thread.start()

    def stop(self, timeout: float | None = None) -> None:
        """Look no more, and wait for what runs."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(timeout)

    def _work(self) -> None:
        passed = -1
        while not self._stopping.wait(EVERY):
            # not in the pauses of a client that sends one request after the other
            before, passed = passed, self._traffic.passed
            while self._traffic.is_idle and database.current().write_journal():
                pass
            follow_written(SOME if self._traffic.is_idle and passed == before else MANY)
