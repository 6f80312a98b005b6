"""List a source, a page a message, and make media of what is new.

A page of the store's listing is compared with the references of the same range of names. What is new becomes media, up
to `MEDIA_PER_TRANSACTION` in one transaction with their references: an object has one media, however often a page is
listed, also by two runs at once, or beside an event about the same object. What was replaced or is gone is noted on its
media. Media whose frames are not indexed get a message. Then the message of the next page is sent; a crash repeats the
page.
"""

from __future__ import annotations

import posixpath
import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from functools import partial

import msgspec
from msgspec import Struct

from chalicelib.access.scope import UNRESTRICTED
from chalicelib.core.batches import batched
from chalicelib.core.keys import key_forms, object_keys
from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Change
from chalicelib.core.log.edits import changed
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.definitions import Definitions
from chalicelib.core.models.entities import Media
from chalicelib.core.models.integrations import BUCKET
from chalicelib.core.models.media_files import BucketObject, MediaFiles
from chalicelib.core.permissions import Level
from chalicelib.core.resource import now, timestamp
from chalicelib.core.time.retry import CONFLICTS
from chalicelib.errors import Conflict, reason_of
from chalicelib.queues import send, send_many
from chalicelib.resources.bucket_sources import service as bucket_sources_service
from chalicelib.resources.bucket_sources.messages import IndexObjects, ListObjects, LookAtObjects
from chalicelib.resources.bucket_sources.schemas import MOST_SHOWN, BucketSource
from chalicelib.resources.entities.service import Writer
from chalicelib.resources.media import creation
from chalicelib.resources.media.schemas import MediaSpec
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import entities, ids, records, steps
from chalicelib.storage.dynamodb.steps import RowChange
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.log import growth
from chalicelib.storage.objects import objects, references
from chalicelib.storage.objects.protocol import Listed
from chalicelib.storage.objects.references import Reference

MEDIA_PER_TRANSACTION = 80
"""Media of one transaction, which holds a reference for each and the commit."""
CHANGES_PER_TRANSACTION = 45
"""Changed media of one transaction, with their references."""
OBJECTS_PER_MESSAGE = 20
"""Objects of one message."""
FRESH = timedelta(seconds=60)
"""A reference that was written in this time may be newer than the listing, and is not taken for missing."""
_LONGEST_NAME = 256


class Counts(Struct):
    """What a page, or an event, led to."""

    objects: int = 0
    skipped: int = 0
    created: int = 0
    changed: int = 0
    missing: list[int] = []


def list_page(message: ListObjects) -> None:
    """List a page of a source, and send the message of the next.

    Raises:
        Unavailable, BadInput: the store cannot be listed now, or no longer.
    """
    found = bucket_sources_service.find(message.source, message.run)
    if found is None:
        return
    source, project = found
    prefix = object_keys.source_prefix(project.organization, source.bucket, source.prefix)
    listed = objects.page(prefix, message.after)
    last = listed[-1].name if len(listed) == objects.PAGE else None
    known = references.between(project.id, source.bucket, prefix, message.after, last)
    counts = update_media(source, project, listed, known)
    following = msgspec.structs.replace(
        message,
        after=last or "",
        objects=message.objects + counts.objects,
        skipped=message.skipped + counts.skipped,
        created=message.created + counts.created,
        changed=message.changed + counts.changed,
        missing=message.missing + len(counts.missing),
        missing_media=[*message.missing_media, *counts.missing][:MOST_SHOWN],
    )
    if last is not None:
        bucket_sources_service.finish(source.id, message.run, status="listing")
        send(settings().source_queue_url, following)
        return
    names = ("objects", "skipped", "created", "changed", "missing", "missing_media")
    bucket = records.get(BUCKET, source.bucket)
    bucket_sources_service.finish(
        source.id,
        message.run,
        status="listed",
        message="",
        listed_datetime=message.began,
        bucket_name=bucket.name,
        listed_store=bucket_sources_service.store_of(bucket),
        **{name: getattr(following, name) for name in names},
    )


