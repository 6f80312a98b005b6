"""Objects on their way to the archive and back.

An object with the archive's tag is moved to the archival storage class by the bucket's own lifecycle rule
(`infra/stateful.yaml`), within a day or two. Back, S3 first brings out a copy, which takes up to two days, and the
object is then written anew in the ordinary class. Registered buckets have no rules of ours: their stores do it.
"""

from __future__ import annotations

from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.core import object_keys
from chalicelib.core.object_keys import ObjectKey
from chalicelib.errors import Unavailable
from chalicelib.storage.objects import objects, placement

TAG = {"Key": "limn", "Value": "archived"}
_COLD = ("GLACIER", "DEEP_ARCHIVE")
_MISSING = ("NoSuchKey", "404", "NotFound")
_DAYS = 7
"""How long S3 keeps the copy that it brings out, which is until the object was written anew."""


def freeze(key: ObjectKey) -> None:
    """Have an object moved to the archive. One that is not there is no error."""
    if object_keys.bucket_of(key.path) is not None:
        placement.store_of(key).freeze(key)
        return
    _ask("put_object_tagging", key, Tagging={"TagSet": [TAG]})


def thaw(key: ObjectKey) -> bool:
    """Have an object brought back; whether it can be read. Ask again until it can. One that is not there counts so."""
    if object_keys.bucket_of(key.path) is not None:
        return placement.store_of(key).thaw(key)
    found = _ask("head_object", key)
    if found is None:
        return True
    _ask("delete_object_tagging", key)
    if found.get("StorageClass") not in _COLD:
        return True
    restored = found.get("Restore")
    if restored is None:
        request = {"Days": _DAYS, "GlacierJobParameters": {"Tier": "Bulk"}}
        _ask("restore_object", key, RestoreRequest=request)
        return False
    if 'ongoing-request="true"' in restored:
        return False
    place = objects.bucket_of(key)
    more = {"StorageClass": "STANDARD", "MetadataDirective": "REPLACE", "ContentType": found["ContentType"]}
    try:
        objects.client().copy({"Bucket": place, "Key": key.path}, place, key.path, ExtraArgs=more)
    except (ClientError, BotoCoreError) as failure:
        raise Unavailable("The object store does not answer.", str(failure)) from failure
    return True


def _ask(method: str, key: ObjectKey, **more: Any) -> Any:
    """The store's answer about an object; None where there is none, or where what is asked is under way already."""
    try:
        return getattr(objects.client(), method)(Bucket=objects.bucket_of(key), Key=key.path, **more)
    except ClientError as failure:
        if failure.response["Error"]["Code"] in (*_MISSING, "RestoreAlreadyInProgress"):
            return None
        raise Unavailable("The object store does not answer.", str(failure)) from failure
    except BotoCoreError as failure:
        raise Unavailable("The object store does not answer.", str(failure)) from failure
