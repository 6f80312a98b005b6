"""The promises of `functions/worker.py`, against moto's SQS and DynamoDB."""

from __future__ import annotations

import uuid

import pytest

from chalicelib import queues
from chalicelib.errors import BadInput, Unavailable
from chalicelib.queues import base
from chalicelib.resources.clips.messages import CutClip
from chalicelib.resources.transcodes.messages import PlanTranscode
from chalicelib.settings import settings
from functions import worker as worker_module
from functions.worker import BURIALS, Delivery, Died, GiveUp, Retry, worker
from tests.functions.queue import Context, Killed, Note


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


def test_what_a_handler_sends_is_of_the_tenant_of_its_message(queue, text):
    seen = []

    def handle(message, _):
        seen.append(base.tenant())
        if not message.number:
            queue.send(Note(text=text, number=1))

    with base.of_tenant("organization-7"):
        queue.send(Note(text=text))
    handler = worker({Note: handle})
    assert [queue.deliver(handler) for _ in range(2)] == [[], []]
    assert seen == ["organization-7", "organization-7"]
    assert base.tenant() is None


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
    queue.bury(handler, 4)
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
    queue.bury(handler)
    # who records it keeps the first reason
    assert poisoned[1:] == [(Note(text=text), str(Died()))] * BURIALS


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
    queue.bury(handler)


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
    queue.bury(handler)


@pytest.mark.parametrize("remembers", [True, False])
def test_a_message_whose_last_run_dies_is_recorded_by_a_delivery_without_a_run(queue, text, remembers):
    runs, poisoned = [], []

    def handle(_, delivery):
        runs.append(delivery.count)
        if delivery.is_last:
            raise Killed
        raise Unavailable("busy")

    handler = worker(
        {Note: handle},
        receives=3,
        first_pause=0,
        remembers=remembers,
        on_poison=lambda _, error: poisoned.append(error),
    )
    queue.send(Note(text=text))
    for _ in range(2):
        assert len(queue.deliver(handler)) == 1
    queue.die(handler)
    assert (runs, poisoned) == ([1, 2, 3], [])
    queue.bury(handler)
    assert runs == [1, 2, 3]
    assert [type(each) for each in poisoned] == [Died] * BURIALS


def test_a_message_that_another_run_finished_after_its_last_delivery_is_done(queue, text):
    poisoned = []
    handler = worker({Note: lambda *_: None}, receives=1, on_poison=lambda _, error: poisoned.append(error))
    queue.send(Note(text=text))
    batch = queue.receive()
    assert handler({"Records": [queue.record(each) for each in batch]}, Context())["batchItemFailures"] == []
    queue.return_all(batch)
    assert queue.deliver(handler) == []
    assert poisoned == []
    assert queue.waiting + queue.in_flight + queue.dead_letters == 0


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
