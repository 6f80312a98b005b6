"""Bodies of projects and their members. The records are in `core/models/accounts.py`: each layer reads them."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, UnsetType

from chalicelib.core.permissions import ProjectLevelName
from chalicelib.core.resource import Id, Name, Resource, Summary, Uuid
from chalicelib.core.usage_limits import UsageLimits
from chalicelib.core.values.public_projects import PublicDownloads, PublicState

_BACKUP = Meta(description="Stored and returned; no files are copied there (docs/decisions/017).")


class ProjectUpdate(Resource, kw_only=True):
    """The body of a PATCH of a project."""

    name: Name | None = None
    summary: Summary | None = None
    enable_downloads: bool | None = None
    bucket: Id | UnsetType | None = UNSET
    upload_bucket: Id | UnsetType | None = UNSET
    backup_bucket: Annotated[Id | UnsetType | None, _BACKUP] = UNSET
    elemental_id: Uuid | None = None
    thumb: str | UnsetType | None = UNSET
    usage_limits: UsageLimits | UnsetType | None = UNSET
    public: PublicState | UnsetType | None = UNSET
    public_downloads: PublicDownloads | None = None


class ProjectSpec(ProjectUpdate, kw_only=True):
    """The body that creates a project."""

    unused: ClassVar = {"effective_permission": "it is computed"}

    name: Name
    organization: Id
    bucket: Id | None = None
    upload_bucket: Id | None = None
    backup_bucket: Annotated[Id | None, _BACKUP] = None
    thumb: str | None = None
    usage_limits: UsageLimits | None = None
    public: PublicState | None = None


class MembershipUpdate(Resource, kw_only=True):
    """The body of a PATCH of a membership."""

    permission: Annotated[ProjectLevelName | None, Meta(description="Level from No Access to Full Control.")] = None
    default_version: Id | UnsetType | None = UNSET


class MembershipSpec(Resource, kw_only=True):
    """The body that creates a membership."""

    user: Id
    permission: Annotated[ProjectLevelName, Meta(description="Level from No Access to Full Control.")]
    default_version: Id | None = None
