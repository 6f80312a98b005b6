"""Moves of objects to the archive and back.

The bucket's lifecycle rule (`infra/stateful.yaml`) moves an object with the archive's tag to the archival storage class
within a day or two. To restore it, S3 first makes a temporary copy, which takes up to two days, and the object is then
rewritten in the standard class. Registered buckets have no lifecycle rule of ours: their stores move objects directly.
"""

from __future__ import annotations

from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.core.keys import key_forms
from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.storage.objects import objects, placement
from chalicelib.storage.store_answers import no_answer

TAG = {"Key": "limn", "Value": "archived"}
_COLD = ("GLACIER", "DEEP_ARCHIVE")
_MISSING = ("NoSuchKey", "404", "NotFound")
_DAYS = 7
"""Days that S3 keeps a restored copy, which is until the object has been rewritten."""


def freeze(key: ObjectKey) -> None:
    """Archive an object. A missing one is no error, and one that a media refers to where it lies stays as it is."""
    if key.is_reference:
        return
    if key_forms.bucket_of(key.path) is not None:
        placement.store_of(key).freeze(key)
        return
    _ask("put_object_tagging", key, Tagging={"TagSet": [TAG]})


def thaw(key: ObjectKey) -> bool:
    """Restore an object; returns whether it can be read. Call again until it can. A missing one counts as readable."""
    if key_forms.bucket_of(key.path) is not None:
        return key.is_reference or placement.store_of(key).thaw(key)
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
        raise no_answer(failure) from failure
    return True


def _ask(method: str, key: ObjectKey, **more: Any) -> Any:
    """The store's response about an object; None where it does not exist, or where the request is in progress."""
    try:
        return getattr(objects.client(), method)(Bucket=objects.bucket_of(key), Key=key.path, **more)
    except ClientError as failure:
        if failure.response["Error"]["Code"] in (*_MISSING, "RestoreAlreadyInProgress"):
            return None
        raise no_answer(failure) from failure
    except BotoCoreError as failure:
        raise no_answer(failure) from failure
