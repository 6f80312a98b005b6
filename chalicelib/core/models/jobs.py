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
from chalicelib.core.resource import MAILBOX, ONE_LINE, Id, Resource, Timestamp, Uuid

JobStatus = Literal["pending", "running", "succeeded", "failed", "canceled"]
MOST_UNITS = 1_000_000_000
FINISHED = ("succeeded", "failed", "canceled")
Uid = Annotated[str, Meta(min_length=1, max_length=36, pattern=r"^[A-Za-z0-9._:-]+$(?!\n)")]


class EmailAttachmentSpec(Resource, kw_only=True):
    """An object of the project to attach to an email, and its name there."""

    key: Annotated[str, Meta(min_length=1, max_length=1024, description="Key of an object of the project.")]
    name: Annotated[str, Meta(min_length=1, max_length=256, pattern=ONE_LINE, description="Name of the attachment.")]


class EmailSpec(Resource, kw_only=True):
    """An email to members of the project."""

    personal: ClassVar = frozenset({"recipients"})

    recipients: Annotated[
        list[Annotated[str, MAILBOX]], Meta(description="Each `Name <name@example.org>` or `name@example.org`.")
    ]
    subject: str
    text: Annotated[str, Meta(description="Text of the mail.")]
    attachments: Annotated[list[EmailAttachmentSpec] | None, Meta(description="Objects of the project to attach.")] = (
        None
    )


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
    url: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=2048,
            description="URL of the video, of an allowed origin or of the service's own store.",
        ),
    ]
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
    media_id: Annotated[
        Id | None, Meta(description="Id of the media that the files are added to; by default a new media.")
    ] = None


class JobProgress(Resource, kw_only=True):
    """The progress of a job: done and total, in steps or in the unit that a step reports."""

    done: Annotated[int, Meta(ge=0, le=MOST_UNITS, description="Units that are done, at most `total`.")]
    total: Annotated[int, Meta(ge=0, le=MOST_UNITS, description="Units in all.")]
    message: Annotated[str, Meta(max_length=200, description="What is being worked on.")] | None = None


class JobUpdate(Resource, kw_only=True):
    """The body of a PATCH of a job."""

    progress: JobProgress


class JobNode(Resource, kw_only=True):
    """One step of a job. `message` is the reason of its failure, `log` the object that holds its output."""

    id: Annotated[str, Meta(description="Id of the step within the job.")]
    task: str
    status: Annotated[str, Meta(description="Pending, Running, Succeeded, Failed, Error, Skipped or Omitted.")]
    children: Annotated[list[str], Meta(description="Ids of the steps that follow.")] = []
    start_time: Timestamp | None = None
    stop_time: Timestamp | None = None
    message: Annotated[str | None, Meta(description="Why it failed.")] = None
    log: str | None = None


class JobLog(Resource, kw_only=True):
    """The last lines of a step's output. `log` is the object that holds all of it."""

    uid: str
    node: Annotated[str, Meta(description="Id of the step.")]
    task: str
    status: Annotated[str, Meta(description="Status of the step.")]
    log: str | None = None
    lines: Annotated[list[str], Meta(description="Last lines, oldest first.")]


class JobGroup(Resource, kw_only=True):
    """The jobs of one launch: the number of jobs of each status, and the sum of their progress."""

    gid: str
    project: int
    jobs: Annotated[int, Meta(description="How many jobs it has.")]
    statuses: Annotated[dict[str, int], Meta(description="How many jobs there are of each status.")]
    progress: JobProgress


class Job(Resource, kw_only=True):
    """A job in responses.

    `alg_id` is the algorithm that was launched; a transcode has none. `message` is the reason of a failure. `progress`
    counts steps, or the unit that a step reports; for a transcode, pieces, as do `done` and `pieces`.
    """

    id: Annotated[str, Meta(description="Name of the workflow.")]
    uid: str
    gid: str
    project: int
    user: Annotated[int, Meta(description="Id of the user who launched it.")]
    alg_id: Annotated[int | None, Meta(description="Id of the algorithm; a transcode has none.")] = None
    media_ids: list[int] = []
    status: Annotated[str, Meta(description="Pending, Running, Succeeded, Failed or Error.")]
    start_time: Timestamp
    stop_time: Timestamp | None = None
    nodes: Annotated[list[JobNode], Meta(description="Steps of the workflow.")] = []
    message: Annotated[str | None, Meta(description="Why it failed or waits.")] = None
    progress: JobProgress
    pieces: Annotated[int | None, Meta(description="For a transcode, how many pieces it has.")] = None
    done: Annotated[int | None, Meta(description="For a transcode, how many pieces are done.")] = None


class Transcode(Resource, kw_only=True):
    """A transcode: the request, and the job that runs it."""

    spec: Annotated[dict[str, Any], Meta(description="The request.")]
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
    source: str = ""
    """The key of the object that `spec.url` names, if it is ours: our store may have another address by the time."""
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
