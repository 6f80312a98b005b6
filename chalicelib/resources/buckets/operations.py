"""Buckets of an organization's own. Credentials are encrypted and never shown."""

from __future__ import annotations

from typing import Any

import msgspec

from chalicelib.core.keys import object_keys
from chalicelib.core.models.accounts import PROJECT, Organization, Project
from chalicelib.core.models.integrations import BUCKET, Bucket, BucketSpec, BucketUpdate
from chalicelib.core.permissions import Permission
from chalicelib.errors import BadInput
from chalicelib.http.crud import RecordResource, record_operations
from chalicelib.http.operation import Call, NoQuery
from chalicelib.resources.buckets import service as buckets_service
from chalicelib.storage.dynamodb import ids, records
from chalicelib.storage.objects import objects, placement, references

_NAMED_BY_PROJECTS = ("bucket", "upload_bucket", "backup_bucket")


def make_bucket(call: Call[Organization, NoQuery, BucketSpec]) -> Bucket:
    """Register a bucket."""
    shown, sealed = buckets_service.configure(call.body)
    bucket = Bucket(
        id=ids.reserve(BUCKET.name)[0], organization=call.organization, name=call.body.name, sealed=sealed, **shown
    )
    return records.create(BUCKET, bucket)


def change_bucket(call: Call[Bucket, NoQuery, BucketUpdate], change: dict[str, Any]) -> dict[str, Any]:
    """Update the given members. Omitted members, secrets included, are unchanged."""
    if not change:
        return {}
    shown, sealed = buckets_service.reconfigure(call.target, call.body)
    name = {"name": call.body.name} if call.body.name else {}
    return {**name, **shown, "sealed": sealed}


def remove_bucket(call: Call[Bucket, NoQuery, None]) -> None:
    """Unregister a bucket that holds no files of a project. Projects that refer to it no longer do."""
    number = call.target.id
    projects = records.list_linked(PROJECT, "organization", call.target.organization)
    for project in projects:
        if references.has_any(project.id, number):
            raise BadInput(f"Media of project {project.id} ({project.name}) refer to objects in bucket {number}.")
        if number in placement.recorded_buckets(project.id):
            prefix = object_keys.project_prefix(call.target.organization, project.id)
            if next(iter(objects.under(prefix, bucket=number)), None) is not None:
                raise BadInput(f"Bucket {number} still holds files of project {project.id} ({project.name}).")
    for project in projects:
        if number in (project.bucket, project.upload_bucket, project.backup_bucket):
            records.edit(PROJECT, project.id, lambda current: _without(current, number), user=call.caller.id)
    records.remove(BUCKET, number)


def _without(project: Project, bucket: int) -> Project | None:
    """The project without a bucket; None if it does not name it."""
    named = [name for name in _NAMED_BY_PROJECTS if getattr(project, name) == bucket]
    return msgspec.structs.replace(project, **dict.fromkeys(named)) if named else None


OPERATIONS = record_operations(
    RecordResource(
        kind=BUCKET,
        tag="Organizations",
        audits="policy",
        read=Permission.ADMIN,
        write=Permission.ADMIN,
        spec=BucketSpec,
        update=BucketUpdate,
        store=make_bucket,
        check_change=change_bucket,
        remove=remove_bucket,
    )
)
