"""Sending messages through SQS. SQS's errors become LimnErrors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, TypedDict

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.core.time.retry import BUSY
from chalicelib.errors import Unavailable
from chalicelib.queues.base import MAX_MESSAGE_BYTES, Message, encode, tenant
from chalicelib.settings import settings

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.literals import QueueAttributeNameType
    from mypy_boto3_sqs.type_defs import SendMessageBatchRequestEntryTypeDef


class _Group(TypedDict, total=False):
    MessageGroupId: str


QUEUES = ("transcode", "clip", "dataset", "source", "email", "purge", "webhook")
DEAD = "-dead"
"""What the name of a queue of dead letters ends with, after that of its queue."""
_COUNT: QueueAttributeNameType = "ApproximateNumberOfMessages"
BATCH = 10
"""Most messages that SQS takes in one call."""
LONGEST_DELAY = 900
"""Seconds; SQS's limit."""
SETTLED = 60
"""Seconds after which the request that sends a message has ended, for messages that clean up after it."""


@lru_cache(maxsize=1)
def client() -> SQSClient:
    """The SQS client of this process."""
    config = Config(
        connect_timeout=2, read_timeout=10, retries={"max_attempts": 5, "mode": "standard"}, max_pool_connections=16
    )
    return boto3.client("sqs", endpoint_url=settings().aws_endpoint or None, config=config)


def reach() -> None:
    """Raise Unavailable unless every queue answers."""
    for name in QUEUES:
        _ask_for(_url(name), "QueueArn")


def count_given_up() -> dict[str, int]:
    """The number of dead letters by the name of their queue, where there are some. Raises Unavailable."""
    counts = {name: int(_ask_for(f"{_url(name)}{DEAD}", _COUNT)) for name in QUEUES}
    return {name: count for name, count in counts.items() if count}


def _url(name: str) -> str:
    return str(getattr(settings(), f"{name}_queue_url"))


def _ask_for(url: str, attribute: QueueAttributeNameType) -> str:
    try:
        return client().get_queue_attributes(QueueUrl=url, AttributeNames=[attribute])["Attributes"][attribute]
    except (ClientError, BotoCoreError) as failure:
        raise Unavailable("The queues do not answer.", type(failure).__name__) from failure


@lru_cache(maxsize=1)
def _hurried_client() -> SQSClient:
    """A client that gives up at once."""
    config = Config(connect_timeout=1, read_timeout=1, retries={"total_max_attempts": 1}, max_pool_connections=16)
    return boto3.client("sqs", endpoint_url=settings().aws_endpoint or None, config=config)


def try_send(queue_url: str, message: Message, delay: int = 0) -> bool:
    """Send one message, without a second attempt; returns whether SQS took it, within 2 s."""
    body = encode(message)
    try:
        _hurried_client().send_message(QueueUrl=queue_url, MessageBody=body, DelaySeconds=_check(delay), **_group())
    except (ClientError, BotoCoreError):
        return False
    return True


def send(queue_url: str, message: Message, delay: int = 0) -> None:
    """Send one message; it can be received after `delay` seconds (0 to 900).

    After a lost response the message may be sent twice, as SQS may deliver it twice: see `Message.idempotency_key`.

    Raises:
        TooLarge: the message has more than `LARGEST` bytes.
        Unavailable: SQS does not take it; it was not sent.
    """
    body = encode(message)
    try:
        client().send_message(QueueUrl=queue_url, MessageBody=body, DelaySeconds=_check(delay), **_group())
    except (ClientError, BotoCoreError) as failure:
        raise Unavailable("The queue does not take messages.", str(failure)) from failure


def send_many(queue_url: str, messages: Iterable[Message]) -> None:
    """Send messages in batches of ten; retry those that SQS refuses. None is sent when one is too large.

    Raises:
        TooLarge: a message has more than `LARGEST` bytes; none was sent.
        Unavailable: SQS does not take one of them; those before it may be sent. Sending all again is safe where their
            handlers are idempotent.
    """
    bodies = [encode(message) for message in messages]
    for batch in _batches(bodies):
        _send_batch(queue_url, batch)


def _group() -> _Group:
    """The group of a message is its tenant: SQS serves the groups of a standard queue in turn."""
    name = tenant()
    return {"MessageGroupId": name} if name else {}


def _check(delay: int) -> int:
    if not 0 <= delay <= LONGEST_DELAY:
        raise ValueError(f"a message is delayed by 0 to {LONGEST_DELAY} seconds, not by {delay}")
    return delay


def _batches(bodies: Iterable[str]) -> Iterator[list[str]]:
    """Batches of at most `BATCH` bodies and `LARGEST` bytes: SQS limits a batch like a single message."""
    batch: list[str] = []
    size = 0
    for body in bodies:
        length = len(body.encode())
        if batch and (len(batch) == BATCH or size + length > MAX_MESSAGE_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(body)
        size += length
    if batch:
        yield batch


def _send_batch(queue_url: str, bodies: list[str]) -> None:
    waiting: list[SendMessageBatchRequestEntryTypeDef] = [
        {"Id": str(index), "MessageBody": body} for index, body in enumerate(bodies)
    ]
    if name := tenant():
        for entry in waiting:
            entry["MessageGroupId"] = name
    reason = ""
    for _ in BUSY.attempts():
        try:
            refused = client().send_message_batch(QueueUrl=queue_url, Entries=waiting).get("Failed", [])
        except (ClientError, BotoCoreError) as failure:
            raise Unavailable("The queue does not take messages.", str(failure)) from failure
        if not refused:
            return
        reason = "; ".join(sorted({f"{entry['Code']} {entry.get('Message', '')}".strip() for entry in refused}))
        if any(entry["SenderFault"] for entry in refused):
            break
        again = {entry["Id"] for entry in refused}
        waiting = [entry for entry in waiting if entry["Id"] in again]
    raise Unavailable(f"The queue refused {len(waiting)} of {len(bodies)} messages.", reason)
