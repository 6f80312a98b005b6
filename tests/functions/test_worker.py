"""The promises of `functions/worker.py`, against moto's SQS and DynamoDB."""

from __future__ import annotations

import json
import time
import uuid
from typing import Any

import pytest

from chalicelib import queues
from chalicelib.errors import BadInput, Unavailable
from chalicelib.queues import Message
from chalicelib.queues import client as sqs
from chalicelib.resources.clips.messages import CutClip
from chalicelib.resources.transcodes.messages import PlanTranscode
from chalicelib.settings import settings
from functions import worker as worker_module
from functions.worker import Delivery, Died, GiveUp, Retry, worker


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


@pytest.fixture
def text():
    return uuid.uuid4().hex


@pytest.fixture
def queue(monkeypatch):
    """A queue with dead letters, in the place of the clip queue."""
    name = f"test-{uuid.uuid4().hex}"
    dead = sqs().create_queue(QueueName=f"{name}-dead")["QueueUrl"]
    arn = sqs().get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    redrive = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": 3})
    url = sqs().create_queue(QueueName=name, Attributes={"RedrivePolicy": redrive, "VisibilityTimeout": "60"})[
        "QueueUrl"
    ]
    known = settings()
    monkeypatch.setattr(worker_module, "settings", lambda: _Known(known, url))
    yield Queue(url, dead)
    sqs().delete_queue(QueueUrl=url)
    sqs().delete_queue(QueueUrl=dead)


class _Known:
    def __init__(self, known, url):
        self._known, self.clip_queue_url = known, url

    def __getattr__(self, name):
        return getattr(self._known, name)


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


def test_a_handler_gets_its_message_and_how_it_was_delivered(queue, text):
    seen = []
    handler = worker({Note: lambda *given: seen.append(given)}, receives=3)
    queue.send(Note(text=text))
    assert queue.deliver(handler) == []
    [(message, delivery)] = seen
    assert message == Note(text=text)
    assert isinstance(delivery, Delivery)
    assert (delivery.count, delivery.receives, delivery.is_last) == (1, 3, False)
    assert delivery.queue_url == queue.url
    assert 25 < delivery.seconds_left() <= 30
    assert queue.waiting + queue.in_flight == 0


def test_each_kind_goes_to_its_own_handler(queue, text):
    notes, clips = [], []
    handler = worker({Note: lambda m, _: notes.append(m), CutClip: lambda m, _: clips.append(m)})
    file = uuid.uuid4().int % 10**12
    queue.send(Note(text=text), CutClip(file=file))
    queue.deliver(handler)
    assert notes == [Note(text=text)]
    assert clips == [CutClip(file=file)]


def test_one_failure_in_a_batch_does_not_touch_the_others(queue, text):
    done = []

    def handle(message, _):
        if message.number == 1:
            raise Unavailable("no")
        done.append(message.number)

    queue.send(*(Note(text=text, number=number) for number in range(3)))
    assert len(queue.deliver(worker({Note: handle}, receives=3))) == 1
    assert sorted(done) == [0, 2]
    assert queue.waiting + queue.in_flight == 1


def test_what_is_done_is_not_done_again(queue, text):
    done = []
    handler = worker({Note: lambda m, _: done.append(m)})
    queue.send(Note(text=text), Note(text=text))
    queue.deliver(handler)
    queue.send(Note(text=text))
    assert queue.deliver(handler) == []
    assert len(done) == 1
    assert queue.waiting + queue.in_flight == 0


def test_a_message_killed_midway_is_done_on_redelivery(queue, text):
    runs = []

    def handle(_, delivery):
        runs.append(delivery.count)
        if delivery.count == 1:
            raise Killed

    handler = worker({Note: handle}, receives=3)
    queue.send(Note(text=text))
    queue.die(handler)
    assert queue.deliver(handler) == []
    assert runs == [1, 2]


def test_a_message_that_is_being_done_elsewhere_waits(queue, text):
    runs = []
    poisoned = []

    def handle(_, delivery):
        runs.append(delivery.count)
        raise Killed

    handler = worker({Note: handle}, receives=2, on_poison=lambda *given: poisoned.append(given))
    queue.send(Note(text=text))
    batch = queue.receive()
    with pytest.raises(Killed):
        handler({"Records": [queue.record(message) for message in batch]}, Context(seconds=60))
    queue.return_all(batch)
    assert len(queue.deliver(handler)) == 1
    assert runs == [1]
    assert poisoned == []
    assert queue.in_flight == 1  # until the first run's time is over


def test_not_yet_comes_back_when_it_said(queue, text):
    tries = []

    def handle(_, delivery):
        tries.append(delivery.count)
        if delivery.count == 1:
            raise Retry(after=0)
        if delivery.count == 2:
            raise Retry("later", after=600)

    handler = worker({Note: handle}, receives=3)
    queue.send(Note(text=text))
    assert len(queue.deliver(handler)) == 1
    assert queue.waiting == 1
    assert len(queue.deliver(handler)) == 1
    assert (queue.waiting, queue.in_flight) == (0, 1)
    assert tries == [1, 2]


