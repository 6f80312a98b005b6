"""Status sync of jobs: submit runs to engines, query engines in bounded time, store their answers, send mails.

Requests that show jobs call `current`; the schedule calls `sweep`, so mails are sent and steps follow without requests.

A process that submits a run holds its lease. A deleted run grants no lease, and a process that stops a run waits for
the end of its lease (`cleanup`). So an engine never gets a deleted run.
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from hashlib import sha256
from typing import Any

import msgspec

from chalicelib.core.keys import object_keys
from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.core.log.commits import Note
from chalicelib.core.models.integrations import JOB_CLUSTER
from chalicelib.core.permissions import Level
from chalicelib.core.resource import now
from chalicelib.core.time import clock
from chalicelib.errors import LimnError, NotFound, Unavailable
from chalicelib.queues import send_many
from chalicelib.resources.email import project_emails
from chalicelib.resources.jobs import tokens
from chalicelib.resources.jobs.engines.base import (
    Engine,
    EngineUnavailable,
    HandOverInProgress,
    RunStatus,
    Submission,
    WorkflowRefused,
)
from chalicelib.resources.jobs.engines.batch import Batch
from chalicelib.resources.jobs.engines.kubernetes import Cluster
from chalicelib.resources.jobs.runs import ACTIVE, FINAL, RUN, Run, RunNode
from chalicelib.resources.notifications import service as notifications_service
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import credentials, records
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.objects import objects

_logger = logging.getLogger("limn.jobs")
ASK_SECONDS = 5.0
"""Maximum seconds for engines within one API request."""
LOST_SECONDS = 60.0
"""Seconds after which a run that its engine does not know counts as lost."""
LEASE_SECONDS = 30.0
_OVER = 1.0
"""A lease that ended long ago."""
MEDIA_TOLD = 100
"""Ids of media in the event of a run's end."""
_THREADS = 8


def engine_of(cluster: int | None, organization: int) -> Engine:
    """The engine of an organization's runs: one of its clusters, or AWS Batch.

    Raises:
        WorkflowRefused: the cluster was deleted, or is one of another organization, which earlier releases let an
            algorithm name.
    """
    if cluster is None:
        return Batch()
    found = records.maybe(JOB_CLUSTER, cluster)
    if found is None or found.organization != organization:
        raise WorkflowRefused("The job cluster was deleted, or is not one of the project's organization.")
    return Cluster(found)


def manifest_key(run: Run) -> ObjectKey:
    """The key of a launch's manifest, which later changes of the algorithm do not affect."""
    return object_keys.job_prefix(run.organization, run.project, run.gid) + "workflow.json"


def parameters_of(run: Run) -> list[tuple[str, str]]:
    """The parameters of a workflow (docs/guides/algorithms.md), including the job's token.

    Those of the algorithm and the launch replace the name and the media only: no parameter sends the token elsewhere.
    """
    host = settings().public_url
    own = {"name": run.algorithm_name, "media_ids": ",".join(map(str, run.media_ids))}
    fixed = {
        "gid": run.gid,
        "uid": run.uid,
        "host": host,
        "rest_url": f"{host}/rest",
        "rest_token": tokens.token_of(run),
        "tus_url": f"{host}/files/",
        "project_id": str(run.project),
    }
    given = {item.name: item.value if isinstance(item.value, str) else f"{item.value}" for item in run.parameters}
    return list((own | given | fixed).items())


def submit(run: Run) -> Run:
    """Submit a run to its engine. Raises EngineUnavailable, WorkflowRefused."""
    try:
        return _submit(run, engine_of(run.cluster, run.organization))
    except LimnError as error:
        raise EngineUnavailable(error.message) from error


def refuse(run: Run, message: str) -> Run:
    """End a run that its engine refuses."""
    return _store_given(run, RunStatus(phase="Error", message=message, nodes=run.nodes))


def current(runs: Sequence[Run], seconds: float = ASK_SECONDS) -> list[Run]:
    """Runs with their current status, in the same order.

    If the engine is unavailable, they have the last known status and a message that says so.
    """
    groups: defaultdict[tuple[int | None, int], list[Run]] = defaultdict(list)
    for run in runs:
        if not run.is_final and not run.is_stopping:
            groups[run.cluster, run.organization].append(run)
    if not groups:
        return list(runs)
    ask = partial(_update_group, deadline=time.monotonic() + seconds)
    with ThreadPoolExecutor(min(_THREADS, len(groups))) as pool:
        found = {run.uid: run for part in pool.map(ask, groups.items()) for run in part}
    return [found.get(run.uid, run) for run in runs]


