"""Make the frame tables and thumbnails of media that refer to objects, by reading ranges of the objects.

What parses the bytes of others runs in a child process that may die (`video.process.isolation`). The made files have
names that derive from the object's ETag, so that a repeated run writes the same; an object that was replaced meanwhile
is left to the message about the new one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import Struct

from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.core.kinds import Kind
from chalicelib.core.log.edits import changed
from chalicelib.core.models.accounts import PROJECT, Project
from chalicelib.core.models.definitions import MediaType
from chalicelib.core.models.entities import Media
from chalicelib.core.models.media_files import BucketObject, ImageDefinition, MediaFiles, VideoDefinition
from chalicelib.core.resource import now
from chalicelib.errors import BadInput, Conflict, NotFound, TooLarge
from chalicelib.queues import send
from chalicelib.resources.bucket_sources.messages import IndexObjects
from chalicelib.resources.buckets import service as buckets_service
from chalicelib.resources.media import streams
from chalicelib.resources.media.readiness import edit_media, note_ready
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import entities, records, steps
from chalicelib.storage.dynamodb.steps import RowChange
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.objects import objects, owners, references
from chalicelib.storage.objects.references import Reference
from chalicelib.video import probe
from chalicelib.video.decoding.frame import Original
from chalicelib.video.pictures import images, thumbnails
from chalicelib.video.process import isolation, tasks

SPARE = 700.0
"""Seconds that must be left to begin with one more object: probing may take 600."""


class Indexed(Struct):
    """The result of indexing one object: the media's files and shape, or why there are none."""

    name: str
    reference: Reference
    files: dict[str, Any] = {}
    shape: dict[str, Any] = {}
    frame_table: str | None = None
    message: str | None = None


@dataclass(frozen=True, kw_only=True)
class ObjectToIndex:
    """One object to index, as its media was made of it."""

    project: Project
    name: str
    reference: Reference
    media: Media
    found: BucketObject
    key: ObjectKey
    is_image: bool

    @property
    def source(self) -> streams.ReferenceSource:
        """Its bytes."""
        return streams.ReferenceSource(self.key, self.found)

    def store(self, name: str, extension: str, body: bytes, mime: str) -> str:
        """Store a file of the media that was made of the object; returns its key."""
        digest = hashlib.sha256(f"{self.found.etag} {self.found.size}".encode()).hexdigest()[:12]
        key = buckets_service.media_key(self.project, self.media.id, f"{name}_{digest}.{extension}")
        objects.write(key, body, mime)
        return key.path

    def result(self, **made: Any) -> Indexed:
        """The result."""
        return Indexed(self.name, self.reference, **made)


def index(message: IndexObjects, seconds_left: Callable[[], float]) -> None:
    """Index objects; those that time does not allow are left to another message."""
    project = records.maybe(PROJECT, message.project)
    if project is None or project.deleted is not None:
        return
    known = references.read(message.project, message.bucket, message.names)
    rows = entities.many(Kind.MEDIA, [reference.media for reference in known.values()])
    types = records.definitions(project.id).types(Kind.MEDIA)
    wanted: list[ObjectToIndex] = []
    for name, etag in zip(message.names, message.etags, strict=True):
        reference = known.get(name)
        row = rows.get(reference.media) if reference else None
        if reference and row and reference.etag == etag and reference.state != "ready" and not reference.is_missing:
            wanted += _work(project, name, reference, row.entity, types)
    done = _index_images([work for work in wanted if work.is_image])
    videos = [work for work in wanted if not work.is_image]
    for position, work in enumerate(videos):
        if (done or position) and seconds_left() < SPARE:
            left = videos[position:]
            following = msgspec.structs.replace(
                message, names=[each.name for each in left], etags=[each.found.etag for each in left]
            )
            send(settings().source_queue_url, following)
            break
        done += _index_one(work, _index_video)
    _publish(project, message.bucket, done)


def _work(
    project: Project, name: str, reference: Reference, media: Media, types: Mapping[int, Any]
) -> Iterator[ObjectToIndex]:
    """The work on one object; none where its media refers to another meanwhile."""
    found = media.media_files.bucket_object if media.media_files else None
    key = owners.authorize(media, [found.path]).get(found.path) if found else None
    if found is None or key is None or found.etag != reference.etag:
        return
    type_ = types.get(media.type)
    is_image = isinstance(type_, MediaType) and type_.dtype == "image"
    yield ObjectToIndex(
        project=project, name=name, reference=reference, media=media, found=found, key=key, is_image=is_image
    )


