"""Resumable uploads (tus 1.0) over S3 multipart uploads.

Each request's bytes are stored as an object, and then the upload's row records them. A crash between the two leaves an
unreferenced object; the client asks for the offset and sends the bytes again. Chunks that together are large enough
become a part. Each attempt at a part has a unique number and counts only once the row records it, so an overtaken or
crashed attempt has no effect. If a crash interrupts the completion of the object, the next request completes it: a
request for the offset, or an operation that reads the upload.
"""

from __future__ import annotations

import logging
import uuid
from datetime import timedelta

import msgspec

from chalicelib.core.keys import key_forms, object_keys
from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.core.models.accounts import Project
from chalicelib.core.resource import now, timestamp
from chalicelib.core.time import clock
from chalicelib.core.web import tus
from chalicelib.core.web.tus import Chunk, Upload
from chalicelib.errors import BadInput, Conflict, Gone, LimnError, NotFound
from chalicelib.storage.objects import objects, owners
from chalicelib.storage.objects import tus_uploads as rows

LIVES = timedelta(days=3)
"""Maximum duration of an upload; the buckets abort incomplete multipart uploads after a week."""
LASTS = timedelta(days=7)
"""How long a finished upload keeps its address; its object is kept as long as any upload."""
log = logging.getLogger("limn.resumable")
_set = msgspec.structs.replace


def create(project: Project, user: int, length: int, filename: str | None, metadata: str) -> Upload:
    """Create an upload of a size in bytes; an empty one is finished already."""
    moment = clock.utc_now()
    key = object_keys.upload_key(
        project.organization, project.id, user, key_forms.name_for(filename), moment.date().isoformat()
    )
    upload = Upload(
        id=uuid.uuid4().hex,
        project=project.id,
        user=user,
        key=key.path,
        length=length,
        metadata=metadata,
        until=timestamp(moment + LIVES),
    )
    upload = rows.create(upload)
    return upload if length else finish(upload)


def check_alive(upload: Upload) -> None:
    """Raise Gone if an upload was ended or has expired."""
    if upload.is_gone or upload.until <= now():
        raise Gone(f"The upload {upload.id} is over: it was ended, or took too long.")


def append(upload: Upload, offset: int, body: bytes) -> Upload:
    """Store bytes at an offset; they are durable once it returns.

    Raises:
        Gone: the upload has ended.
        Conflict: the offset is not the upload's, or another request is writing.
        BadInput: the upload would exceed its declared length.
    """
    check_alive(upload)
    if offset != upload.offset:
        raise Conflict(f"Upload-Offset: the upload goes on at {upload.offset}, not at {offset}.")
    if offset + len(body) > upload.length:
        raise BadInput(f"Upload-Length: the upload has {upload.length} bytes; {offset} and {len(body)} are more.")
    if upload.waiting >= tus.SMALLEST_PART:
        upload = _part(upload)  # an earlier request crashed here; this bounds the waiting bytes
    if body:
        key = object_keys.chunks_prefix(upload.id) + f"{offset:015d}-{uuid.uuid4().hex[:12]}"
        objects.write(key, body)
        chunks = [*upload.chunks, Chunk(key.path, len(body))]
        try:
            upload = rows.save(_set(upload, offset=offset + len(body), chunks=chunks))
        except Conflict:
            objects.remove([key])
            raise
    if upload.offset == upload.length:
        return finish(upload)
    if upload.waiting >= tus.SMALLEST_PART:
        try:
            upload = _part(upload)
        except LimnError:
            # The bytes are durable already; the next request makes a part of them.
            log.exception("the chunks of upload %s wait", upload.id)
    return upload


def finish(upload: Upload) -> Upload:
    """Combine a complete upload into one object; no effect on an incomplete or finished upload.

    Raises:
        Conflict: another request is doing so.
        Unavailable: it failed and can be repeated.
    """
    if upload.is_finished or upload.is_gone or upload.offset < upload.length:
        return upload
    if not upload.multipart:
        objects.write(object_of(upload), _read_chunks(upload))
    else:
        if upload.chunks:
            upload = _part(upload)
        objects.complete(object_of(upload), upload.multipart, rows.parts(upload))
    until = timestamp(clock.utc_now() + LASTS)
    upload = rows.save(_set(upload, is_finished=True, chunks=[], until=until))
    _clean(upload)
    return upload


def end(upload: Upload) -> None:
    """End an upload and delete its bytes. Idempotent, also after a crash."""
    if not upload.is_gone:
        upload = rows.save(_set(upload, is_gone=True))
    if upload.is_finished:
        objects.remove([object_of(upload)])
    elif upload.multipart:
        objects.abort(object_of(upload), upload.multipart)
    _clean(upload)


def key_of(number: str) -> tuple[int, ObjectKey] | None:
    """The project and the key of a finished upload; None if it does not exist. Raises BadInput: it is not finished."""
    try:
        upload = finish(rows.get(number))
    except NotFound:
        return None
    if upload.is_gone:
        return None
    if not upload.is_finished:
        raise BadInput(f"url: the upload {number} is not finished: {upload.offset} of {upload.length} bytes are there.")
    return upload.project, object_of(upload)


def object_of(upload: Upload) -> ObjectKey:
    """The key of an upload's object. Raises Forbidden, BadInput if the row names a different one."""
    organization = owners.organization_of(upload.project) or key_forms.home_of(upload.key) or 0
    return object_keys.authorize_own_upload(upload.key, organization, upload.project, upload.user, "key")


def sweep() -> int:
    """End expired uploads; returns how many. The row of a finished upload is removed, its object is kept."""
    count = 0
    for moment, number in rows.list_due(now()):
        try:
            upload = rows.get(number)
        except NotFound:
            rows.finish_check(moment, number)
            continue
        if upload.until > now():
            rows.finish_check(moment, number, delayed=upload)
            continue
        try:
            if upload.is_finished:
                rows.save(_set(upload, is_gone=True))
            else:
                end(upload)
        except LimnError:
            log.exception("upload %s is left to a later sweep", number)
            continue
        rows.finish_check(moment, number)
        count += 1
    return count


def _part(upload: Upload) -> Upload:
    """Combine the waiting chunks into a part."""
    begun = upload.multipart or objects.begin(object_of(upload))
    try:
        upload = rows.save(_set(upload, multipart=begun, number=upload.number + 1))
    except Conflict:
        # Only after a certain failure: if the database did not answer, the row may name it.
        if not upload.multipart:
            objects.abort(object_of(upload), begun)
        raise
    etag = objects.put_part(object_of(upload), upload.multipart, upload.number, _read_chunks(upload))
    done = upload.chunks
    upload = rows.save(_set(upload, chunks=[]), (upload.number, etag))
    objects.remove(_chunk(upload, chunk) for chunk in done)
    return upload


def _chunk(upload: Upload, chunk: Chunk) -> ObjectKey:
    return object_keys.listed(object_keys.chunks_prefix(upload.id), chunk.key)


def _read_chunks(upload: Upload) -> bytes:
    return b"".join(objects.read(_chunk(upload, chunk)) for chunk in upload.chunks)


def _clean(upload: Upload) -> None:
    """Remove intermediate objects and failed attempts. The bucket's lifecycle rules remove the remaining ones."""
    try:
        objects.remove(list(objects.under(object_keys.chunks_prefix(upload.id))))
        rows.forget_parts(upload)
    except LimnError:
        log.exception("what upload %s needed is left", upload.id)
