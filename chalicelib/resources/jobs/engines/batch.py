"""AWS Batch on Fargate: the nodes of a workflow as jobs that wait for each other.

A node is submitted once its inputs are known, with dependencies on the jobs that it waits for. A workflow that uses no
outputs of its steps is submitted as a whole. Otherwise the rest follows when a request, the schedule or an event of
Batch updates the run.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.core.resource import Timestamp, timestamp
from chalicelib.core.time import clock
from chalicelib.errors import BadInput, NotFound
from chalicelib.resources.jobs.engines import batch_calls, batch_jobs
from chalicelib.resources.jobs.engines.base import (
    EngineUnavailable,
    HandOverInProgress,
    RunStatus,
    Submission,
    WorkflowRefused,
    last_lines,
    with_output,
)
from chalicelib.resources.jobs.runs import Run, RunNode
from chalicelib.settings import settings
from chalicelib.storage.objects import objects
from chalicelib.workflows import expansion, manifests
from chalicelib.workflows.nodes import ERROR, FAILED, FINISHED, PENDING, RUNNING, SUCCEEDED, Graph, Node, Result

PHASES = {
    "SUBMITTED": PENDING,
    "PENDING": PENDING,
    "RUNNABLE": PENDING,
    "STARTING": RUNNING,
    "RUNNING": RUNNING,
    "SUCCEEDED": SUCCEEDED,
    "FAILED": FAILED,
}
MOST_NEEDS = 20
"""Maximum dependencies of a job; a node with more is submitted when some have finished."""
LATE = "The workflow took longer than its activeDeadlineSeconds."
HAND_OVER_SECONDS = 10.0
LARGEST_OUTPUT = 16_384
"""Maximum bytes of an output parameter; all of a run are stored in its record."""


class Batch:
    """The deployment's Batch queue as an engine."""

    def __init__(self) -> None:
        if not settings().job_queue:
            raise WorkflowRefused(
                "This deployment has no AWS Batch queue: register the algorithm with a job cluster, or have the "
                "operator deploy infra/batch.yaml."
            )

    address = ""

    def submit(self, submission: Submission) -> RunStatus:
        """Submit the ready nodes of a run."""
        run, is_doubtful = submission.claim()
        try:
            graph = _expand(run, submission, {})
            known = {node.id: node for node in run.nodes}
            nodes, in_doubt = _hand_over(run, graph, known, is_doubtful=is_doubtful)
        except BadInput as error:
            raise WorkflowRefused(error.message) from None
        return RunStatus(phase=RUNNING, nodes=_node_documents(graph, nodes), ends_claim=True, leaves_doubt=in_doubt)

    def statuses(self, submissions: Sequence[Submission], deadline: float) -> Mapping[str, RunStatus | None]:
        """The status of runs; submits nodes that became ready."""
        asked = [
            node.job
            for submission in submissions
            for node in submission.run.nodes
            if node.job and node.status not in FINISHED
        ]
        jobs = batch_calls.describe_jobs(asked)
        found: dict[str, RunStatus | None] = {}
        for submission in submissions:
            if found and time.monotonic() > deadline:
                break
            try:
                found[submission.run.uid] = self._status(submission, jobs)
            except HandOverInProgress:
                continue
        return found

    def stop(self, run: Run) -> None:
        """End all jobs of a run."""
        doomed = {node.job for node in run.nodes if node.job and node.status not in FINISHED}
        if run.lease:
            doomed |= batch_calls.list_jobs(batch_jobs.names_of(run))
        for job in sorted(doomed):
            batch_calls.call("terminate_job", jobId=job, reason="The job was deleted.")

    def output(self, run: Run, node: RunNode, lines: int) -> list[str]:  # noqa: ARG002 other engines need the run
        """The last lines that a step printed, from CloudWatch Logs."""
        if node.log is None:
            return []
        group, _, stream = node.log.partition(":")
        try:
            answer = batch_calls.logs_client().get_log_events(
                logGroupName=group, logStreamName=stream, limit=lines, startFromHead=False
            )
            return last_lines([str(event["message"]).rstrip("\n") for event in answer["events"]])
        except ClientError as failure:
            if failure.response["Error"]["Code"] == "ResourceNotFoundException":
                return []
            raise EngineUnavailable(
                f"CloudWatch Logs does not answer ({failure.response['Error']['Code']})."
            ) from failure
        except (BotoCoreError, KeyError, TypeError) as failure:
            raise EngineUnavailable(f"CloudWatch Logs does not answer ({type(failure).__name__}).") from failure

    def _status(self, submission: Submission, jobs: Mapping[str, dict[str, Any]]) -> RunStatus | None:
        """The status of one run; None if Batch does not know one of its jobs.

        Raises:
            HandOverInProgress: another process submits it.
        """
        run = submission.run
        known = {node.id: node for node in run.nodes}
        for node in run.nodes:
            if node.job and node.status not in FINISHED:
                if node.job not in jobs:
                    return None
                known[node.id] = _with_job(node, jobs[node.job])
        ends_claim = leaves_doubt = False
        try:
            results = {number: _result(node) for number, node in known.items() if node.job}
            graph = _expand(run, submission, results)
            _read_outputs(run, graph, known)
            graph = _expand(run, submission, {number: _result(node) for number, node in known.items() if node.job})
            _end_late(graph, known)
            if any(_may_go(graph, node, known) for node in graph.nodes.values()):
                claimed, is_doubtful = submission.claim()
                ends_claim = True
                known |= {node.id: node for node in claimed.nodes if node.job and not _is_handed(known.get(node.id))}
                known, leaves_doubt = _hand_over(run, graph, known, is_doubtful=is_doubtful)
        except (BadInput, WorkflowRefused) as error:
            self.stop(msgspec.structs.replace(run, nodes=list(known.values())))
            return RunStatus(phase=ERROR, message=str(error), nodes=list(known.values()), ends_claim=True)
        nodes = _node_documents(graph, known)
        phase = graph.phase or (RUNNING if any(node.status != PENDING for node in nodes[1:]) else PENDING)
        message = next(
            (f"{node.task}: {node.message}" for node in nodes if node.status == FAILED and node.message), None
        )
        message = message or (LATE if graph.is_late else None)
        if phase in FINISHED and phase != SUCCEEDED:
            message = with_output(message or "", self, run, nodes) or None
        starts = [node.start_time for node in nodes if node.start_time]
        stops = [node.stop_time for node in nodes if node.stop_time]
        return RunStatus(
            phase=FAILED if phase in FINISHED and phase not in (SUCCEEDED, ERROR) else phase,
            message=message,
            start_time=min(starts, default=None),
            stop_time=max(stops, default=None),
            nodes=nodes,
            ends_claim=ends_claim,
            leaves_doubt=leaves_doubt,
        )