def look_at(message: LookAtObjects) -> None:
    """Bring the media of some objects up to date, as their bucket shows them now, whatever the event said.

    An event names a bucket, and anybody may register a bucket of that name. So it is heard only by sources that have
    listed that bucket at a store that sends such events: others would learn the names of its objects.
    """
    for source, project in bucket_sources_service.of_bucket_name(message.bucket):
        names = [
            name
            for name in dict.fromkeys(message.names)
            if name.startswith(source.prefix) and key_forms.is_referable(name, source.bucket)
        ]
        if not names or not bucket_sources_service.hears(source, message.bucket):
            continue
        prefix = object_keys.source_prefix(project.organization, source.bucket, source.prefix)
        listed = [found for name in names if (found := objects.find_listed(prefix, name))]
        update_media(source, project, listed, references.read(project.id, source.bucket, names), is_event=True)


def fail(message: ListObjects, reason: Exception) -> None:
    """Record why a listing ended early."""
    bucket_sources_service.finish(
        message.source, message.run, status="failed", message=reason_of(reason, has_details=True)
    )


def update_media(
    source: BucketSource,
    project: Project,
    listed: Sequence[Listed],
    known: Mapping[str, Reference],
    *,
    is_event: bool = False,
) -> Counts:
    """Bring the media of some objects up to date.

    Args:
        source: the source that they are below.
        project: its project.
        listed: the objects that there are.
        known: the references among the same names; those that are not listed are missing.
        is_event: the names were asked for one by one, after the references were read.
    """
    definitions = records.definitions(project.id)
    new = [found for found in listed if found.name not in known and _is_wanted(source, definitions, found)]
    counts = Counts(objects=len(listed), skipped=sum(found.name not in known for found in listed) - len(new))
    waiting = {found.name: found.etag for found in new}
    counts.created = _create(source, project, definitions, new)
    seen = {found.name: found for found in listed}
    young = timestamp(datetime.fromisoformat(now()) - FRESH)
    gone = {
        name: reference
        for name, reference in known.items()
        if name not in seen and (is_event or reference.seen <= young or reference.is_missing)
    }
    counts.missing = [reference.media for reference in gone.values()]
    noted: dict[str, Listed | None] = {name: None for name, reference in gone.items() if not reference.is_missing}
    for name, found in seen.items():
        reference = known.get(name)
        if reference is not None and not reference.is_of(found):
            noted[name] = found
            counts.changed += 1
        if reference is not None and (reference.state == "new" or name in noted):
            waiting[name] = found.etag
    _store_changes(project, source.bucket, noted)
    names, moment = sorted(waiting), now()
    send_many(
        settings().source_queue_url,
        [
            IndexObjects(
                project=project.id,
                bucket=source.bucket,
                names=part,
                etags=[waiting[name] for name in part],
                sent=moment,
            )
            for part in batched(names, OBJECTS_PER_MESSAGE)
        ],
    )
    return counts


def _is_wanted(source: BucketSource, definitions: Definitions, found: Listed) -> bool:
    below = found.name.removeprefix(source.prefix)
    return (
        found.size > 0
        and _type_of(source, definitions, found.name) is not None
        and fnmatchcase(below, source.pattern)
        and key_forms.is_referable(found.name, source.bucket)
    )


def _type_of(source: BucketSource, definitions: Definitions, name: str) -> int | None:
    """The media type of an object; None where it has none, or the type was deleted."""
    extension = posixpath.splitext(name)[1].removeprefix(".").lower()
    types = (each.type for each in source.media_types if each.extension.lower() == extension)
    return next((number for number in types if number in definitions.types(Kind.MEDIA)), None)


def _create(source: BucketSource, project: Project, definitions: Definitions, new: Sequence[Listed]) -> int:
    """Make the media of new objects that have none; returns their number."""
    writer = Writer(project=project.id, user=source.created_by, level=Level.FULL, scope=UNRESTRICTED)
    count = 0
    for part in batched(new, MEDIA_PER_TRANSACTION):
        left = part
        for _ in CONFLICTS.attempts():
            try:
                _create_together(writer, source, project, definitions, left)
            except Conflict:
                # another run was faster with some of them
                there = references.read(project.id, source.bucket, [found.name for found in left])
                left = [found for found in left if found.name not in there]
            else:
                count += len(left)
                break
    return count


