"""What Argo's controller does, for the job cluster on this machine: it runs its workflows by the local queue.

Statuses are written as Argo writes them and held to its published schema. The steps are processes of this machine.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import Any

import msgspec

from chalicelib.resources.jobs.engines.base import EngineUnavailable, RunStatus, Submission
from chalicelib.resources.jobs.engines.batch import Batch
from chalicelib.resources.jobs.runs import Run, RunNode
from tests.resources.jobs.clusters import FakeCluster

_EVERY = 0.05


class Controller:
    """Runs the workflows of a cluster, from the start of its thread to `close`."""

    def __init__(self, cluster: FakeCluster, organization: int) -> None:
        self._cluster, self._organization = cluster, organization
        self._runs: dict[tuple[str, str], Run] = {}
        self._stopping = threading.Event()
        cluster.pods, cluster.output = self._pods, self._output
        self._thread = threading.Thread(target=self._work, name="argo", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stopping.set()
        self._thread.join(20)

    def _work(self) -> None:
        while not self._stopping.wait(_EVERY):
            workflows = dict(self._cluster.workflows)
            for key in set(self._runs) - set(workflows):
                Batch().stop(self._runs.pop(key))
            for key, workflow in workflows.items():
                if (workflow.get("status") or {}).get("phase") not in ("Succeeded", "Failed", "Error"):
                    self._step(key, workflow)

    def _step(self, key: tuple[str, str], workflow: dict[str, Any]) -> None:
        """Move a workflow on and write its status."""
        is_new = key not in self._runs
        run = self._runs.setdefault(key, self._run(workflow))
        parameters = [(item["name"], item["value"]) for item in workflow["spec"]["arguments"]["parameters"]]
        submission = Submission(
            run=run, document=lambda: workflow, parameters=lambda: parameters, claim=lambda: (run, False)
        )
        try:
            if is_new:
                status: RunStatus | None = Batch().submit(submission)
            else:
                status = Batch().statuses([submission], time.monotonic() + 10)[run.uid]
        except EngineUnavailable:
            return
        assert status is not None
        self._runs[key] = msgspec.structs.replace(run, nodes=status.nodes)
        nodes = {node.id: _as_argo(node, run.id) for node in status.nodes}
        more = {"message": status.message} if status.message else {}
        with suppress(StopIteration):  # deleted meanwhile
            self._cluster.move(run.uid, status.phase, nodes, **more)

    def _run(self, workflow: dict[str, Any]) -> Run:
        labels = workflow["metadata"]["labels"]
        return Run(
            id=workflow["metadata"]["name"],
            uid=labels["limn-uid"],
            gid=labels["limn-gid"],
            project=int(labels["limn-project"]),
            organization=self._organization,
            user=1,
            algorithm=int(labels["limn-algorithm"]),
            algorithm_name="a",
            created="2026-01-02T03:04:05.678Z",
        )

    def _pods(self, workflow: str) -> list[str]:
        """The pods of a workflow, which are named after its nodes."""
        return [node.id for run in self._runs.values() if run.id == workflow for node in run.nodes if node.job]

    def _output(self, pod: str, lines: int) -> list[str]:
        for run in self._runs.values():
            for node in run.nodes:
                if node.id == pod:
                    return Batch().output(run, node, lines)
        return []


def _as_argo(node: RunNode, workflow: str) -> dict[str, Any]:
    """A node as Argo writes it."""
    times = {"startedAt": node.start_time, "finishedAt": node.stop_time}
    return {
        "id": node.id,
        "name": f"{workflow}.{node.task}",
        "displayName": node.task,
        "type": "Pod" if node.is_pod else "DAG",
        "phase": node.status,
        "children": list(node.children),
        **{name: value for name, value in times.items() if value},
        **({"message": node.message} if node.message else {}),
    }
