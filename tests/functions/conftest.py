"""A queue in the place of the clip queue, and a text of each test's own."""

from __future__ import annotations

import json
import uuid

import pytest

from chalicelib.queues import client as sqs
from chalicelib.settings import settings
from functions import worker as worker_module
from functions.worker import BURIALS
from tests.functions.queue import Queue


@pytest.fixture
def text():
    return uuid.uuid4().hex


@pytest.fixture
def queue(monkeypatch):
    """A queue with dead letters, in the place of the clip queue."""
    name = f"test-{uuid.uuid4().hex}"
    dead = sqs().create_queue(QueueName=f"{name}-dead")["QueueUrl"]
    arn = sqs().get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    redrive = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": 3 + BURIALS})
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
