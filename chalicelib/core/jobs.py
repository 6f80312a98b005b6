"""Jobs: work that goes on after its request was answered; transcodes are jobs of the service's own.

A job's record is its state machine: each worker reads the record first and writes it last, so that work may stop at any
point and begin again.

    pending → running → succeeded | failed        a cancelled one is removed, and work on it ends where it finds that
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from chalicelib.core.entities import Attributes
from chalicelib.core.records import RecordKind
from chalicelib.core.resource import Id, Resource, Timestamp, Uuid

JobStatus = Literal["pending", "running", "succeeded", "failed", "canceled"]
MOST_UNITS = 1_000_000_000
FINISHED = ("succeeded", "failed", "canceled")
Uid = Annotated[str, Meta(min_length=1, max_length=36, pattern=r"^[A-Za-z0-9._:-]+$")]


class EmailAttachmentSpec(Resource, kw_only=True):
    """An object of the project that goes with a mail, and its name there."""

    key: Annotated[str, Meta(min_length=1, max_length=1024)]
    name: Annotated[str, Meta(min_length=1, max_length=256)]


class EmailSpec(Resource, kw_only=True):
    """A mail to members of the project."""

    recipients: list[str]
    """Each `Name <name@example.org>` or `name@example.org`."""
    subject: str
    text: str
    attachments: list[EmailAttachmentSpec] | None = None


class TranscodeSpec(Resource, kw_only=True):
    """What is to be transcoded.

    All members but the optional ones are required; the origin of the URL is checked first, so the absence of `name` is
    found by the handler.
    """

    names: ClassVar = {"media_id": "media", "section_id": "section"}
    required_later: ClassVar = frozenset({"name", "gid", "uid", "type"})

    type: int | None = None
    """A type of video; −1 for the first one."""
    gid: Uuid | None = None
    uid: Uid | None = None
    url: Annotated[str, Meta(min_length=1, max_length=2048)]
    name: Annotated[str, Meta(min_length=1, max_length=256)] | None = None
    size: Annotated[int, Meta(ge=0)] | None = None
    """Bytes; needed only where the server of the URL does not tell."""
    section: str | None = None
    section_id: int | None = None
    md5: Annotated[str, Meta(max_length=32)] | None = None
    attributes: Attributes | None = None
    email_spec: EmailSpec | None = None
    media_id: Id | None = None


class JobProgress(Resource, kw_only=True):
    """How far a job is: so many of so many, in steps or in the unit that a step reports."""

    done: Annotated[int, Meta(ge=0, le=MOST_UNITS)]
    total: Annotated[int, Meta(ge=0, le=MOST_UNITS)]
    message: Annotated[str, Meta(max_length=200)] | None = None


class JobUpdate(Resource, kw_only=True):
    """What a PATCH of a job carries."""

    progress: JobProgress


class JobNode(Resource, kw_only=True):
    """One step of a job. `message` says why it failed, `log` where its output is kept."""

    id: str
    task: str
    status: str
    children: list[str] = []
    start_time: Timestamp | None = None
    stop_time: Timestamp | None = None
    message: str | None = None
    log: str | None = None


class JobLog(Resource, kw_only=True):
    """The last lines of a step's output. `log` says where all of it is kept."""

    uid: str
    node: str
    task: str
    status: str
    log: str | None = None
    lines: list[str]


class JobGroup(Resource, kw_only=True):
    """The jobs of one launch: how many there are of each status, and the sum of their progress."""

    gid: str
    project: int
    jobs: int
    statuses: dict[str, int]
    progress: JobProgress


class Job(Resource, kw_only=True):
    """A job as it is answered.

    `alg_id` is the algorithm that was launched; a transcode has none. `message` says why a job failed. `progress`
    counts steps, or what a step reported; of a transcode, pieces, as `done` and `pieces` do too.
    """

    id: str
    uid: str
    gid: str
    project: int
    user: int
    alg_id: int | None = None
    media_ids: list[int] = []
    status: str
    start_time: Timestamp
    stop_time: Timestamp | None = None
    nodes: list[JobNode] = []
    message: str | None = None
    progress: JobProgress
    pieces: int | None = None
    done: int | None = None


class Transcode(Resource, kw_only=True):
    """A transcode: what was asked for, and the job that does it."""

    spec: dict[str, Any]
    job: Job


class TranscodeCreated(Resource, kw_only=True):
    """What starting a transcode says, to clients of every version."""

    message: str
    id: str
    object: Transcode
    uid: str
    gid: str
    media_id: int


class StoredJob(Resource, kw_only=True):
    """A job as it is kept.

    `plan` is where the plan of its pieces lies once it is made, `digest` what the keys of its results derive from.
    """

    uid: str
    gid: str
    project: int
    user: int
    media: int
    status: JobStatus = "pending"
    start_time: Timestamp
    stop_time: Timestamp | None = None
    message: str | None = None
    spec: TranscodeSpec
    digest: str = ""
    plan: str | None = None
    pieces: int = 0

    @property
    def sources(self) -> list[int]:
        """The ids of the media that it is about."""
        return [self.media]

    @property
    def is_finished(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.status in FINISHED

    @property
    def finished_on(self) -> str | None:
        """The day on which it ended, `2026-11-21`."""
        return str(self.stop_time)[:10] if self.is_finished and self.stop_time else None


JOB = RecordKind(
    name="job",
    struct=StoredJob,
    title="Transcode",
    parent=("project", "project"),
    links={"gid": "gid", "finished_on": "day"},
    claims=lambda job: {"uid": job.uid},
    identity="uid",
)
