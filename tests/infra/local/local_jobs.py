"""A queue of jobs on this machine, and short words to launch workflows on it."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chalicelib.resources.jobs.engines import batch_calls
from chalicelib.resources.jobs.runs import RUN
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import records
from functions import jobs as function
from infra.emulator.batch import logs
from infra.emulator.batch.queue import LocalQueue
from infra.emulator.batch.steps.processes import Processes
from infra.emulator.batch.steps.step import Runner
from infra.local.job_runner import VARIABLES
from tests.resources.algorithms.test_algorithms import saved, spec
from tests.resources.jobs.media import media_of

SECONDS = 60.0


@contextmanager
def running(monkeypatch: Any, home: Path, runner: Runner | None = None, width: int = 4) -> Iterator[LocalQueue]:
    """A queue that runs, and a service that is configured to use it."""
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    settings.cache_clear()
    batch_calls.client.cache_clear()
    batch_calls.logs_client.cache_clear()
    batch_calls._definitions.clear()
    runner = runner or Processes(uuid.uuid4().hex[:12])
    queue = LocalQueue(home, runner, function.handler, settings().job_files_image, width)
    queue.start()
    try:
        yield queue
    finally:
        queue.stop()
        monkeypatch.undo()
        settings.cache_clear()
        batch_calls.client.cache_clear()
        batch_calls.logs_client.cache_clear()
        batch_calls._definitions.clear()


def launched(api: Any, project: int, text: str, media: list[int] | None = None, **more: Any) -> list[str]:
    """Register a manifest and launch it; the uids of the jobs. `more` is of the registration."""
    wanted = spec(api, project, manifest=saved(api, project, text), files_per_job=3, **more)
    api.made(f"Algorithms/{project}", wanted)
    said = api.post(f"Jobs/{project}", {"algorithm_name": wanted["name"], "media_ids": media or media_of(project)})
    assert said.status == 201, said.body
    return said.json["uid"]


def ended(api: Any, uid: str, seconds: float = SECONDS) -> dict[str, Any]:
    """A job once it has ended."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        job = api.get(f"Job/{uid}").json
        if job["status"] in ("Succeeded", "Failed", "Error"):
            return job
        time.sleep(0.05)
    raise AssertionError(f"it did not end: {job}")


def statuses(job: dict[str, Any]) -> dict[str, str]:
    """How the nodes of a job stand, by task."""
    return {node["task"]: node["status"] for node in job["nodes"]}


def printed(api: Any, uid: str, task: str) -> list[str]:
    """What a step printed, as its engine says."""
    answer = api.get(f"JobLog/{uid}", node=task)
    assert answer.status == 200, answer.body
    return [line for line in answer.json["lines"] if not line.startswith("limn: ")]


def output(queue: LocalQueue, uid: str, task: str = "") -> str:
    """What a node of a job printed."""
    [job] = [node.job for node in records.get(RUN, uid).nodes if node.job and task in ("", node.task)]
    return "\n".join(logs.tail(queue._scheduler.logs, job, 1000))
