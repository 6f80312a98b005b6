"""Dead letters: what the queues have given up, and the way back once the reason is mended.

Work that was marked as failed when its message was given up begins anew: its record is opened, and the first message of
the work is sent in a new generation, which is that of the dead letter (`chalicelib.queues.base.Message`). A message is
sent before it is deleted here: who dies in between leaves it twice, and handlers are safe to run again.
`python -m infra.admin dead-letters` and `redrive`.
"""

from __future__ import annotations

import json
from typing import Any

import boto3

from chalicelib.queues.sending import DEAD, QUEUES
from chalicelib.settings import settings

EVERY = "all"
"""The word for all queues."""
VISIBLE = 60
"""Seconds within which a received message must be forwarded."""


def perform(command: str, queue: str) -> str:
    """Do one of the commands; what there is to say. `queue` is the id of the work where that is to be requeued.

    Raises:
        ValueError: it is not one of them, or no dead letter is about the work.
    """
    if command == "redrive" and queue == EVERY:
        return "\n".join(redrive(each) for each in QUEUES)
    if command == "redrive" and queue in QUEUES:
        return redrive(queue)
    if command == "requeue":
        return requeue(queue)
    if command == "dead-letters":
        return "\n".join(summaries())
    raise ValueError(f"there is no command {command} {queue}".rstrip())


def summaries() -> list[str]:
    """A line for each queue: how many dead letters there are, and the beginning of one."""
    client = boto3.client("sqs")
    lines = []
    for name in QUEUES:
        count = dead_letters(name)
        first = client.receive_message(QueueUrl=_dead(name), VisibilityTimeout=0).get("Messages", []) if count else []
        lines.append(f"{name:<10} {count:>6}  {first[0]['Body'][:100] if first else ''}".rstrip())
    return lines


def dead_letters(name: str) -> int:
    """How many messages a queue gave up, as SQS estimates it."""
    attributes = boto3.client("sqs").get_queue_attributes(
        QueueUrl=_dead(name), AttributeNames=["ApproximateNumberOfMessages"]
    )
    return int(attributes["Attributes"]["ApproximateNumberOfMessages"])


def requeue(work: str) -> str:
    """Have one transcode, import, export or clip tried again by its uid. Raises ValueError: no dead letter names it."""
    count = sum(_redrive(name, about=work) for name in QUEUES) if work else 0
    if not count:
        message = f"no dead letter is about {work!r}; `dead-letters` shows what there is"
        raise ValueError(message)
    return f"{count} messages about {work} are tried again."


def redrive(name: str) -> str:
    """Put all dead letters of a queue back into it; how many there were, as a sentence."""
    return f"{_redrive(name)} messages of {name} are tried again."


def _redrive(name: str, about: str = "") -> int:
    """Put dead letters back into their queue: all, or those that name an id. The others are seen again in a minute."""
    from infra.operating.reopening import anew

    client, dead = boto3.client("sqs"), _dead(name)
    count = 0
    while messages := _received(client, dead):
        for message in messages:
            if about and json.dumps(about) not in message["Body"]:
                continue
            queue, body = anew(name, message["Body"], message["MessageId"])
            client.send_message(QueueUrl=_alive(queue), MessageBody=body)
            client.delete_message(QueueUrl=dead, ReceiptHandle=message["ReceiptHandle"])
            count += 1
    return count


def _received(client: Any, url: str) -> list[Any]:
    found: list[Any] = client.receive_message(QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=VISIBLE).get(
        "Messages", []
    )
    return found


def _alive(name: str) -> str:
    return str(getattr(settings(), f"{name}_queue_url"))


def _dead(name: str) -> str:
    """The URL of a queue's dead letters, which the template names after it."""
    return f"{_alive(name)}{DEAD}"
