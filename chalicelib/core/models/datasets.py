"""Exports of a project's data as datasets, and named versions of datasets: their records.

Both are worked off in the background, part by part. The record is the state machine, as that of a job: each step reads
it first, so that work can stop at any point and be repeated.

    pending → running → succeeded | failed          a cancelled one is deleted; work on it stops when its record is gone
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from chalicelib.core.records import RecordKind
from chalicelib.core.resource import Name, Resource, Timestamp

WorkStatus = Literal["pending", "running", "succeeded", "failed"]
FINISHED = ("succeeded", "failed")


class ExportWork(Resource, kw_only=True):
    """What exports and versions have in common."""

    hidden: ClassVar = frozenset({"snapshot", "upload"})

    uid: str
    project: int
    user: int
    name: Name
    status: WorkStatus = "pending"
    message: str = ""
    """Why it failed."""
    created_datetime: Timestamp
    seq: int
    """The commit whose data it holds."""
    parts: int = 0
    """The number of parts that the work was divided into; 0 until it is planned."""
    media: int = 0
    labels: int = 0
    interpolated: int = 0
    """Labels between the localizations of tracks, with those that are left out."""
    left_out: int = 0
    simplified: int = 0
    """Labels that are not in it: the format cannot hold them, their class is left out or their picture is missing."""
    size: int = 0
    """Bytes."""
    snapshot: str | None = None
    """The folder of the snapshot from which the commit is read."""
    upload: str = ""
    """The id of the multipart upload of its archive."""

    @property
    def is_finished(self) -> bool:
        """Whether no work is left."""
        return self.status in FINISHED


class StoredExport(ExportWork, kw_only=True):
    """An archive of a project's data in a format. Only the user who made it sees it; it is deleted a week later."""

    format: str
    expires_datetime: Timestamp
    dataset: str | None = None
    """The uid of the version that it was made of."""


class StoredVersion(ExportWork, kw_only=True):
    """A query's result at a commit, kept until it is deleted."""

    description: str = ""
    classes: list[str] = []
    format: str = "parquet"


EXPORT: RecordKind[Any] = RecordKind(
    name="export", struct=StoredExport, title="Export", parent=("project", "project"), identity="uid"
)
DATASET: RecordKind[Any] = RecordKind(
    name="dataset",
    struct=StoredVersion,
    title="Dataset",
    parent=("project", "project"),
    identity="uid",
    claims=lambda version: {"name": f"{version.project}|{version.name}"},
)
