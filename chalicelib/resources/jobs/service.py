"""Launch algorithms on media, and list, report on and remove their jobs.

A launch stores all its runs before it submits them to their engine. A run that was not submitted, because of a crash
or an unavailable engine, is submitted by the next request that shows it, or by the schedule.
"""

from __future__ import annotations

import re
import secrets
import string
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from hashlib import sha256

import msgspec

from chalicelib.access.scope import Scope
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.algorithms import ALGORITHM, Algorithm
from chalicelib.core.models.credentials import Credential
from chalicelib.core.models.jobs import JOB, Job, JobGroup, JobLog, JobProgress, StoredJob
from chalicelib.core.permissions import LEVEL_OF, Level
from chalicelib.core.resource import now
from chalicelib.core.time import clock
from chalicelib.errors import BadInput, Conflict, Forbidden, NotFound, Unavailable
from chalicelib.resources.algorithms import service as algorithms_service
from chalicelib.resources.email import project_emails
from chalicelib.resources.entities import object_cleanup
from chalicelib.resources.jobs import cleanup, status_sync, tokens
from chalicelib.resources.jobs.engines import kubernetes
from chalicelib.resources.jobs.engines.base import EngineUnavailable, WorkflowRefused
from chalicelib.resources.jobs.runs import RUN, JobSpec, Run, RunNode, as_response
from chalicelib.resources.jobs.selection import batches_of, check_media, media_of
from chalicelib.resources.transcodes import service as transcodes_service
from chalicelib.storage.dynamodb import limits, records
from chalicelib.storage.dynamodb.progress import streams
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.objects import objects, owners
from chalicelib.workflows.checks import check

SUBMIT_SECONDS = 12.0
"""How long a launch submits runs before it answers; the others are submitted later."""
_TOGETHER = 16
"""Runs stored in one transaction; each is five rows."""
_THREADS = 8
_NAME = re.compile(r"[^a-z0-9]+")
_SALT = string.ascii_lowercase + string.digits


@dataclass(frozen=True, kw_only=True)
class Launched:
    """The result of a launch."""

    algorithm: Algorithm
    gid: str
    runs: list[Run]


def launch(
    project: Project,
    scope: Scope,
    spec: JobSpec,
    *,
    all_media: bool,
    once: str | None = None,
    approval: algorithms_service.Approval | None = None,
) -> Launched:
    """Launch an algorithm on media, in batches of its `files_per_job`.

    Args:
        project: the project.
        scope: of the caller.
        spec: algorithm and media; `media_query` wins over `media_ids`.
        all_media: whether a launch without both covers all media of the project.
        once: a name that is claimed with the first run, so that a second launch of that name is refused.
        approval: what may be launched; by default what the algorithm runs now.

    Raises:
        NotApproved: somebody else changed what the algorithm runs.
        NotFound: the project has no algorithm of the name.
        BadInput: no media are given, there are too many, the manifest or a mail is not valid, or the engine refuses.
            Nothing was started.
        Conflict: the name `once` is claimed.
    """
    algorithm = algorithms_service.get_by_name(project.id, spec.algorithm_name)
    return start(project, scope, spec, algorithm, None, all_media=all_media, once=once, approval=approval)


def start(
    project: Project,
    scope: Scope,
    spec: JobSpec,
    algorithm: Algorithm,
    source: bytes | None,
    *,
    all_media: bool,
    once: str | None = None,
    approval: algorithms_service.Approval | None = None,
) -> Launched:
    """As `launch`, for a given algorithm; with its manifest if it is not registered."""
    caller = scope.caller
    level = scope.project_level(project.id, ALGORITHM.name, lambda: algorithm)
    if level is Level.NONE:
        raise algorithms_service.unknown_name(project.id, algorithm.name)
    if level < scope.needed:
        raise Forbidden(f"Your permission on the algorithm {algorithm.name!r} is too low.")
    media = media_of(project.id, spec, scope, all_media=all_media)
    gid = str(uuid.uuid4())
    for mail in (spec.success_email_spec, spec.failure_email_spec):
        if mail is not None:
            project_emails.prepare(project.id, mail, gid, caller.id, Level.EXECUTE)
    batches = batches_of(media, algorithm.files_per_job)
    if not batches:
        return Launched(algorithm=algorithm, gid=gid, runs=[])
    if spec.media_query is None and spec.media_ids is not None:
        check_media(project.id, media, scope)
    text = source or algorithms_service.source(project, algorithm)
    if approval is not None:
        algorithms_service.check_approved(algorithm, text, approval)
    document = check(text, algorithms_service.engine_of(algorithm))
    try:
        address = status_sync.engine_of(algorithm.cluster, project.organization).address
        namespace = kubernetes.namespace_in(document) if algorithm.cluster is not None else "default"
    except WorkflowRefused as refusal:
        raise BadInput(str(refusal)) from None
    manifest = msgspec.json.encode(document)
    digest = sha256(manifest).hexdigest()
    uids = _make_ordered_uuids(len(batches))
    runs = [
        msgspec.structs.replace(
            _run(project, caller.id, algorithm, gid, uid, batch, spec, namespace), digest=digest, address=address
        )
        for uid, batch in zip(uids, batches, strict=True)
    ]
    most = min(level, LEVEL_OF[algorithm.level])
    made = tokens.issue(runs, caller, most, approval.launches if approval else caller.launches)
    key = status_sync.manifest_key(runs[0])
    note = object_cleanup.release(project.id, [key], within=object_cleanup.GRACE)
    objects.write(key, manifest, "application/json")
    _store(runs, made, note, once)
    return Launched(algorithm=algorithm, gid=gid, runs=_submit(runs))


