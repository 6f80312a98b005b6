"""Writes to buckets of users, with the users' keys."""

from __future__ import annotations

import re
from typing import BinaryIO

import boto3
from boto3.exceptions import Boto3Error
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.core.models.definitions import S3StorageConfig
from chalicelib.errors import BadInput

_CODE = re.compile(r"An error occurred \((\w+)\)")
_CONFIG = Config(
    connect_timeout=5, read_timeout=60, retries={"max_attempts": 5}, request_checksum_calculation="when_required"
)


def push(place: S3StorageConfig, key: str, body: BinaryIO, size: int, content_type: str) -> None:
    """Store an object in the bucket; an existing object of that key and size is kept.

    Raises:
        BadInput: the bucket refuses it; the message names the bucket and the reason.
    """
    # A session of its own: our region, role and credentials must not reach another account.
    session = boto3.Session(aws_access_key_id=place.aws_access_key, aws_secret_access_key=place.aws_secret_access_key)
    client = session.client("s3", config=_CONFIG, region_name="us-east-1")
    try:
        if _size(client, place.bucket_name, key) != size:
            client.upload_fileobj(body, place.bucket_name, key, ExtraArgs={"ContentType": content_type})
    except (ClientError, BotoCoreError, Boto3Error) as failure:
        why = _CODE.search(str(failure))
        reason = why[1] if why else type(failure).__name__
        message = f"archive_config: the bucket {place.bucket_name!r} does not take the archival copy: {reason}."
        raise BadInput(message) from failure


def _size(client: object, bucket: str, key: str) -> int | None:
    try:
        return int(client.head_object(Bucket=bucket, Key=key)["ContentLength"])  # type: ignore[attr-defined]
    except ClientError as failure:
        # Keys that may write but not read get a 403.
        if failure.response["ResponseMetadata"]["HTTPStatusCode"] in (403, 404):
            return None
        raise
