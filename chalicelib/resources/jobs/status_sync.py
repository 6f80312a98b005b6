"""How jobs stand: handing them over, asking engines in bounded time, keeping what they say, telling who waits by mail.

`current` is for whoever looks at jobs, `sweep` for the schedule: mails go out and steps follow also when nobody looks.
Both do the same.

Who hands a run over holds its lease, which nobody gets of a run that was deleted; who ends a run waits for the lease
(`job_removal`). So an engine never gets a run that is gone.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any

import msgspec

from chalicelib.core import object_keys
from chalicelib.core.integrations import JOB_CLUSTER
from chalicelib.core.object_keys import ObjectKey
from chalicelib.core.resource import now
from chalicelib.errors import LimnError, NotFound, Unavailable
from chalicelib.queues import send_many
from chalicelib.resources.email import project_emails
from chalicelib.resources.jobs.engines.base import Away, Busy, Engine, Order, Refused, Standing
from chalicelib.resources.jobs.engines.batch import Batch
from chalicelib.resources.jobs.engines.kubernetes import Cluster
from chalicelib.resources.jobs.runs import ACTIVE, FINAL, RUN, Run, RunNode
from chalicelib.settings import settings
from chalicelib.storage import sealing
from chalicelib.storage.dynamodb import records
from chalicelib.storage.objects import objects

PURPOSE = "job"
"""What the token of a launcher is sealed for."""
ASK_SECONDS = 5.0
"""How long engines are asked for one answer of the API."""
LOST_SECONDS = 60.0
"""How long an engine may not know a run before the run counts as lost."""
LEASE_SECONDS = 30.0
_OVER = 1.0
"""A lease that ended long ago."""
_THREADS = 8


def engine_of(cluster: int | None) -> Engine:
    """The engine of runs: of a cluster, or AWS Batch. Raises Refused where it cannot be used."""
    if cluster is None:
        return Batch()
    try:
        return Cluster(records.get(JOB_CLUSTER, cluster))
    except NotFound:
        raise Refused("The job cluster was deleted.") from None


def manifest_key(run: Run) -> ObjectKey:
    """Where the manifest of a launch is kept, which an algorithm's changes do not touch."""
    return object_keys.job_prefix(run.organization, run.project, run.gid) + "workflow.json"


def parameters_of(run: Run) -> list[tuple[str, str]]:
    """What a workflow is told (`spec/3` §12.4), the launcher's token among it."""
    host = settings().public_url
    own = {
        "name": run.algorithm_name,
        "media_ids": ",".join(map(str, run.media_ids)),
        "gid": run.gid,
        "uid": run.uid,
        "host": host,
        "rest_url": f"{host}/rest",
        "rest_token": sealing.unseal(run.sealed, PURPOSE).decode(),
        "tus_url": f"{host}/files/",
        "project_id": str(run.project),
    }
    given = {item.name: item.value if isinstance(item.value, str) else f"{item.value}" for item in run.parameters}
    return list((own | given).items())


def submit(run: Run) -> Run:
    """Hand a run to its engine. Raises Away, Refused."""
    try:
        return _submitted(run, engine_of(run.cluster))
    except LimnError as error:
        raise Away(error.message) from error


def refuse(run: Run, message: str) -> Run:
    """End a run that its engine will not run."""
    return _keep(run, Standing(phase="Error", message=message, nodes=run.nodes))


def current(runs: Sequence[Run], seconds: float = ASK_SECONDS) -> list[Run]:
    """Runs as they stand now, in the same order; as they stood, with a message, where their engine is away."""
    groups: defaultdict[int | None, list[Run]] = defaultdict(list)
    for run in runs:
        if not run.is_final and not run.is_stopping:
            groups[run.cluster].append(run)
    if not groups:
        return list(runs)
    ask = partial(_asked, deadline=time.monotonic() + seconds)
    with ThreadPoolExecutor(min(_THREADS, len(groups))) as pool:
        found = {run.uid: run for part in pool.map(ask, groups.items()) for run in part}
    return [found.get(run.uid, run) for run in runs]


def sweep(seconds: float) -> int:
    """Bring every run that goes on up to date; how many there are."""
    runs = [run for run in records.linked(RUN, "active", ACTIVE) if not run.is_stopping]
    current(runs, seconds)
    return len(runs)


def refresh(uid: str) -> None:
    """Bring one run up to date, because its engine says that something happened."""
    try:
        current([records.get(RUN, uid)])
    except NotFound:
        return


def _asked(group: tuple[int | None, list[Run]], deadline: float) -> list[Run]:
    """Runs of one engine as they stand."""
    cluster, runs = group
    leases = {run.uid: _Lease(run.uid) for run in runs if run.is_submitted}
    try:
        engine = engine_of(cluster)
        waiting = [run for run in runs if not run.is_submitted]
        handed = [_handed_over(run, engine, deadline) for run in waiting]
        submitted = [run for run in runs if run.is_submitted]
        orders = [_order(run, leases[run.uid]) for run in submitted]
        standings = engine.standings(orders, deadline) if submitted else {}
    except (Away, LimnError) as away:
        for lease in leases.values():
            lease.let_go()
        message = away.message if isinstance(away, LimnError) else str(away)
        return [msgspec.structs.replace(run, message=message) for run in runs]
    except Refused as refusal:
        return [refuse(run, str(refusal)) for run in runs]
    return handed + [_keep(run, standings[run.uid]) for run in submitted if run.uid in standings]