def list_jobs(project: int, gid: str | None, media: Sequence[int] | None, scope: Scope) -> list[Job]:
    """The jobs of a project with current status, oldest first; with a gid also the transcodes of that group."""
    found = [as_response(run) for run in status_sync.current(_runs(project, gid, media, scope))]
    if gid is not None:
        found += [
            transcode_as_job(job)
            for job in scope.visible(
                JOB.name, [job for job in records.list_linked(JOB, "gid", gid) if job.project == project]
            )
            if media is None or job.media in media
        ]
    return found


def remove_many(project: int, gid: str | None, media: Sequence[int] | None, scope: Scope) -> int:
    """Cancel and remove jobs of a project on whose media the caller has the needed level. Returns how many."""
    runs = _runs(project, gid, media, scope)
    cleanup.remove(runs)
    count = len(runs)
    if gid is not None:
        jobs = scope.visible(JOB.name, [job for job in records.list_linked(JOB, "gid", gid) if job.project == project])
        count += transcodes_service.cancel(job for job in jobs if media is None or job.media in media)
    return count


def transcode_as_job(job: StoredJob) -> Job:
    """A transcode in the answer of job operations: its status is capitalised, as older clients expect."""
    found = transcodes_service.as_response(job).job
    return msgspec.structs.replace(found, status=found.status.capitalize())


def report(run: Run, progress: JobProgress) -> Run:
    """Store the progress that a step reports.

    Raises:
        BadInput: more is done than the total.
        Conflict: the job has ended.
    """
    if progress.done > progress.total:
        raise BadInput(f"progress: done is {progress.done}, and may be {progress.total} (total) at most.")

    def change(current: Run) -> Run | None:
        if current.is_final or current.progress == progress:
            return None
        return msgspec.structs.replace(current, progress=progress)

    after = records.edit(RUN, run.uid, change)
    if after.is_final:
        raise Conflict(f"Job {run.uid} has ended with status {after.phase}; its progress cannot change any more.")
    return after


def groups(project: int, gid: str | None, scope: Scope) -> list[JobGroup]:
    """The launches of a project, or one of them, oldest first, with the sums of their jobs."""
    found: dict[str, list[Job]] = {}
    for job in list_jobs(project, gid, None, scope):
        found.setdefault(job.gid, []).append(job)
    return [
        JobGroup(
            gid=name,
            project=project,
            jobs=len(jobs),
            statuses=dict(Counter(job.status for job in jobs)),
            progress=JobProgress(
                done=sum(job.progress.done for job in jobs), total=sum(job.progress.total for job in jobs)
            ),
        )
        for name, jobs in found.items()
    ]


def output(run: Run, node: str | None, lines: int) -> JobLog:
    """The last lines that a step of a run printed.

    Args:
        run: the run, with current status.
        node: the id or the task of the step; by default the first failed one, else the last started one.
        lines: how many.

    Raises:
        NotFound: the run has no such step, or none yet.
        Unavailable: its engine does not answer.
    """
    found = _step(run, node)
    try:
        said = status_sync.engine_of(run.cluster, run.organization).output(run, found, lines)
    except (EngineUnavailable, WorkflowRefused) as failure:
        raise Unavailable(str(failure)) from None
    return JobLog(uid=run.uid, node=found.id, task=found.task, status=found.status, log=found.log, lines=said)