def _index_one(work: ObjectToIndex, index: Callable[[ObjectToIndex], Indexed]) -> list[Indexed]:
    """The result of one object; none where it is gone or was replaced."""
    try:
        return [index(work)]
    except (Conflict, NotFound):
        return []
    except (BadInput, TooLarge) as failure:
        return [work.result(message=failure.message)]


def _index_video(work: ObjectToIndex) -> Indexed:
    found = work.found
    probed, table = isolation.run(probe.probe, work.source)
    still = isolation.run(thumbnails.thumbnail, work.source, probed, table)
    video = probed.video
    entry = VideoDefinition(
        path=work.key.path,
        codec=video.codec,
        resolution=[video.height, video.width],
        size=found.size,
        bit_rate=int(found.size * 8 / table.duration),
        bucket_id=found.bucket_id,
    )
    thumbnail = ImageDefinition(
        path=work.store("thumb", "jpg", still.data, still.mime),
        resolution=[still.height, still.width],
        size=len(still.data),
        mime=still.mime,
    )
    shape = {"num_frames": table.count, "fps": float(table.fps), "codec": video.codec}
    return work.result(
        files={"archival": [entry], "thumbnail": [thumbnail]},
        shape={**shape, "width": video.width, "height": video.height},
        frame_table=work.store("frames", "json", msgspec.json.encode(Original(video, table)), "application/json"),
    )


def _index_images(wanted: list[ObjectToIndex]) -> list[Indexed]:
    """The results of images, described in one child process; one by one where that fails."""
    done: list[Indexed] = []
    small = []
    for work in wanted:
        if work.found.size > images.MAX_BYTES:
            message = f"The image has {work.found.size} bytes; at most {images.MAX_BYTES} are allowed."
            done.append(work.result(message=message))
        else:
            small.append(work)
    try:
        return done + _describe(small)
    except (BadInput, TooLarge, Conflict, NotFound):
        pass
    for work in small:
        done += _index_one(work, lambda one: _describe([one])[0])
    return done


def _describe(wanted: list[ObjectToIndex]) -> list[Indexed]:
    if not wanted:
        return []
    described = isolation.run_all(tasks.describe_images, [work.source for work in wanted])
    return [
        work.result(message=made) if isinstance(made, str) else _image(work, made)
        for work, made in zip(wanted, described, strict=True)
    ]


def _image(work: ObjectToIndex, made: images.ImportedImage) -> Indexed:
    image = ImageDefinition(
        path=work.key.path,
        resolution=[made.height, made.width],
        size=work.found.size,
        mime=made.mime,
        bucket_id=work.found.bucket_id,
    )
    thumbnail = ImageDefinition(
        path=work.store("thumb", "jpg", made.thumbnail, "image/jpeg"),
        resolution=[made.thumbnail_height, made.thumbnail_width],
        size=len(made.thumbnail),
        mime="image/jpeg",
    )
    shape = {"width": made.width, "height": made.height}
    return work.result(files={"image": [image], "thumbnail": [thumbnail]}, shape=shape)


def _publish(project: Project, bucket: int, done: list[Indexed]) -> None:
    """Show what was made, in one commit; the files of a replaced object are removed."""
    rows = entities.many(Kind.MEDIA, [made.reference.media for made in done])
    again = [made for made in done if (row := rows.get(made.reference.media)) and _was_indexed(row.entity)]
    first = [made for made in done if made not in again]
    steps.retry_on_conflict(lambda: _publish_together(project, bucket, first))
    for made in again:
        _replace(project, bucket, made)


def _replace(project: Project, bucket: int, made: Indexed) -> None:
    edit_media(made.reference.media, lambda current: _with_files(current, made), user=None)
    change = Transaction()
    references.rewrite(change, project.id, bucket, made.name, made.reference, _as_finished(made))
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
            steps_.append(RowChange(Kind.MEDIA, row, after))
            edits.append(changed(Kind.MEDIA, row.entity, after))
            finished.append(made)

    def refer(change: Transaction) -> None:
        for step in steps_:
            note_ready(change, step.before.entity if step.before else None, step.after)
        for made in finished:
            references.rewrite(change, project.id, bucket, made.name, made.reference, _as_finished(made))

    steps.apply(project.id, steps_, user=None, edits=edits, also=refer)


def _as_finished(made: Indexed) -> Reference:
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
