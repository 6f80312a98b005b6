"""What of the local queue runs when: first submitted first, as many at once as this machine has processors.

A step is as wide as the processors it asks for. One that waits for room is not overtaken. What ran when the service
stopped is begun again at the next start, as Batch begins again what a lost host ran; a step that was interrupted five
times fails.
"""

from __future__ import annotations

import logging
import math
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from infra.emulator.batch import logs, tasks
from infra.emulator.batch.logs import Log
from infra.emulator.batch.steps.step import Ended, Runner, Stop
from infra.emulator.batch.store import ENDED, FAILED, RUNNABLE, RUNNING, SUCCEEDED, Job, JobStore

MOST_INTERRUPTIONS = 5
KEEP_SECONDS = 30 * 24 * 3600.0
"""How long a job that ended is remembered, with its output."""
_CLEAN_EVERY = 3600.0
_SHARED_SECONDS = 3600.0
"""How long the work folders of a run stay after its last job ended."""
_STOP_SECONDS = 10.0
_PATIENCE = 1.0
Listener = Callable[[Job], None]

log = logging.getLogger(__name__)


class Scheduler:
    """Runs the jobs of a store, from `start` to `stop`.

    Args:
        store: the jobs.
        runner: what runs their steps.
        folder: for files and output of the steps.
        listener: is called with every job that begins or ends.
        files_image: the image of the containers that copy files.
        width: how many processors there are for steps.
    """

    def __init__(
        self,
        store: JobStore,
        runner: Runner,
        folder: Path,
        listener: Listener = lambda _: None,
        *,
        files_image: str = "",
        width: int = 0,
    ) -> None:
        self._store, self._runner, self._listener, self._files_image = store, runner, listener, files_image
        self._work, self.logs = folder.resolve() / "work", folder.resolve() / "logs"
        self._shared = folder.resolve() / "shared"
        self._width = width or os.cpu_count() or 1
        self._free = self._width
        self._changed = threading.Condition()
        self._running: dict[str, tuple[threading.Thread, Stop]] = {}
        self._is_stopping = False
        self._thread: threading.Thread | None = None

    def start(self) -> int:
        """Start, with the steps that an earlier run left. Returns how many are begun again."""
        tasks.remove(self._work)
        for place in (self._work, self.logs, self._shared):
            place.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._runner.clean_up()
        interrupted = self._store.interrupted()
        for job in interrupted:
            if job.interruptions + 1 > MOST_INTERRUPTIONS:
                self._end(job, Ended(reason=f"The service stopped {MOST_INTERRUPTIONS} times while it ran."))
        self._thread = threading.Thread(target=self._work_on, name="jobs-scheduler", daemon=True)
        self._thread.start()
        return len(interrupted)

    def stop(self) -> None:
        """Start no further steps and stop the running ones; the next start begins them again."""
        with self._changed:
            self._is_stopping = True
            running = list(self._running.values())
            self._changed.notify_all()
        for _, event in running:
            event.at_once = True
            event.set()
        for thread, _ in running:
            thread.join(_STOP_SECONDS)
        if self._thread is not None:
            self._thread.join(_STOP_SECONDS)

    def wake(self) -> None:
        """Look for jobs that may start."""
        with self._changed:
            self._changed.notify_all()

    def terminate(self, job: str, reason: str) -> None:
        """End a job with its processes; those that wait for it fail."""
        found = self._store.get(job)
        ended = self._store.end(job, FAILED, reason)
        with self._changed:
            running = self._running.get(job)
        if running is not None:
            thread, event = running
            event.set()
            thread.join(_STOP_SECONDS)
        if found is not None and found.status not in ENDED:
            self._notify(ended)
        self.wake()

    def _work_on(self) -> None:
        clean_at = 0.0
        while True:
            with self._changed:
                if self._is_stopping:
                    return
                if not self._begin_next():
                    self._changed.wait(_PATIENCE)
            if time.monotonic() > clean_at:
                clean_at = time.monotonic() + _CLEAN_EVERY
                for job in self._store.forget(time.time() - KEEP_SECONDS):
                    logs.remove(self.logs, job)
                self._remove_shared()

    def _remove_shared(self) -> None:
        """Remove the work folders of runs that have had nothing to do for a while."""
        before = time.time() - _SHARED_SECONDS
        for place in self._shared.iterdir():
            jobs = self._store.named(f"{place.name}-*")
            if all(job.status in ENDED and (job.stopped or job.created) < before for job in jobs):
                tasks.remove(place)

    def _begin_next(self) -> bool:
        """Begin the first job that may start; False where there is none, or no room for it."""
        first = next(iter(self._store.runnable(1)), None) if self._free > 0 else None
        if first is None:
            return False
        width = min(self._width, max(1, math.ceil(tasks.processors_of(first))))
        if width > self._free or not self._store.start(first.id):
            return False
        event = Stop()
        thread = threading.Thread(target=self._run, args=(first, event, width), name=f"job-{first.id}", daemon=True)
        self._running[first.id] = (thread, event)
        self._free -= width
        thread.start()
        return True

    def _run(self, job: Job, event: threading.Event, width: int) -> None:
        try:
            self._notify([job.id])
            ended = self._attempt(job, event)
            if not self._is_stopping:
                self._end(job, ended)
        except Exception:
            log.exception("job %s", job.id)
            if not self._is_stopping:
                self._end(job, Ended(reason="The local stack could not run it; its log says why."))
        finally:
            with self._changed:
                del self._running[job.id]
                self._free += width
                self._changed.notify_all()

    def _attempt(self, job: Job, event: threading.Event) -> Ended:
        with Log(self.logs, job.id) as output:
            if job.most_attempts > 1:
                output.say(f"attempt {job.attempts + 1} of {job.most_attempts}")
            ended = tasks.attempt(
                job, self._runner, self._work / job.id, output, event, self._files_image, self._shared
            )
            if ended.reason is not None:
                output.say(ended.reason)
            return ended

    def _end(self, job: Job, ended: Ended) -> None:
        current = self._store.get(job.id)
        if current is None or current.status in ENDED:
            return
        attempts = current.attempts + 1
        if ended.reason is not None and attempts < job.most_attempts and current.status == RUNNING:
            self._store.retry(job.id, attempts, ended.reason)
            return
        status = SUCCEEDED if ended.reason is None else FAILED
        self._notify(self._store.end(job.id, status, ended.reason, ended.exit_code))

    def _notify(self, numbers: list[str]) -> None:
        for number in numbers:
            job = self._store.get(number)
            if job is None or job.status == RUNNABLE:
                continue
            try:
                self._listener(job)
            except Exception:
                log.exception("the listener of jobs failed")
