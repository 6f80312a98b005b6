"""Settings: every environment variable that Limn reads.

The stateful CloudFormation template (`infra/stateful.yaml`) has an output for each name it creates. An output
`RecordsTable` becomes the variable `LIMN_RECORDS_TABLE` of every function, on AWS and on the local stack alike.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Annotated, Any

import msgspec
from msgspec import Meta

PREFIX = "LIMN_"
_ORIGIN = re.compile(r"https?://[^/,\s]+")
_LISTS = ("allowed_origins", "store_origins", "service_origins", "console_origins")
_TILES = re.compile(r"https?://[A-Za-z0-9.:-]+/[!-~]*")
_ROLE = r"arn:aws[a-z-]*:iam::[0-9]{12}:role/[!-~]{1,576}"
_ARNS = {
    "job_queue": r"arn:aws[a-z-]*:batch:[a-z0-9-]+:[0-9]{12}:job-queue/[A-Za-z0-9_-]{1,128}",
    "job_execution_role": _ROLE,
    "job_files_role": _ROLE,
}
"""Settings of a deployment that runs jobs on AWS Batch, all of them required, and their patterns."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration of one deployment. Sizes are in bytes, times in seconds."""

    records_table: str
    credentials_table: str
    entities_table: str
    log_table: str
    audit_table: str
    counters_table: str
    idempotency_table: str
    media_bucket: str
    upload_bucket: str
    views_bucket: str
    transcode_queue_url: str
    clip_queue_url: str
    dataset_queue_url: str
    source_queue_url: str
    email_queue_url: str
    purge_queue_url: str
    webhook_queue_url: str
    key_id: str
    public_url: str = "http://127.0.0.1:8000"
    """The URL at which users and clients reach the API; links in responses and emails start with it. No trailing slash.

    It may be unset for the API's function: API Gateway's URL is unknown before the API is deployed, and is taken from
    the first request (`reached_at`).
    """
    cors_origin: str = "*"
    """The origin whose pages may call the API from a browser."""
    s3_endpoint: str = ""
    """The URL at which clients reach S3 if it is not AWS; presigned URLs start with it. Empty on AWS."""
    url_signer: str = ""
    """The secret of Secrets Manager with the access key that signs URLs of objects.

    Empty: the process's own credentials sign, and URLs end with them.
    """
    answers_url: str = ""
    """The URL that serves stored responses by their keys, ignoring Authorization. Empty: presigned S3 URLs are used."""
    aws_endpoint: str = ""
    """The URL of an AWS emulator in another process. Empty on AWS, and inside the local stack."""
    email_sender: str = "limn@localhost"
    email_enabled: bool = True
    notify_address: str = ""
    """Addresses of the operator that receive notices by email: of Notify, of new users and members. Empty for none."""
    copies_days: Annotated[int, Meta(ge=35, le=36_500)] = 35
    """For how many days backups, replaced objects and logs are kept at most; DynamoDB's own backups reach back 35."""
    anonymous_registration: bool = False
    confirm_registration: bool = False
    """Whether an anonymous registration becomes active only when its address is confirmed."""
    anyone_may_create_organizations: bool = False
    fine_grained_permissions: bool = False
    """Whether row protections add to what memberships and affiliations allow (`core/permissions.py`)."""
    allowed_origins: list[str] = []
    """Origins (`scheme://host[:port]`), beside our own buckets, of URLs that the service may fetch for a caller."""
    store_origins: list[str] = []
    """Origins of object stores inside the operator's network at which organizations may register buckets."""
    console_origins: list[str] = []
    """Origins of registered buckets outside, such as https://storage.googleapis.com, whose media the console shows."""
    map_tiles: str = ""
    """The address of tiles of the console's map, with {z}, {x} and {y} in Web Mercator. Empty: its coastline alone."""
    map_source: str = ""
    """Who made the tiles, as the map says it."""
    service_origins: list[str] = []
    """Origins of job clusters and annotators inside the operator's network that may be registered."""
    event_bus: str = ""
    """The name of an EventBridge bus that gets the events of all projects. Empty for none."""
    gcs_endpoint: str = "https://storage.googleapis.com"
    """The URL of Google Cloud Storage, or of an emulator, whose origin is then one of `store_origins`."""
    job_queue: str = ""
    """ARN of the AWS Batch queue for workflows without a job cluster; `infra/batch.yaml` creates it and the two roles.

    Empty where there is none; the two roles are empty, too.
    """
    job_execution_role: str = ""
    """ARN of the role with which Batch pulls images and writes logs."""
    job_files_role: str = ""
    """ARN of the role of jobs that transfer files; it can access only the files of jobs."""
    job_files_image: str = "public.ecr.aws/aws-cli/aws-cli:2.31.0"
    """The image, with entrypoint `aws`, that copies files to and from jobs."""
    job_shortest_timeout: Annotated[int, Meta(ge=1, le=3600)] = 60
    """The shortest time limit in seconds that the queue accepts: AWS Batch accepts 60 or more."""
    job_engine: str = "AWS Batch"
    """What runs the jobs of `job_queue`, as refusals name it: a value of `Engine` in `workflows/checks.py`."""
    session_days: Annotated[int, Meta(ge=1, le=3650)] = 90
    """Days after which the token of a sign-in ends if it is not used."""
    job_days: Annotated[int, Meta(ge=1, le=3650)] = 30
    """Days for which a finished job is kept."""
    stage: str = "local"
    view_memory: int = 1_500_000_000
    """The memory of the process, as measured, above which the least recently used view is evicted."""
    view_disk: int = 360_000_000
    """Bytes of cached blocks and documents of views in the temporary folder; Lambda's default is 512 MB in all."""
    compact_commits: int = 1000
    """The number of commits after which a log is compacted into a new snapshot; many changes do it sooner."""
    log_retention: int = 7 * 24 * 3600
    """How long a commit is kept after it is part of a snapshot: longer than any container lives."""
    deleted_retention: int = 30 * 24 * 3600
    """How long the rows and objects of what was deleted are kept."""
    largest_answer: int = 5_500_000
    """Answers above this, in base64, are stored and redirected to: Lambda's limit is 6 MB, with base64 and headers."""
    piece_seconds: float = 60.0
    """The longest part of a video that one queue message decodes."""
    pieces_at_once: int = 16
    """How many pieces of a video's larger renditions are queued at once, so that other videos are not kept waiting."""
    score_spread: Annotated[int, Meta(ge=1, le=800)] = 300
    """Seconds over which the scores of tasks are spread, so that their effect does not tell which was a honeypot."""