def _expand(run: Run, submission: Submission, results: Mapping[str, Result]) -> Graph:
    workflow = manifests.workflow(submission.document())
    arguments = expansion.arguments_of(workflow, submission.parameters())
    most = manifests.seconds_of(workflow.spec.active_deadline_seconds, "activeDeadlineSeconds")
    is_late = most is not None and clock.utc_now() > datetime.fromisoformat(run.created) + timedelta(seconds=most)
    return expansion.expand(workflow, arguments, results, name=run.id, uid=run.uid, is_late=is_late)


def _end_late(graph: Graph, known: dict[str, RunNode]) -> None:
    """End the jobs of nodes that failed because the time of their run is over."""
    for node in graph.nodes.values():
        found = known.get(node.id)
        if node.phase == FAILED and found is not None and found.job and found.status not in FINISHED:
            batch_calls.call("terminate_job", jobId=found.job, reason=LATE)
            known[node.id] = msgspec.structs.replace(found, status=FAILED, message=LATE)


def _is_handed(node: RunNode | None) -> bool:
    """Whether a node was submitted to Batch."""
    return node is not None and node.job is not None


def _may_go(graph: Graph, node: Node, known: Mapping[str, RunNode]) -> bool:
    """Whether a node can be submitted now: it is ready, not submitted, and has few enough submitted dependencies.

    Where a limit of `parallelism` counts, it waits for its dependencies here, so that no job that waits takes a place.
    """
    if not node.is_ready or (node.id in known and known[node.id].job):
        return False
    if graph.limits:
        running = {number for number, each in known.items() if each.job and each.status not in FINISHED}
        done = all(need in known and known[need].status == SUCCEEDED for need in node.needs)
        return done and graph.has_room(node, running)
    waits = [known.get(need) for need in node.needs]
    open_ones = [need for need in waits if need is None or need.status != SUCCEEDED]
    return len(open_ones) <= MOST_NEEDS and all(need is not None and need.job for need in open_ones)


def _hand_over(
    run: Run, graph: Graph, known: dict[str, RunNode], *, is_doubtful: bool
) -> tuple[dict[str, RunNode], bool]:
    """Submit ready nodes until the deadline, dependencies first.

    Returns:
        The nodes as known after that, and whether Batch may have a job whose submission got no answer.
    """
    end = time.monotonic() + HAND_OVER_SECONDS
    known = dict(known)
    for node in graph.nodes.values():
        if not _may_go(graph, node, known):
            continue
        if time.monotonic() > end:
            break
        needs = [known[need].job for need in node.needs if known[need].status != SUCCEEDED]
        try:
            job = (_find(run, node) if is_doubtful else None) or _submit_job(run, node, needs)
        except EngineUnavailable:
            if not any(item.job for item in known.values()):
                raise
            return known, True
        known[node.id] = RunNode(id=node.id, task=node.task, status=PENDING, job=job)
    return known, False


