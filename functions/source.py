"""The source queue's function: lists buckets, indexes what media refer to, and takes events of S3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chalicelib.resources.bucket_sources import arrivals, indexing, listing
from chalicelib.resources.bucket_sources.messages import IndexObjects, ListObjects, LookAtObjects
from chalicelib.resources.bucket_sources.schemas import BUCKET_SOURCE
from chalicelib.storage.dynamodb import records
from functions.worker import Delivery, Retry, worker

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


PAUSES = (1.0, 3.0, 8.0, 28.0)
"""Seconds to wait for a source whose message was sent before its record was stored: longer than a request."""


def _list(message: ListObjects, delivery: Delivery) -> None:
    is_first = not message.after
    if is_first and delivery.count <= len(PAUSES) and records.maybe(BUCKET_SOURCE, message.source) is None:
        raise Retry(f"there is no source {message.source} yet", after=PAUSES[delivery.count - 1])
    listing.list_page(message)


def _look_at(message: LookAtObjects, _: Delivery) -> None:
    listing.look_at(message)


def _index(message: IndexObjects, delivery: Delivery) -> None:
    indexing.index(message, delivery.seconds_left)


def _give_up(message: ListObjects | LookAtObjects | IndexObjects, reason: Exception) -> bool:
    """The next listing repeats what a message about objects did not do."""
    if isinstance(message, ListObjects):
        listing.fail(message, reason)
        return True
    return isinstance(message, LookAtObjects)


_work = worker({ListObjects: _list, LookAtObjects: _look_at, IndexObjects: _index}, on_poison=_give_up)


def handler(event: dict[str, Any], context: LambdaContext) -> Any:
    """Work on messages of ours and on events of buckets."""
    bodies = [{**record, "body": arrivals.as_messages(record["body"])} for record in event["Records"]]
    return _work({**event, "Records": bodies}, context)
