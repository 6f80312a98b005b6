"""Calls of S3 and SQS that are done without HTTP answer as those that moto does."""

import io

import boto3
import pytest
from botocore.exceptions import ClientError

from infra.local import shortcuts

MEMBERS = ("ContentLength", "ContentRange", "ContentType", "ContentEncoding", "ETag", "Metadata", "LastModified")


@pytest.fixture
def s3(aws):
    return boto3.client("s3")


@pytest.fixture
def bucket(s3, name):
    s3.create_bucket(Bucket=name)
    return name


@pytest.fixture
def both(monkeypatch):
    """Does a call in both ways, moto's second."""

    def both(call, **given):
        seen = []
        for calls in (shortcuts.CALLS, {}):
            monkeypatch.setattr(shortcuts, "CALLS", calls)
            answer = call(**given)
            assert bool(answer["ResponseMetadata"]["HTTPHeaders"]) != bool(calls)
            body = answer["Body"].read() if "Body" in answer else b""
            seen.append([{name: answer.get(name) for name in MEMBERS}, body])
        return seen

    return both


@pytest.mark.parametrize("span", [None, "bytes=0-9", "bytes=5-5", "bytes=90-200", "bytes=-7", "bytes=50-"])
def test_an_object_is_read_alike(s3, bucket, both, span):
    s3.put_object(Bucket=bucket, Key="k", Body=bytes(range(100)), ContentType="a/b", ContentEncoding="x")
    ours, theirs = both(s3.get_object, Bucket=bucket, Key="k", **({"Range": span} if span else {}))
    assert ours == theirs
    ours, theirs = both(s3.head_object, Bucket=bucket, Key="k")
    assert ours == theirs


@pytest.mark.parametrize("given", [b"abc", io.BytesIO(b"x" * 6_000_000)], ids=["bytes", "a file"])
def test_an_object_is_written_alike(s3, bucket, both, given):
    before = len(given) if isinstance(given, bytes) else 6_000_000
    ours, theirs = both(lambda **more: (getattr(given, "seek", id)(0), s3.put_object(**more))[1],
                        Bucket=bucket, Key="k", Body=given, ContentType="a/b")  # fmt: skip
    assert ours[0]["ETag"] == theirs[0]["ETag"]
    assert s3.get_object(Bucket=bucket, Key="k")["ContentLength"] == before


def test_a_large_object_is_read_piece_by_piece(s3, bucket):
    data = bytes(range(256)) * 40_000
    s3.put_object(Bucket=bucket, Key="k", Body=data)
    body = s3.get_object(Bucket=bucket, Key="k", Range="bytes=3-")["Body"]
    assert b"".join(body.iter_chunks(70_001)) == data[3:]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"Key": "none"}, "NoSuchKey"),
        ({"Key": "k", "IfMatch": '"other"'}, "PreconditionFailed"),
        ({"Key": "k", "Range": "bytes=100-200"}, "InvalidRange"),
        ({"Key": "k", "Bucket": "no-such-bucket"}, "NoSuchBucket"),
    ],
)
def test_refusals_are_those_of_moto(s3, bucket, given, code):
    s3.put_object(Bucket=bucket, Key="k", Body=b"abc")
    with pytest.raises(ClientError) as refused:
        s3.get_object(**{"Bucket": bucket, **given})
    assert refused.value.response["Error"]["Code"] == code


def test_messages_are_sent_alike(aws, name):
    sqs = boto3.client("sqs")
    queue = sqs.create_queue(QueueName=name)["QueueUrl"]
    sent = sqs.send_message(QueueUrl=queue, MessageBody="a", DelaySeconds=0)
    batch = sqs.send_message_batch(
        QueueUrl=queue, Entries=[{"Id": each, "MessageBody": each * 3} for each in ("b", "c")]
    )
    assert [each["Id"] for each in batch["Successful"]] == ["b", "c"]
    received = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10)["Messages"]
    assert [each["Body"] for each in received] == ["a", "bbb", "ccc"]
    assert received[0]["MessageId"] == sent["MessageId"]
    assert received[0]["MD5OfBody"] == sent["MD5OfMessageBody"]
    with pytest.raises(ClientError, match="DelaySeconds"):
        sqs.send_message(QueueUrl=queue, MessageBody="a", DelaySeconds=901)
    with pytest.raises(ClientError, match="must be shorter"):
        sqs.send_message(QueueUrl=queue, MessageBody="a" * 1_100_000)
