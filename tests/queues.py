"""Queued messages run in this process, as SQS and Lambda would run them."""

from __future__ import annotations

from typing import Any

import boto3

from chalicelib.settings import settings
from infra.local.gateway import LambdaContext

ROUNDS = 200


def handlers() -> dict[str, Any]:
    """The queue functions by the URL of their queue."""
    from functions import clip, email, transcode

    return {
        settings().transcode_queue_url: transcode.handler,
        settings().clip_queue_url: clip.handler,
        settings().email_queue_url: email.handler,
    }


def drain() -> int:
    """Run every message until none is left; how many were run."""
    sqs = boto3.client("sqs")
    done = 0
    for _ in range(ROUNDS):
        found = 0
        for url, handler in handlers().items():
            found += run_once(sqs, url, handler)
        if not found:
            return done
        done += found
    raise AssertionError("the queues never became empty")


def run_once(sqs: Any, url: str, handler: Any, *, keep: bool = False) -> int:
    """Give a function one batch of its queue; delete what it handled. How many messages there were.

    Args:
        sqs: the client.
        url: the queue.
        handler: its function.
        keep: leave the messages for redelivery, as if the function had died.
    """
    got = sqs.receive_message(
        QueueUrl=url, MaxNumberOfMessages=10, AttributeNames=["All"], VisibilityTimeout=0 if keep else 900
    ).get("Messages", [])
    if not got:
        return 0
    result = handler({"Records": [_record(url, message) for message in got]}, LambdaContext()) or {}
    failed = {item["itemIdentifier"] for item in result.get("batchItemFailures", [])}
    for message in got:
        if message["MessageId"] not in failed and not keep:
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    return len(got)


def _record(url: str, message: dict[str, Any]) -> dict[str, Any]:
    name = url.rsplit("/", 1)[1]
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": message["Attributes"],
        "messageAttributes": {},
        "md5OfBody": message["MD5OfBody"],
        "eventSource": "aws:sqs",
        "eventSourceARN": f"arn:aws:sqs:us-east-1:123456789012:{name}",
        "awsRegion": "us-east-1",
    }
