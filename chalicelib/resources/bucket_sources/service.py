"""Register sources and begin their listings.

    registration, change, schedule, event ──► listing.py (a page a message) ──► indexing.py (some objects a message)

The schedule is upkeep's: a listing begins when it is due, or when one that was begun has stopped.
"""

from __future__ import annotations

import re
import uuid
from datetime import datetime, timedelta
from typing import Any

import msgspec

from chalicelib.access import authentication
from chalicelib.access.authentication import Caller
from chalicelib.core.keys import object_keys
from chalicelib.core.models.accounts import PROJECT, Project
from chalicelib.core.models.definitions import Definitions
from chalicelib.core.models.integrations import BUCKET, Bucket
from chalicelib.core.permissions import Level
from chalicelib.core.resource import given, now, timestamp
from chalicelib.core.time import clock
from chalicelib.core.web import origins
from chalicelib.errors import BadInput, Forbidden, NotFound
from chalicelib.queues import send
from chalicelib.resources.bucket_sources.messages import ListObjects
from chalicelib.resources.bucket_sources.schemas import BUCKET_SOURCE, BucketSource, BucketSourceSpec, ExtensionType
from chalicelib.resources.buckets import service as buckets_service
from chalicelib.resources.media import service as media_service
from chalicelib.settings import settings
from chalicelib.storage import outbound
from chalicelib.storage.dynamodb import ids, limits, records

STALLED = timedelta(hours=1)
"""A listing without progress for this long is begun again."""
_DTYPES = ("video", "image")
_AMAZON = re.compile(r"s3(?:[.-](?:dualstack\.)?[a-z0-9-]+)?\.amazonaws\.com(?:\.cn)?")
OPENING = frozenset({"pattern", "media_types"})
"""The members that say which objects below the prefix a project sees."""


def register(project: Project, caller: Caller, spec: BucketSourceSpec) -> BucketSource:
    """Register a prefix and begin its first listing.

    Raises:
        Forbidden: the caller does not administer the organization, whose buckets only its administrators know.
        BadInput: the bucket is not one of the organization, or a member breaks a rule.
    """
    check_administers(caller, project.organization)
    buckets_service.check_usable(project, spec.bucket)
    object_keys.source_prefix(project.organization, spec.bucket, spec.prefix)
    _check_prefix(project.id, spec)
    members = given(spec)
    members.pop("list_now", None)
    check_members(records.definitions(project.id), members)
    moment = now()
    source = BucketSource(
        id=ids.reserve(BUCKET_SOURCE.name)[0],
        run=uuid.uuid4().hex,
        project=project.id,
        created_by=caller.id,
        created_datetime=moment,
        progress_datetime=moment,
        bucket_name=records.get(BUCKET, spec.bucket).name,
        **members,
    )
    limits.check(BUCKET_SOURCE, source)
    # Sent first, so that no crash leaves a source that is not listed; the function waits for the record.
    send(settings().source_queue_url, ListObjects(source=source.id, run=source.run, began=moment))
    return records.create(
        BUCKET_SOURCE, source, within=(f"sources|{project.id}", lambda: _check_prefix(project.id, spec))
    )


def check_administers(caller: Caller, organization: int) -> None:
    """Raise Forbidden for a caller who may not open objects of the organization's buckets to a project."""
    if authentication.organization_level(caller, organization) < Level.FULL:
        raise Forbidden("bucket: only administrators of the organization give a project access to what lies in it.")


def _check_prefix(project: int, spec: BucketSourceSpec) -> int:
    """Raise BadInput for a prefix that another source lists. Returns 0: each creation is under a guard."""
    for other in records.list_children(BUCKET_SOURCE, project):
        if other.bucket == spec.bucket and (
            other.prefix.startswith(spec.prefix) or spec.prefix.startswith(other.prefix)
        ):
            raise BadInput(f"prefix: source {other.id} ({other.name}) lists {other.prefix!r} of this bucket already.")
    return 0