def _create_together(
    writer: Writer, source: BucketSource, project: Project, definitions: Definitions, new: Sequence[Listed]
) -> None:
    if not new:
        return
    growth.make_room(project.id, len(new))
    numbers = ids.reserve(Kind.MEDIA, len(new))
    section = source.section if source.section in definitions.sections else None
    made = []
    for number, found in zip(numbers, new, strict=True):
        spec = MediaSpec(
            type=_type_of(source, definitions, found.name) or 0,
            name=posixpath.basename(found.name)[:_LONGEST_NAME],
            md5="",
            section_id=section,
            elemental_id=str(uuid.uuid5(uuid.NAMESPACE_URL, f"{project.id}/{source.bucket}/{found.name}")),
        )
        media = creation.new_media(writer, project, definitions, number, spec)
        key = object_keys.reference_key(project.organization, source.bucket, project.id, number, found.name)
        files = MediaFiles(bucket_object=_as_object(key.path, source.bucket, found))
        made.append(msgspec.structs.replace(media, media_files=files))
    moment = now()

    def refer(change: Transaction) -> list[Change]:
        for number, found in zip(numbers, new, strict=True):
            reference = Reference(media=number, size=found.size, etag=found.etag, modified=found.modified, seen=moment)
            references.add(change, project.id, source.bucket, found.name, reference)
        return []

    entities.create(Kind.MEDIA, made, user=source.created_by, also=refer)


def _as_object(path: str, bucket: int, found: Listed) -> BucketObject:
    return BucketObject(
        path=path, bucket_id=bucket, state="present", size=found.size, etag=found.etag, last_modified=found.modified
    )


def _store_changes(project: Project, bucket: int, noted: Mapping[str, Listed | None]) -> None:
    """Note on media that their objects were replaced, are there again, or are missing (None)."""
    for names in batched(noted, CHANGES_PER_TRANSACTION):
        found = {name: noted[name] for name in names}
        steps.retry_on_conflict(partial(_note_together, project, bucket, found))


def _note_together(project: Project, bucket: int, noted: Mapping[str, Listed | None]) -> None:
    known = references.read(project.id, bucket, noted)
    rows = entities.many(Kind.MEDIA, [reference.media for reference in known.values()])
    moment, change, done, edits = now(), Transaction(), [], []
    rewritten: list[tuple[str, Reference, Reference]] = []
    for name, reference in known.items():
        after = _as_seen(reference, noted[name], moment)
        if after is None:
            continue
        rewritten.append((name, reference, after))
        row = rows.get(reference.media)
        if row is None:
            continue
        media: Media = row.entity
        if seen := _as_noted(media, after, moment):
            done.append(RowChange(Kind.MEDIA, row, seen))
            edits.append(changed(Kind.MEDIA, media, seen))

    def refer(change: Transaction) -> None:
        for name, before, after in rewritten:
            references.rewrite(change, project.id, bucket, name, before, after)

    if done:
        steps.apply(project.id, done, user=None, edits=edits, also=refer)
    elif rewritten:
        refer(change)
        change.run()


def _as_seen(reference: Reference, found: Listed | None, moment: str) -> Reference | None:
    """A reference after the object was looked at; None where it stays."""
    replace = msgspec.structs.replace
    if found is None:
        return None if reference.is_missing else replace(reference, is_missing=True, seen=moment)
    if reference.is_of(found):
        return None
    is_same = (reference.size, reference.etag) == (found.size, found.etag)
    return replace(
        reference,
        size=found.size,
        etag=found.etag,
        modified=found.modified,
        is_missing=False,
        seen=moment,
        state=reference.state if is_same else "new",
    )


def _as_noted(media: Media, reference: Reference, moment: str) -> Media | None:
    """A media after its object was looked at; None where it refers to none."""
    files = media.media_files
    found = files.bucket_object if files else None
    if files is None or found is None:
        return None
    replace = msgspec.structs.replace
    if reference.is_missing:
        after = replace(found, state="missing", missing_datetime=moment)
    elif (found.size, found.etag) == (reference.size, reference.etag):
        after = replace(found, state="present", missing_datetime=None)
    else:
        after = replace(
            found,
            state="changed",
            changed_datetime=moment,
            missing_datetime=None,
            size=reference.size,
            etag=reference.etag,
            last_modified=reference.modified,
        )
    return replace(media, media_files=replace(files, bucket_object=after), modified_datetime=moment)
