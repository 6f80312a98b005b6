"""A bucket of S3 or of a compatible store: MinIO, VAST, OCI and others. S3's errors become LimnErrors."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import urlsplit

import boto3
import urllib3
from botocore.awsrequest import AWSPreparedRequest, AWSResponse, HeadersDict
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, EndpointConnectionError

from chalicelib.core.keys import object_keys
from chalicelib.core.keys.object_keys import ObjectKey, ObjectPrefix
from chalicelib.core.resource import timestamp
from chalicelib.core.web import origins
from chalicelib.errors import BadInput, Conflict, NotFound, Unavailable
from chalicelib.settings import settings
from chalicelib.storage import outbound, signing
from chalicelib.storage.objects.protocol import Listed
from chalicelib.storage.store_answers import (
    ANSWER_SECONDS,
    SLOWEST_BYTES,
    check_time,
    largest_answer,
    no_answer,
    too_much,
)

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

    from chalicelib.storage.objects.protocol import ObjectStore, Parts

_MISSING = ("404", "NoSuchKey", "NoSuchBucket", "NotFound")
_CHANGED = ("412", "PreconditionFailed")
_RESTORED_DAYS = 7
"""Days that S3 keeps a restored copy, which is until the object has been rewritten."""
_COLD = "InvalidObjectState"
_AMAZON = ".amazonaws.com"


@lru_cache(maxsize=1)
def client() -> S3Client:
    """The client for the service's own reads and writes."""
    return boto3.client("s3", endpoint_url=settings().aws_endpoint or None, config=_config())


@lru_cache(maxsize=1)
def _impatient() -> S3Client:
    """A client for optional writes: it tries twice, for three seconds."""
    config = _config().merge(Config(connect_timeout=1, read_timeout=3, retries={"max_attempts": 2, "mode": "standard"}))
    return boto3.client("s3", endpoint_url=settings().aws_endpoint or None, config=config)


@lru_cache(maxsize=1)
def _presigner() -> S3Client:
    path_style = {"addressing_style": "path"} if settings().s3_endpoint else {}
    config = Config(signature_version="s3v4", s3=path_style, request_checksum_calculation="when_required")  # type: ignore[arg-type]
    return boto3.client("s3", endpoint_url=settings().s3_endpoint or None, config=config, **signing.access_key())


@lru_cache(maxsize=8)
def own(bucket: str) -> S3Store:
    """A bucket of this deployment."""
    return S3Store(bucket, client, _presigner, life=signing.life)


def own_in_a_hurry(bucket: str) -> S3Store:
    """The same with the client for optional writes."""
    return S3Store(bucket, _impatient, _presigner, life=signing.life)


def from_registration(
    bucket: str, config: dict[str, str], external_host: str | None, archive: str = "STANDARD"
) -> S3Store:
    """A bucket that an organization registered, by the S3 part of its configuration.

    `external_host` is the host at which clients reach it, if not the endpoint's host. Requests are sent only if the
    endpoint's addresses are public, or its origin is one of `store_origins`.
    """
    endpoint = config["endpoint_url"]
    parts = urlsplit(endpoint)
    is_amazon = (parts.hostname or "").endswith(_AMAZON)
    style = {"addressing_style": "virtual" if is_amazon else "path"}
    session: dict[str, Any] = {
        "aws_access_key_id": config["aws_access_key_id"],
        "aws_secret_access_key": config["aws_secret_access_key"],
        "region_name": config["region_name"],
    }
    caller = boto3.client("s3", endpoint_url=endpoint, config=_config(signature_version="s3v4", s3=style), **session)
    transport: Any = _send_checked
    caller.meta.events.register("before-send.s3", transport)
    seen = f"{parts.scheme}://{external_host}" if external_host else endpoint
    signing = Config(signature_version="s3v4", s3=style, request_checksum_calculation="when_required")  # type: ignore[arg-type]
    presigner = boto3.client("s3", endpoint_url=seen, config=signing, **session)
    return S3Store(bucket, lambda: caller, lambda: presigner, archive)


