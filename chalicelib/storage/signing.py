"""Whose credentials sign URLs of the deployment's own buckets, and how long these live (decision 255)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import boto3
import msgspec
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.errors import Unavailable
from chalicelib.settings import settings

MAX_URL_SECONDS = 7 * 24 * 3600
"""Seconds that a URL lives at most, which S3 sets."""
UNTOLD = 3600
"""The same where temporary credentials sign of which nobody tells the end, as those of a Lambda function."""


def access_key() -> dict[str, Any]:
    """The access key that signs, as arguments of a client; nothing where the process's own credentials do.

    Raises:
        Unavailable: the secret cannot be read.
    """
    if not settings().url_signer:
        return {}
    config = Config(connect_timeout=2, read_timeout=5, retries={"total_max_attempts": 2, "mode": "standard"})
    secrets = boto3.client("secretsmanager", endpoint_url=settings().aws_endpoint or None, config=config)
    try:
        text = secrets.get_secret_value(SecretId=settings().url_signer)["SecretString"]
    except (BotoCoreError, ClientError) as failure:
        raise Unavailable("The key that signs URLs of objects cannot be read now. Try again.") from failure
    return msgspec.json.decode(text, type=dict[str, Any])


def life() -> int:
    """Seconds for which a URL may live: no longer than the credentials that sign it."""
    if settings().url_signer:
        return MAX_URL_SECONDS
    held = (boto3.DEFAULT_SESSION or boto3.Session()).get_credentials()
    if held is None or not held.token:
        return MAX_URL_SECONDS
    end: datetime | None = getattr(held, "_expiry_time", None)
    return max(1, int((end - datetime.now(UTC)).total_seconds())) if end else UNTOLD
