"""The queues and their pollers: Lambda's batches, failures, redelivery and dead letters."""

import json
import threading
import time

import boto3
import pytest

from chalicelib.settings import settings
from infra.local import service as local_service
from infra.local.background.queues import EventSourceMapping, Pollers, failures


@pytest.fixture
def sqs(aws):
    return boto3.client("sqs")


@pytest.fixture
def queue(sqs, name):
    url = sqs.create_queue(QueueName=name, Attributes={"VisibilityTimeout": "1"})["QueueUrl"]
    yield url
    sqs.delete_queue(QueueUrl=url)


@pytest.fixture
def poll():
    """Starts pollers that stop with the test."""
    running = []

    def start(url, handler, **options):
        pollers = Pollers([EventSourceMapping(queue_url=url, handler=handler, name="worker", **options)])
        pollers.start()
        running.append(pollers)
        return pollers

    yield start
    for pollers in running:
        assert pollers.stop(10)


class Recorder:
    """A queue function that notes what it was given, and when."""

    def __init__(self, act=lambda record: True):
        self.records, self.contexts, self.times, self.batches, self.act = [], [], [], [], act

    def __call__(self, event, context):
        self.times.append(time.perf_counter())
        self.batches.append(len(event["Records"]))
        self.contexts.append(context)
        self.records += event["Records"]
        failed = [record["messageId"] for record in event["Records"] if not self.act(record)]
        return {"batchItemFailures": [{"itemIdentifier": each} for each in failed]}

    @property
    def bodies(self):
        return [record["body"] for record in self.records]


def test_a_function_gets_what_lambda_would_give_it(sqs, queue, poll, name):
    recorder = Recorder()
    pollers = poll(queue, recorder, timeout=60, memory=512)
    attributes = {
        "kind": {"DataType": "String", "StringValue": "x"},
        "raw": {"DataType": "Binary", "BinaryValue": b"\x00"},
    }
    sent = sqs.send_message(QueueUrl=queue, MessageBody="hello", MessageAttributes=attributes)
    assert pollers.wait_until_idle(60)
    (record,), (context,) = recorder.records, recorder.contexts
    assert record["messageId"] == sent["MessageId"]
    assert record["body"] == "hello"
    assert record["md5OfBody"] == sent["MD5OfMessageBody"]
    assert record["eventSource"] == "aws:sqs"
    assert record["eventSourceARN"] == f"arn:aws:sqs:us-east-1:123456789012:{name}"
    assert record["awsRegion"] == "us-east-1"
    assert record["receiptHandle"]
    assert record["attributes"]["ApproximateReceiveCount"] == "1"
    assert set(record["attributes"]) == {
        "ApproximateReceiveCount", "SentTimestamp", "SenderId", "ApproximateFirstReceiveTimestamp",
    }  # fmt: skip
    assert record["messageAttributes"]["kind"] == {
        "stringValue": "x", "stringListValues": [], "binaryListValues": [], "dataType": "String",
    }  # fmt: skip
    assert record["messageAttributes"]["raw"]["binaryValue"] == "AA=="
    assert context.function_name == "worker"
    assert context.memory_limit_in_mb == 512
    assert context.invoked_function_arn.endswith(":function:worker")
    assert context.aws_request_id
    assert 50_000 < context.get_remaining_time_in_millis() <= 60_000


@pytest.mark.slow
def test_powertools_reports_partial_failures(sqs, queue, poll):
    from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response

    seen = []

    def one(record):
        seen.append(record.body)
        if record.body == "bad" and seen.count("bad") == 1:
            raise ValueError

    def handler(event, context):
        processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
        return process_partial_response(event=event, record_handler=one, processor=processor, context=context)

    pollers = poll(queue, handler, batch_size=10)
    entries = [{"Id": body, "MessageBody": body} for body in ("good", "bad")]
    sqs.send_message_batch(QueueUrl=queue, Entries=entries)
    assert pollers.wait_until_idle(60)
    assert sorted(seen) == ["bad", "bad", "good"]


@pytest.mark.slow
def test_a_failed_message_comes_back_alone_after_its_visibility_timeout(sqs, queue, poll):
    recorder = Recorder(
        lambda record: record["body"] != "bad" or record["attributes"]["ApproximateReceiveCount"] == "2"
    )
    entries = [{"Id": str(index), "MessageBody": body} for index, body in enumerate(["a", "bad", "b"])]
    sqs.send_message_batch(QueueUrl=queue, Entries=entries)
    pollers = poll(queue, recorder, batch_size=10, concurrency=1)
    assert pollers.wait_until_idle(60)
    assert recorder.bodies == ["a", "bad", "b", "bad"]
    assert recorder.times[1] - recorder.times[0] > 0.9


