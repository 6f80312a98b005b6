"""What EventBridge does for jobs: it calls the function of jobs when one begins or ends, once for many of one run."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

from infra.emulator.batch.calls import QUEUE
from infra.emulator.batch.store import Job

log = logging.getLogger(__name__)


class Events:
    """One thread that hands events to a function, from `start` to `stop`."""

    def __init__(self, handler: Callable[[dict[str, Any], Any], Any]) -> None:
        self._handler = handler
        self._changed = threading.Condition()
        self._waiting: dict[str, Job] = {}
        self._is_stopping = False
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to wait for events."""
        self._thread = threading.Thread(target=self._work, name="jobs-events", daemon=True)
        self._thread.start()

    def stop(self, timeout: float = 10.0) -> None:
        """Drop what waits (the schedule makes good for it) and end."""
        with self._changed:
            self._is_stopping = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(timeout)

    def add(self, job: Job) -> None:
        """A job began or ended. Of several of one run that wait, the last is reported."""
        with self._changed:
            self._waiting[job.name.rpartition("-")[0]] = job
            self._changed.notify_all()

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._is_stopping:
                    self._changed.wait()
                if self._is_stopping:
                    return
                job = self._waiting.pop(next(iter(self._waiting)))
            detail = {"jobName": job.name, "jobId": job.id, "jobQueue": QUEUE, "status": job.status}
            try:
                self._handler({"source": "aws.batch", "detail-type": "Batch Job State Change", "detail": detail}, None)
            except Exception:
                log.exception("the function of jobs failed")
