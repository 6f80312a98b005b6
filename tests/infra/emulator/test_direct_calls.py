"""Calls of S3 and SQS that are done without HTTP answer as those that moto does."""

import io

import boto3
import pytest
from botocore.exceptions import ClientError
from moto.s3.models import FakeKey

from infra.emulator import direct_calls
from infra.emulator.s3.contents import FILES
from infra.emulator.s3.signatures import byte_range

MEMBERS = (
    "ContentLength", "ContentRange", "ContentType", "ContentEncoding", "ETag", "Metadata", "LastModified",
    "ServerSideEncryption", "StorageClass",
)  # fmt: skip
ENCRYPTED = {"Rules": [{"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}]}


@pytest.fixture
def s3(aws):
    return boto3.client("s3")


@pytest.fixture(params=["plain", "encrypted"])
def bucket(s3, name, request):
    s3.create_bucket(Bucket=name)
    if request.param == "encrypted":
        s3.put_bucket_encryption(Bucket=name, ServerSideEncryptionConfiguration=ENCRYPTED)
    return name


@pytest.fixture
def both(monkeypatch):
    """Does a call in both ways, moto's second."""

    def both(call, **given):
        seen = []
        for calls in (direct_calls.CALLS, {}):
            monkeypatch.setattr(direct_calls, "CALLS", calls)
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


@pytest.fixture(params=["temporary files", "a directory"])
def contents(request, tmp_path):
    """Where contents lie."""
    if request.param == "a directory":
        FILES.open(tmp_path)
    yield
    FILES.directory = None


def test_a_range_of_an_object_is_read_by_blocks_whatever_its_class_and_encryption(
    aws, s3, bucket, contents, monkeypatch
):
    data = bytes(range(256)) * 16_384
    s3.put_object(Bucket=bucket, Key="k", Body=data, StorageClass="STANDARD_IA", ServerSideEncryption="AES256")
    monkeypatch.delattr(FakeKey, "value")
    got = s3.get_object(Bucket=bucket, Key="k", Range="bytes=300000-300009")
    assert got["Body"].read() == data[300_000:300_010]
    assert (got["StorageClass"], got["ServerSideEncryption"]) == ("STANDARD_IA", "AES256")


def test_objects_and_parts_are_copied_without_reading_them_into_memory(aws, s3, bucket, contents, monkeypatch):
    data = bytes(range(256)) * 30_000
    etag = s3.put_object(Bucket=bucket, Key="k", Body=data, ContentType="a/b")["ETag"]
    source = {"Bucket": bucket, "Key": "k"}
    value = FakeKey.__dict__["value"]
    monkeypatch.setattr(FakeKey, "value", property(None, value.fset))
    s3.copy_object(Bucket=bucket, Key="copy", CopySource=source)
    upload = s3.create_multipart_upload(Bucket=bucket, Key="joined")["UploadId"]
    into = {"Bucket": bucket, "Key": "joined", "UploadId": upload}
    spans = [{}, {"CopySourceRange": "bytes=5-5242890"}, {"CopySourceRange": "bytes=7-9"}]
    copied = [s3.upload_part_copy(**into, PartNumber=n, CopySource=source, **span) for n, span in enumerate(spans, 1)]
    parts = [{"PartNumber": n, "ETag": part["CopyPartResult"]["ETag"]} for n, part in enumerate(copied, 1)]
    s3.complete_multipart_upload(**into, MultipartUpload={"Parts": parts})
    s3.delete_object(**source)
    monkeypatch.undo()
    copied = s3.get_object(Bucket=bucket, Key="copy")
    assert (copied["Body"].read(), copied["ETag"], copied["ContentType"]) == (data, etag, "a/b")
    assert parts[0]["ETag"] == etag
    assert s3.get_object(Bucket=bucket, Key="joined")["Body"].read() == data + data[5:5_242_891] + data[7:10]


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


@pytest.mark.parametrize(
    ("header", "span"),
    [
        ("bytes=4000000000-4000000009", (4_000_000_000, 10)),
        ("bytes=4999999999-", (4_999_999_999, 1)),
        ("bytes=-5", (4_999_999_995, 5)),
        ("bytes=4999999990-9999999999", (4_999_999_990, 10)),
        ("bytes=-", None),
        ("bytes=1-2,5-6", None),
        ("bytes=x-2", None),
        ("bytes=9-2", None),
        ("items=1-2", None),
    ],
)
def test_ranges_of_large_objects_are_read(header, span):
    assert byte_range(header, 5_000_000_000) == span