_POSITIVE = (
    "view_memory",
    "view_disk",
    "compact_commits",
    "log_retention",
    "largest_answer",
    "piece_seconds",
    "pieces_at_once",
)
_QUEUE_URL = "_queue_url"
_QUEUE_NAMES = [field.name for field in msgspec.structs.fields(Settings) if field.name.endswith(_QUEUE_URL)]


class Misconfigured(Exception):
    """A variable is missing or invalid; the message names it."""


_replacement: Settings | None = None


@lru_cache(maxsize=1)
def settings() -> Settings:
    """The settings of this process, read from the environment once: when the first module of the service is imported.

    Raises:
        Misconfigured: a variable is missing, has the wrong type, or is invalid.
    """
    return _replacement or read(os.environ)


@contextmanager
def override(**changes: Any) -> Iterator[Settings]:
    """Use other settings in this process until the block ends; for tests. Raises TypeError: a name is not a setting."""
    global _replacement  # noqa: PLW0603 one of the process, as the environment is
    before = _replacement
    _replacement = msgspec.structs.replace(settings(), **changes)
    settings.cache_clear()
    try:
        yield settings()
    finally:
        _replacement = before
        settings.cache_clear()


def read(variables: Mapping[str, str]) -> Settings:
    """The settings in environment variables; only `LIMN_…` variables are read.

    `LIMN_QUEUES` is the beginning of the URLs of all queues that have no variable of their own: a Lambda function has
    4 KB for its variables, and the URLs differ in a word.

    Raises:
        Misconfigured: one is missing, has the wrong type, or is invalid.
    """
    given = {
        field.name: variables[PREFIX + field.name.upper()]
        for field in msgspec.structs.fields(Settings)
        if PREFIX + field.name.upper() in variables
    }
    if queues := variables.get(f"{PREFIX}QUEUES"):
        given = {name: queues + name.removesuffix(_QUEUE_URL) for name in _QUEUE_NAMES} | given
    listed = {name: [part for part in given.pop(name).split(",") if part] for name in _LISTS if name in given}
    wanting = [
        PREFIX + field.name.upper()
        for field in msgspec.structs.fields(Settings)
        if field.required and not given.get(field.name)
    ]
    if wanting:
        raise Misconfigured(f"Not set: {', '.join(wanting)}. They are outputs of infra/stateful.yaml.")
    try:
        made = msgspec.convert({**given, **listed}, Settings, strict=False)
    except msgspec.ValidationError as failure:
        text, _, place = str(failure).partition(" - at `$.")
        raise Misconfigured(f"{PREFIX}{place.rstrip('`').upper()}: {text}.") from failure
    _check(made)
    return made


