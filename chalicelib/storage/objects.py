"""Objects in S3: keys, ranges, presigned URLs, multipart uploads. S3's errors are translated here and go no further.

Three buckets: uploads (keys begin with `_uploads/`), media (`{organization}/{project}/…`), and views, which holds what
can be made again: bodies of large commits, snapshots, answers too large for the API.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.errors import BadInput, Conflict, NotFound, Unavailable
from chalicelib.settings import settings

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

UPLOADS = "_uploads/"
_MISSING = ("404", "NoSuchKey", "NoSuchBucket", "NotFound")
_CHANGED = ("412", "PreconditionFailed")
_COLD = "InvalidObjectState"


@lru_cache(maxsize=1)
def client() -> S3Client:
    """The client our own reads and writes go through."""
    config = Config(
        connect_timeout=2,
        read_timeout=30,
        retries={"max_attempts": 5, "mode": "standard"},
        # checksums of whole bodies cost ten times the upload; S3 checks MD5 of parts anyhow
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
        max_pool_connections=32,
    )
    return boto3.client("s3", endpoint_url=settings().aws_endpoint or None, config=config)


@lru_cache(maxsize=1)
def _presigner() -> S3Client:
    path_style = {"addressing_style": "path"} if settings().s3_endpoint else {}
    config = Config(signature_version="s3v4", s3=path_style, request_checksum_calculation="when_required")  # type: ignore[arg-type]
    return boto3.client("s3", endpoint_url=settings().s3_endpoint or None, config=config)


def bucket_of(key: str) -> str:
    """The bucket a key lies in."""
    return settings().upload_bucket if key.startswith(UPLOADS) else settings().media_bucket


def presign_get(key: str, seconds: int, *, bucket: str | None = None, headers: dict[str, str] | None = None) -> str:
    """A URL that anybody may read an object from for a while; `headers` are those of the answer it gives."""
    given = {"Bucket": bucket or bucket_of(key), "Key": key, **(headers or {})}
    return _presigner().generate_presigned_url("get_object", Params=given, ExpiresIn=seconds)


def presign_put(key: str, seconds: int) -> str:
    """A URL that anybody may write the object to for a while."""
    given = {"Bucket": bucket_of(key), "Key": key}
    return _presigner().generate_presigned_url("put_object", Params=given, ExpiresIn=seconds)


def presign_parts(key: str, parts: int, seconds: int) -> tuple[str, list[str]]:
    """A multipart upload begun, and a URL for each of its parts in order."""
    place: Any = {"Bucket": bucket_of(key), "Key": key}
    with _translated(key):
        upload = client().create_multipart_upload(**place)["UploadId"]
    sign = _presigner().generate_presigned_url
    urls = [
        sign("upload_part", Params={**place, "UploadId": upload, "PartNumber": number}, ExpiresIn=seconds)
        for number in range(1, parts + 1)
    ]
    return upload, urls


def begin(key: str) -> str:
    """Begin a multipart upload whose parts we put ourselves; its id."""
    with _translated(key):
        return client().create_multipart_upload(Bucket=bucket_of(key), Key=key)["UploadId"]


def put_part(key: str, upload: str, number: int, body: bytes) -> str:
    """Store a part of a multipart upload; its ETag."""
    with _translated(key):
        return client().upload_part(Bucket=bucket_of(key), Key=key, UploadId=upload, PartNumber=number, Body=body)[
            "ETag"
        ]


def abort(key: str, upload: str) -> None:
    """Give a multipart upload up; one that is over already is no error."""
    try:
        client().abort_multipart_upload(Bucket=bucket_of(key), Key=key, UploadId=upload)
    except ClientError as failure:
        if failure.response["Error"]["Code"] != "NoSuchUpload":
            raise Unavailable("The object store does not answer.", str(failure)) from failure
    except BotoCoreError as failure:
        raise Unavailable("The object store does not answer.", str(failure)) from failure


def complete(key: str, upload: str, parts: list[dict[str, Any]]) -> None:
    """Finish a multipart upload. Raises BadInput where S3 refuses its id, parts or ETags.

    Completing again what is complete already is not an error: the first answer may have been lost.
    """
    try:
        client().complete_multipart_upload(
            Bucket=bucket_of(key),
            Key=key,
            UploadId=upload,
            MultipartUpload={"Parts": parts},  # type: ignore[typeddict-item]
        )
    except ClientError as failure:
        code = failure.response["Error"]["Code"]
        if code == "NoSuchUpload" and size(key) is not None:
            return
        raise BadInput("The multipart upload could not be completed.", f"{code}: {failure}") from failure
    except BotoCoreError as failure:
        raise Unavailable("The object store does not answer.", str(failure)) from failure


def size(key: str, *, bucket: str | None = None) -> int | None:
    """The size of an object in bytes; None where there is none."""
    found = head(key, bucket=bucket)
    return found[0] if found else None


def head(key: str, *, bucket: str | None = None) -> tuple[int, str] | None:
    """The size in bytes and the ETag of an object; None where there is none."""
    try:
        found = client().head_object(Bucket=bucket or bucket_of(key), Key=key)
    except ClientError as failure:
        if failure.response["Error"]["Code"] in _MISSING:
            return None
        raise Unavailable("The object store does not answer.", str(failure)) from failure
    except BotoCoreError as failure:
        raise Unavailable("The object store does not answer.", str(failure)) from failure
    return found["ContentLength"], found["ETag"].strip('"')


def read(key: str, *, bucket: str | None = None) -> bytes:
    """A whole object. Raises NotFound where there is none."""
    with _translated(key):
        return client().get_object(Bucket=bucket or bucket_of(key), Key=key)["Body"].read()


def download(key: str, path: Path, *, bucket: str | None = None) -> None:
    """A whole object into a file, in parallel parts where it is large. Raises NotFound where there is none."""
    with _translated(key):
        client().download_file(bucket or bucket_of(key), key, str(path))


def read_range(key: str, offset: int, length: int, *, bucket: str | None = None, etag: str | None = None) -> bytes:
    """`length` bytes from `offset`, fewer at the end of the object.

    Raises:
        NotFound: there is none.
        Conflict: an ETag is given and the object has another by now.
    """
    given: Any = {"IfMatch": f'"{etag}"'} if etag else {}
    span = f"bytes={offset}-{offset + length - 1}"
    with _translated(key):
        return client().get_object(Bucket=bucket or bucket_of(key), Key=key, Range=span, **given)["Body"].read()


def copy(source: str, key: str, content_type: str) -> None:
    """Copy an object inside S3, in parts where it is large. Raises NotFound where there is none."""
    place: Any = {"Bucket": bucket_of(source), "Key": source}
    more = {"ContentType": content_type, "MetadataDirective": "REPLACE"}
    with _translated(source):
        client().copy(place, bucket_of(key), key, ExtraArgs=more)


def write(key: str, body: bytes | BinaryIO, content_type: str = "application/octet-stream", bucket: str = "") -> None:
    """Store an object, in one piece up to 100 MB and in parts above."""
    place = bucket or bucket_of(key)
    with _translated(key):
        if isinstance(body, bytes):
            client().put_object(Bucket=place, Key=key, Body=body, ContentType=content_type)
        else:
            client().upload_fileobj(body, place, key, ExtraArgs={"ContentType": content_type})


def join(key: str, pieces: list[str], content_type: str) -> None:
    """Make one object of several, in order, by copies inside S3 where its minimum part size allows.

    Parts of a multipart copy must have 5 MB except the last: smaller pieces are read and sent together.
    """
    sizes = {piece: size(piece) or 0 for piece in pieces}
    place: Any = {"Bucket": bucket_of(key), "Key": key}
    smallest = 5 * 1024 * 1024
    if sum(sizes.values()) <= smallest:
        write(key, b"".join(read(piece) for piece in pieces), content_type)
        return
    with _translated(key):
        upload = client().create_multipart_upload(**place, ContentType=content_type)["UploadId"]
        parts: list[dict[str, Any]] = []
        held = b""
        for index, piece in enumerate(pieces):
            number = len(parts) + 1
            if not held and sizes[piece] >= smallest:
                source: Any = {"Bucket": bucket_of(piece), "Key": piece}
                copied = client().upload_part_copy(**place, UploadId=upload, PartNumber=number, CopySource=source)
                parts.append({"ETag": copied["CopyPartResult"]["ETag"], "PartNumber": number})
                continue
            held += read(piece)
            if len(held) >= smallest or index == len(pieces) - 1:
                sent = client().upload_part(**place, UploadId=upload, PartNumber=number, Body=held)
                parts.append({"ETag": sent["ETag"], "PartNumber": number})
                held = b""
        client().complete_multipart_upload(**place, UploadId=upload, MultipartUpload={"Parts": parts})  # type: ignore[typeddict-item]


def remove(keys: Iterable[str], *, bucket: str | None = None) -> None:
    """Remove objects; those that are not there are no error."""
    wanted = list(keys)
    for start in range(0, len(wanted), 1000):
        part = wanted[start : start + 1000]
        place = bucket or bucket_of(part[0])
        with _translated(part[0]):
            client().delete_objects(Bucket=place, Delete={"Objects": [{"Key": key} for key in part], "Quiet": True})


def under(prefix: str, *, bucket: str | None = None) -> Iterator[str]:
    """The keys that begin with a prefix, in order."""
    pages = client().get_paginator("list_objects_v2").paginate(Bucket=bucket or bucket_of(prefix), Prefix=prefix)
    with _translated(prefix):
        for page in pages:
            yield from (found["Key"] for found in page.get("Contents", []))


def put_view_object(project: int, folder: str, body: bytes) -> str:
    """Store something of a project that can be made again; its key."""
    key = f"projects/{project}/{folder}/{uuid.uuid4().hex}"
    write(key, body, bucket=settings().views_bucket)
    return key


def get_view_object(key: str) -> bytes:
    """What `put_view_object` stored."""
    return read(key, bucket=settings().views_bucket)


def put_answer(body: bytes, content_type: str, encoding: str | None) -> str:
    """Store an answer too large for the API; a URL to it that lives for ten minutes."""
    key = f"answers/{uuid.uuid4().hex}"
    more: Any = {"ContentEncoding": encoding} if encoding else {}
    place = settings().views_bucket
    with _translated(key):
        client().put_object(Bucket=place, Key=key, Body=body, ContentType=content_type, **more)
    return presign_get(key, 600, bucket=place)


class _translated:  # noqa: N801 reads as a word in `with`
    """S3's errors as ours."""

    def __init__(self, key: str) -> None:
        self.key = key

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, kind: object, failure: BaseException | None, trace: object) -> None:
        if isinstance(failure, ClientError) and failure.response["Error"]["Code"] in _MISSING:
            raise NotFound.of("object", self.key) from failure
        if isinstance(failure, ClientError) and failure.response["Error"]["Code"] in _CHANGED:
            raise Conflict(f"The object {self.key} was replaced meanwhile.") from failure
        if isinstance(failure, ClientError) and failure.response["Error"]["Code"] == _COLD:
            raise Conflict(f"The object {self.key} is archived; set archive_state to to_live and wait.") from failure
        if isinstance(failure, ClientError | BotoCoreError):
            raise Unavailable("The object store does not answer.", str(failure)) from failure
