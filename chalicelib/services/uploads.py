"""Uploads and downloads: clients talk to S3 themselves, through URLs we sign (`spec/4` §2)."""

from __future__ import annotations

from datetime import UTC, datetime

from chalicelib.domain import keys
from chalicelib.domain.accounts import Project
from chalicelib.domain.kinds import Kind
from chalicelib.errors import BadInput, NotFound
from chalicelib.services import stores
from chalicelib.storage import entities, objects, presigned


def key_for(
    project: Project, user: int, *, media: int | None, file: int | None, filename: str | None, bucket: int | None = None
) -> str:
    """A fresh key: under a media, under a File, or among the uploads; in the project's bucket for it, or in `bucket`.

    Raises:
        BadInput: both are given, or the one given is not of the project.
    """
    if media is not None and file is not None:
        raise BadInput("media_id and file_id: give one of them, not both.")
    if media is not None:
        _check_in(project, Kind.MEDIA, media, "media_id")
    elif file is not None:
        _check_in(project, Kind.FILE, file, "file_id")
    is_upload = media is None and file is None
    name = stores.named(
        project, keys.name_for(filename), bucket or (project.upload_bucket if is_upload else project.bucket)
    )
    if media is not None:
        return keys.media_key(project.organization, project.id, media, name)
    if file is not None:
        return keys.file_key(project.organization, project.id, file, name)
    day = datetime.now(UTC).date().isoformat()
    return keys.upload_key(project.organization, project.id, user, name, day)


def begin(key: str, parts: int, seconds: int) -> tuple[str, list[str]]:
    """The id of a multipart upload (empty for a single part) and a URL to put each part to, in order."""
    if parts == 1:
        return "", [objects.presign_put(key, seconds)]
    return objects.presign_parts(key, parts, seconds)


def download_urls(user: int, project: int, wanted: list[str], seconds: int) -> list[str]:
    """A URL for each key, in order; those the user got before while they are good.

    Raises:
        Forbidden: a key belongs to another project.
        BadInput: a key is malformed.
    """
    for key in wanted:
        keys.check_project(key, project)
    found = presigned.urls(user, wanted, seconds)
    return [found[key] for key in wanted]


def _check_in(project: Project, kind: Kind, number: int, name: str) -> None:
    try:
        found = entities.get(kind, number)
    except NotFound:
        found = None
    if found is None or found.project != project.id:
        message = f"{name}: there is no {kind} {number} in project {project.id}."
        raise BadInput(message)
