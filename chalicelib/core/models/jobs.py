"""Jobs: work that continues after its response; transcodes are jobs of the service itself.

A job's record is its state machine: each worker reads the record first and writes it last, so that work can stop at any
point and restart.

    pending → running → succeeded | failed        a cancelled one is removed; work on it stops when it finds the record
                                                  missing
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from msgspec import UNSET, Meta, UnsetType

from chalicelib.core.models.entities import Attributes
from chalicelib.core.records import RecordKind
from chalicelib.core.resource import ONE_LINE, Id, Resource, Timestamp, Uuid

JobStatus = Literal["pending", "running", "succeeded", "failed", "canceled"]
MOST_UNITS = 1_000_000_000
FINISHED = ("succeeded", "failed", "canceled")
Uid = Annotated[str, Meta(min_length=1, max_length=36, pattern=r"^[A-Za-z0-9._:-]+$")]


class EmailAttachmentSpec(Resource, kw_only=True):
    """An object of the project to attach to an email, and its name there."""

    key: Annotated[str, Meta(min_length=1, max_length=1024)]
    name: Annotated[str, Meta(min_length=1, max_length=256, pattern=ONE_LINE)]


class EmailSpec(Resource, kw_only=True):
    """An email to members of the project."""

    recipients: Annotated[list[str], Meta(description="Each `Name <name@example.org>` or `name@example.org`.")]
    subject: str
    text: str
    attachments: list[EmailAttachmentSpec] | None = None


class TranscodeSpec(Resource, kw_only=True):
    """A media to transcode.

    All members but the optional ones are required; the origin of the URL is checked first, so the handler checks that
    `name` is present.
    """

    names: ClassVar = {"media_id": "media", "section_id": "section"}
    required_later: ClassVar = frozenset({"name", "type"})

    type: Annotated[int | None, Meta(description="A type of video; −1 for the first one.")] = None
    gid: Annotated[Uuid | None, Meta(description="By default a new one.")] = None
    uid: Annotated[Uid | None, Meta(description="By default a new one.")] = None
    url: Annotated[str, Meta(min_length=1, max_length=2048)]
    name: Annotated[str, Meta(min_length=1, max_length=256, pattern=ONE_LINE)] | None = None
    size: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        Meta(description="Bytes; needed only where the server of the URL does not report the size."),
    ] = None
    section: str | UnsetType = UNSET
    section_id: int | None = None
    md5: Annotated[str, Meta(max_length=32)] | None = None
    attributes: Attributes | None = None
    email_spec: EmailSpec | None = None
    media_id: Id | None = None


class JobProgress(Resource, kw_only=True):
    """The progress of a job: done and total, in steps or in the unit that a step reports."""

    done: Annotated[int, Meta(ge=0, le=MOST_UNITS)]
    total: Annotated[int, Meta(ge=0, le=MOST_UNITS)]
    message: Annotated[str, Meta(max_length=200)] | None = None


class JobUpdate(Resource, kw_only=True):
    """The body of a PATCH of a job."""

    progress: JobProgress


class JobNode(Resource, kw_only=True):
    """One step of a job. `message` is the reason of its failure, `log` the object that holds its output."""

    id: str
    task: str
    status: str
    children: list[str] = []
    start_time: Timestamp | None = None
    stop_time: Timestamp | None = None
    message: str | None = None
    log: str | None = None


class JobLog(Resource, kw_only=True):
    """The last lines of a step's output. `log` is the object that holds all of it."""

    uid: str
    node: str
    task: str
    status: str
    log: str | None = None
    lines: list[str]


class JobGroup(Resource, kw_only=True):
    """The jobs of one launch: the number of jobs of each status, and the sum of their progress."""

    gid: str
    project: int
    jobs: int
    statuses: dict[str, int]
    progress: JobProgress


class Job(Resource, kw_only=True):
    """A job in responses.

    `alg_id` is the algorithm that was launched; a transcode has none. `message` is the reason of a failure. `progress`
    counts steps, or the unit that a step reports; for a transcode, pieces, as do `done` and `pieces`.
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
    """A transcode: the request, and the job that runs it."""

    spec: dict[str, Any]
    job: Job


class TranscodeCreated(Resource, kw_only=True):
    """The response to the start of a transcode, for clients of every version."""

    message: str
    id: str
    object: Transcode
    uid: str
    gid: str
    media_id: int


class StoredJob(Resource, kw_only=True):
    """A job as it is stored.

    `plan` is the key of the plan of its pieces once that is made; the keys of its results derive from `digest`.
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
        """The ids of the media that it works on."""
        return [self.media]

    @property
    def is_finished(self) -> bool:
        """Whether it has ended."""
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
