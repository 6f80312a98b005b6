"""The pictures of organizations and projects: which keys may become one, and where they lie (`spec/3` §§3.1, 5)."""

from __future__ import annotations

import re

from chalicelib.core.object_keys import UPLOADS
from chalicelib.errors import BadInput

SECONDS = 8 * 3600
"""How long the URL of a picture is good for."""
_NAME = re.compile(r"[^/\x00-\x1f\x7f]{1,300}")
_UPLOAD_PARTS = 6


def check_organization_key(key: str, organization: int) -> None:
    """Raise BadInput unless a key is one that OrganizationUploadInfo gave for the organization.

    What lies deeper, `organization/project/…`, is a project's: an administrator of the organization may not even be a
    member there.
    """
    first, _, name = key.partition("/")
    if first != str(organization) or not _NAME.fullmatch(name):
        raise BadInput(
            f"thumb: a key of this organization is needed, {organization}/name, as its upload info gives it."
        )


def project_key(upload: str, organization: int, project: int, user: int) -> str:
    """Where an upload of a user's becomes the picture of a project.

    Raises:
        BadInput: the key is not that of an upload, or of another organization, project or user.
    """
    parts = upload.split("/")
    if len(parts) != _UPLOAD_PARTS or parts[0] != UPLOADS or not _NAME.fullmatch(parts[-1]):
        raise BadInput(f"thumb: the key of an upload is needed, {UPLOADS}/day/organization/project/user/name.")
    for word, given, own in zip(
        ("organization", "project", "user"), parts[2:5], (organization, project, user), strict=True
    ):
        if given != str(own):
            raise BadInput(f"thumb: the upload belongs to another {word} ({given[:30]}).")
    return f"{organization}/{project}/{parts[-1]}"
