"""The configuration of an organization's buckets: both generations of it, checked and sealed (`spec/3` §6)."""

from __future__ import annotations

from typing import Any

import msgspec

from chalicelib.domain.stores import Bucket, BucketUpdate
from chalicelib.errors import BadInput
from chalicelib.services import sealing

PURPOSE = "bucket"
_S3_KEYS = ("endpoint_url", "region_name", "aws_access_key_id", "aws_secret_access_key")
_GCP_KEYS = (
    "type",
    "project_id",
    "private_key_id",
    "private_key",
    "client_email",
    "client_id",
    "auth_uri",
    "token_uri",
    "auth_provider_x509_cert_url",
    "client_x509_cert_url",
)
_OCI_NATIVE_KEYS = ("user", "key_content", "fingerprint", "tenancy", "region")
_NEEDED: dict[str, tuple[str, ...]] = {
    "AWS": _S3_KEYS,
    "MINIO": _S3_KEYS,
    "VAST": _S3_KEYS,
    "S3BASIC": _S3_KEYS,
    "GCP": _GCP_KEYS,
    "OCI": ("boto3_config", "native_config"),
    "AZURE": ("connection_string",),
}
_ARCHIVE_CLASSES = {"AWS": ("DEEP_ARCHIVE", "STANDARD"), "GCP": ("COLDLINE", "STANDARD")}
"""What archived objects may be stored as, the default first; STANDARD alone elsewhere."""


def configured(body: BucketUpdate) -> tuple[dict[str, Any], str]:
    """The members of a new bucket that may be shown, and its configuration under seal.

    Raises:
        BadInput: the configuration is of no known shape, lacks a member, or a storage class does not fit the store.
    """
    store = body.store_type or ("GCP" if body.gcs_key_info else "AWS")
    config = _config_of(body, store, {})
    return _shown(body, store, config, None), sealing.seal(msgspec.json.encode(config), PURPOSE)


def reconfigured(bucket: Bucket, body: BucketUpdate) -> tuple[dict[str, Any], str]:
    """As `configured`, for a change: what is not given stays as it is."""
    store = body.store_type or ("GCP" if body.gcs_key_info else bucket.store_type)
    kept = configuration(bucket) if store == bucket.store_type and body.config is None else {}
    config = _config_of(body, store, kept)
    sealed = sealing.seal(msgspec.json.encode(config), PURPOSE) if config != kept else bucket.sealed
    return _shown(body, store, config, bucket), sealed


def configuration(bucket: Bucket) -> dict[str, Any]:
    """The configuration of a bucket, opened: for those who talk to its store, never for an answer."""
    return msgspec.json.decode(sealing.unseal(bucket.sealed, PURPOSE), type=dict[str, Any])


def _config_of(body: BucketUpdate, store: str, kept: dict[str, Any]) -> dict[str, Any]:
    flat = {
        "endpoint_url": body.endpoint_url,
        "region_name": body.region,
        "aws_access_key_id": body.access_key,
        "aws_secret_access_key": body.secret_key,
    }
    given = {name: value for name, value in flat.items() if value is not None}
    ways = [
        name for name, way in (("config", body.config), ("gcs_key_info", body.gcs_key_info), ("keys", given)) if way
    ]
    if len(ways) > 1:
        raise BadInput("Give config, or gcs_key_info, or the S3 keys: one of them.", f"given: {', '.join(ways)}")
    config = body.config or (_parsed(body.gcs_key_info) if body.gcs_key_info else {**kept, **given})
    missing = [name for name in _NEEDED[store] if not config.get(name)]
    if missing:
        raise BadInput(f"config: a bucket of {store} needs {', '.join(missing)}.")
    if store == "OCI":
        _check_oci(config)
    return config


def _parsed(key_info: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(key_info, type=dict[str, Any])
    except msgspec.DecodeError as failure:
        raise BadInput("gcs_key_info: it is not a JSON object.") from failure


def _check_oci(config: dict[str, Any]) -> None:
    for part, names in (("boto3_config", _S3_KEYS), ("native_config", _OCI_NATIVE_KEYS)):
        inner = config[part]
        missing = [name for name in names if not isinstance(inner, dict) or not inner.get(name)]
        if missing:
            raise BadInput(f"config: {part} needs {', '.join(missing)}.")


def _shown(body: BucketUpdate, store: str, config: dict[str, Any], bucket: Bucket | None) -> dict[str, Any]:
    """What of the configuration an administrator may read."""
    allowed = _ARCHIVE_CLASSES.get(store, ("STANDARD",))
    same_store = bucket is not None and bucket.store_type == store
    archive = body.archive_sc or (bucket.archive_sc if bucket and same_store else allowed[0])
    if archive not in allowed:
        raise BadInput(f"archive_sc: {store} has {' and '.join(allowed)}.")
    if (body.live_sc or "STANDARD") != "STANDARD":
        raise BadInput("live_sc: live objects are STANDARD.")
    s3 = config.get("boto3_config", config)
    return {
        "store_type": store,
        "endpoint_url": s3.get("endpoint_url"),
        "region": s3.get("region_name"),
        "access_key": s3.get("aws_access_key_id"),
        "archive_sc": archive,
        "live_sc": "STANDARD",
        "external_host": body.external_host or (bucket.external_host if bucket else None),
    }
