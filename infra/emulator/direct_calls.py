"""The calls of S3 and SQS that the service makes most, done straight on moto's objects and queues.

As with DynamoDB, a call through botocore is signed, serialised, parsed and dispatched over layers of HTTP that is not
there, which takes 3 ms. Ranges are read from the object's file, where moto would load the whole object. Each function
takes a call's parameters and gives what botocore would have parsed from the answer, or None for anything out of the
ordinary: moto then handles the whole call with its own words.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from datetime import UTC
from typing import Any

from botocore.response import StreamingBody
from moto.core import DEFAULT_ACCOUNT_ID
from moto.core.exceptions import ServiceException
from moto.s3.models import ARCHIVE_STORAGE_CLASSES, FakeBucket, FakeKey, S3Backend, s3_backends
from moto.sqs.models import Message, sqs_backends

from infra.emulator import sqs
from infra.emulator.s3 import index as s3_index
from infra.emulator.s3.contents import BLOCK, Body, Reader
from infra.emulator.s3.objects import open_content
from infra.emulator.s3.signatures import Denied, byte_range
from infra.emulator.sqlite import database

Params = dict[str, Any]
Answer = dict[str, Any]
WHOLE = 4 * 1024 * 1024
"""Bytes of an answer up to which it is read at once."""
BATCH, BATCH_BYTES = 10, 262_144
_HEADERS = {
    "content-type": "ContentType",
    "content-encoding": "ContentEncoding",
    "content-disposition": "ContentDisposition",
    "content-language": "ContentLanguage",
    "cache-control": "CacheControl",
}
_GIVEN = {member: name.title() for name, member in _HEADERS.items()}
_STATE = {
    "x-amz-server-side-encryption": "ServerSideEncryption",
    "x-amz-server-side-encryption-aws-kms-key-id": "SSEKMSKeyId",
    "x-amz-storage-class": "StorageClass",
    "x-amz-restore": "Restore",
}
_META = "x-amz-meta-"


def get_object(params: Params, _: str) -> Answer | None:
    """GetObject, whole or a range."""
    if not params.keys() <= {"Bucket", "Key", "Range", "IfMatch"}:
        return None
    found = _find(params)
    if found is None:
        return None
    key, reader = found
    answer, start, length = _described(key), 0, key.size
    if "Range" in params:
        try:
            span = byte_range(params["Range"], key.size)
        except Denied:
            span = None
        if span is None:
            return None
        start, length = span
        answer["ContentRange"] = f"bytes {start}-{start + length - 1}/{key.size}"
    answer["ContentLength"] = length
    answer["Body"] = StreamingBody(_stream(reader, start, length), length)
    return answer


def head_object(params: Params, _: str) -> Answer | None:
    """HeadObject."""
    if params.keys() != {"Bucket", "Key"}:
        return None
    found = _find(params)
    if found is None:
        return None
    with found[1]:
        return _described(found[0])


def put_object(params: Params, _: str) -> Answer | None:
    """PutObject of bytes or a file, with the ordinary headers."""
    if not {"Bucket", "Key", "Body"} <= params.keys() <= {"Bucket", "Key", "Body", *_GIVEN}:
        return None
    store = _store()
    bucket, given = store.buckets.get(params["Bucket"]), params["Body"]
    if type(bucket) is not FakeBucket or bucket.is_versioned or bucket.notification_configuration:
        return None
    source = io.BytesIO(given) if isinstance(given, bytes | bytearray) else given
    if not hasattr(source, "read") or not hasattr(source, "seek") or source.tell():
        return None
    body = Body()
    try:
        while block := source.read(BLOCK):
            body.write(block)
    except BaseException:
        body.close()
        raise
    try:
        with s3_index.storing():
            key = store.put_object(params["Bucket"], params["Key"], body)
            key.set_metadata({_GIVEN[name]: value for name, value in params.items() if name in _GIVEN})
    except ServiceException:  # moto says it in its own way
        source.seek(0)
        return None
    return {"ETag": key.etag, **_state(key)}


def send_message(params: Params, region: str) -> Answer | None:
    """SendMessage of a plain body."""
    if not {"QueueUrl", "MessageBody"} <= params.keys() <= {"QueueUrl", "MessageBody", "DelaySeconds"}:
        return None
    sent = _send(params["QueueUrl"], region, [params])
    return {"MessageId": sent[0].id, "MD5OfMessageBody": sent[0].body_md5} if sent else None


def send_message_batch(params: Params, region: str) -> Answer | None:
    """SendMessageBatch of plain bodies."""
    entries = params.get("Entries", ())
    members = {"Id", "MessageBody", "DelaySeconds"}
    if params.keys() != {"QueueUrl", "Entries"} or not 0 < len(entries) <= BATCH:
        return None
    if any(not {"Id", "MessageBody"} <= entry.keys() <= members for entry in entries):
        return None
    size = sum(len(entry["MessageBody"].encode()) for entry in entries)
    if size > BATCH_BYTES or len({entry["Id"] for entry in entries}) < len(entries):
        return None
    sent = _send(params["QueueUrl"], region, entries)
    pairs = zip(entries, sent or (), strict=False)
    done = [
        {"Id": entry["Id"], "MessageId": message.id, "MD5OfMessageBody": message.body_md5} for entry, message in pairs
    ]
    return {"Successful": done} if done else None


CALLS: dict[tuple[str, str], Callable[[Params, str], Answer | None]] = {
    ("s3", "GetObject"): get_object,
    ("s3", "HeadObject"): head_object,
    ("s3", "PutObject"): put_object,
    ("sqs", "SendMessage"): send_message,
    ("sqs", "SendMessageBatch"): send_message_batch,
}


def _store() -> S3Backend:
    backend: S3Backend = s3_backends[DEFAULT_ACCOUNT_ID]["aws"]
    return backend


def _find(params: Params) -> tuple[FakeKey, Reader] | None:
    """An object that can be read as it is, and its reader."""
    store = _store()
    if type(store.buckets.get(params["Bucket"])) is not FakeBucket:
        return None
    found = open_content(store, params["Bucket"], params["Key"])
    if found is None:
        return None
    key, reader = found
    is_restored = 'ongoing-request="false"' in key.response_dict.get("x-amz-restore", "")
    if (key.storage_class in ARCHIVE_STORAGE_CLASSES and not is_restored) or params.get(
        "IfMatch", key.etag
    ) != key.etag:
        with reader:
            return None
    return key, reader


def _described(key: FakeKey) -> Answer:
    metadata = dict(key.metadata)
    answer = {
        "AcceptRanges": "bytes",
        "LastModified": key.last_modified.replace(microsecond=0, tzinfo=UTC),
        "ContentLength": key.size,
        "ETag": key.etag,
        "Metadata": {name.removeprefix(_META): text for name, text in metadata.items() if name.startswith(_META)},
    }
    return answer | {member: metadata[name] for name, member in _HEADERS.items() if name in metadata} | _state(key)


def _state(key: FakeKey) -> Answer:
    """How an object is stored."""
    headers = key.response_dict
    return {member: headers[name] for name, member in _STATE.items() if name in headers}


def _stream(reader: Reader, start: int, length: int) -> Any:
    if length > WHOLE:
        return io.BufferedReader(_Stream(reader, start, length), BLOCK)
    with reader:
        return io.BytesIO(b"".join(reader.blocks(start, length)))


class _Stream(io.RawIOBase):
    """A range of a content, read on demand."""

    def __init__(self, reader: Reader, start: int, length: int) -> None:
        self._reader = reader
        self._blocks: Iterator[bytes] = reader.blocks(start, length)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        if not self._rest:
            self._rest = memoryview(next(self._blocks, b""))
        taken = self._rest[: len(buffer)]
        buffer[: len(taken)] = taken
        self._rest = self._rest[len(taken) :]
        return len(taken)

    def close(self) -> None:
        if not self.closed:
            self._reader.__exit__()
        super().close()


def _send(url: str, region: str, entries: list[Params]) -> list[Message] | None:
    backend = sqs_backends[DEFAULT_ACCOUNT_ID][region]
    queue = backend.queues.get(url.rsplit("/", 1)[-1])
    if queue is None or queue.fifo_queue or not isinstance(queue._messages, sqs.MessageStore):  # noqa: SLF001 -- moto's name
        return None
    try:
        with database.current().transaction():
            return [
                sqs.send(backend, queue, entry["MessageBody"], delay_seconds=entry.get("DelaySeconds"))
                for entry in entries
            ]
    except ServiceException:  # moto says it in its own way
        return None
