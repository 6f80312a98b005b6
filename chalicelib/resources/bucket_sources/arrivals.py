"""Events of S3 about objects, as notifications (through SQS) and as EventBridge delivers them.

An event is a hint only: what it names is looked at in the bucket itself, with the bucket's own credentials. So an
event may come twice, late, out of order or forged, and leads to what the bucket shows.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote_plus

import msgspec

from chalicelib.queues import encode
from chalicelib.resources.bucket_sources.messages import LookAtObjects

_MAX_CHARACTERS = 1024


def as_messages(body: str) -> str:
    """The body of a message about the objects of an S3 event; any other body unchanged.

    The test event that S3 sends when a notification is configured becomes a message about no object.
    """
    try:
        event = msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return body
    if "kind" in event:
        return body
    if event.get("source") == "aws.s3":
        detail = event.get("detail")
        found = [_object_of(detail, lambda name: name, str(event.get("id", "")))] if isinstance(detail, dict) else []
    elif isinstance(event.get("Records"), list):
        found = [
            _object_of(each.get("s3"), unquote_plus, str(each)) for each in event["Records"] if isinstance(each, dict)
        ]
    elif event.get("Event") == "s3:TestEvent":
        return encode(LookAtObjects(bucket="", names=[], event="test"))
    else:
        return body
    named = [each for each in found if each is not None]
    buckets = {bucket for bucket, _, _ in named}
    if len(buckets) != 1:
        # S3 sends the events of one bucket together
        return encode(LookAtObjects(bucket="", names=[], event="none")) if not buckets else body
    (bucket,) = buckets
    return encode(
        LookAtObjects(
            bucket=bucket,
            names=list(dict.fromkeys(name for _, name, _ in named)),
            event=" ".join(dict.fromkeys(mark for _, _, mark in named)),
        )
    )


def _object_of(detail: Any, read: Any, mark: str) -> tuple[str, str, str] | None:
    """The bucket and name of an event's object, and what tells the event from others; None where it has none."""
    try:
        bucket, name = detail["bucket"]["name"], read(detail["object"]["key"])
    except (KeyError, TypeError, AttributeError):
        return None
    if not isinstance(bucket, str) or not isinstance(name, str) or max(len(bucket), len(name)) > _MAX_CHARACTERS:
        return None
    told = detail["object"]
    known = [str(told[member]) for member in ("versionId", "version-id", "sequencer") if told.get(member)]
    return bucket, name, "/".join(known) or mark
