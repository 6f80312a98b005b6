"""Temporary files: a record, and an object under a separate prefix that the bucket empties after two days."""

from __future__ import annotations

import mimetypes
import posixpath
import re
import uuid
from datetime import timedelta

from chalicelib.access.scope import Scope
from chalicelib.core.keys import key_forms, object_keys
from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.core.resource import now, timestamp
from chalicelib.core.time import clock
from chalicelib.errors import BadInput, NotFound
from chalicelib.resources.temporary_files.schemas import (
    TEMPORARY_FILE,
    ClipOrder,
    Entities,
    Outside,
    TemporaryFile,
    TemporaryFileSpec,
    Unknown,
)
from chalicelib.resources.uploads import fetching
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import ids, limits, records
from chalicelib.storage.objects import objects

LARGEST_FETCHED = 100 * 1024 * 1024
"""Maximum bytes of a fetched file; the project's own objects are copied at any size."""
_LONGEST_EXTENSION = 10


def create(scope: Scope, project: int, spec: TemporaryFileSpec) -> TemporaryFile:
    """Fetch a URL and store it temporarily.

    Raises:
        Forbidden: it is not from an allowed origin.
        BadInput, TooLarge: it cannot be fetched.
    """
    fetching.check_source(spec.url, project, scope)
    if spec.name is None or spec.lookup is None:
        message = f"'{'name' if spec.name is None else 'lookup'}' is a required property."
        raise BadInput("Request body validation error", message)
    source = fetching.object_key(spec.url, project, scope)
    made_of = _origin_of(source) if source else Unknown() if fetching.is_ours(spec.url) else Outside()
    file = new(project, scope.caller.id, spec.name, spec.lookup, spec.hours, made_of)
    limits.check(TEMPORARY_FILE, file)
    key, mime = key_of(file), mimetypes.guess_type(spec.name)[0] or "application/octet-stream"
    if source is None:
        objects.write(key, fetching.fetch(spec.url, project, LARGEST_FETCHED, scope), mime)
    else:
        try:
            objects.copy(source, key, mime)
        except NotFound:
            raise BadInput(f"url: there is no object {source.path}.") from None
    return records.create(TEMPORARY_FILE, file)


def order_clip(project: int, user: int, order: ClipOrder, lookup: str) -> TemporaryFile:
    """A file for the content of a clip."""
    file = new_clip(project, user, order, lookup)
    file.status, file.clip = "waiting", order
    return records.create(TEMPORARY_FILE, file)


def new_clip(project: int, user: int, order: ClipOrder, lookup: str) -> TemporaryFile:
    """The file of a clip, not stored yet."""
    return new(project, user, "clip.mp4", lookup, 24, Entities(media=[order.media, *order.parts]))


def add(file: TemporaryFile) -> TemporaryFile:
    """Store the record of a file whose object is stored."""
    return records.create(TEMPORARY_FILE, file)


def new(
    project: int, user: int, name: str, lookup: str, hours: int, made_of: Entities | Outside | Unknown
) -> TemporaryFile:
    """A temporary file that is not stored yet. All are made here, and none without what it was made of."""
    moment = clock.utc_now()
    extension = posixpath.splitext(name)[1]
    safe = extension if extension[1:].isalnum() and len(extension) <= _LONGEST_EXTENSION else ""
    return TemporaryFile(
        id=ids.reserve(TEMPORARY_FILE.name)[0],
        project=project,
        user=user,
        name=name,
        path=f"{settings().public_url}/media/{project}/{uuid.uuid4()}{safe}",
        lookup=lookup,
        created_datetime=timestamp(moment),
        eol_datetime=timestamp(moment + timedelta(hours=hours)),
        made_of=made_of,
    )


def _origin_of(source: ObjectKey) -> Entities | Outside:
    """What a copy of an object of the project is made of."""
    match key_forms.owner_of(source.path):
        case (_, "media", number):
            return Entities(media=[number])
        case (_, "file", number):
            return Entities(files=[number])
    return Outside()


def list_files(project: int, *, expired: bool) -> list[TemporaryFile]:
    """The expired files of a project, or the live ones."""
    moment = now()
    files = records.list_children(TEMPORARY_FILE, project)
    return [file for file in files if (file.eol_datetime <= moment) == expired and file.status == "ready"]


def get(number: int) -> TemporaryFile:
    """A live file. Raises NotFound."""
    return _alive(records.get(TEMPORARY_FILE, number))


def get_by_name(project: int, name: str) -> TemporaryFile:
    """The file of a project by the last part of its path. Raises NotFound."""
    file = records.get_claimed(TEMPORARY_FILE, "path", f"{project}|{name}")
    if file is None:
        raise NotFound.of(TEMPORARY_FILE.title, name)
    return _alive(file)


def remove(file: TemporaryFile) -> None:
    """Remove a file with its object."""
    objects.remove([key_of(file)])
    records.remove(TEMPORARY_FILE, file.id)


def remove_all(project: int, scope: Scope, *, only_expired: bool) -> int:
    """Remove the files of a project on which the caller has the needed level. Returns how many."""
    moment = now()
    files = [
        file
        for file in records.list_children(TEMPORARY_FILE, project)
        if not only_expired or file.eol_datetime <= moment
    ]
    doomed = scope.visible(TEMPORARY_FILE.name, files)
    for file in doomed:
        remove(file)
    return len(doomed)


def key_of(file: TemporaryFile) -> ObjectKey:
    """The key of a file's object."""
    return object_keys.temporary_key(file.project, file.object_name)


def download_url(file: TemporaryFile) -> str:
    """A URL that opens a file without credentials for an hour."""
    name = re.sub(r"[^\w .()+=@,-]", "_", file.name, flags=re.ASCII)
    return objects.presign_get(
        key_of(file), 3600, headers={"ResponseContentDisposition": f'attachment; filename="{name}"'}
    )


def _alive(file: TemporaryFile) -> TemporaryFile:
    if file.eol_datetime <= now():
        raise NotFound.of(TEMPORARY_FILE.title, file.id)
    return file
