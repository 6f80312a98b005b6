"""Secrets at rest: encrypted by KMS when they are stored, decrypted when they are used.

KMS encrypts the secret directly, 4 KB per call. The encryption context holds its purpose, so a record copied elsewhere
decrypts nothing. Secrets are a few KB and rarely used: a data key would save nothing.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import boto3
import msgspec
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.core.models.integrations import Parameter
from chalicelib.core.web import http_headers
from chalicelib.errors import Unavailable
from chalicelib.settings import settings

if TYPE_CHECKING:
    from mypy_boto3_kms import KMSClient

LARGEST_PLAINTEXT = 4096
"""Bytes that KMS encrypts in one call."""


@lru_cache(maxsize=1)
def client() -> KMSClient:
    """The KMS client of this process."""
    config = Config(connect_timeout=2, read_timeout=5, retries={"max_attempts": 3, "mode": "standard"})
    return boto3.client("kms", endpoint_url=settings().aws_endpoint or None, config=config)


def seal(secret: bytes, purpose: str) -> str:
    """Encrypt a secret for a purpose, such as `bucket`; only the same purpose decrypts it.

    Raises:
        Unavailable: KMS does not answer.
    """
    parts = [secret[start : start + LARGEST_PLAINTEXT] for start in range(0, len(secret), LARGEST_PLAINTEXT)]
    context = {"purpose": purpose}
    try:
        blobs = [
            client().encrypt(KeyId=settings().key_id, Plaintext=part, EncryptionContext=context)["CiphertextBlob"]
            for part in parts
        ]
    except (ClientError, BotoCoreError) as failure:
        raise Unavailable("The key service does not answer; nothing was stored.", type(failure).__name__) from failure
    return ".".join(base64.b64encode(blob).decode() for blob in blobs)


def unseal(sealed: str, purpose: str) -> bytes:
    """Decrypt a secret that was sealed for a purpose.

    Raises:
        Unavailable: KMS does not answer, or the secret was sealed for something else.
    """
    blobs = [base64.b64decode(part) for part in sealed.split(".") if part]
    context = {"purpose": purpose}
    try:
        return b"".join(client().decrypt(CiphertextBlob=blob, EncryptionContext=context)["Plaintext"] for blob in blobs)
    except (ClientError, BotoCoreError) as failure:
        raise Unavailable("The key service does not open this secret.", type(failure).__name__) from failure


def seal_headers(headers: Sequence[Parameter], purpose: str) -> str:
    """Headers, sealed; empty where there are none.

    Raises:
        BadInput: one cannot be sent.
        Unavailable: KMS does not answer.
    """
    http_headers.check(headers)
    return seal(msgspec.json.encode(headers), purpose) if headers else ""


def unseal_headers(sealed: str, purpose: str) -> dict[str, str]:
    """Sealed headers by their names; none of an empty text. Raises Unavailable as `unseal`."""
    found = msgspec.json.decode(unseal(sealed, purpose), type=list[Parameter]) if sealed else []
    return {header.name: header.value for header in found}
