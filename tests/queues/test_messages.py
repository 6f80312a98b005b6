"""What a queue's body may be, and how messages get into a queue."""

from __future__ import annotations

import json
import uuid

import pytest
from botocore.exceptions import EndpointConnectionError

from chalicelib import queues
from chalicelib.core.time.retry import Retry
from chalicelib.errors import TooLarge, Unavailable
from chalicelib.queues import Message, Unreadable, sending
from chalicelib.queues import client as sqs
from chalicelib.resources.clips.messages import CutClip
from chalicelib.resources.email.messages import SendEmail
from chalicelib.resources.media.messages import ImportImage
from chalicelib.resources.transcodes.messages import AssembleTranscode, EncodePiece, PlanTranscode

KINDS = (PlanTranscode, EncodePiece, AssembleTranscode, ImportImage, CutClip, SendEmail)
EXAMPLES = (
    PlanTranscode(job="7f"),
    EncodePiece(job="7f", index=0),
    AssembleTranscode(job="7f"),
    ImportImage(media=4, url="https://example.org/cod.jpg"),
    CutClip(file=12),
    SendEmail(id="1", sender="a@b.cc", recipients=["c@d.ee"], subject="s", text="t"),
)


@pytest.fixture
def queue():
    url = sqs().create_queue(QueueName=f"test-{uuid.uuid4().hex}")["QueueUrl"]
    yield url
    sqs().delete_queue(QueueUrl=url)


def received(url):
    bodies = []
    while got := sqs().receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
        bodies += [message["Body"] for message in got]
    return [queues.decode(body, KINDS) for body in bodies]


@pytest.mark.parametrize("message", EXAMPLES, ids=lambda m: type(m).__name__)
def test_a_message_comes_out_as_it_went_in(message):
    assert queues.decode(queues.encode(message), KINDS) == message


def test_every_kind_has_a_tag_of_its_own_with_a_version():
    tags = [json.loads(queues.encode(message))["kind"] for message in EXAMPLES]
    assert len(set(tags)) == len(KINDS)
    assert all(tag.rpartition(".")[2].isdigit() for tag in tags)


def test_a_field_that_a_newer_sender_added_is_skipped():
    assert queues.decode('{"kind":"clip.1","file":3,"later":true}', KINDS) == CutClip(file=3)


@pytest.mark.parametrize(
    "body",
    ["", "{", "[]", "null", "{}", '{"kind":"clip.2","file":3}', '{"kind":"clip.1"}', '{"kind":"clip.1","file":"3"}'],
)
def test_anything_else_is_unreadable(body):
    with pytest.raises(Unreadable):
        queues.decode(body, KINDS)


def test_a_kind_that_is_not_expected_is_unreadable():
    with pytest.raises(Unreadable):
        queues.decode(queues.encode(CutClip(file=3)), [SendEmail])


def test_the_same_work_has_the_same_key_and_other_work_another():
    keys = {message.idempotency_key() for message in (*EXAMPLES, *EXAMPLES, EncodePiece(job="7f", index=1))}
    assert len(keys) == len(EXAMPLES) + 1


def test_a_mail_goes_by_its_id():
    given = {"sender": "a@b.cc", "recipients": ["c@d.ee"], "subject": "s"}
    first, other = SendEmail(id="1", text="t", **given), SendEmail(id="1", text="other", **given)
    assert first.idempotency_key() == other.idempotency_key()
    assert first.idempotency_key() != SendEmail(id="2", text="t", **given).idempotency_key()


def test_one_message_is_sent(queue):
    queues.send(queue, CutClip(file=3))
    assert received(queue) == [CutClip(file=3)]


def test_a_delayed_message_is_not_there_yet(queue):
    queues.send(queue, CutClip(file=3), delay=60)
    assert received(queue) == []
    with pytest.raises(ValueError, match="900"):
        queues.send(queue, CutClip(file=3), delay=901)


def test_many_messages_are_sent_each_once(queue):
    sent = [EncodePiece(job="7f", index=index) for index in range(37)]
    queues.send_many(queue, sent)
    assert sorted(message.index for message in received(queue)) == list(range(37))


def test_no_message_is_sent_for_none(queue):
    queues.send_many(queue, [])
    assert received(queue) == []


def test_batches_keep_to_the_limits_of_count_and_size():
    small = ["x"] * 23
    assert [len(batch) for batch in sending._batches(small)] == [10, 10, 3]
    large = ["x" * 100_000] * 5
    assert [len(batch) for batch in sending._batches(large)] == [2, 2, 1]
    assert [len(batch) for batch in sending._batches(["x" * queues.MAX_MESSAGE_BYTES, "y"])] == [1, 1]


def test_nothing_is_sent_when_one_message_is_too_large(queue):
    with pytest.raises(TooLarge):
        queues.send_many(queue, [CutClip(file=1), ImportImage(media=1, url="x" * queues.MAX_MESSAGE_BYTES)])
    assert received(queue) == []


class FailingSqs:
    """Refuses what it is told to, once each."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.sent = []

    def send_message_batch(self, *, QueueUrl, Entries):  # noqa: N803
        refused, fault = self.answers.pop(0) if self.answers else ((), False)
        failed = [entry["Id"] for entry in Entries if int(entry["Id"]) in refused]
        self.sent += [entry["MessageBody"] for entry in Entries if entry["Id"] not in failed]
        return {"Failed": [{"Id": each, "Code": "Throttled", "SenderFault": fault} for each in failed]}


@pytest.fixture
def failing(monkeypatch):
    monkeypatch.setattr(sending, "BUSY", Retry(most=10, first=0, longest=0))

    def install(*answers):
        fake = FailingSqs(*answers)
        monkeypatch.setattr(sending, "client", lambda: fake)
        return fake

    return install


def test_what_sqs_refused_of_a_batch_is_sent_again_and_only_that(failing):
    fake = failing(((1, 3), False), ((3,), False))
    queues.send_many("queue", [EncodePiece(job="7f", index=index) for index in range(5)])
    indices = [queues.decode(body, KINDS).index for body in fake.sent]
    assert indices == [0, 2, 4, 1, 3]


def test_what_sqs_refuses_for_good_is_said(failing):
    failing(*[((1,), False)] * 10)
    with pytest.raises(Unavailable, match="refused 1 of 3"):
        queues.send_many("queue", [CutClip(file=index) for index in range(3)])
    fake = failing(((0,), True))
    with pytest.raises(Unavailable):
        queues.send_many("queue", [CutClip(file=1)])
    assert fake.answers == []


def test_a_queue_that_does_not_answer_is_unavailable(monkeypatch):
    class Away:
        def send_message(self, **_):
            raise EndpointConnectionError(endpoint_url="https://sqs")

        send_message_batch = send_message

    monkeypatch.setattr(sending, "client", Away)
    with pytest.raises(Unavailable):
        queues.send("queue", CutClip(file=1))
    with pytest.raises(Unavailable):
        queues.send_many("queue", [CutClip(file=1)])


def test_a_kind_of_ones_own_is_read_beside_the_others():
    class Note(Message, frozen=True, kw_only=True, tag="note.1"):
        text: str

    assert queues.decode(queues.encode(Note(text="a")), [Note, CutClip]) == Note(text="a")
