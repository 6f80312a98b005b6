"""Buckets of an organization: their configuration, checked and sealed, and which a file goes to."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from botocore.exceptions import BotoCoreError

from chalicelib.access import authentication
from chalicelib.access.authentication import Caller
from chalicelib.core.keys import key_forms, object_keys
from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.integrations import BUCKET, Bucket, BucketUpdate
from chalicelib.core.permissions import Level
from chalicelib.core.web import origins
from chalicelib.core.web.origins import Address
from chalicelib.errors import BadInput, Forbidden
from chalicelib.settings import settings
from chalicelib.storage import outbound, sealing
from chalicelib.storage.dynamodb import records
from chalicelib.storage.objects import placement
from chalicelib.storage.objects.placement import PURPOSE, configuration

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
_UNUSABLE = ("AZURE",)
"""Kinds of stores that can be registered and cannot hold files."""
LONGEST_KEY = 2048
_PRINTABLE = re.compile(f"[!-~]{{1,{LONGEST_KEY}}}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_ARCHIVE_CLASSES = {"AWS": ("DEEP_ARCHIVE", "STANDARD"), "GCP": ("COLDLINE", "STANDARD")}
"""What archived objects may be stored as, the default first; STANDARD alone elsewhere."""


def configure(body: BucketUpdate) -> tuple[dict[str, Any], str]:
    """The members of a new bucket that may be shown, and its configuration under seal.

    Raises:
        BadInput: the configuration is of no known shape, lacks a member, or a storage class does not fit the store.
    """
    store = body.store_type or ("GCP" if body.gcs_key_info else "AWS")
    config = _config_of(body, store, {})
    shown = _public_configuration(body, store, config, None)
    _check_works(body.name or "", shown, config)
    return shown, sealing.seal(msgspec.json.encode(config), PURPOSE)


def reconfigure(bucket: Bucket, body: BucketUpdate) -> tuple[dict[str, Any], str]:
    """As `configured`, for a change: omitted members are unchanged."""
    store = body.store_type or ("GCP" if body.gcs_key_info else bucket.store_type)
    kept = configuration(bucket) if store == bucket.store_type and body.config is None else {}
    config = _config_of(body, store, kept)
    shown = _public_configuration(body, store, config, bucket)
    _check_works(body.name or bucket.name, shown, config)
    sealed = sealing.seal(msgspec.json.encode(config), PURPOSE) if config != kept else bucket.sealed
    return shown, sealed


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
    config = body.config or (_parse(body.gcs_key_info) if body.gcs_key_info else {**kept, **given})
    missing = [name for name in _NEEDED[store] if not config.get(name)]
    if missing:
        raise BadInput(f"config: a bucket of {store} needs {', '.join(missing)}.")
    if store == "OCI":
        _check_oci(config)
    _check_keys(config.get("boto3_config", config) if store in placement.S3_STORES else {})
    return config


def _check_keys(config: dict[str, Any]) -> None:
    """Refuse S3 keys and regions that no request can be signed with."""
    for name in _S3_KEYS:
        value = config.get(name)
        if value is not None and not (isinstance(value, str) and _PRINTABLE.fullmatch(value)):
            raise BadInput(f"{name}: it is {LONGEST_KEY} printable ASCII characters at most, without spaces.")


def _check_works(name: str, shown: dict[str, Any], config: dict[str, Any]) -> None:
    """Refuse an endpoint that we would not connect to (docs/decisions/017), and what no URL can be signed with.

    Whether the endpoint's addresses are public is checked here and again at each request, because they change.
    """
    if shown["store_type"] in _UNUSABLE:
        return
    if shown["store_type"] != "GCP":
        address = _address("endpoint_url", str(shown["endpoint_url"]))
        if address.scheme != "https" and not outbound.is_inside(address):
            raise BadInput("endpoint_url: it must be https, or one that this deployment's operator allows.")
        if not outbound.is_inside(address) and outbound.resolves_inside(address):
            raise BadInput("endpoint_url: its host has no public address, and the operator does not allow it.")
    host = shown["external_host"]
    if host and _address("external_host", f"https://{host}").url != _address("external_host", f"https://{host}/").url:
        raise BadInput("external_host: it is a host, and a port where it needs one.")
    own = settings()
    if name in (own.media_bucket, own.upload_bucket, own.views_bucket):
        raise BadInput("name: it is a bucket of this deployment, which holds the files of all organizations.")
    if not _NAME.fullmatch(name):
        raise BadInput("name: the bucket's name is letters, digits, dots, hyphens and underscores.")
    try:
        placement.make_store(name, shown["store_type"], config, shown["external_host"]).presign_put(
            object_keys.trial_key(), 60
        )
    except (ValueError, TypeError, AttributeError, BotoCoreError) as failure:
        raise BadInput("config: the store cannot be used with it.", type(failure).__name__) from failure


def _address(name: str, url: str) -> Address:
    try:
        return origins.take_apart(url)
    except Forbidden as failure:
        raise BadInput(f"{name}: it is no http or https URL without credentials.") from failure


def _parse(key_info: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(key_info, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError) as failure:
        raise BadInput("gcs_key_info: it is not a JSON object.") from failure


def _check_oci(config: dict[str, Any]) -> None:
    for part, names in (("boto3_config", _S3_KEYS), ("native_config", _OCI_NATIVE_KEYS)):
        inner = config[part]
        missing = [name for name in names if not isinstance(inner, dict) or not inner.get(name)]
        if missing:
            raise BadInput(f"config: {part} needs {', '.join(missing)}.")


def _public_configuration(
    body: BucketUpdate, store: str, config: dict[str, Any], bucket: Bucket | None
) -> dict[str, Any]:
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


def choose_bucket(project: Project, caller: Caller, number: int) -> int:
    """A bucket that a caller named for a file of a project.

    Raises:
        BadInput: the bucket is not of the project's organization, the caller is not of it, or it cannot hold files.
    """
    check_usable(project, number)
    if authentication.organization_level(caller, project.organization) is Level.NONE:
        raise _no_bucket(number)
    return number


def check_usable(project: Project, number: int) -> None:
    """Raise BadInput unless a project may keep files in a bucket: one of its organization, of a kind we talk to."""
    bucket = records.maybe(BUCKET, number)
    if bucket is None or bucket.organization != project.organization:
        raise _no_bucket(number)
    check_kind(bucket)


def check_kind(bucket: Bucket) -> None:
    """Raise BadInput for a bucket of a kind that can be registered and not be used."""
    if bucket.store_type in _UNUSABLE:
        raise BadInput(f"Bucket {bucket.id} is of {bucket.store_type}, which cannot hold files here.")


def check_key(project: Project, key: str, number: int | None) -> int | None:
    """The registered bucket that a key lies in, its project's to use.

    Raises:
        BadInput: `number` is given and another, or it is no bucket of the project's organization.
    """
    bucket = key_forms.bucket_of(key)
    if number is not None and number != bucket:
        message = f"bucket_id: {key!r} was not made for bucket {number}; ask GetUploadInfo for a key with bucket_id."
        raise BadInput(message)
    if bucket is not None:
        check_usable(project, bucket)
    return bucket


def name_object(project: Project, name: str, bucket: int | None) -> str:
    """Return the object name; record the registered bucket, if any, before the object is written."""
    if bucket is not None:
        placement.record_bucket(project.id, bucket)
    return key_forms.in_bucket(name, bucket)


def media_key(project: Project, media: int, name: str) -> ObjectKey:
    """Where a file that the service makes for a media lies: in the project's own bucket, if it has one."""
    return object_keys.media_key(project.organization, project.id, media, name_object(project, name, project.bucket))


def _no_bucket(number: int) -> BadInput:
    return BadInput(f"bucket_id: there is no bucket {number} for files of this project.")