class S3Store:
    """One bucket; its clients are created on first use."""

    def __init__(
        self,
        bucket: str,
        caller: Callable[[], S3Client],
        presigner: Callable[[], S3Client],
        archive: str = "STANDARD",
        life: Callable[[], int] = lambda: signing.MAX_URL_SECONDS,
    ) -> None:
        self.bucket = bucket
        self.archive = archive
        self._life = life
        self.client = caller
        self._presigner = presigner

    def presign_get(self, key: ObjectKey, seconds: int, headers: dict[str, str]) -> str:
        """The presigned URL that reads an object."""
        return self._sign("get_object", {**self.place(key), **headers}, seconds)

    def presign_put(self, key: ObjectKey, seconds: int) -> str:
        """The presigned URL that writes an object."""
        return self._sign("put_object", self.place(key), seconds)

    def presign_part(self, key: ObjectKey, upload: str, number: int, seconds: int) -> str:
        """The presigned URL that writes a part."""
        given = {**self.place(key), "UploadId": upload, "PartNumber": number}
        return self._sign("upload_part", given, seconds)

    def _sign(self, call: str, given: Any, seconds: int) -> str:
        return self._presigner().generate_presigned_url(call, Params=given, ExpiresIn=min(seconds, self._life()))

    def begin(self, key: ObjectKey, content_type: str) -> str:
        """Begin a multipart upload; returns its id."""
        with _translated(key):
            return self.client().create_multipart_upload(**self.place(key), ContentType=content_type)["UploadId"]

    def put_part(self, key: ObjectKey, upload: str, number: int, body: bytes) -> str:
        """Store a part; returns its ETag."""
        with _translated(key):
            place = self.place(key)
            return self.client().upload_part(**place, UploadId=upload, PartNumber=number, Body=body)["ETag"]

    def copy_part(
        self,
        key: ObjectKey,
        upload: str,
        number: int,
        home: ObjectStore,
        source: ObjectKey,
        span: tuple[int, int] | None = None,
    ) -> str | None:
        """Copy an object of a bucket with the same client, or a range of it, into a part; returns its ETag."""
        if not isinstance(home, S3Store) or home.client() is not self.client():
            return None
        given: Any = {"UploadId": upload, "PartNumber": number, "CopySource": home.place(source)}
        if span is not None:
            given["CopySourceRange"] = f"bytes={span[0]}-{span[0] + span[1] - 1}"
        with _translated(source):
            return self.client().upload_part_copy(**self.place(key), **given)["CopyPartResult"]["ETag"]

    def complete(self, key: ObjectKey, upload: str, parts: Parts) -> None:
        """Make one object of the parts. Raises BadInput where S3 refuses the upload's id, parts or ETags."""
        given: Any = {"Parts": parts}
        try:
            self.client().complete_multipart_upload(**self.place(key), UploadId=upload, MultipartUpload=given)
        except ClientError as failure:
            code = failure.response["Error"]["Code"]
            if code == "NoSuchUpload" and self.head(key) is not None:
                return
            raise BadInput("The multipart upload could not be completed.", f"{code}: {failure}") from failure
        except BotoCoreError as failure:
            raise no_answer(failure) from failure

    def abort(self, key: ObjectKey, upload: str) -> None:
        """Abort a multipart upload."""
        try:
            with _translated(key):
                self.client().abort_multipart_upload(**self.place(key), UploadId=upload)
        except Unavailable as failure:
            if "NoSuchUpload" not in failure.details:
                raise

    def head(self, key: ObjectKey) -> tuple[int, str] | None:
        """The size in bytes and the ETag of an object; None where it does not exist."""
        try:
            with _translated(key):
                found = self.client().head_object(**self.place(key))
        except NotFound:
            return None
        return found["ContentLength"], found["ETag"].strip('"')

    def read(self, key: ObjectKey) -> bytes:
        """A whole object."""
        with _translated(key):
            return self.client().get_object(**self.place(key))["Body"].read()

    def read_range(self, key: ObjectKey, offset: int, length: int, etag: str | None) -> bytes:
        """A part of an object."""
        given: Any = {"IfMatch": f'"{etag}"'} if etag else {}
        span = f"bytes={offset}-{offset + length - 1}"
        with _translated(key):
            return self.client().get_object(**self.place(key), Range=span, **given)["Body"].read()

    def download(self, key: ObjectKey, path: Path) -> None:
        """Download a whole object into a file, large ones in parallel parts."""
        with _translated(key):
            self.client().download_file(self.bucket, key.name, str(path))

    def write(self, key: ObjectKey, body: bytes, content_type: str, encoding: str = "") -> None:
        """Store an object in one piece."""
        more: Any = {"ContentEncoding": encoding} if encoding else {}
        with _translated(key):
            self.client().put_object(**self.place(key), Body=body, ContentType=content_type, **more)

    def upload(self, key: ObjectKey, body: BinaryIO, content_type: str) -> None:
        """Store the contents of a file, in parts where it is large."""
        with _translated(key):
            self.client().upload_fileobj(body, self.bucket, key.name, ExtraArgs={"ContentType": content_type})

    def copy(self, home: ObjectStore, source: ObjectKey, key: ObjectKey, content_type: str) -> bool:
        """Copy an object of a bucket with the same client, large ones in parts."""
        if not isinstance(home, S3Store) or home.client() is not self.client():
            return False
        more = {"ContentType": content_type, "MetadataDirective": "REPLACE"}
        with _translated(source):
            self.client().copy(home.place(source), self.bucket, key.name, ExtraArgs=more)
        return True

    def remove(self, keys: Iterable[ObjectKey]) -> None:
        """Delete objects, a thousand per request."""
        wanted = list(keys)
        for start in range(0, len(wanted), 1000):
            part = wanted[start : start + 1000]
            doomed: Any = {"Objects": [{"Key": key.name} for key in part], "Quiet": True}
            with _translated(part[0]):
                self.client().delete_objects(Bucket=self.bucket, Delete=doomed)

    def freeze(self, key: ObjectKey) -> None:
        """Rewrite an object in the archive's storage class, where the bucket has one."""
        if self.archive != "STANDARD":
            self._in_class(key, self.archive)

    def thaw(self, key: ObjectKey) -> bool:
        """Restore an object from the archive, which takes S3 up to two days, and rewrite it in the standard class."""
        try:
            with _translated(key):
                found: Any = self.client().head_object(**self.place(key))
                if found.get("StorageClass", "STANDARD") == "STANDARD":
                    return True
                if "Restore" not in found:
                    request: Any = {"Days": _RESTORED_DAYS, "GlacierJobParameters": {"Tier": "Bulk"}}
                    self.client().restore_object(**self.place(key), RestoreRequest=request)
                    return False
        except NotFound:
            return True
        if 'ongoing-request="true"' in found["Restore"]:
            return False
        self._in_class(key, "STANDARD")
        return True

    def _in_class(self, key: ObjectKey, wanted: str) -> None:
        try:
            with _translated(key):
                found = self.client().head_object(**self.place(key))
                if found.get("StorageClass", "STANDARD") != wanted or "Restore" in found:
                    more = {"StorageClass": wanted, "ContentType": found["ContentType"], "MetadataDirective": "REPLACE"}
                    self.client().copy(self.place(key), self.bucket, key.name, ExtraArgs=more)
        except NotFound:
            return

    def under(self, prefix: ObjectPrefix) -> Iterator[ObjectKey]:
        """The keys that begin with a prefix."""
        pages = self.client().get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=prefix.path)
        with _translated(prefix):
            for page in pages:
                yield from (object_keys.listed(prefix, found["Key"]) for found in page.get("Contents", []))

    def page(self, prefix: str, after: str, limit: int) -> list[Listed]:
        """At most `limit` objects whose keys begin with a prefix and follow `after`."""
        given: Any = {"StartAfter": after} if after else {}
        with _translated(None):
            found = self.client().list_objects_v2(Bucket=self.bucket, Prefix=prefix, MaxKeys=limit, **given)
        return [
            Listed(each["Key"], each["Size"], each["ETag"].strip('"'), timestamp(each["LastModified"]))
            for each in found.get("Contents", [])
        ]

    def key_of(self, url: str) -> str | None:
        """The key of the object that a URL names."""
        trial = object_keys.trial_key()
        home = origins.take_apart(self.presign_get(trial, 60, {}))
        asked = origins.take_apart(url)
        root = home.path.removesuffix(trial.path)
        if asked.origin != home.origin or not asked.path.startswith(root):
            return None
        return asked.path.removeprefix(root) or None

    def place(self, key: ObjectKey) -> Any:
        """An object as parameters of the client's methods."""
        return {"Bucket": self.bucket, "Key": key.name}


