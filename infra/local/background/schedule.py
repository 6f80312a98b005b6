"""What EventBridge does: calls functions every so often."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from infra.local.background.queues import Context, join

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Timer:
    """A function and how often it is called."""

    name: str
    handler: Callable[[dict[str, Any], Any], Any]
    every: float
    """Seconds from the end of one run to the beginning of the next."""
    timeout: float = 900.0
    """Seconds the function believes to have."""
    memory: int = 2048


class Schedule:
    """Threads that call functions on a schedule, from `start` to `stop`; the first time after one interval."""

    def __init__(self, *timers: Timer, region: str = "us-east-1") -> None:
        """Prepare the schedule.

        Args:
            timers: what to call.
            region: the region that events name.
        """
        self._timers = timers
        self._region = region
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Begin to wait."""
        self._stopping.clear()
        for timer in self._timers:
            thread = threading.Thread(target=self._work, args=(timer,), name=f"{timer.name}-schedule", daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self, timeout: float | None = None) -> bool:
        """Make no further calls and wait for running ones, so many seconds at most. Returns whether all have ended."""
        self._stopping.set()
        self._threads = join(self._threads, timeout)
        return not self._threads

    def _work(self, timer: Timer) -> None:
        while not self._stopping.wait(timer.every):
            run(timer, self._region)


def run(timer: Timer, region: str) -> None:
    """Call a function once, with the event that EventBridge would send."""
    arn = f"arn:aws:lambda:{region}:000000000000:function:{timer.name}"
    event = {
        "version": "0",
        "id": str(uuid.uuid4()),
        "detail-type": "Scheduled Event",
        "source": "aws.events",
        "time": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "region": region,
        "resources": [],
        "detail": {},
    }
    try:
        timer.handler(event, Context(timer.name, timer.memory, arn, time.monotonic() + timer.timeout))
    except BaseException:  # a function that dies must not take its schedule along
        log.exception("%s failed", timer.name)
