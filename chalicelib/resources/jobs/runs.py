"""Runs: jobs that an algorithm's launch started, one workflow each.

    Pending → Running → Succeeded | Failed | Error        a cancelled one is removed

A run is `active` until its phase is final; requests and the schedule update active runs. A run that was deleted is
active again and `is_stopping`, and no operation shows it, until its engine has ended it.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from chalicelib.core import object_keys
from chalicelib.core.algorithms import AlgorithmParameter
from chalicelib.core.jobs import EmailSpec, Job, JobNode, JobProgress
from chalicelib.core.object_keys import ObjectPrefix
from chalicelib.core.records import RecordKind
from chalicelib.core.resource import Resource, Timestamp
from chalicelib.workflows.nodes import FINISHED

FINAL = ("Succeeded", "Failed", "Error")
ACTIVE: Literal["yes"] = "yes"
MOST_JOBS = 500
"""Jobs that one launch starts."""
MOST_MEDIA = 10_000
"""Media of one job: their ids travel as one parameter."""


class JobSpec(Resource, kw_only=True):
    """What is launched over which media, as clients of every version ask for it."""

    accepts = {"parameters": "extra_params"}
    names = {"media_ids": "media"}

    algorithm_name: Annotated[str, Meta(min_length=1, max_length=128)]
    media_ids: list[int] | None = None
    media_query: Annotated[str, Meta(max_length=8192)] | None = None
    """Parameters of GetMediaList, such as `?name=x`; it wins over `media_ids`."""
    extra_params: Annotated[list[AlgorithmParameter], Meta(max_length=200)] | None = None
    success_email_spec: EmailSpec | None = None
    failure_email_spec: EmailSpec | None = None


class RunNode(Struct, kw_only=True, omit_defaults=True):
    """A node of a run as it is kept; `job` is what AWS Batch calls it."""

    id: str
    task: str
    status: str
    children: list[str] = []
    start_time: Timestamp | None = None
    stop_time: Timestamp | None = None
    job: str | None = None
    outputs: dict[str, str] = {}
    text: str | None = None
    message: str | None = None
    log: str | None = None
    """Where its output is kept, as its engine names it."""
    is_pod: bool = False
    """Whether it runs something itself, and is no arrangement of others."""


class Run(Struct, kw_only=True, omit_defaults=True):
    """A run as it is kept."""

    id: str
    """The name of its workflow."""
    uid: str
    gid: str
    project: int
    organization: int
    user: int
    algorithm: int
    algorithm_name: str
    cluster: int | None = None
    namespace: str = "default"
    """Where its workflow lies in its cluster."""
    media_ids: list[int] = []
    parameters: list[AlgorithmParameter] = []
    phase: str = "Pending"
    message: str | None = None
    created: Timestamp
    start_time: Timestamp | None = None
    stop_time: Timestamp | None = None
    nodes: list[RunNode] = []
    sealed: str = ""
    """The launcher's token, sealed."""
    success_email: EmailSpec | None = None
    failure_email: EmailSpec | None = None
    is_submitted: bool = False
    active: str | None = ACTIVE
    missing_since: float | None = None
    """Since when the engine does not know it."""
    lease: float = 0.0
    """Until when one process hands it to an engine; 0 where none does. A lease in the past ended without a result."""
    finished_on: str | None = None
    """The day on which its end was heard of, `2026-11-21`; its engine's clock may be wrong."""
    progress: JobProgress | None = None
    """What a step reported."""
    is_stopping: bool = False
    """It was deleted, and its engine has not ended it yet."""

    @property
    def sources(self) -> list[int]:
        """The ids of the media that it works on."""
        return self.media_ids

    @property
    def is_final(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.phase in FINAL

    @property
    def folder(self) -> ObjectPrefix:
        """Where its files lie."""
        return object_keys.job_prefix(self.organization, self.project, self.uid)


def shown(run: Run) -> Job:
    """A run as operations answer it."""
    nodes = [
        JobNode(
            id=node.id,
            task=node.task,
            status=node.status,
            children=node.children,
            start_time=node.start_time,
            stop_time=node.stop_time,
            message=node.message,
            log=node.log,
        )
        for node in run.nodes
    ]
    return Job(
        id=run.id,
        uid=run.uid,
        gid=run.gid,
        project=run.project,
        user=run.user,
        alg_id=run.algorithm,
        media_ids=run.media_ids,
        status=run.phase,
        start_time=run.start_time or run.created,
        stop_time=run.stop_time,
        nodes=nodes,
        message=run.message,
        progress=progress_of(run),
    )


def progress_of(run: Run) -> JobProgress:
    """How far a run is: what a step reported; without that, the steps that have ended of those that are known."""
    found = run.progress
    if found is None:
        steps = [node for node in run.nodes if node.is_pod]
        done = sum(node.status in FINISHED for node in steps)
        found = JobProgress(done=done, total=len(steps))
    if run.phase == "Succeeded":
        return msgspec.structs.replace(found, done=found.total)
    return found


RUN = RecordKind(
    name="run",
    struct=Run,
    title="Job",
    parent=("project", "project"),
    key=lambda run: f"{run.created}|{run.uid}",
    links={"gid": "gid", "active": "active", "finished_on": "day"},
    identity="uid",
)