def _config(**more: Any) -> Config:
    return Config(
        connect_timeout=2,
        read_timeout=30,
        retries={"max_attempts": 5, "mode": "standard"},
        # checksums of whole bodies cost ten times the upload; S3 checks the MD5 of parts anyway
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
        max_pool_connections=32,
        **more,
    )


def _send_checked(request: AWSPreparedRequest, event_name: str, **_: Any) -> AWSResponse:
    """Send a request of botocore's to a checked address, in place of its own transport, and read its answer whole."""
    check_time()
    address = origins.take_apart(request.url)
    # `Expect` is not awaited here: the body is sent at once
    given = {name: _plain(value) for name, value in request.headers.items() if name.lower() != "expect"}
    most = largest_answer(given.get("Range", ""), is_object=event_name.endswith(".GetObject"))
    size = most + int(given.get("Content-Length") or 0)
    try:
        answer = outbound.ask(
            address,
            request.method,
            seconds=ANSWER_SECONDS + size / SLOWEST_BYTES,
            most=most,
            headers=given,
            body=request.body,
            is_inside=outbound.is_inside(address),
        )
    except outbound.TooMuchError as failure:
        raise too_much() from failure
    except (OSError, urllib3.exceptions.HTTPError) as failure:
        raise EndpointConnectionError(endpoint_url=address.origin, error=failure) from failure
    seen: Any = HeadersDict(answer.headers)
    return AWSResponse(request.url, answer.status, seen, _Body(answer.body))


