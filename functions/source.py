"""The source queue's function: lists buckets, indexes what media refer to, and takes events of S3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chalicelib.resources.bucket_sources import arrivals, indexing, listing
from chalicelib.resources.bucket_sources.messages import IndexObjects, ListObjects, LookAtObjects
from chalicelib.resources.bucket_sources.schemas import BUCKET_SOURCE
from chalicelib.storage.dynamodb import records
from functions.worker import Delivery, worker

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


def _list(message: ListObjects, delivery: Delivery) -> None:
    """The first message is sent before the record of its source is stored."""
    if not message.after and records.maybe(BUCKET_SOURCE, message.source) is None:
        delivery.wait_for(f"there is no source {message.source} yet")
    listing.list_page(message)


def _give_up(message: ListObjects | LookAtObjects | IndexObjects, reason: Exception) -> bool:
    """The next listing repeats what a message about objects did not do."""
    if isinstance(message, ListObjects):
        listing.fail(message, reason)
        return True
    return isinstance(message, LookAtObjects)


_work = worker(
    {
        ListObjects: _list,
        LookAtObjects: lambda message, _: listing.look_at(message),
        IndexObjects: lambda message, delivery: indexing.index(message, delivery.seconds_left),
    },
    on_poison=_give_up,
)


def handler(event: dict[str, Any], context: LambdaContext) -> Any:
    """Work on messages of ours and on events of buckets."""
    bodies = [{**record, "body": arrivals.as_messages(record["body"])} for record in event["Records"]]
    return _work({**event, "Records": bodies}, context)
