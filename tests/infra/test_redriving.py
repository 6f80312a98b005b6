"""Dead letters, and the way back."""

from __future__ import annotations

import boto3
import pytest

from chalicelib.queues import decode, encode
from chalicelib.queues.base import within
from chalicelib.resources.exports import joining
from chalicelib.resources.transcodes import steps as transcodes_steps
from chalicelib.resources.transcodes.messages import EncodePiece, PlanTranscode
from chalicelib.settings import settings
from infra import admin
from infra.operating import redriving
from infra.operating.reopening import anew
from tests.resources.transcodes.test_transcodes import media_type, transcode, video


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


@pytest.fixture
def given_up(api, monkeypatch):
    """Runs die at their last delivery, and what they were about is a dead letter."""

    def give_up(queue, dying):
        """Deliver what waits, where a run that reaches a function of the service dies each time."""
        url = getattr(settings(), f"{queue}_queue_url")

        def die(*_args, **_more):
            raise SystemError("killed")

        with monkeypatch.context() as patch:
            patch.setattr("functions.worker._Attempt._pause", lambda _: 0)
            patch.setattr(*dying, die)
            api.drain()
        return url

    yield give_up
    for name in redriving.QUEUES:
        boto3.client("sqs").purge_queue(QueueUrl=f"{getattr(settings(), f'{name}_queue_url')}-dead")


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


def test_one_piece_of_work_is_requeued_by_its_id(letters):
    client, dead = boto3.client("sqs"), f"{settings().clip_queue_url}-dead"
    client.send_message(QueueUrl=dead, MessageBody='{"kind":"clip.cut.1","uid":"one"}')
    client.send_message(QueueUrl=dead, MessageBody='{"kind":"clip.cut.1","uid":"one more"}')
    assert do("requeue", "one") == "1 messages about one are tried again."
    assert waiting(settings().clip_queue_url) == {'{"kind":"clip.cut.1","uid":"one"}'}
    with pytest.raises(admin.Refused, match="no dead letter is about 'none'"):
        do("requeue", "none")


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


@pytest.mark.slow
def test_a_transcode_that_was_given_up_is_done_anew(api, project, given_up):
    said = transcode(api, project, media_type(project), video(30))
    given_up("transcode", (transcodes_steps, "encode_piece"))
    path = f"Transcode/{said.json['id']}"
    assert api.get(path).json["job"]["status"] == "failed"
    assert api.get("HealthCheckFull").status == 503
    assert "messages of transcode are tried again." in do("redrive", "all")
    assert (api.get(path).json["job"]["status"], api.get(path).json["job"]["message"]) == ("pending", None)
    api.drain()
    assert (api.get(path).json["job"]["status"], api.get(path).json["job"]["message"]) == ("succeeded", None)
    assert api.get(f"Media/{said.json['media_id']}").json["import_error"] is None
    assert api.get("HealthCheckFull").status == 200


def test_an_export_that_was_given_up_is_done_anew(api, project, given_up):
    media_type(project)
    uid = api.made(f"Exports/{project}", {"format": "coco"})
    given_up("dataset", (joining, "_body"))
    assert api.get(f"Export/{uid}").json["status"] == "failed"
    do("redrive", "dataset")
    api.drain()
    assert (api.get(f"Export/{uid}").json["status"], api.get(f"Export/{uid}").json["message"]) == ("succeeded", "")


def test_a_generation_is_that_of_the_letter_and_of_all_that_follows_from_it():
    body = encode(PlanTranscode(job="none"))
    queue, again = anew("transcode", body, "letter")
    assert (queue, decode(again, [PlanTranscode]).generation) == ("transcode", "letter")
    assert "generation" not in body
    with within(decode(again, [PlanTranscode])):
        assert decode(encode(EncodePiece(job="none", index=0)), [EncodePiece]).generation == "letter"
    assert anew("clip", "no message", "letter") == ("clip", "no message")
