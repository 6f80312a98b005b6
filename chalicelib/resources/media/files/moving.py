"""Move uploaded files to a media: what clients of version 0.10 and older call after a transcode of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from chalicelib.core.keys import key_forms, object_keys
from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.entities import Media
from chalicelib.core.models.media_files import ROLES, MediaFiles
from chalicelib.errors import BadInput
from chalicelib.resources.buckets import service as buckets_service
from chalicelib.resources.entities import object_cleanup
from chalicelib.resources.entities.service import Writer
from chalicelib.resources.media.readiness import edit_media
from chalicelib.resources.media.service import check_files, project_with
from chalicelib.resources.uploads import fetching
from chalicelib.resources.uploads import service as uploads_service
from chalicelib.storage.objects import objects, owners

_KEYS = ("path", "segment_info")
_PLAIN = "application/octet-stream"
MAX_REQUEST_BYTES = 5 * 1024**3
"""Bytes of the files of one request; they are copied within it."""


def move(writer: Writer, media: Media, files: MediaFiles) -> int:
    """Copy uploads to a media and add their records to its roles. Returns their number.

    Raises:
        BadInput: there are no files, a file is not a finished upload of the project, or they are too large.
        Forbidden: an upload is one that the caller may not read.
    """
    others = [name for name in files.__struct_fields__ if name not in ROLES and getattr(files, name) is not None]
    if others:
        raise BadInput(f"media_files: {', '.join(others)} cannot be moved; only files of {', '.join(ROLES)} can.")
    project = project_with(writer.project)
    uploads = [(entry, name, _upload(writer, project, role, entry, name)) for role, entry, name in _names(files)]
    if not uploads:
        raise BadInput(f"media_files: there is no file of the roles {', '.join(ROLES)}.")
    total = sum(objects.size(key) or 0 for _, _, key in uploads)
    if total > MAX_REQUEST_BYTES:
        raise BadInput(f"media_files: the uploads have {total} bytes; at most {MAX_REQUEST_BYTES} are moved at once.")
    targets = [buckets_service.media_key(project, media.id, key_forms.name_for(key.path)) for _, _, key in uploads]
    # the copies of a request that dies are removed
    note = object_cleanup.release(project.id, targets, within=object_cleanup.GRACE)
    for (entry, name, key), target in zip(uploads, targets, strict=True):
        objects.copy(key, target, getattr(entry, "mime", None) or getattr(entry, "codec_mime", None) or _PLAIN)
        setattr(entry, name, target.path)
    check_files(project, media.id, files)

    def add(current: Media) -> Media:
        present = current.media_files or MediaFiles()
        given = {role: getattr(files, role) for role in ROLES if getattr(files, role)}
        joined = {role: [*(getattr(present, role) or []), *entries] for role, entries in given.items()}
        after = msgspec.structs.replace(present, **joined)
        return msgspec.structs.replace(current, media_files=after, **writer.authorship())

    edit_media(media.id, add, user=writer.user, also=lambda change: owners.forget(project.id, note, change))
    return sum(len(getattr(files, role) or []) for role in ROLES)


def _names(files: MediaFiles) -> Iterator[tuple[str, Any, str]]:
    """Each key in files as (role, record, member)."""
    for role in ROLES:
        for entry in getattr(files, role) or []:
            yield from ((role, entry, name) for name in _KEYS if getattr(entry, name, None))


def _upload(writer: Writer, project: Project, role: str, entry: Any, name: str) -> ObjectKey:
    """The finished upload that a record names."""
    text = getattr(entry, name)
    if key_forms.is_url(text):
        key = fetching.object_key(text, project.id, writer.scope)
    else:
        key = object_keys.authorize_project_key(text, project.organization, project.id)
        uploads_service.check_open(writer.scope, project.id, [key])
    if key is None or not objects.size(key):
        raise BadInput(f"media_files.{role}: {name} {text[:200]!r} is not a finished upload of the project.")
    return key