def sweep(seconds: float) -> int:
    """Update every run that has not ended. Returns how many."""
    runs = [run for run in records.list_linked(RUN, "active", ACTIVE) if not run.is_stopping]
    current(runs, seconds)
    return len(runs)


def refresh(uid: str) -> None:
    """Update one run, after an event of its engine."""
    try:
        current([records.get(RUN, uid)])
    except NotFound:
        return


def _update_group(group: tuple[tuple[int | None, int], list[Run]], deadline: float) -> list[Run]:
    """Update the runs of one engine."""
    (cluster, organization), runs = group
    leases = {run.uid: _Lease(run.uid) for run in runs if run.is_submitted}
    try:
        engine = engine_of(cluster, organization)
        waiting = [run for run in runs if not run.is_submitted]
        handed = [_hand_over(run, engine, deadline) for run in waiting]
        submitted = [run for run in runs if run.is_submitted]
        submissions = [_submission(run, leases[run.uid]) for run in submitted]
        statuses = engine.statuses(submissions, deadline) if submitted else {}
    except (EngineUnavailable, LimnError) as away:
        for lease in leases.values():
            lease.release()
        message = away.message if isinstance(away, LimnError) else str(away)
        return [msgspec.structs.replace(run, message=message) for run in runs]
    except WorkflowRefused as refusal:
        return [refuse(run, str(refusal)) for run in runs]
    except Exception as error:  # of one engine: the jobs of the others go on
        _logger.exception("the jobs of cluster %s were not updated", cluster)
        for lease in leases.values():
            lease.release()
        message = f"An unexpected error, {type(error).__name__}; the log of the service has it."
        return [msgspec.structs.replace(run, message=message) for run in runs]
    return handed + [_store_given(run, statuses[run.uid]) for run in submitted if run.uid in statuses]


def _store_given(run: Run, status: RunStatus | None) -> Run:
    """Store a status; where that fails, the runs after this one are stored all the same."""
    try:
        return _store_status(run, status)
    except LimnError as refusal:
        _logger.exception("the status of job %s was not stored", run.uid)
        return msgspec.structs.replace(run, message=refusal.message)


def _hand_over(run: Run, engine: Engine, deadline: float) -> Run:
    if time.monotonic() > deadline:
        return run
    try:
        return _submit(run, engine)
    except HandOverInProgress as busy:
        return msgspec.structs.replace(run, message=str(busy))
    except WorkflowRefused as refusal:
        return refuse(run, str(refusal))


def _submit(run: Run, engine: Engine) -> Run:
    """Submit a run and store the status that its engine reports.

    Raises:
        EngineUnavailable, WorkflowRefused, LimnError.
    """
    if run.address != engine.address:
        raise WorkflowRefused("The job cluster was moved after the launch; launch it again.")
    lease = _Lease(run.uid)
    try:
        return _store_status(run, engine.submit(_submission(run, lease)))
    except (EngineUnavailable, LimnError):
        lease.release()
        raise


def _submission(run: Run, lease: _Lease) -> Submission:
    def document() -> dict[str, Any]:
        text = objects.read(manifest_key(run))
        if sha256(text).hexdigest() != run.digest:
            raise WorkflowRefused("The manifest of the launch was changed.")
        found: dict[str, Any] = msgspec.json.decode(text)
        return found

    return Submission(run=run, document=document, parameters=partial(parameters_of, run), claim=lease.acquire)