@pytest.mark.slow
def test_an_exception_fails_the_whole_batch(sqs, queue, poll):
    calls = []

    def handler(event, context):
        calls.append(len(event["Records"]))
        if len(calls) == 1:
            raise SystemExit

    sqs.send_message_batch(QueueUrl=queue, Entries=[{"Id": each, "MessageBody": each} for each in "ab"])
    pollers = poll(queue, handler, batch_size=10, concurrency=1)
    assert pollers.wait_until_idle(60)
    assert calls == [2, 2]


def test_what_fails_too_often_goes_to_the_dead_letter_queue(sqs, queue, poll, name):
    dead = sqs.create_queue(QueueName=f"{name}-dead")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    policy = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": 3})
    sqs.set_queue_attributes(QueueUrl=queue, Attributes={"RedrivePolicy": policy})
    recorder = Recorder(lambda record: False)
    pollers = poll(queue, recorder, visibility_timeout=0, concurrency=1)
    sqs.send_message(QueueUrl=queue, MessageBody="poison")
    assert pollers.wait_until_idle(60)
    counts = [record["attributes"]["ApproximateReceiveCount"] for record in recorder.records]
    assert counts == ["1", "2", "3"]
    (left,) = sqs.receive_message(QueueUrl=dead)["Messages"]
    assert left["Body"] == "poison"


@pytest.mark.slow
def test_a_delayed_message_waits(sqs, queue, poll):
    recorder = Recorder()
    pollers = poll(queue, recorder)
    start = time.perf_counter()
    sqs.send_message(QueueUrl=queue, MessageBody="later", DelaySeconds=1)
    sqs.send_message(QueueUrl=queue, MessageBody="now")
    assert pollers.wait_until_idle(60)
    assert recorder.bodies == ["now", "later"]
    assert recorder.times[1] - start > 0.95


def test_a_sent_message_is_worked_on_at_once(sqs, queue, poll):
    recorder = Recorder()
    pollers = poll(queue, recorder)
    waits = []
    for _ in range(20):
        time.sleep(0.01)
        sqs.send_message(QueueUrl=queue, MessageBody="x")
        sent = time.perf_counter()
        assert pollers.wait_until_idle(60)
        waits.append(recorder.times[-1] - sent)
    assert sorted(waits)[10] < 1  # a poll would take up to 20


def test_no_more_run_at_once_than_allowed_and_stopping_waits_for_them(sqs, queue, poll):
    running, most, done, lock = 0, 0, 0, threading.Lock()

    def handler(event, context):
        nonlocal running, most, done
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.1)
        with lock:
            running -= 1
            done += 1

    for _ in range(8):
        sqs.send_message(QueueUrl=queue, MessageBody="x")
    pollers = poll(queue, handler, concurrency=3)
    time.sleep(0.15)
    assert pollers.stop(5)
    finished = done
    assert running == 0
    assert most == 3
    time.sleep(0.1)
    assert 3 <= done == finished < 8


@pytest.mark.slow
def test_tenants_are_served_in_turn(sqs, queue, poll):
    began, go = threading.Event(), threading.Event()

    def wait(_):
        began.set()
        return go.wait(30)

    recorder = Recorder(wait)
    pollers = poll(queue, recorder, concurrency=1)
    for number in range(4):
        sqs.send_message(QueueUrl=queue, MessageBody=f"many {number}", MessageGroupId="a")
    assert began.wait(30)
    sqs.send_message(QueueUrl=queue, MessageBody="one", MessageGroupId="b")
    sqs.send_message(QueueUrl=queue, MessageBody="of the service")
    go.set()
    assert pollers.wait_until_idle(60)
    assert set(recorder.bodies[1:3]) == {"one", "of the service"}
    assert [body for body in recorder.bodies if "many" in body] == [f"many {number}" for number in range(4)]


def test_a_tenant_holds_no_more_than_its_share(sqs, queue, poll):
    go, second = threading.Event(), threading.Event()
    recorder = Recorder(lambda record: second.set() or True if record["body"] == "b" else go.wait(30))
    pollers = poll(queue, recorder, concurrency=2, share=1)
    for number in range(3):
        sqs.send_message(QueueUrl=queue, MessageBody=f"a{number}", MessageGroupId="a")
    sqs.send_message(QueueUrl=queue, MessageBody="b", MessageGroupId="b")
    assert second.wait(30)
    assert recorder.bodies == ["a0", "b"]
    go.set()
    assert pollers.wait_until_idle(60)
    assert recorder.bodies[2:] == ["a1", "a2"]