def _step(run: Run, node: str | None) -> RunNode:
    steps = [item for item in run.nodes if item.is_pod]
    if node is not None:
        found = next((item for item in steps if node in (item.id, item.task)), None)
        if found is None:
            names = ", ".join(item.task for item in steps[:20]) or "none yet"
            raise NotFound(f"Job {run.uid} has no step {node[:200]!r}; its steps are {names}.")
        return found
    failed = [item for item in steps if item.status in ("Failed", "Error")]
    begun = sorted((item for item in steps if item.start_time), key=lambda item: str(item.start_time))
    found = next(iter([*failed, *begun[::-1]]), None)
    if found is None:
        raise NotFound(f"No step of job {run.uid} has begun.")
    return found


def find(uid: str) -> Run:
    """One run. Raises NotFound."""
    run = records.get(RUN, uid)
    if run.is_stopping:
        raise NotFound.of("Job", uid)
    return run


def _runs(project: int, gid: str | None, media: Sequence[int] | None, scope: Scope) -> list[Run]:
    runs = records.list_children(RUN, project) if gid is None else records.list_linked(RUN, "gid", gid)
    wanted = set(media) if media is not None else None
    found = [
        run
        for run in runs
        if run.project == project and not run.is_stopping and (wanted is None or wanted & set(run.media_ids))
    ]
    return sorted(scope.visible(RUN.name, found), key=lambda run: (run.created, run.uid))


def _make_ordered_uuids(count: int) -> list[str]:
    """Random UUIDs of version 7, in ascending order: jobs of one launch begin in the same millisecond."""
    moment = int(clock.seconds() * 1000)
    return [
        str(uuid.UUID(int=moment << 80 | 7 << 76 | number << 64 | 2 << 62 | secrets.randbits(62)))
        for number in range(count)
    ]


def _run(
    project: Project,
    user: int,
    algorithm: Algorithm,
    gid: str,
    uid: str,
    media: list[int],
    spec: JobSpec,
    namespace: str,
) -> Run:
    slug = _NAME.sub("-", algorithm.name.lower()).strip("-")
    start = f"alg-{algorithm.id}-proj-{project.id}-usr-{user}"
    salt = "".join(secrets.choice(_SALT) for _ in range(5))
    name = f"{start}-name-{slug}"[:56].strip("-")
    return Run(
        id=f"{name}-{salt}",
        uid=uid,
        gid=gid,
        project=project.id,
        organization=project.organization,
        user=user,
        algorithm=algorithm.id,
        algorithm_name=algorithm.name,
        cluster=algorithm.cluster,
        namespace=namespace,
        media_ids=media,
        parameters=[*algorithm.parameters, *(spec.extra_params or [])],
        created=now(),
        success_email=spec.success_email_spec,
        failure_email=spec.failure_email_spec,
    )


def _store(runs: list[Run], made: dict[str, Credential], note: str, once: str | None) -> None:
    """Store runs, all or none; the first also refers to their manifest, and `note` is settled."""
    done: list[Run] = []
    try:
        for start in range(0, len(runs), _TOGETHER):
            part = runs[start : start + _TOGETHER]
            limits.retry_lost_creation(partial(_store_part, part, made, None if done else note, once))
            done += part
    except Exception:
        cleanup.forget(done)
        raise


def _store_part(runs: list[Run], made: dict[str, Credential], note: str | None, once: str | None) -> int:
    change = Transaction()
    for run in runs:
        records.add(change, RUN, run)
        tokens.store(change, made[run.uid])
    if note is not None:
        owners.forget(runs[0].project, note, change)
        if once is not None:
            streams.claim(change, once)
    return change.run()


def _submit(runs: list[Run]) -> list[Run]:
    """Submit runs until the deadline; the first alone, because a refusal applies to all of them."""
    end = time.monotonic() + SUBMIT_SECONDS
    try:
        first = status_sync.submit(runs[0])
    except WorkflowRefused as refusal:
        cleanup.forget(runs)
        raise BadInput(str(refusal)) from None
    except EngineUnavailable as away:
        return [msgspec.structs.replace(run, message=str(away)) for run in runs]

    def hand_over(run: Run) -> Run:
        if time.monotonic() > end:
            return run
        try:
            return status_sync.submit(run)
        except EngineUnavailable as away:
            return msgspec.structs.replace(run, message=str(away))
        except WorkflowRefused as refusal:
            return status_sync.refuse(run, str(refusal))

    with ThreadPoolExecutor(_THREADS) as pool:
        return [first, *pool.map(hand_over, runs[1:])]