class _Lease:
    """The right to submit a run; one process holds it at a time."""

    def __init__(self, uid: str) -> None:
        self._uid = uid
        self._until = 0.0

    def acquire(self) -> tuple[Run, bool]:
        """Take the lease. Returns the current run, and whether an earlier lease ended without a result.

        Raises:
            HandOverInProgress, LimnError.
        """
        was: list[float] = []
        moment = clock.seconds()

        def take(run: Run) -> Run | None:
            was[:] = [run.lease]
            if run.lease > moment or run.is_final or run.is_stopping:
                return None
            return msgspec.structs.replace(run, lease=moment + LEASE_SECONDS)

        after = records.edit(RUN, self._uid, take)
        if after.lease != moment + LEASE_SECONDS:
            raise HandOverInProgress("The job is being handed over.")
        self._until = after.lease
        return after, was[0] > 0

    def release(self) -> None:
        """End the lease without a result: the next process must check what was done, but need not wait."""

        def end(run: Run) -> Run | None:
            return msgspec.structs.replace(run, lease=_OVER) if run.lease == self._until else None

        if self._until:
            with suppress(LimnError):  # it ends by itself
                records.edit(RUN, self._uid, end)


def _store_status(run: Run, status: RunStatus | None) -> Run:
    """Store the status that an engine reports; None if the run is unknown to it."""
    moment = clock.utc_now().timestamp()
    if _with_status(run, status, moment) == run:
        return run

    def change(current: Run) -> Run | None:
        if current.is_final:
            return None
        if current.is_stopping:
            # the process that stops it must know what was submitted, and that nothing more will be
            ends = status is not None and status.ends_claim
            return msgspec.structs.replace(_with_status(current, status, moment), active=ACTIVE) if ends else None
        after = _with_status(current, status, moment)
        try:
            return notify_launcher(after)
        except Unavailable:
            return None  # the run ends once its mail is queued

    def note(transaction: Transaction, before: Run, after: Run) -> None:
        if after.is_final and not before.is_final:
            credentials.remove(transaction, [before.credential])
            transaction.add_note(after.project, after.user, _end_note(after))

    try:
        after = records.edit(RUN, run.uid, change, also=note)
    except NotFound:
        return run
    if after.is_final and not run.is_final and after.phase != "Succeeded":
        notifications_service.notify([after.user], "jobs", after.project, after.uid)
    return after


def _end_note(run: Run) -> Note:
    """The event of the end of a run, with at most `MEDIA_TOLD` of its media."""
    media = run.media_ids[:MEDIA_TOLD]
    data = {"status": run.phase, "gid": run.gid, "algorithm": run.algorithm_name, "media": media}
    return Note(type="job.ended", kind="job", id=run.uid, media=run.media_ids, data=data)


def _with_status(run: Run, status: RunStatus | None, moment: float) -> Run:
    if status is None:
        since = run.missing_since or moment
        if moment - since > LOST_SECONDS:
            status = RunStatus(phase="Error", message="Its engine does not know this job any more.", nodes=run.nodes)
        else:
            message = "Its engine does not know this job at the moment."
            return msgspec.structs.replace(run, missing_since=since, message=message)
    final = status.phase in FINAL
    handed = {node.id: node for node in run.nodes if node.job is not None}
    return msgspec.structs.replace(
        run,
        phase=status.phase,
        message=status.message,
        start_time=status.start_time or run.start_time,
        stop_time=(status.stop_time or now()) if final else None,
        nodes=[_merge(node, handed) for node in status.nodes],
        is_submitted=True,
        missing_since=None,
        lease=(_OVER if status.leaves_doubt else 0.0) if status.ends_claim else run.lease,
        active=None if final else ACTIVE,
        finished_on=now()[:10] if final else None,
    )


def _merge(node: RunNode, handed: dict[str, RunNode]) -> RunNode:
    """A node as stored by another process, if that process submitted it in the meantime."""
    return handed.get(node.id, node) if node.job is None else node


def notify_launcher(run: Run) -> Run:
    """Send the mail about the end of a run. The mail has the id of the job, so it is sent once.

    Raises:
        Unavailable: the queue does not accept the mail now.
    """
    spec = run.success_email if run.phase == "Succeeded" else run.failure_email
    if spec is None or not run.is_final:
        return run
    try:
        mails = project_emails.prepare(run.project, spec, f"job-{run.uid}", run.user, Level.EXECUTE)
        send_many(settings().email_queue_url, mails)
    except Unavailable:
        raise
    except LimnError as error:
        message = f"{run.message or ''} Its mail could not be sent: {error.message}".strip()
        return msgspec.structs.replace(run, message=message)
    return run
