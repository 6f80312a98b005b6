"""Dead letters, and the way back."""

from __future__ import annotations

import boto3
import pytest

from chalicelib.settings import settings
from infra import admin
from infra.operating import redriving


@pytest.fixture
def letters():
    """Twelve messages that the clip queue has given up: more than one call receives."""
    client, dead = boto3.client("sqs"), f"{settings().clip_queue_url}-dead"
    client.purge_queue(QueueUrl=dead)
    bodies = {f"letter {number}" for number in range(12)}
    for body in bodies:
        client.send_message(QueueUrl=dead, MessageBody=body)
    yield bodies
    for url in (dead, settings().clip_queue_url):
        client.purge_queue(QueueUrl=url)


def do(*words):
    return admin.perform(vars(admin.parser().parse_args(words)))


def waiting(url):
    client, found = boto3.client("sqs"), set()
    while messages := client.receive_message(QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=0).get(
        "Messages", []
    ):
        found |= {message["Body"] for message in messages}
    return found


def test_they_are_counted_and_one_is_shown(letters):
    told = {line.split()[0]: line.split()[1:] for line in do("dead-letters").splitlines()}
    assert set(told) == set(redriving.QUEUES)
    assert told["clip"][0] == "12"
    assert " ".join(told["clip"][1:]) in letters


def test_redriven_they_wait_in_their_queue_again(letters):
    assert do("redrive", "clip") == "12 messages of clip are tried again."
    assert waiting(settings().clip_queue_url) == letters
    assert do("redrive", "clip") == "0 messages of clip are tried again."


def test_who_dies_on_the_way_loses_none(letters, monkeypatch):
    class Dying:
        """SQS, but the third deletion never gets there."""

        def __init__(self, client):
            self._client, self._left = client, 2

        def __getattr__(self, name):
            return getattr(self._client, name)

        def delete_message(self, **given):
            if self._left == 0:
                raise KeyboardInterrupt
            self._left -= 1
            return self._client.delete_message(**given)

    real = boto3.client("sqs")
    with monkeypatch.context() as patch:
        patch.setattr(redriving.boto3, "client", lambda _name: Dying(real))
        with pytest.raises(KeyboardInterrupt):
            redriving.redrive("clip")
    monkeypatch.setattr(redriving, "VISIBLE", 0)
    again = waiting(settings().clip_queue_url)
    assert len(again) == 3
    left = real.get_queue_attributes(
        QueueUrl=f"{settings().clip_queue_url}-dead",
        AttributeNames=["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
    )["Attributes"]
    assert sum(int(count) for count in left.values()) == 10
