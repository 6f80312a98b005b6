"""The runner of queues in tests ends when they are empty, and fails when they never are."""

from __future__ import annotations

import uuid
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from chalicelib.queues import client as sqs
from tests import queue_runner


@pytest.fixture
def queue(monkeypatch):
    """A queue, and what its function does with a message's body."""
    url = sqs().create_queue(QueueName=f"test-{uuid.uuid4().hex}")["QueueUrl"]
    monkeypatch.setattr(queue_runner, "ROUNDS_WITHOUT_PROGRESS", 5)
    monkeypatch.setattr(queue_runner, "RECORDER", SimpleNamespace(acting=nullcontext))  # there is no such function
    run = {}

    def handle(event, _):
        for record in event["Records"]:
            run["body"](record["body"])

    monkeypatch.setattr(queue_runner, "handlers", lambda: {url: handle})

    def start(body):
        run["body"] = body
        return url

    yield start
    sqs().delete_queue(QueueUrl=url)


def test_more_messages_than_rounds_without_progress_are_all_run(queue):
    done = []
    url = queue(done.append)
    for number in range(20):
        sqs().send_message(QueueUrl=url, MessageBody=str(number))
    assert queue_runner.drain() == 20
    assert sorted(done, key=int) == [str(number) for number in range(20)]


def test_messages_that_send_others_are_run_with_those(queue):
    def spread(body):
        for _ in range(3 if int(body) > 0 else 0):
            sqs().send_message(QueueUrl=url, MessageBody=str(int(body) - 1))

    url = queue(spread)
    sqs().send_message(QueueUrl=url, MessageBody="1")
    assert queue_runner.drain() == 4


@pytest.mark.parametrize("others", [0, 20])
def test_a_message_that_sends_itself_again_for_ever_fails_the_test(queue, others):
    def again(body):
        if body == "again":
            sqs().send_message(QueueUrl=url, MessageBody=body)

    url = queue(again)
    for body in ["again", *["once"] * others]:
        sqs().send_message(QueueUrl=url, MessageBody=body)
    with pytest.raises(AssertionError, match="never became empty"):
        queue_runner.drain()
