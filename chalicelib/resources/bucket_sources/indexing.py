"""Make the frame tables and thumbnails of media that refer to objects, by reading ranges of the objects.

What parses the bytes of others runs in a child process that may die (`video.isolation`). The made files have names that
derive from the object's ETag, so that a repeated run writes the same; an object that was replaced meanwhile is left to
the message about the new one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from chalicelib.core.accounts import PROJECT, Project
from chalicelib.core.definitions import MediaType
from chalicelib.core.edits import changed
from chalicelib.core.entities import BucketObject, ImageDefinition, Media, MediaFiles, VideoDefinition
from chalicelib.core.kinds import Kind
from chalicelib.core.object_keys import ObjectKey
from chalicelib.core.resource import now
from chalicelib.errors import BadInput, Conflict, NotFound, TooLarge
from chalicelib.queues import send
from chalicelib.resources.bucket_sources.messages import IndexObjects
from chalicelib.resources.buckets import service as buckets_service
from chalicelib.resources.entities import object_cleanup
from chalicelib.resources.media import streams
from chalicelib.resources.media.readiness import note_ready
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import entities, records, steps
from chalicelib.storage.dynamodb.entities import Stored
from chalicelib.storage.dynamodb.steps import Step
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.objects import objects, owners, references
from chalicelib.storage.objects.references import Reference
from chalicelib.video import images, isolation, tasks
from chalicelib.video.frame import Original

SPARE = 700.0
"""Seconds that must be left to begin with one more object: probing may take 600."""


class Indexed(Struct):
    """What was made of one object: the media's files and shape, or why there are none."""

    name: str
    reference: Reference
    files: dict[str, Any]
    shape: dict[str, Any]
    frame_table: str | None = None
    message: str | None = None


def index(message: IndexObjects, seconds_left: Callable[[], float]) -> None:
    """Index objects; those that time does not allow are left to another message."""
    project = records.maybe(PROJECT, message.project)
    if project is None or project.deleted is not None:
        return
    known = references.read(message.project, message.bucket, message.names)
    rows = entities.many(Kind.MEDIA, [reference.media for reference in known.values()])
    done: list[Indexed] = []
    for position, (name, etag) in enumerate(zip(message.names, message.etags, strict=True)):
        if done and seconds_left() < SPARE:
            left = msgspec.structs.replace(message, names=message.names[position:], etags=message.etags[position:])
            send(settings().source_queue_url, left)
            break
        reference = known.get(name)
        if reference is None or reference.etag != etag or reference.state == "ready" or reference.is_missing:
            continue
        row = rows.get(reference.media)
        if row is not None and (made := _index(project, row, name, reference)):
            done.append(made)
    _publish(project, message.bucket, done)


def _index(project: Project, row: Stored[Any], name: str, reference: Reference) -> Indexed | None:
    """What is made of one object; None where it is gone or was replaced."""
    media: Media = row.entity
    found = media.media_files.bucket_object if media.media_files else None
    key = owners.authorize(media, [found.path]).get(found.path) if found else None
    if found is None or key is None or found.etag != reference.etag:
        return None
    type_ = records.definitions(project.id).types(Kind.MEDIA).get(media.type)
    source = streams.ReferenceSource(key, found)
    digest = hashlib.sha256(f"{found.etag} {found.size}".encode()).hexdigest()[:12]

    def store(name: str, body: bytes, mime: str) -> str:
        made = buckets_service.media_key(project, media.id, name)
        objects.write(made, body, mime)
        return made.path

    is_image = isinstance(type_, MediaType) and type_.dtype == "image"
    work = _index_image if is_image else _index_video
    try:
        files, shape, table = work(found, key, source, store, digest)
    except (Conflict, NotFound):
        return None
    except (BadInput, TooLarge) as failure:
        return Indexed(name, reference, {}, {}, message=failure.message)
    return Indexed(name, reference, files, shape, table)


_Made = tuple[dict[str, Any], dict[str, Any], str | None]


