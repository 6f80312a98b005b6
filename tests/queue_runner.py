"""Queued messages run in this process, as SQS and Lambda would run them."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from chalicelib.queues import Message, encode
from chalicelib.queues.sending import QUEUES
from chalicelib.settings import settings
from infra.emulator import aws
from infra.emulator.sqs import messages_of
from infra.local.background.queues import Context, EventSourceMapping, queue_of, run
from tests.roles import RECORDER

ROUNDS_WITHOUT_PROGRESS = 500
BATCH = 1
VISIBILITY = 900


def handlers() -> dict[str, Any]:
    """The queue functions by the URL of their queue."""
    return {getattr(settings(), f"{name}_queue_url"): import_module(f"functions.{name}").handler for name in QUEUES}


def drain() -> int:
    """Run every message until none is left, as long as there is progress; how many were run.

    A round runs at most one message of each queue. Only rounds after which as many messages wait as before, or more,
    are limited in number. So any number of messages may wait, but a message must not send itself again for ever.
    """
    functions = handlers()
    done = without_progress = 0
    waiting = count_waiting()
    while without_progress < ROUNDS_WITHOUT_PROGRESS:
        found = sum(run_once(url, handler) for url, handler in functions.items())
        if not found:
            return done
        done += found
        before, waiting = waiting, count_waiting()
        without_progress += waiting >= before
    raise AssertionError("the queues never became empty")


def count_waiting() -> int:
    """The messages of all queues that have functions, those in flight included."""
    return sum(len(messages_of(queue_of(url, aws.REGION))) for url in handlers())


def run_once(url: str, handler: Any) -> int:
    """Give a function one batch of its queue as Lambda would; how many messages there were."""
    queue = queue_of(url, aws.REGION)
    messages = messages_of(queue).receive(queue, BATCH, VISIBILITY, 0.0, lambda: False)
    if messages:
        with RECORDER.acting(url.rpartition("-")[2].title()):
            run(EventSourceMapping(queue_url=url, handler=handler), queue, messages)
    return len(messages)


def deliver(url: str, message: Message, *, count: int = 1) -> Any:
    """Give a queue's function a message that was not in it, as if for the `count`th time; what it answers."""
    queue = queue_of(url, aws.REGION)
    record = {
        "messageId": str(uuid.uuid4()),
        "receiptHandle": "not-in-the-queue",
        "body": encode(message),
        "attributes": {"ApproximateReceiveCount": str(count)},
        "messageAttributes": {},
        "eventSource": "aws:sqs",
        "eventSourceARN": queue.queue_arn,
        "awsRegion": aws.REGION,
    }
    name = url.rpartition("-")[2]
    function = f"arn:aws:lambda:{aws.REGION}:{aws.ACCOUNT}:function:limn-local-{name}"
    with RECORDER.acting(name.title()):
        return handlers()[url]({"Records": [record]}, Context(name, 2048, function, time.monotonic() + 900))


@contextmanager
def draining() -> Iterator[None]:
    """The functions of the queues at work, beside the request that waits for one of them."""
    ended = threading.Event()

    def work() -> None:
        while not ended.wait(0.05):
            drain()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
