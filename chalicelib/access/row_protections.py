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

    permission: Annotated[
        Mask | None, Meta(description="Eight bits for the object itself, and eight more for each level of its content.")
    ] = None


class RowProtectionQuery(Resource, kw_only=True):
    """Filters of row protections: all that are given must match."""

    project: Annotated[Id | None, Meta(description="Id of the project that is protected.")] = None
    media: Annotated[Id | None, Meta(description="Id of the media that is protected.")] = None
    localization: Annotated[Id | None, Meta(description="Id of the localization that is protected.")] = None
    state: Annotated[Id | None, Meta(description="Id of the state that is protected.")] = None
    file: Annotated[Id | None, Meta(description="Id of the file that is protected.")] = None
    section: Annotated[Id | None, Meta(description="Id of the section that is protected.")] = None
    algorithm: Annotated[Id | None, Meta(description="Id of the algorithm that is protected.")] = None
    version: Annotated[Id | None, Meta(description="Id of the version that is protected.")] = None
    target_organization: Annotated[Id | None, Meta(description="Id of the organization that is protected.")] = None
    target_group: Annotated[Id | None, Meta(description="Id of the group that is protected.")] = None
    job_cluster: Annotated[Id | None, Meta(description="Id of the job cluster that is protected.")] = None
    bucket: Annotated[Id | None, Meta(description="Id of the bucket that is protected.")] = None
    hosted_template: Annotated[Id | None, Meta(description="Id of the hosted template that is protected.")] = None
    user: Annotated[Id | None, Meta(description="Id of the user that gets the permission.")] = None
    organization: Annotated[Id | None, Meta(description="Id of the organization that gets the permission.")] = None
    group: Annotated[Id | None, Meta(description="Id of the group that gets the permission.")] = None


class RowProtectionSpec(RowProtectionQuery, kw_only=True):
    """The body that creates a row protection: one protected record or entity, one subject, and the permission."""

    permission: Annotated[
        Mask, Meta(description="Eight bits for the object itself, and eight more for each level of its content.")
    ]


class RowProtection(Resource, kw_only=True):
    """A subject's permission on a record or entity: eight bits for itself, eight more for each level of its content."""

    hidden: ClassVar = frozenset({"scope"})

    id: int
    project: Annotated[int | None, Meta(description="Id of the project that is protected.")] = None
    media: Annotated[int | None, Meta(description="Id of the media that is protected.")] = None
    localization: Annotated[int | None, Meta(description="Id of the localization that is protected.")] = None
    state: Annotated[int | None, Meta(description="Id of the state that is protected.")] = None
    file: Annotated[int | None, Meta(description="Id of the file that is protected.")] = None
    section: Annotated[int | None, Meta(description="Id of the section that is protected.")] = None
    algorithm: Annotated[int | None, Meta(description="Id of the algorithm that is protected.")] = None
    version: Annotated[int | None, Meta(description="Id of the version that is protected.")] = None
    target_organization: Annotated[int | None, Meta(description="Id of the organization that is protected.")] = None
    target_group: Annotated[int | None, Meta(description="Id of the group that is protected.")] = None
    job_cluster: Annotated[int | None, Meta(description="Id of the job cluster that is protected.")] = None
    bucket: Annotated[int | None, Meta(description="Id of the bucket that is protected.")] = None
    hosted_template: Annotated[int | None, Meta(description="Id of the hosted template that is protected.")] = None
    user: Annotated[int | None, Meta(description="Id of the user that gets the permission.")] = None
    organization: Annotated[int | None, Meta(description="Id of the organization that gets the permission.")] = None
    group: Annotated[int | None, Meta(description="Id of the group that gets the permission.")] = None
    permission: Annotated[
        Mask, Meta(description="Eight bits for the object itself, and eight more for each level of its content.")
    ]
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
