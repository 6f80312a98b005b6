"""Uploads and downloads by presigned URLs."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from chalicelib.core.keys.key_forms import NUMBER, UPLOAD_KEY
from chalicelib.core.models.accounts import Project
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import ONE_LINE, Id, Resource, shown
from chalicelib.core.responses import MessageResponse
from chalicelib.errors import BadInput
from chalicelib.http.addresses import WITHIN_PROJECT
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.resources.buckets import service as buckets_service
from chalicelib.resources.uploads import service as uploads_service
from chalicelib.storage.objects import objects

OPERATIONS = Operations(tag="Uploads")
DAY = 86_400
WEEK = 604_800
MOST_PARTS = 10_000
_MOST_KEYS = 10_000
_KEY = shown(rf"^({UPLOAD_KEY}|{NUMBER.pattern}/{NUMBER.pattern}/[^/]+(/[^/\x00-\x1f\x7f]+)+)$")


class UploadInfoQuery(Resource, kw_only=True):
    """The size and target of an upload."""

    names: ClassVar = {"media_id": "media", "file_id": "file"}

    expiration: Annotated[int, Meta(ge=1, le=WEEK, description="Seconds that the URLs are good for.")] = DAY
    num_parts: Annotated[int, Meta(ge=1, le=MOST_PARTS, description="Parts of the upload.")] = 1
    media_id: Annotated[Id | None, Meta(description="The media it becomes a file of.")] = None
    file_id: Annotated[Id | None, Meta(description="The File it becomes the object of.")] = None
    filename: (
        Annotated[str, Meta(description="The name the key is to end with.", max_length=1024, pattern=ONE_LINE)] | None
    ) = None
    bucket_id: Annotated[Id | None, Meta(description="The bucket of a media's file.")] = None


class UploadInfo(Resource, kw_only=True):
    """The presigned URLs for the parts of an upload, in order."""

    urls: Annotated[list[str], Meta(description="Presigned URLs, one for each part.")]
    key: str
    upload_id: Annotated[str, Meta(description="The id of a multipart upload; empty for a single part.")] = ""


class UploadPart(Resource, kw_only=True):
    """A part as S3 acknowledged it."""

    ETag: Annotated[str, Meta(min_length=1, max_length=256, description="ETag that the store answered.")]
    PartNumber: Annotated[int, Meta(ge=1, le=MOST_PARTS, description="Number of the part, from 1.")]


class UploadCompletionSpec(Resource, kw_only=True):
    """A multipart upload whose parts are complete."""

    key: Annotated[str, Meta(min_length=1, max_length=1024), _KEY]
    upload_id: Annotated[
        str, Meta(min_length=1, max_length=1024, pattern=ONE_LINE, description="Id of the multipart upload.")
    ]
    parts: Annotated[
        list[UploadPart], Meta(min_length=2, max_length=MOST_PARTS, description="Parts as the store acknowledged.")
    ]
    bucket_id: Id | None = None


class DownloadInfoQuery(Resource, kw_only=True):
    """The lifetime of the URLs."""

    expiration: Annotated[int, Meta(ge=1, le=DAY, description="Seconds that the URLs are good for.")] = DAY


class DownloadInfoSpec(Resource, kw_only=True):
    """The keys to download."""

    keys: Annotated[
        list[Annotated[str, Meta(max_length=1024), _KEY]],
        Meta(max_length=_MOST_KEYS, description="Keys of the objects."),
    ]


class DownloadInfo(Resource, kw_only=True):
    """The presigned URL of an object."""

    key: str
    url: Annotated[str, Meta(description="Presigned URL of the object.")]


@OPERATIONS.get(
    "/rest/UploadInfo/{project}",
    "GetUploadInfo",
    needs=Permission.TRANSFER,
    addresses=WITHIN_PROJECT,
    spends=("bytes",),
    lends_writing=True,
)
def get_upload_info(call: Call[Project, UploadInfoQuery, None]) -> UploadInfo:
    """Where to upload a file: a key and a presigned URL for each of its parts.

    With several parts, finish with CompleteUpload. The key is given on to whatever uses the file.
    """
    query = call.query
    if query.bucket_id is not None and query.media_id is None:
        raise BadInput("bucket_id: it may only be given together with media_id.")
    bucket = None
    if query.bucket_id is not None:
        bucket = buckets_service.choose_bucket(call.target, call.caller, query.bucket_id)
    key = uploads_service.key_for(
        call.target, call.scope, media=query.media_id, file=query.file_id, filename=query.filename, bucket=bucket
    )
    upload, urls = uploads_service.begin(key, query.num_parts, query.expiration)
    return UploadInfo(urls=urls, key=key.path, upload_id=upload)


@OPERATIONS.post(
    "/rest/UploadCompletion/{project}", "CompleteUpload", needs=Permission.TRANSFER, addresses=WITHIN_PROJECT
)
def complete_upload(call: Call[Project, NoQuery, UploadCompletionSpec]) -> MessageResponse:
    """Finish an upload of several parts."""
    body = call.body
    key = uploads_service.authorize_completion(body.key, call.target, call.scope)
    buckets_service.check_key(call.target, body.key, body.bucket_id)
    parts = [{"ETag": part.ETag, "PartNumber": part.PartNumber} for part in body.parts]
    objects.complete(key, body.upload_id, sorted(parts, key=lambda part: part["PartNumber"]))
    return MessageResponse(message=f"Upload of {body.key} completed successfully!")


@OPERATIONS.post(
    "/rest/DownloadInfo/{project}",
    "GetDownloadInfo",
    needs=Permission.TRANSFER,
    addresses=WITHIN_PROJECT,
    audits="download",
)
def get_download_info(call: Call[Project, DownloadInfoQuery, DownloadInfoSpec]) -> list[DownloadInfo]:
    """Where objects of a project may be downloaded: a presigned URL for each key.

    Whether the objects exist is not checked. A URL that the caller got before is given again while it is good for
    another hour. The URLs are in the order of the keys.
    """
    urls = uploads_service.download_urls(call.scope, call.target, call.body.keys, call.query.expiration)
    return [DownloadInfo(key=key, url=url) for key, url in zip(call.body.keys, urls, strict=True)]
