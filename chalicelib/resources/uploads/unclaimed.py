"""Remove what was uploaded by a presigned URL and belongs to nothing.

A presigned URL cannot be called back: it works until it expires, also after its media, File, project or organization
was deleted, or after its user lost the permission. So each is looked at again `KEPT` after it expired: an object that
no media, File or organization names is removed, and a multipart upload that was not completed is aborted. Uploads in
the deployment's own bucket need no look: a rule of the bucket expires them.
"""

from __future__ import annotations

import logging
from datetime import timedelta

from chalicelib.core.keys import key_forms, object_keys
from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.core.models.accounts import ORGANIZATION
from chalicelib.core.resource import now, timestamp
from chalicelib.core.time import clock
from chalicelib.errors import LimnError
from chalicelib.resources.entities import object_cleanup
from chalicelib.storage.dynamodb import records
from chalicelib.storage.objects import objects, presigned_puts
from chalicelib.storage.objects.presigned_puts import Put

KEPT = timedelta(days=7)
"""How long after its URLs expire an upload may still be completed and named."""
GIVEN_UP = timedelta(days=30)
"""How long a registered bucket that does not answer is asked again."""
log = logging.getLogger("limn.unclaimed")


def watch(key: ObjectKey, upload: str, seconds: int) -> None:
    """Note that callers can write an object for so many seconds."""
    if key_forms.uploader_of(key.path) is None or key_forms.bucket_of(key.path) is not None:
        presigned_puts.add(key.path, upload, timedelta(seconds=seconds) + KEPT)


def sweep() -> int:
    """Look at the uploads whose time is over; returns how many were settled. Idempotent."""
    count = 0
    for put in presigned_puts.list_due(now()):
        try:
            if _end_upload(put):
                presigned_puts.forget(put)
                count += 1
        except LimnError:
            is_last = put.since <= timestamp(clock.utc_now() - GIVEN_UP)
            log.exception("the upload %s is left %s", put.key, "for ever" if is_last else "to a later sweep")
            if is_last:
                presigned_puts.forget(put)
    return count


def _end_upload(put: Put) -> bool:
    """End one upload; returns whether it is settled: a clone that is being created may still need the object."""
    key = object_keys.noted(put.key)
    if put.upload:
        objects.abort(key, put.upload)
    if _is_picture(key):
        return True
    found = object_cleanup.find_unreferenced([key])
    objects.remove(found.doomed)
    return not found.unsure


def _is_picture(key: ObjectKey) -> bool:
    """Whether a key is that of an organization's picture."""
    number = key_forms.home_of(key.path)
    if number is None or not key_forms.is_organizations(key.path):
        return False
    organization = records.maybe(ORGANIZATION, number)
    return organization is not None and organization.thumb == key.path
