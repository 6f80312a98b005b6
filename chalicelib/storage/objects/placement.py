"""The bucket of an object, and the store of that bucket (docs/decisions/017).

The key of an object in a bucket that an organization registered ends with the bucket's number
(`core/keys/object_keys.py`), so the key alone determines it, in every container and forever. All other objects are in
the buckets of this deployment.

    stores#<project>, <bucket>    the project may have objects in that bucket; written before the first one
"""

from __future__ import annotations

import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from chalicelib.core.keys import key_forms
from chalicelib.core.keys.object_keys import ObjectKey, ObjectPrefix
from chalicelib.core.models.integrations import BUCKET, Bucket
from chalicelib.core.records import padded
from chalicelib.errors import BadInput, LimnError, NotFound
from chalicelib.settings import settings
from chalicelib.storage import sealing
from chalicelib.storage.dynamodb import records
from chalicelib.storage.dynamodb.tables import RecordRow
from chalicelib.storage.objects import s3
from chalicelib.storage.objects.gcs import GcsStore

if TYPE_CHECKING:
    from chalicelib.core.web.origins import Address
    from chalicelib.storage.objects.protocol import ObjectStore

PURPOSE = "bucket"
"""The purpose that the configuration of a bucket is sealed for."""
SECONDS = 60
"""Seconds for which a container may use the previous configuration of a changed bucket."""
S3_STORES = ("AWS", "MINIO", "VAST", "S3BASIC", "OCI")


def store_of(key: ObjectKey | ObjectPrefix) -> ObjectStore:
    """The store of the object of a key.

    A key that ends with a number that is not a bucket of its organization is in the deployment's own bucket.

    Raises:
        NotFound: the bucket of a reference, or of a prefix of a source, is not one of its organization any more.
    """
    number = key_forms.bucket_of(key.path)
    if key.path.startswith(f"{key_forms.BUCKETS}/"):
        organization, where = _open(number or 0, _now())
        if organization != key_forms.home_of(key.path):
            raise NotFound.of("Bucket", number or 0)
        return where
    if number is not None:
        try:
            found = _open(number, _now())
        except NotFound:
            found = None
        if found is not None and found[0] == key_forms.home_of(key.path):
            return found[1]
    return s3.own(own_bucket(key))


def store(number: int) -> ObjectStore:
    """The store of a registered bucket. Raises NotFound where there is no such bucket, BadInput for an unusable one."""
    return _open(number, _now())[1]


def own_bucket(key: ObjectKey | ObjectPrefix) -> str:
    """The deployment's bucket of a key."""
    folder = key.path.partition("/")[0]
    if folder == key_forms.UPLOADS:
        return settings().upload_bucket
    return settings().views_bucket if folder in (key_forms.VIEWS, key_forms.ANSWERS) else settings().media_bucket


def key_named(address: Address) -> str | None:
    """The key of the object in a registered bucket that a URL names; None for any other URL."""
    number = key_forms.bucket_of(address.path)
    if number is None:
        return None
    try:
        organization, found = _open(number, _now())
    except LimnError:
        return None
    key = found.key_of(address.url)
    return key if key and key_forms.home_of(key) == organization else None


def configuration(bucket: Bucket) -> dict[str, Any]:
    """The decrypted configuration of a bucket: for requests to its store, never for responses."""
    return msgspec.json.decode(sealing.unseal(bucket.sealed, PURPOSE), type=dict[str, Any])


def make_store(
    name: str, kind: str, config: dict[str, Any], external_host: str | None, archive: str = "STANDARD"
) -> ObjectStore:
    """The store of a bucket with this name and configuration.

    Raises BadInput for a kind that cannot hold files here.
    """
    if kind == "GCP":
        return GcsStore(name, config, external_host, archive)
    if kind in S3_STORES:
        return s3.from_registration(name, config.get("boto3_config", config), external_host, archive)
    raise BadInput(f"A bucket of {kind} cannot hold files here.")


def record_bucket(project: int, bucket: int) -> None:
    """Note that a project has objects in a registered bucket, before the first one is stored."""
    RecordRow(f"stores#{project}", padded(bucket)).save()


def recorded_buckets(project: int) -> list[int]:
    """The registered buckets in which a project may have objects."""
    return [int(row.sk) for row in RecordRow.query(f"stores#{project}", consistent_read=True)]


def forget(project: int) -> None:
    """Delete the notes of a project that is purged."""
    with RecordRow.batch_write() as batch:
        for row in list(RecordRow.query(f"stores#{project}", consistent_read=True)):
            batch.delete(row)


@lru_cache(maxsize=64)
def _open(number: int, moment: int) -> tuple[int, ObjectStore]:  # noqa: ARG001 the moment makes it be read again
    """The organization of a bucket and its store."""
    bucket = records.get(BUCKET, number)
    config = configuration(bucket)
    found = make_store(bucket.name, bucket.store_type, config, bucket.external_host, bucket.archive_sc)
    return bucket.organization, found


def _now() -> int:
    return int(time.monotonic()) // SECONDS
