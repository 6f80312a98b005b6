"""Import an image: fetch, check, turn upright, store with a thumbnail.

Idempotent: the keys derive from the media alone, and a media that has its image is left unchanged.
"""

from __future__ import annotations

import contextlib
import uuid

import msgspec

from chalicelib.access.scope import UNRESTRICTED
from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.core.kinds import Kind
from chalicelib.core.models.entities import Media
from chalicelib.core.models.jobs import JOB, StoredJob, TranscodeSpec
from chalicelib.core.models.media_files import ImageDefinition, MediaFiles
from chalicelib.core.resource import now
from chalicelib.errors import NotFound, reason_of
from chalicelib.resources.buckets import service as buckets_service
from chalicelib.resources.media import service as media_service
from chalicelib.resources.media.creation import store_picture
from chalicelib.resources.media.messages import ImportImage
from chalicelib.resources.media.readiness import ready_event
from chalicelib.resources.media.schemas import JOBS_ATTRIBUTE, with_job
from chalicelib.resources.transcodes import service as transcodes_service
from chalicelib.resources.uploads import fetching
from chalicelib.storage.dynamodb import entities, records
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.objects import objects
from chalicelib.video.files.source import BytesSource
from chalicelib.video.pictures import images
from chalicelib.video.process import isolation, tasks


def import_image(message: ImportImage) -> None:
    """Import the image and thumbnail of a media.

    Raises:
        BadInput, Forbidden, TooLarge: the file is not an acceptable image; the media stays without files.
        NotFound: the media was deleted.
    """
    found: Media = entities.get(Kind.MEDIA, message.media)
    if _is_imported(found, message.url):
        return
    is_reference = bool(found.media_files and found.media_files.image)
    project = media_service.project_with(found.project)
    data = fetching.fetch(message.url, found.project, images.MAX_BYTES, UNRESTRICTED, message.source)
    made = isolation.run(tasks.convert_image, BytesSource(data))

    def key(name: str) -> ObjectKey:
        return buckets_service.media_key(project, found.id, name)

    own = key(f"image.{made.extension}")
    if not is_reference:
        objects.write(own, made.data, made.mime)
    path = message.url if is_reference else own.path
    image = ImageDefinition(path=path, resolution=[made.height, made.width], size=len(made.data), mime=made.mime)
    if message.thumbnail_url:
        url, source = message.thumbnail_url, message.thumbnail_source
        thumbnail = store_picture(project, found.id, url, UNRESTRICTED, source)
    else:
        objects.write(key("thumb.jpg"), made.thumbnail, "image/jpeg")
        thumbnail = ImageDefinition(
            path=key("thumb.jpg").path,
            resolution=[made.thumbnail_height, made.thumbnail_width],
            size=len(made.thumbnail),
            mime="image/jpeg",
        )

    def with_image(current: Media) -> Media | None:
        if _is_imported(current, message.url):
            return None
        files = current.media_files or MediaFiles()
        files = msgspec.structs.replace(files, image=[image], thumbnail=files.thumbnail or [thumbnail])
        return msgspec.structs.replace(
            current,
            media_files=files,
            width=made.width,
            height=made.height,
            import_error=None,
            modified_datetime=now(),
        )

    def note(change: Transaction, _: Media) -> None:
        change.add_note(found.project, found.created_by, ready_event(found.id))

    entities.edit(Kind.MEDIA, found.id, with_image, user=found.created_by, also=note)


def fail(message: ImportImage, reason: Exception) -> None:
    """Record a failed job that says why a media has no image; uploads are kept. Idempotent.

    The job is listed among the project's transcodes, and its media names it and says why in `import_error`, as for
    videos that failed.
    """
    uid = str(uuid.uuid5(uuid.NAMESPACE_URL, f"image import of media {message.media}"))
    why = reason_of(reason)

    def record_failure(change: Transaction, found: Media) -> None:
        spec = TranscodeSpec(type=found.type, url=message.url, name=found.name, uid=uid, media_id=found.id)
        moment = now()
        job = StoredJob(
            uid=uid,
            gid=(found.gid or "").lower(),
            project=found.project,
            user=found.created_by or 0,
            media=found.id,
            status="failed",
            start_time=found.created_datetime,
            stop_time=moment,
            message=why,
            spec=spec,
        )
        records.add(change, JOB, job, is_owed=True)
        change.add_note(found.project, found.created_by, transcodes_service.end_event(job))

    def add_job(current: Media) -> Media | None:
        if uid in current.attributes.get(JOBS_ATTRIBUTE, []) or _is_imported(current, message.url):
            return None
        return msgspec.structs.replace(with_job(current, uid), import_error=why, modified_datetime=now())

    # The media may have been deleted meanwhile.
    with contextlib.suppress(NotFound):
        entities.edit(Kind.MEDIA, message.media, add_job, user=None, also=record_failure)


def _is_imported(found: Media, url: str) -> bool:
    """Whether a media has its image: a media that only refers to a URL has one from the start, but without a size."""
    image = found.media_files.image if found.media_files else None
    return image is not None and bool(image) and not (image[0].path == url and image[0].size is None)