def test_a_message_that_runs_longer_than_its_visibility_timeout_is_delivered_again(sqs, queue, poll):
    def slow(event, context):
        calls.append(event["Records"][0]["attributes"]["ApproximateReceiveCount"])
        if len(calls) == 1:
            time.sleep(1.3)

    calls = []
    pollers = poll(queue, slow, concurrency=2)
    sqs.send_message(QueueUrl=queue, MessageBody="x")
    assert pollers.wait_until_idle(60)
    assert calls == ["1", "2"]


@pytest.mark.parametrize(
    ("answer", "failed"),
    [
        (None, set()), ("text", set()), ({}, set()), ({"batchItemFailures": []}, set()),
        ({"batchItemFailures": None}, set()), ({"batchItemFailures": [{"itemIdentifier": "a"}]}, {"a"}),
        ({"batchItemFailures": [{"itemIdentifier": ""}]}, {"a", "b"}), ({"batchItemFailures": [{}]}, {"a", "b"}),
        ({"batchItemFailures": [{"itemIdentifier": "other"}]}, {"a", "b"}), ({"batchItemFailures": "a"}, {"a", "b"}),
    ],
)  # fmt: skip
def test_answers_are_read_as_lambda_reads_them(answer, failed):
    assert failures(answer, {"a", "b"}) == failed


class TestClients:
    """What a client of SQS sees of the queues."""

    def test_a_long_poll_ends_with_the_message(self, sqs, queue):
        timer = threading.Timer(0.2, lambda: sqs.send_message(QueueUrl=queue, MessageBody="x"))
        timer.start()
        start = time.perf_counter()
        assert sqs.receive_message(QueueUrl=queue, WaitTimeSeconds=5)["Messages"]
        assert time.perf_counter() - start < 3  # of the 5 it would wait
        timer.join()

    def test_a_received_message_is_invisible_until_released(self, sqs, queue):
        sqs.send_message(QueueUrl=queue, MessageBody="x")
        (message,) = sqs.receive_message(QueueUrl=queue, VisibilityTimeout=30, AttributeNames=["All"])["Messages"]
        assert "Messages" not in sqs.receive_message(QueueUrl=queue)
        sqs.change_message_visibility(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=0)
        (again,) = sqs.receive_message(QueueUrl=queue, AttributeNames=["All"])["Messages"]
        assert again["Attributes"]["ApproximateReceiveCount"] == "2"
        sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
        sqs.delete_message(QueueUrl=queue, ReceiptHandle=again["ReceiptHandle"])
        counts = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["All"])["Attributes"]
        assert counts["ApproximateNumberOfMessages"] == counts["ApproximateNumberOfMessagesNotVisible"] == "0"

    def test_messages_are_counted(self, sqs, queue):
        for delay in (0, 0, 60):
            sqs.send_message(QueueUrl=queue, MessageBody="x", DelaySeconds=delay)
        sqs.receive_message(QueueUrl=queue)
        counts = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["All"])["Attributes"]
        assert [counts[f"ApproximateNumberOfMessages{kind}"] for kind in ("", "Delayed", "NotVisible")] == [
            "1",
            "1",
            "1",
        ]
        sqs.purge_queue(QueueUrl=queue)
        assert "Messages" not in sqs.receive_message(QueueUrl=queue)

    def test_an_unknown_receipt_handle_is_refused(self, sqs, queue):
        with pytest.raises(sqs.exceptions.ReceiptHandleIsInvalid):
            sqs.delete_message(QueueUrl=queue, ReceiptHandle="nonsense")

    @pytest.mark.slow
    def test_a_deep_queue_is_as_fast_as_an_empty_one(self, sqs, queue):
        def timed():
            times = []
            for _ in range(30):
                start = time.perf_counter()
                sqs.send_message(QueueUrl=queue, MessageBody="x")
                (message,) = sqs.receive_message(QueueUrl=queue)["Messages"]
                sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
                times.append(time.perf_counter() - start)
            return sorted(times)[15]

        before = timed()
        for start in range(0, 5000, 10):
            entries = [{"Id": str(index), "MessageBody": "x"} for index in range(start, start + 10)]
            sqs.send_message_batch(QueueUrl=queue, Entries=entries)
        assert timed() < 10 * before


def test_a_start_lets_the_locks_of_a_run_that_was_killed_end_and_keeps_that_it_died(aws):
    client, table = boto3.client("dynamodb"), settings().idempotency_table
    later = str(int(time.time() * 1000) + 900_000)
    row = {"id": {"S": "killed"}, "status": {"S": "INPROGRESS"}, "in_progress_expiration": {"N": later}}
    client.put_item(TableName=table, Item=row)
    local_service._release_locks()
    found = client.get_item(TableName=table, Key={"id": row["id"]})["Item"]
    client.delete_item(TableName=table, Key={"id": row["id"]})
    assert found == {**row, "in_progress_expiration": {"N": "1"}}
