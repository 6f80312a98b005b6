"""The webhook function: sends events to webhooks and to the event bus, by messages and on a schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger

from chalicelib.resources.webhooks import delivery
from chalicelib.resources.webhooks.messages import DeliverEvents, RedeliverEvent
from chalicelib.storage.log.wakeups import ProjectChanged
from functions.worker import worker

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

SPARE = 30.0
"""Seconds that a started attempt needs to end and store its result."""
logger = Logger(service="limn")


_work = worker(
    {
        ProjectChanged: lambda message, context: delivery.wake(
            message.project, message.seq, context.seconds_left() - SPARE
        ),
        DeliverEvents: lambda message, context: delivery.deliver(
            message.project, message.webhook, context.seconds_left() - SPARE
        ),
        RedeliverEvent: lambda message, _: delivery.redeliver(message),
    },
    remembers=False,
)


def handler(event: dict[str, Any], context: LambdaContext) -> Any:
    """Work on messages of the queue; on the schedule, wake what no message woke."""
    if "Records" in event:
        return _work(event, context)
    if woken := delivery.sweep():
        logger.info("webhooks woken", extra={"streams": woken})
    return None
