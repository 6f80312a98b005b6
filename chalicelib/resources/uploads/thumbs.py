"""The pictures of organizations and projects: valid keys, storage and presentation."""

from __future__ import annotations

import mimetypes
from collections.abc import Sequence

import msgspec

from chalicelib.core.keys import key_forms, object_keys
from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.core.models.accounts import Organization, Project
from chalicelib.errors import BadInput, Forbidden, NotFound
from chalicelib.storage.objects import objects, owners, presigned

SECONDS = 8 * 3600
"""The lifetime of a picture's URL."""


def check_organization(organization: Organization, path: str) -> None:
    """Raise BadInput unless a key belongs to the organization and its object exists."""
    try:
        key = object_keys.authorize_organization_key(path, organization.id)
    except Forbidden as refusal:
        message = "thumb: a key of this organization is needed, organization/name, as its upload info gives it."
        raise BadInput(message) from refusal
    if objects.size(key) is None:
        raise BadInput(f"thumb: nothing was uploaded to {path}.")


def take_project(project: Project, user: int, upload: str) -> str:
    """Copy a user's upload to the project's picture; returns the new key. Raises BadInput."""
    source = object_keys.authorize_own_upload(upload, project.organization, project.id, user, "thumb")
    key = object_keys.project_picture_key(project.organization, project.id, upload.rpartition("/")[2])
    try:
        objects.copy(source, key, mimetypes.guess_type(key.path)[0] or "application/octet-stream")
    except NotFound:
        raise BadInput(f"thumb: nothing was uploaded to {upload}.") from None
    return key.path


def remove_replaced_organization(before: Organization, path: str | None) -> None:
    """Remove the previous picture of an organization, unless it is still in use."""
    old = _of_organization(before)
    if old and old.path != path:
        objects.remove([old])


def remove_replaced_project(before: Project, path: str | None) -> None:
    """Remove the previous picture of a project, unless it is still in use."""
    old = _own_key(before)
    if old and old.path != path:
        objects.remove([old])


def show_organizations(user: int, organizations: Sequence[Organization]) -> list[Organization]:
    """Organizations with the URLs of their pictures instead of keys; a caller gets the same URLs for hours."""
    keys = [_of_organization(organization) for organization in organizations]
    urls = presigned.urls(user, (key for key in keys if key), SECONDS)
    return [
        msgspec.structs.replace(organization, thumb=urls[key] if key else None)
        for organization, key in zip(organizations, keys, strict=True)
    ]


def show_projects(user: int, projects: Sequence[Project]) -> list[Project]:
    """Projects with the URLs of their pictures instead of keys; a caller gets the same URLs for hours.

    A project's picture is the given one, else the thumbnail of the first media that the caller may see.
    """
    firsts = [_first_thumb(project) for project in projects]
    named = owners.authorize_many(first for first in firsts if first)
    keys = [
        _own_key(project) or (named.get(first) if first else None)
        for project, first in zip(projects, firsts, strict=True)
    ]
    urls = presigned.urls(user, (key for key in keys if key), SECONDS)
    return [
        msgspec.structs.replace(project, thumb=urls[key] if key else None)
        for project, key in zip(projects, keys, strict=True)
    ]


def _first_thumb(project: Project) -> owners.Named | None:
    if project.thumb or not project.first_thumb:
        return None
    owner = key_forms.owner_of(project.first_thumb)
    media = project.first_thumb_media or (owner[2] if owner else 0)
    return owners.Named(project.id, media, project.first_thumb)


def _of_organization(organization: Organization) -> ObjectKey | None:
    """The key of an organization's picture, if it belongs to the organization."""
    try:
        return object_keys.authorize_organization_key(organization.thumb or "", organization.id)
    except Forbidden:
        return None


def _own_key(project: Project) -> ObjectKey | None:
    """The key of a project's given picture, if it belongs to the project."""
    try:
        return object_keys.authorize_picture_key(project.thumb or "", project.organization, project.id)
    except Forbidden:
        return None
