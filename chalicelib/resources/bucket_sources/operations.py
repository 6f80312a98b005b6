"""Bucket sources: register a prefix of a bucket, whose objects become media where they lie."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from chalicelib.access.authentication import project_of
from chalicelib.core.models.accounts import Project
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import given
from chalicelib.core.responses import MessageResponse
from chalicelib.errors import BadInput
from chalicelib.http.crud import RecordResource, record_operations
from chalicelib.http.operation import Call, NoQuery
from chalicelib.resources.bucket_sources import service as bucket_sources_service
from chalicelib.resources.bucket_sources.schemas import (
    BUCKET_SOURCE,
    BucketSource,
    BucketSourceSpec,
    BucketSourceUpdate,
)
from chalicelib.storage.dynamodb import records

TAG = "Bucket sources"


def register_source(call: Call[Project, NoQuery, BucketSourceSpec]) -> BucketSource:
    """Register a prefix of a bucket."""
    return bucket_sources_service.register(call.target, call.caller, call.body)


def change_source(call: Call[BucketSource, NoQuery, BucketSourceUpdate]) -> MessageResponse:
    """Update the given members, and begin a listing."""
    members = given(call.body)
    is_wanted = members.pop("list_now", None)
    if not members and not is_wanted:
        names = ", ".join(field.encode_name for field in msgspec.structs.fields(BucketSourceUpdate))
        raise BadInput(f"Nothing to change: give one of {names}.")
    number = call.target.id
    if members.keys() & bucket_sources_service.OPENING:
        bucket_sources_service.check_administers(call.caller, project_of(call.target.project).organization)
    if members:
        bucket_sources_service.check_members(records.definitions(call.target.project), members)
    if is_wanted is False:
        records.edit(BUCKET_SOURCE, number, lambda current: msgspec.structs.replace(current, **members))
    else:
        bucket_sources_service.begin(number, **members)
    return MessageResponse(message=f"Bucket source {number} updated successfully!")


_WORDS: dict[str, dict[str, Any]] = {
    "CreateBucketSource": {
        "summary": "Register a prefix of the organization's bucket: what lies there becomes media, without a copy.",
        "details": "The objects are listed in the background, and again every `listing_hours`; new ones arrive sooner "
        "by events of the bucket. Needs an administrator of the organization, too.",
    },
    "UpdateBucketSource": {"handler": change_source, "summary": "Change a bucket source, or list it now."},
    "DeleteBucketSource": {"summary": "Forget a bucket source. Its media stay, and refer to their objects as before."},
}

OPERATIONS = tuple(
    replace(operation, **_WORDS.get(operation.id, {}))
    for operation in record_operations(
        RecordResource(
            word="BucketSource",
            kind=BUCKET_SOURCE,
            tag=TAG,
            audits="policy",
            read=Permission.FULL,
            write=Permission.FULL,
            spec=BucketSourceSpec,
            update=BucketSourceUpdate,
            store=register_source,
        )
    )
)
