"""Runs: jobs that an algorithm's launch started, one workflow each.

    Pending → Running → Succeeded | Failed | Error        a cancelled one is removed

A run is `active` until its phase is final; requests and the schedule update active runs. A run that was deleted is
active again and `is_stopping`, and no operation shows it, until its engine has ended it.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from chalicelib.core.keys import object_keys
from chalicelib.core.keys.object_keys import ObjectPrefix
from chalicelib.core.models.algorithms import AlgorithmParameter
from chalicelib.core.models.jobs import EmailSpec, Job, JobNode, JobProgress
from chalicelib.core.records import RecordKind
from chalicelib.core.resource import Resource, Timestamp, shared
from chalicelib.workflows.nodes import FINISHED

FINAL = ("Succeeded", "Failed", "Error")
ACTIVE: Literal["yes"] = "yes"
MOST_JOBS = 500
"""Maximum jobs of one launch."""
MOST_MEDIA = 10_000
"""Maximum media of one job: their ids are one parameter."""


class JobSpec(Resource, kw_only=True):
    """The algorithm and media of a launch, in the names of clients of every version."""

    accepts = {"parameters": "extra_params"}
    names = {"media_ids": "media"}

    algorithm_name: Annotated[str, Meta(min_length=1, max_length=128)]
    media_ids: Annotated[list[int] | None, Meta(description="Ids of the media; an empty list starts nothing.")] = None
    media_query: Annotated[
        Annotated[str, Meta(max_length=8192)] | None,
        Meta(description="Parameters of GetMediaList, such as `?name=x`; it wins over `media_ids`."),
    ] = None
    extra_params: Annotated[list[AlgorithmParameter], Meta(max_length=200)] | None = None
    success_email_spec: EmailSpec | None = None
    failure_email_spec: EmailSpec | None = None


class RunNode(Struct, kw_only=True, omit_defaults=True):
    """A run's node in its stored form; `job` is its id in AWS Batch."""

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
    """The location of its output, in its engine's terms."""
    is_pod: bool = False
    """Whether it runs a container itself."""


class Run(Struct, kw_only=True, omit_defaults=True):
    """A run in its stored form."""

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
    """The namespace of its workflow in its cluster."""
    media_ids: list[int] = []
    parameters: list[AlgorithmParameter] = []
    phase: str = "Pending"
    message: str | None = None
    created: Timestamp
    start_time: Timestamp | None = None
    stop_time: Timestamp | None = None
    nodes: list[RunNode] = []
    sealed: str = ""
    """Its token, encrypted."""
    credential: str = ""
    """The key of its credential; empty for a run of a release whose runs had the launcher's own token."""
    digest: str = ""
    """The SHA-256 of the manifest that was launched."""
    address: str = ""
    """Host and port of its cluster as of the launch."""
    success_email: EmailSpec | None = None
    failure_email: EmailSpec | None = None
    is_submitted: bool = False
    active: str | None = ACTIVE
    missing_since: float | None = None
    """Time since which the engine does not know it."""
    lease: float = 0.0
    """End of the lease of the process that submits it; 0 without a lease. An expired lease ended without a result."""
    finished_on: str | None = None
    """The day on which its end was recorded, `2026-11-21`; its engine's clock may be wrong."""
    progress: JobProgress | None = None
    """The progress that a step reported."""
    is_stopping: bool = False
    """Whether it was deleted, and its engine has not stopped it yet."""

    @property
    def sources(self) -> list[int]:
        """The ids of its media."""
        return self.media_ids

    @property
    def is_final(self) -> bool:
        """Whether its status is final."""
        return self.phase in FINAL

    @property
    def folder(self) -> ObjectPrefix:
        """The prefix of its files."""
        return object_keys.job_prefix(self.organization, self.project, self.uid)


def as_response(run: Run) -> Job:
    """A run as a response document."""
    computed = {
        "alg_id": run.algorithm,
        "status": run.phase,
        "start_time": run.start_time or run.created,
        "nodes": [JobNode(**shared(node, JobNode)) for node in run.nodes],
        "progress": progress_of(run),
    }
    return Job(**{**shared(run, Job), **computed})


def progress_of(run: Run) -> JobProgress:
    """The progress of a run: reported by a step; otherwise the number of ended steps among the known ones."""
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
