"""Queued messages run in this process, as SQS and Lambda would run them."""

from __future__ import annotations

from typing import Any

from chalicelib.settings import settings
from infra.local import aws
from infra.local.queues import Source, queue_of, run
from infra.local.sqs import shelf_of

ROUNDS = 500
BATCH = 1
VISIBILITY = 900


def handlers() -> dict[str, Any]:
    """The queue functions by the URL of their queue."""
    from functions import clip, email, purge, transcode

    return {
        settings().transcode_queue_url: transcode.handler,
        settings().clip_queue_url: clip.handler,
        settings().email_queue_url: email.handler,
        settings().purge_queue_url: purge.handler,
    }


def drain() -> int:
    """Run every message until none is left; how many were run."""
    done = 0
    for _ in range(ROUNDS):
        found = sum(run_once(url, handler) for url, handler in handlers().items())
        if not found:
            return done
        done += found
    raise AssertionError("the queues never became empty")


def run_once(url: str, handler: Any) -> int:
    """Give a function one batch of its queue as Lambda would; how many messages there were."""
    queue = queue_of(url, aws.REGION)
    messages = shelf_of(queue).take(queue, BATCH, VISIBILITY, 0.0, lambda: False)
    if messages:
        run(Source(queue_url=url, handler=handler), queue, messages)
    return len(messages)