def check_members(definitions: Definitions, members: dict[str, Any]) -> None:
    """Raise BadInput for media types or a folder that the project does not have, or an extension given twice."""
    types: list[ExtensionType] = members.get("media_types") or []
    seen: set[str] = set()
    for each in types:
        found = media_service.type_of(definitions, each.type)
        if found.dtype not in _DTYPES:
            raise BadInput(f"media_types: type {each.type} is of {found.dtype}; an object is a video or an image.")
        if each.extension.lower() in seen:
            raise BadInput(f"media_types: the extension {each.extension} is given twice.")
        seen.add(each.extension.lower())
    if members.get("section"):
        media_service.folder(definitions, members["section"], "section")


def begin(number: int, **members: Any) -> None:
    """Change members of a source and begin a listing, in place of one that runs, in one write.

    A crash between the write and the message is left to `sweep`.

    Raises:
        NotFound: there is no such source.
    """
    run, moment = uuid.uuid4().hex, now()

    def edit(current: BucketSource) -> BucketSource:
        begun = {**members, "run": run, "status": "listing", "message": "", "progress_datetime": moment}
        return msgspec.structs.replace(current, **begun)

    records.edit(BUCKET_SOURCE, number, edit)
    send(settings().source_queue_url, ListObjects(source=number, run=run, began=moment))


def sweep(project: int) -> None:
    """Start the listings of a project that are due, and restart stalled ones."""
    for source in records.list_children(BUCKET_SOURCE, project):
        if is_due(source, clock.utc_now()):
            begin(source.id)


def is_due(source: BucketSource, moment: datetime) -> bool:
    """Whether a listing of a source is to begin."""
    if source.status == "listing":
        return source.progress_datetime <= timestamp(moment - STALLED)
    last = timestamp(moment - timedelta(hours=source.listing_hours))
    return bool(source.listing_hours) and max(source.progress_datetime, source.listed_datetime or "") <= last


def find(number: int, run: str) -> tuple[BucketSource, Project] | None:
    """A source and its project; None where it is gone, or another listing has begun."""
    source = records.maybe(BUCKET_SOURCE, number)
    project = records.maybe(PROJECT, source.project) if source else None
    if source is None or project is None or project.deleted is not None or source.run != run:
        return None
    return source, project


def of_bucket_name(name: str) -> list[tuple[BucketSource, Project]]:
    """The sources in buckets of this name, with their projects."""
    found = []
    for source in records.list_linked(BUCKET_SOURCE, "bucket-name", name):
        project = records.maybe(PROJECT, source.project)
        if project is not None and project.deleted is None:
            found.append((source, project))
    return found


def store_of(bucket: Bucket) -> str:
    """What tells the bucket of a registration from others of its name: its store's address, and its name there."""
    return f"{bucket.store_type} {bucket.endpoint_url or ''} {bucket.name}"


def hears(source: BucketSource, name: str) -> bool:
    """Whether the events of the bucket of this name are for a source.

    Its last complete listing read that bucket, and the bucket lies at Amazon or at a store that the operator allows:
    no other store sends events.
    """
    bucket = records.get(BUCKET, source.bucket)
    if bucket.name != name or source.listed_store != store_of(bucket) or not bucket.endpoint_url:
        return False
    address = origins.take_apart(bucket.endpoint_url)
    is_amazon = address.scheme == "https" and _AMAZON.fullmatch(address.host) is not None
    return is_amazon or outbound.is_inside(address)


def finish(number: int, run: str, **members: Any) -> None:
    """Store the result of a listing, unless another one has begun."""

    def edit(current: BucketSource) -> BucketSource | None:
        if current.run != run or current.status != "listing":
            return None
        return msgspec.structs.replace(current, progress_datetime=now(), **members)

    try:
        records.edit(BUCKET_SOURCE, number, edit)
    except NotFound:
        return