def _submit_job(run: Run, node: Node, needs: Iterable[str | None]) -> str:
    made = batch_jobs.job_of(run, node)
    for key, body in made.files.items():
        objects.write(key, body)
    answer = batch_calls.call(
        "submit_job",
        jobName=made.name,
        jobQueue=settings().job_queue,
        jobDefinition=batch_calls.ensure_definition(made.definition),
        dependsOn=[{"jobId": job} for job in needs],
        tags={"limn:project": str(run.project), "limn:job": run.uid},
        propagateTags=True,
        **batch_jobs.extras(node),
        **made.overrides,
    )
    return str(answer["jobId"])


def _find(run: Run, node: Node) -> str | None:
    """The job of a node whose submission was not recorded."""
    return next(iter(batch_calls.list_jobs(batch_jobs.name_of(run, node))), None)


def _with_job(node: RunNode, job: Mapping[str, Any]) -> RunNode:
    """A node with the status of its job."""
    return RunNode(
        id=node.id,
        task=node.task,
        status=PHASES.get(str(job.get("status")), PENDING),
        job=node.job,
        start_time=_moment(job.get("startedAt")),
        stop_time=_moment(job.get("stoppedAt")),
        is_pod=True,
        message=_reason(job),
        log=_log(job),
    )


def _main(job: Mapping[str, Any]) -> Mapping[str, Any]:
    """The container of a job that runs the step, from Batch's description."""
    if "container" in job:
        return job["container"] or {}
    tasks = (job.get("ecsProperties") or {}).get("taskProperties") or [{}]
    return next((item for item in tasks[0].get("containers", []) if item.get("name") == "main"), {})


def _reason(job: Mapping[str, Any]) -> str | None:
    """The reason of a failure, from Batch: its status reason, the container's reason, the exit code."""
    if job.get("status") != "FAILED":
        return None
    main = _main(job)
    said = [str(text) for text in (job.get("statusReason"), main.get("reason")) if text]
    code = main.get("exitCode")
    if code and not any("code" in text for text in said):
        said.append(f"exit code {code}")
    return "; ".join(said)[:500] or None


def _log(job: Mapping[str, Any]) -> str | None:
    """The location of a job's output: log group and stream."""
    stream = _main(job).get("logStreamName")
    return f"{batch_calls.LOG_GROUP}:{stream}" if stream else None


def _result(node: RunNode) -> Result:
    return Result(phase=node.status, outputs=node.outputs, text=node.text)


def _read_outputs(run: Run, graph: Graph, known: dict[str, RunNode]) -> None:
    """Read the outputs of finished nodes, once. Raises BadInput if one is missing or too large."""
    for number, seen in known.items():
        node = graph.nodes.get(number)
        if node is None or seen.status != SUCCEEDED or seen.outputs or seen.text is not None:
            continue
        for output in node.outputs:
            if output.is_parameter:
                value = _read(batch_jobs.key_of(run, number, output.name), output.default)
                if value is None:
                    raise BadInput(f"{node.task}: it did not put out {output.name!r}.")
                seen.outputs = {**seen.outputs, output.name: value}
        if node.keeps_text:
            seen.text = _read(batch_jobs.key_of(run, number, batch_jobs.TEXT), "") or ""


def _read(key: ObjectKey, default: str | None) -> str | None:
    size = objects.size(key)
    if size is None:
        return default
    if size > LARGEST_OUTPUT:
        raise BadInput(f"A step put out {size} bytes as a parameter; {LARGEST_OUTPUT} are taken.")
    try:
        return objects.read(key).decode(errors="replace").rstrip("\n")
    except NotFound:
        return default


def _node_documents(graph: Graph, known: Mapping[str, RunNode]) -> list[RunNode]:
    """The nodes of a graph in their stored form."""
    nodes = []
    for node in graph.nodes.values():
        seen = known.get(node.id)
        status = node.phase or (seen.status if seen and seen.job else None)
        inner = [known[number].status for number in known if number.startswith(f"{node.id}.") and known[number].job]
        if status is None:
            status = RUNNING if not node.is_pod and any(phase != PENDING for phase in inner) else PENDING
        shown = RunNode(id=node.id, task=node.task, status=status, children=node.children, is_pod=node.is_pod)
        if seen is not None and seen.job:
            shown.job, shown.start_time, shown.stop_time = seen.job, seen.start_time, seen.stop_time
            shown.outputs, shown.text, shown.message, shown.log = seen.outputs, seen.text, seen.message, seen.log
        nodes.append(shown)
    return nodes


def _moment(milliseconds: object) -> Timestamp | None:
    if not isinstance(milliseconds, int | float) or milliseconds <= 0:
        return None
    return timestamp(datetime.fromtimestamp(milliseconds / 1000, UTC))