def test_pauses_grow_with_each_delivery_and_are_spread(queue, text, monkeypatch):
    pauses = []
    monkeypatch.setattr(Delivery, "come_back", lambda _, seconds: pauses.append(seconds))

    def fail(*_):
        raise Unavailable("down")

    handler = worker({Note: fail}, receives=100)
    for count in (1, 2, 3, 4, 40):
        event = {
            "messageId": "m",
            "receiptHandle": "r",
            "body": queues.encode(Note(text=text)),
            "attributes": {"ApproximateReceiveCount": str(count)},
            "eventSource": "aws:sqs",
            "eventSourceARN": "arn:aws:sqs:us-east-1:123456789012:q",
        }
        handler({"Records": [event]}, Context())
    assert [1 <= pauses[0] <= 2, 2 <= pauses[1] <= 4, 4 <= pauses[2] <= 8, 8 <= pauses[3] <= 16] == [True] * 4
    assert 450 <= pauses[4] <= 900


def test_an_unreadable_message_moves_to_the_dead_letters_unseen(queue):
    seen = []
    handler = worker({Note: lambda m, _: seen.append(m)}, receives=3)
    for body in ("no JSON", '{"kind": "else.1"}', '{"kind": "note.1"}', "[]"):
        queue.put(body)
    for _ in range(3):
        assert len(queue.deliver(handler)) == 4
    assert queue.deliver(handler) == []
    assert queue.dead_letters == 4
    assert seen == []


def test_at_the_last_delivery_the_failure_is_recorded_and_the_message_kept(queue, text):
    poisoned = []

    def fail(*_):
        raise Unavailable("the disk is full")

    handler = worker(
        {Note: fail}, receives=3, first_pause=0, on_poison=lambda message, error: poisoned.append((message, str(error)))
    )
    queue.send(Note(text=text))
    for count in range(1, 4):
        assert poisoned == []
        assert len(queue.deliver(handler)) == 1, count
    assert poisoned == [(Note(text=text), "the disk is full")]
    assert queue.deliver(handler) == []
    assert queue.dead_letters == 1


@pytest.mark.parametrize("error", [GiveUp("not a video"), BadInput("not a video")], ids=lambda e: type(e).__name__)
def test_what_cannot_be_done_is_recorded_at_once_and_not_tried_again(queue, text, error):
    poisoned = []
    tries = []

    def fail(*_):
        tries.append(1)
        raise error

    handler = worker({Note: fail}, on_poison=lambda _, reason: poisoned.append(str(reason)))
    queue.send(Note(text=text))
    assert queue.deliver(handler) == []
    assert poisoned == ["not a video"]
    assert len(tries) == 1
    assert queue.waiting + queue.in_flight + queue.dead_letters == 0


def test_what_cannot_be_done_moves_to_the_dead_letters_where_nobody_records_it(queue, text):
    def fail(*_):
        raise GiveUp("refused")

    handler = worker({Note: fail}, receives=3)
    queue.send(Note(text=text))
    for _ in range(3):
        queue.deliver(handler)
    assert queue.deliver(handler) == []
    assert queue.dead_letters == 1


def test_a_failure_that_cannot_be_recorded_is_tried_again(queue, text):
    def fail(*_):
        raise GiveUp("bad")

    def broken(*_):
        raise RuntimeError("no table")

    handler = worker({Note: fail}, receives=3, on_poison=broken)
    queue.send(Note(text=text))
    assert len(queue.deliver(handler)) == 1
    assert queue.waiting == 1


def test_a_message_that_kills_its_function_each_time_is_recorded_without_another_run(queue, text):
    runs = []
    poisoned = []

    def handle(_, delivery):
        runs.append(delivery.count)
        raise Killed

    handler = worker({Note: handle}, receives=3, on_poison=lambda _, error: poisoned.append(error))
    queue.send(Note(text=text))
    queue.die(handler)
    queue.die(handler)
    assert len(queue.deliver(handler)) == 1
    assert runs == [1, 2]
    [error] = poisoned
    assert isinstance(error, Died)
    assert queue.deliver(handler) == []
    assert queue.dead_letters == 1


def test_a_whole_batch_that_fails_is_reported_message_by_message(queue, text):
    def fail(*_):
        raise Unavailable("down")

    queue.send(*(Note(text=text, number=number) for number in range(4)))
    assert len(queue.deliver(worker({Note: fail}))) == 4


def test_a_message_of_another_queue_is_not_taken_for_ours(queue):
    queue.send(PlanTranscode(job="1"))
    assert len(queue.deliver(worker({Note: lambda *_: None}))) == 1


def test_work_that_failed_may_be_done_later(queue, text):
    tries = []

    def handle(_, delivery):
        tries.append(delivery.count)
        if delivery.count == 1:
            raise RuntimeError("a bug, fixed meanwhile")

    handler = worker({Note: handle}, first_pause=0)
    queue.send(Note(text=text))
    queue.deliver(handler)
    assert queue.deliver(handler) == []
    assert tries == [1, 2]


@pytest.mark.parametrize("name", ["transcode", "clip", "email", "purge"])
def test_the_url_of_every_queue_of_ours_is_known_by_its_arn(name):
    found = worker_module._queue_url(f"arn:aws:sqs:us-east-1:123456789012:limn-local-{name}")
    assert found == getattr(settings(), f"{name}_queue_url")
