"""Row protections: the permission of a user, a group or an organization on one record or entity and its content."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from chalicelib.core.records import RecordKind, padded
from chalicelib.core.resource import Id, Resource, Timestamp

Mask = Annotated[int, Meta(ge=0, le=2**62)]

IN_PROJECT = ("project", "media", "localization", "state", "file", "section", "algorithm", "version")
"""Members that name a protected record or entity of a project, or the project."""
IN_ORGANIZATION = ("target_organization", "target_group", "job_cluster", "bucket", "hosted_template")
"""Members that name a protected record of an organization, or the organization."""
TARGETS = (*IN_PROJECT, *IN_ORGANIZATION)
SUBJECTS = ("user", "organization", "group")
"""Members that name the subject."""


class RowProtectionUpdateSpec(Resource, kw_only=True):
    """The body of a PATCH of a row protection."""

    permission: Mask | None = None


class RowProtectionQuery(Resource, kw_only=True):
    """Filters of row protections: all that are given must match."""

    project: Id | None = None
    media: Id | None = None
    localization: Id | None = None
    state: Id | None = None
    file: Id | None = None
    section: Id | None = None
    algorithm: Id | None = None
    version: Id | None = None
    target_organization: Id | None = None
    target_group: Id | None = None
    job_cluster: Id | None = None
    bucket: Id | None = None
    hosted_template: Id | None = None
    user: Id | None = None
    organization: Id | None = None
    group: Id | None = None


class RowProtectionSpec(RowProtectionQuery, kw_only=True):
    """The body that creates a row protection: one protected record or entity, one subject, and the permission."""

    permission: Mask


class RowProtection(Resource, kw_only=True):
    """A subject's permission on a record or entity: eight bits for itself, eight more for each level of its content."""

    hidden: ClassVar = frozenset({"scope"})

    id: int
    project: int | None = None
    media: int | None = None
    localization: int | None = None
    state: int | None = None
    file: int | None = None
    section: int | None = None
    algorithm: int | None = None
    version: int | None = None
    target_organization: int | None = None
    target_group: int | None = None
    job_cluster: int | None = None
    bucket: int | None = None
    hosted_template: int | None = None
    user: int | None = None
    organization: int | None = None
    group: int | None = None
    permission: Mask
    created_datetime: Timestamp
    created_by: int
    scope: Annotated[str, Meta(description="The scope of the protected record: `project|12` or `organization|3`.")]

    @property
    def target(self) -> tuple[str, int]:
        """The member that names the protected record or entity, and its id."""
        return next((name, number) for name in TARGETS if (number := getattr(self, name)) is not None)

    @property
    def subject(self) -> tuple[str, int]:
        """The member that names the subject, and its id."""
        return next((name, number) for name in SUBJECTS if (number := getattr(self, name)) is not None)

    @property
    def allowed(self) -> str:
        """The key of the row in its subject's list."""
        return subject_key(*self.subject)


def subject_key(name: str, number: int) -> str:
    """The key of a subject's list."""
    return f"{name}|{number}"


def project_scope(number: int) -> str:
    """The scope of a project."""
    return f"project|{number}"


def organization_scope(number: int) -> str:
    """The scope of an organization."""
    return f"organization|{number}"


ROW_PROTECTION = RecordKind(
    name="rowprotection",
    struct=RowProtection,
    parent=("scope", "protections"),
    key=lambda row: f"{row.target[0]}|{padded(row.target[1])}|{padded(row.id)}",
    links={"allowed": "allowed"},
)
