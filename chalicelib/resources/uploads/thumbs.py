"""Taking the pictures of organizations and projects in, and showing them."""

from __future__ import annotations

import mimetypes

from chalicelib.core.accounts import Organization, Project
from chalicelib.errors import BadInput, NotFound
from chalicelib.resources.uploads import thumb_keys as uploads_thumb_keys
from chalicelib.storage.objects import objects, presigned


def check_organization(organization: Organization, key: str) -> None:
    """Raise BadInput unless a key is the organization's own and there is something at it."""
    uploads_thumb_keys.check_organization_key(key, organization.id)
    if objects.size(key) is None:
        raise BadInput(f"thumb: nothing was uploaded to {key}.")


def take_project(project: Project, user: int, upload: str) -> str:
    """Copy a user's upload to where the project keeps its picture; the key there. Raises BadInput."""
    key = uploads_thumb_keys.project_key(upload, project.organization, project.id, user)
    try:
        objects.copy(upload, key, mimetypes.guess_type(key)[0] or "application/octet-stream")
    except NotFound:
        raise BadInput(f"thumb: nothing was uploaded to {upload}.") from None
    return key


def drop_replaced(old: str | None, new: str | None) -> None:
    """Remove the object of a picture that another has replaced."""
    if old and old != new:
        objects.remove([old])


def urls(user: int, keys: list[str | None]) -> dict[str, str]:
    """URLs of pictures, the same for the same caller for hours."""
    return presigned.urls(user, [key for key in keys if key], uploads_thumb_keys.SECONDS)
