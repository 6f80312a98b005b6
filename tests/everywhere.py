"""Everything that is stored, as bytes to be searched: rows of all tables, objects of all buckets, waiting messages.

Other tests of the process leave archived and damaged objects behind: what cannot be read, or opened, is passed over.
"""

from __future__ import annotations

import gzip
import io
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import boto3
import duckdb

from infra.emulator import aws
from infra.emulator.sqs import messages_of
from infra.local.background.queues import queue_of
from tests.queue_runner import handlers

_KEYS = ("pk", "sk", "id", "organization", "project", "number", "seq")
LARGEST = 2**28
"""Bytes of a member of an archive that is opened: hostile ones unpack to more."""


def find(text: str) -> list[str]:
    """Where a text is stored, in any case, also inside what is compressed, packed or Parquet."""
    wanted = text.casefold().encode()
    return sorted({place for place, body in _bodies() for plain in _opened(body) if wanted in plain.lower()})


def _bodies() -> Iterator[tuple[str, bytes]]:
    yield from _of_tables()
    yield from _of_buckets()
    for url in handlers():
        for message in messages_of(queue_of(url, aws.REGION)):
            yield url, str(message.body).encode()


def _of_tables() -> Iterator[tuple[str, bytes]]:
    client = boto3.client("dynamodb")
    for table in client.list_tables()["TableNames"]:
        for page in client.get_paginator("scan").paginate(TableName=table):
            for row in page["Items"]:
                key = " ".join(str(next(iter(row[name].values()))) for name in _KEYS if name in row)
                for name, typed in row.items():
                    (value,) = typed.values()
                    yield f"{table} {key} {name}", value if isinstance(value, bytes) else str(value).encode()


def _of_buckets() -> Iterator[tuple[str, bytes]]:
    client = boto3.client("s3")
    for bucket in client.list_buckets()["Buckets"]:
        for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket["Name"]):
            for found in page.get("Contents", ()):
                place = f"{bucket['Name']} {found['Key']}"
                yield place, found["Key"].encode()
                if found["StorageClass"] == "STANDARD":
                    with suppress(FileNotFoundError):  # of a test whose folder is gone
                        yield place, client.get_object(Bucket=bucket["Name"], Key=found["Key"])["Body"].read()


def _opened(body: bytes) -> Iterator[bytes]:
    """A body, and what is in it."""
    yield body
    with suppress(
        OSError, EOFError, RuntimeError, ValueError, duckdb.Error, tarfile.TarError, zipfile.BadZipFile, zlib.error
    ):
        yield from _parts(body)


def _parts(body: bytes) -> Iterator[bytes]:
    if body[:4] == b"PAR1":
        yield _parquet(body)
    elif body[:2] == b"\x1f\x8b":
        yield from _opened(gzip.decompress(body))
    elif body[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            for member in archive.infolist():
                yield member.filename.encode()
                if member.file_size < LARGEST:
                    yield from _opened(archive.read(member))
    elif body[257:262] == b"ustar":
        with tarfile.open(fileobj=io.BytesIO(body)) as archive:
            for each in archive:
                yield from _opened(file.read() if (file := archive.extractfile(each)) else b"")
    elif body[:1] == b"\x78":
        yield zlib.decompress(body)


def _parquet(body: bytes) -> bytes:
    with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
        Path(file.name).write_bytes(body)
        rows: list[Any] = duckdb.sql(f"SELECT * FROM read_parquet('{file.name}')").fetchall()
    return b"\n".join(part for row in rows for value in row for part in _texts(value))


def _texts(value: Any) -> Iterator[bytes]:
    if isinstance(value, bytes):
        yield from _opened(value)
    else:
        yield str(value).encode()
