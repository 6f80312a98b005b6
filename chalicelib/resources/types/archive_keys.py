"""Keys to buckets that archival copies are pushed to: encrypted in a media type's record, decrypted for use."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from chalicelib.core.models.definitions import ArchiveConfig, S3StorageConfig
from chalicelib.storage import sealing

_PURPOSE = "archive"


def seal(configs: Sequence[ArchiveConfig]) -> list[ArchiveConfig]:
    """Archival copies in their stored form. Raises Unavailable if the key service does not answer."""
    return [
        msgspec.structs.replace(config, s3_storage=_with_secret(config.s3_storage)) if config.s3_storage else config
        for config in configs
    ]


def unseal(place: S3StorageConfig) -> S3StorageConfig:
    """A bucket with its decrypted secret. Raises Unavailable if the key service does not answer."""
    secret = sealing.unseal(place.aws_secret_access_key, _PURPOSE).decode()
    return msgspec.structs.replace(place, aws_secret_access_key=secret)


def _with_secret(place: S3StorageConfig) -> S3StorageConfig:
    secret = sealing.seal(place.aws_secret_access_key.encode(), _PURPOSE)
    return msgspec.structs.replace(place, aws_secret_access_key=secret)
