"""A queue with dead letters, and what Lambda does with it."""

from __future__ import annotations

import time
from typing import Any

import pytest

from chalicelib import queues
from chalicelib.queues import Message
from chalicelib.queues import client as sqs
from functions.worker import BURIALS


class Note(Message, frozen=True, kw_only=True, tag="note.1"):
    """A message of the tests; each test's own text keeps it apart from the others'."""

    text: str
    number: int = 0


class Context:
    """What Lambda hands to a function."""

    function_name = "limn-test"
    memory_limit_in_mb = 128
    invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:limn-test"
    aws_request_id = "00000000-0000-0000-0000-000000000000"

    def __init__(self, seconds: float = 30.0) -> None:
        self._end = time.monotonic() + seconds

    def get_remaining_time_in_millis(self) -> int:
        return max(0, int((self._end - time.monotonic()) * 1000))


class Killed(BaseException):
    """Stands for SIGKILL: nothing of ours catches it."""


class Queue:
    """A queue, and what Lambda does with it."""

    def __init__(self, url: str, dead: str) -> None:
        self.url, self.dead = url, dead

    def send(self, *sent: Message) -> None:
        queues.send_many(self.url, sent)

    def put(self, body: str) -> None:
        sqs().send_message(QueueUrl=self.url, MessageBody=body)

    def receive(self) -> list[dict[str, Any]]:
        got = sqs().receive_message(QueueUrl=self.url, MaxNumberOfMessages=10, AttributeNames=["All"])
        return got.get("Messages", [])

    def deliver(self, handler, context=None) -> list[str]:
        """One batch to the function; what it did is deleted. The ids of what it reported as failed."""
        batch = self.receive()
        if not batch:
            return []
        answer = handler({"Records": [self.record(message) for message in batch]}, context or Context())
        failed = [item["itemIdentifier"] for item in answer["batchItemFailures"]]
        for message in batch:
            if message["MessageId"] not in failed:
                sqs().delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])
        return failed

    def die(self, handler) -> None:
        """One batch to a function that is killed: nothing is deleted, and its visibility time-out is over at once."""
        batch = self.receive()
        with pytest.raises(Killed):
            handler({"Records": [self.record(message) for message in batch]}, Context(seconds=0.02))
        time.sleep(0.05)  # what time the invocation had is over
        self.return_all(batch)

    def bury(self, handler, count: int = 1) -> None:
        """The deliveries after the last run, until the messages are dead letters."""
        for _ in range(BURIALS):
            assert len(self.deliver(handler)) == count
        assert self.deliver(handler) == []
        assert self.dead_letters == count

    def return_all(self, batch) -> None:
        for message in batch:
            sqs().change_message_visibility(
                QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=0
            )

    def record(self, message: dict[str, Any]) -> dict[str, Any]:
        return {
            "messageId": message["MessageId"],
            "receiptHandle": message["ReceiptHandle"],
            "body": message["Body"],
            "attributes": message["Attributes"],
            "messageAttributes": {},
            "md5OfBody": message["MD5OfBody"],
            "eventSource": "aws:sqs",
            "eventSourceARN": f"arn:aws:sqs:us-east-1:123456789012:{self.url.rpartition('/')[2]}",
            "awsRegion": "us-east-1",
        }

    @property
    def waiting(self) -> int:
        return self._count(self.url, "ApproximateNumberOfMessages")

    @property
    def in_flight(self) -> int:
        return self._count(self.url, "ApproximateNumberOfMessagesNotVisible")

    @property
    def dead_letters(self) -> int:
        return self._count(self.dead, "ApproximateNumberOfMessages")

    def _count(self, url: str, name: str) -> int:
        return int(sqs().get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"][name])