class _Body(io.BytesIO):
    """A body that was read, as botocore reads one of its own transport."""

    def stream(self, amt: int = 65536, **_: Any) -> Iterator[bytes]:
        """The body in blocks."""
        while block := self.read(amt):
            yield block


def _plain(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


class _translated:  # noqa: N801 reads as a word in `with`
    """Raise S3's errors as LimnErrors."""

    def __init__(self, key: ObjectKey | ObjectPrefix | None) -> None:
        self.key = key.path if key else "of this bucket"

    def __enter__(self) -> None:
        """Do nothing: there is nothing to prepare."""

    def __exit__(self, kind: object, failure: BaseException | None, trace: object) -> None:
        if isinstance(failure, ClientError) and failure.response["Error"]["Code"] in _MISSING:
            raise NotFound.of("object", self.key) from failure
        if isinstance(failure, ClientError) and failure.response["Error"]["Code"] in _CHANGED:
            raise Conflict(f"The object {self.key} was replaced meanwhile.") from failure
        if isinstance(failure, ClientError) and failure.response["Error"]["Code"] == _COLD:
            raise Conflict(f"The object {self.key} is archived; set archive_state to to_live and wait.") from failure
        if isinstance(failure, ClientError | BotoCoreError):
            raise no_answer(failure) from failure