def _index_video(
    found: BucketObject, key: ObjectKey, source: streams.ReferenceSource, store: Callable[..., str], digest: str
) -> _Made:
    probe, table = isolation.run(tasks.probe_video, source)
    still = isolation.run(tasks.draw_thumbnail, source, probe, table)
    video = probe.video
    frame_table = store(f"frames_{digest}.json", msgspec.json.encode(Original(video, table)), "application/json")
    entry = VideoDefinition(
        path=key.path,
        codec=video.codec,
        resolution=[video.height, video.width],
        size=found.size,
        bit_rate=int(found.size * 8 / table.duration),
        bucket_id=found.bucket_id,
    )
    files = {"archival": [entry], "thumbnail": [_picture(store(f"thumb_{digest}.jpg", still.data, still.mime), still)]}
    shape = {
        "num_frames": table.count,
        "fps": float(table.fps),
        "codec": video.codec,
        "width": video.width,
        "height": video.height,
    }
    return files, shape, frame_table


def _index_image(
    found: BucketObject, key: ObjectKey, source: streams.ReferenceSource, store: Callable[..., str], digest: str
) -> _Made:
    if found.size > images.MAX_BYTES:
        message = f"The image has {found.size} bytes; at most {images.MAX_BYTES} are allowed."
        raise TooLarge(message)
    made = isolation.run(tasks.describe_image, source)
    image = ImageDefinition(
        path=key.path,
        resolution=[made.height, made.width],
        size=found.size,
        mime=made.mime,
        bucket_id=found.bucket_id,
    )
    thumbnail = ImageDefinition(
        path=store(f"thumb_{digest}.jpg", made.thumbnail, "image/jpeg"),
        resolution=[made.thumbnail_height, made.thumbnail_width],
        size=len(made.thumbnail),
        mime="image/jpeg",
    )
    return {"image": [image], "thumbnail": [thumbnail]}, {"width": made.width, "height": made.height}, None


def _picture(path: str, made: Any) -> ImageDefinition:
    return ImageDefinition(path=path, resolution=[made.height, made.width], size=len(made.data), mime=made.mime)


def _publish(project: Project, bucket: int, done: list[Indexed]) -> None:
    """Show what was made, in one commit; the files of a replaced object are removed."""
    rows = entities.many(Kind.MEDIA, [made.reference.media for made in done])
    again = [made for made in done if (row := rows.get(made.reference.media)) and _was_indexed(row.entity)]
    first = [made for made in done if made not in again]
    steps.again(lambda: _publish_together(project, bucket, first))
    for made in again:
        _replace(project, bucket, made)


def _replace(project: Project, bucket: int, made: Indexed) -> None:
    object_cleanup.edit(
        Kind.MEDIA,
        made.reference.media,
        lambda current: _with_files(current, made),
        user=None,
        describe=lambda old, new: [changed(Kind.MEDIA, old, new)],
    )
    change = Transaction()
    references.rewrite(change, project.id, bucket, made.name, made.reference, _finished(made))
    change.run()


def _was_indexed(media: Media) -> bool:
    """Whether a media has files that were made of its object before."""
    return bool(media.media_files and media.media_files.thumbnail)


def _publish_together(project: Project, bucket: int, done: list[Indexed]) -> None:
    rows = entities.many(Kind.MEDIA, [made.reference.media for made in done])
    steps_, edits, finished = [], [], []
    for made in done:
        row = rows.get(made.reference.media)
        after = _with_files(row.entity, made) if row else None
        if row and after:
            steps_.append(Step(Kind.MEDIA, row, after))
            edits.append(changed(Kind.MEDIA, row.entity, after))
            finished.append(made)

    def refer(change: Transaction) -> None:
        for step in steps_:
            note_ready(change, step.before.entity if step.before else None, step.after)
        for made in finished:
            references.rewrite(change, project.id, bucket, made.name, made.reference, _finished(made))

    steps.apply(project.id, steps_, user=None, edits=edits, also=refer)


def _finished(made: Indexed) -> Reference:
    return msgspec.structs.replace(made.reference, state="failed" if made.message else "ready")


def _with_files(current: Media, made: Indexed) -> Media | None:
    """A media with what was made of its object; None where it refers to another object meanwhile."""
    files = current.media_files or MediaFiles()
    found = files.bucket_object
    if found is None or found.etag != made.reference.etag or found.state == "missing":
        return None
    after = msgspec.structs.replace(
        found,
        state=found.state if made.message else "present",
        message=made.message,
        frame_table=None if made.message else made.frame_table,
    )
    files = msgspec.structs.replace(files, bucket_object=after, **made.files)
    return msgspec.structs.replace(current, media_files=files, modified_datetime=now(), **made.shape)