def reached_at(url: str) -> None:
    """Take the URL of the API from a request, where it is not configured."""
    if not settings().public_url:
        os.environ[f"{PREFIX}PUBLIC_URL"] = url
        settings.cache_clear()


def _check(made: Settings) -> None:
    """Raise Misconfigured for a value of the right type that makes no sense."""
    urls = {"public_url": made.public_url, "s3_endpoint": made.s3_endpoint, "aws_endpoint": made.aws_endpoint}
    urls["gcs_endpoint"] = made.gcs_endpoint
    for name, url in urls.items():
        if url and (not url.startswith(("https://", "http://")) or url.endswith("/")):
            raise Misconfigured(f"{PREFIX}{name.upper()}: {url!r} must begin with https:// and not end with a slash.")
    if made.cors_origin != "*" and not _ORIGIN.fullmatch(made.cors_origin):
        raise Misconfigured(f"{PREFIX}CORS_ORIGIN: {made.cors_origin!r} is neither * nor one origin, https://host.")
    for name in _LISTS:
        for origin in getattr(made, name):
            if not _ORIGIN.fullmatch(origin):
                raise Misconfigured(f"{PREFIX}{name.upper()}: {origin!r} is not of the form https://host.")
    _check_tiles(made.map_tiles)
    if made.email_enabled and "@" not in made.email_sender:
        raise Misconfigured(f"{PREFIX}EMAIL_SENDER: {made.email_sender!r} is no address.")
    for name in _POSITIVE:
        if getattr(made, name) <= 0:
            raise Misconfigured(f"{PREFIX}{name.upper()}: it must be more than 0.")
    _check_batch(made)


def _check_tiles(address: str) -> None:
    is_whole = _TILES.fullmatch(address) and all(address.count(part) == 1 for part in ("{z}", "{x}", "{y}"))
    if address and not is_whole:
        raise Misconfigured(f"{PREFIX}MAP_TILES: {address!r} is not of the form https://host/{{z}}/{{x}}/{{y}}.png.")


def _check_batch(made: Settings) -> None:
    given = {name: getattr(made, name) for name in _ARNS if getattr(made, name)}
    for name, pattern in _ARNS.items() if given else ():
        if not re.fullmatch(pattern, given.get(name, "")):
            raise Misconfigured(f"{PREFIX}{name.upper()} must be an ARN where others of infra/batch.yaml are set.")