def _handed_over(run: Run, engine: Engine, deadline: float) -> Run:
    if time.monotonic() > deadline:
        return run
    try:
        return _submitted(run, engine)
    except Busy as busy:
        return msgspec.structs.replace(run, message=str(busy))
    except Refused as refusal:
        return refuse(run, str(refusal))


def _submitted(run: Run, engine: Engine) -> Run:
    """Hand a run over and keep what its engine says. Raises Away, Refused, and errors of the stores."""
    lease = _Lease(run.uid)
    try:
        return _keep(run, engine.submit(_order(run, lease)))
    except (Away, LimnError):
        lease.let_go()
        raise


def _order(run: Run, lease: _Lease) -> Order:
    def document() -> dict[str, Any]:
        found: dict[str, Any] = msgspec.json.decode(objects.read(manifest_key(run)))
        return found

    return Order(run=run, document=document, parameters=partial(parameters_of, run), claim=lease.take)


class _Lease:
    """The right to hand a run over, which one process has at a time."""

    def __init__(self, uid: str) -> None:
        self._uid = uid
        self._until = 0.0

    def take(self) -> tuple[Run, bool]:
        """The run as it is, and whether another had the lease and never said what it did. Raises Busy, LimnError."""
        was: list[float] = []
        moment = time.time()

        def take(run: Run) -> Run | None:
            was[:] = [run.lease]
            if run.lease > moment or run.is_final or run.is_stopping:
                return None
            return msgspec.structs.replace(run, lease=moment + LEASE_SECONDS)

        after = records.edit(RUN, self._uid, take)
        if after.lease != moment + LEASE_SECONDS:
            raise Busy("The job is being handed over.")
        self._until = after.lease
        return after, was[0] > 0

    def let_go(self) -> None:
        """End it without a word of what was done: the next one has to find out, but need not wait."""

        def end(run: Run) -> Run | None:
            return msgspec.structs.replace(run, lease=_OVER) if run.lease == self._until else None

        if self._until:
            with suppress(LimnError):  # it ends by itself
                records.edit(RUN, self._uid, end)


def _keep(run: Run, standing: Standing | None) -> Run:
    """Keep what an engine says of a run; None where it does not know it."""
    moment = datetime.now(UTC).timestamp()
    if _after(run, standing, moment) == run:
        return run

    def change(current: Run) -> Run | None:
        if current.is_final:
            return None
        if current.is_stopping:
            # who ends it must know what was handed over, and that no more will be
            ends = standing is not None and standing.ends_claim
            return msgspec.structs.replace(_after(current, standing, moment), active=ACTIVE) if ends else None
        after = _after(current, standing, moment)
        try:
            return _told(after)
        except Unavailable:
            return None  # it ends when its mail has gone out

    try:
        return records.edit(RUN, run.uid, change)
    except NotFound:
        return run


def _after(run: Run, standing: Standing | None, moment: float) -> Run:
    if standing is None:
        since = run.missing_since or moment
        if moment - since > LOST_SECONDS:
            standing = Standing(phase="Error", message="Its engine does not know this job any more.", nodes=run.nodes)
        else:
            message = "Its engine does not know this job at the moment."
            return msgspec.structs.replace(run, missing_since=since, message=message)
    final = standing.phase in FINAL
    handed = {node.id: node for node in run.nodes if node.job is not None}
    return msgspec.structs.replace(
        run,
        phase=standing.phase,
        message=standing.message,
        start_time=standing.start_time or run.start_time,
        stop_time=(standing.stop_time or now()) if final else None,
        nodes=[_merged(node, handed) for node in standing.nodes],
        is_submitted=True,
        missing_since=None,
        lease=(_OVER if standing.leaves_doubt else 0.0) if standing.ends_claim else run.lease,
        active=None if final else ACTIVE,
        finished_on=now()[:10] if final else None,
    )


def _merged(node: RunNode, handed: dict[str, RunNode]) -> RunNode:
    """A node as another process knows it, where this one had not heard of its being handed over."""
    return handed.get(node.id, node) if node.job is None else node


def _told(run: Run) -> Run:
    """Tell who is to be told that a run ended; the id of the mail is the job's, so that it is sent once.

    Raises:
        Unavailable: the queue does not take the mail now.
    """
    spec = run.success_email if run.phase == "Succeeded" else run.failure_email
    if spec is None or not run.is_final:
        return run
    try:
        mails = project_emails.prepare(run.project, spec, f"job-{run.uid}", run.user)
        send_many(settings().email_queue_url, mails)
    except Unavailable:
        raise
    except LimnError as error:
        message = f"{run.message or ''} Its mail could not be sent: {error.message}".strip()
        return msgspec.structs.replace(run, message=message)
    return run
