"""The local queue of jobs as a whole: what `make run` starts and stops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from infra.emulator.batch import wiring
from infra.emulator.batch.calls import Calls
from infra.emulator.batch.events import Events
from infra.emulator.batch.scheduler import Scheduler
from infra.emulator.batch.steps.step import Runner
from infra.emulator.batch.store import JobStore


class LocalQueue:
    """AWS Batch of one local stack.

    Args:
        home: the folder of the stack's data.
        runner: what runs steps.
        handler: the function of jobs.
        files_image: the image of the containers that copy files.
        width: how many processors there are for steps; those of the machine where not given.
    """

    def __init__(
        self,
        home: Path,
        runner: Runner,
        handler: Callable[[dict[str, Any], Any], Any],
        files_image: str,
        width: int = 0,
    ) -> None:
        folder = home / "jobs"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.store = JobStore(folder / "jobs.sqlite")
        self._events = Events(handler)
        self._scheduler = Scheduler(self.store, runner, folder, self._events.add, files_image=files_image, width=width)
        wiring.connect(Calls(self.store, self._scheduler))

    def start(self) -> int:
        """Begin to run jobs; how many are begun again because an earlier run was interrupted."""
        self._events.start()
        return self._scheduler.start()

    def stop(self) -> None:
        """Stop the running steps; the next start begins them again."""
        self._scheduler.stop()
        self._events.stop()
        wiring.disconnect()
        self.store.close()
