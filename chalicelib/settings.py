"""Where things are and how large they may be: every environment variable Limn reads, in one place.

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
_LISTS = ("allowed_origins", "store_origins", "service_origins")
_ROLE = r"arn:aws[a-z-]*:iam::[0-9]{12}:role/[!-~]{1,576}"
_ARNS = {
    "job_queue": r"arn:aws[a-z-]*:batch:[a-z0-9-]+:[0-9]{12}:job-queue/[A-Za-z0-9_-]{1,128}",
    "job_execution_role": _ROLE,
    "job_files_role": _ROLE,
}
"""What a deployment that runs jobs on AWS Batch has, all of it, and what it looks like."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration of one deployment. Sizes are in bytes, times in seconds."""

    records_table: str
    entities_table: str
    log_table: str
    counters_table: str
    idempotency_table: str
    media_bucket: str
    upload_bucket: str
    views_bucket: str
    transcode_queue_url: str
    clip_queue_url: str
    email_queue_url: str
    purge_queue_url: str
    key_id: str
    public_url: str = "http://127.0.0.1:8000"
    """Where people and clients reach the API; links in answers and emails start with it. No trailing slash.

    The API's function may be given none: API Gateway's address is not known before there is an API, and its first
    request tells it (`reached_at`).
    """
    cors_origin: str = "*"
    """The origin whose pages may call the API from a browser."""
    s3_endpoint: str = ""
    """Where clients reach S3 when it is not AWS; presigned URLs start with it. Empty on AWS."""
    answers_url: str = ""
    """Where stored answers are served by their keys, whatever Authorization comes along. Empty: presigned by S3."""
    aws_endpoint: str = ""
    """Where this process reaches AWS when that is an emulator of its own. Empty on AWS, and inside the local stack."""
    email_sender: str = "limn@localhost"
    email_enabled: bool = True
    notify_address: str = ""
    """Who of the operator's people gets notices by mail: of Notify, of new users and members. Empty for nobody."""
    anonymous_registration: bool = False
    confirm_registration: bool = False
    """Whether an anonymous registration is active only once its address was confirmed."""
    anyone_may_create_organizations: bool = False
    fine_grained_permissions: bool = False
    """Whether row protections add to what memberships and affiliations allow (`core/permissions.py`)."""
    allowed_origins: list[str] = []
    """Origins (`scheme://host[:port]`) beside our own buckets whose URLs a caller may have us fetch."""
    store_origins: list[str] = []
    """Origins of object stores inside the operator's network that organizations may register buckets at."""
    service_origins: list[str] = []
    """Origins of job clusters and annotators inside the operator's network that may be registered."""
    gcs_endpoint: str = "https://storage.googleapis.com"
    """Where Google Cloud Storage is; another for an emulator, whose origin is then one of `store_origins`."""
    job_queue: str = ""
    """ARN of the AWS Batch queue that runs workflows without a job cluster. Empty where there is none, and then so are
    the two roles: `infra/batch.yaml` makes all three."""
    job_execution_role: str = ""
    """ARN of the role with which Batch pulls images and writes logs."""
    job_files_role: str = ""
    """ARN of the role of jobs that take or make files; it reaches the files of jobs and nothing else."""
    job_files_image: str = "public.ecr.aws/aws-cli/aws-cli:2.31.0"
    """The image, its entrypoint `aws`, that brings files to jobs and takes them away."""
    job_shortest_timeout: Annotated[int, Meta(ge=1, le=3600)] = 60
    """The shortest time limit in seconds that the queue takes: AWS Batch takes 60 or more."""
    job_days: Annotated[int, Meta(ge=1, le=3650)] = 30
    """For how many days a finished job is kept."""
    stage: str = "local"
    view_memory: int = 1_500_000_000
    """The memory that the process may take, as measured, before the least recently used view is given up."""
    view_disk: int = 360_000_000
    """Bytes that blocks and documents of views take in the temporary folder, of which Lambda has 512 MB by default."""
    compact_commits: int = 1000
    """By how many commits a log outgrows its snapshot before there is a new one; many changes do it sooner."""
    log_retention: int = 7 * 24 * 3600
    """How long a commit is kept once a snapshot holds it: longer than any container lives."""
    deleted_retention: int = 30 * 24 * 3600
    """How long what was deleted is kept, with its objects, before it goes for good."""
    largest_answer: int = 5_500_000
    """Answers above this, in base64, are stored and redirected to: Lambda's limit is 6 MB, with base64 and headers."""
    piece_seconds: float = 60.0
    """The longest stretch of video that one queue message decodes."""


class Misconfigured(Exception):
    """A variable is missing or is not what it must be; the message names it."""


_replacement: Settings | None = None


@lru_cache(maxsize=1)
def settings() -> Settings:
    """The settings of this process, read from the environment once: when the first module of the service is imported.

    Raises:
        Misconfigured: a variable is missing, is not of its type, or does not fit.
    """
    return _replacement or read(os.environ)


@contextmanager
def override(**changes: Any) -> Iterator[Settings]:
    """Use other settings in this process until the block ends; for tests.

    Raises:
        TypeError: a name is not a setting.
    """
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
    """The settings that variables say; others of them than `LIMN_…` are nobody's.

    Raises:
        Misconfigured: one is missing, is not of its type, or does not fit.
    """
    given = {
        field.name: variables[PREFIX + field.name.upper()]
        for field in msgspec.structs.fields(Settings)
        if PREFIX + field.name.upper() in variables
    }
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
    """Learn from a request where people reach the API, where nobody has told."""
    if not settings().public_url:
        os.environ[f"{PREFIX}PUBLIC_URL"] = url
        settings.cache_clear()


def _check(made: Settings) -> None:
    """Raise Misconfigured where a value is of its type and yet makes no sense."""
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
    if made.email_enabled and "@" not in made.email_sender:
        raise Misconfigured(f"{PREFIX}EMAIL_SENDER: {made.email_sender!r} is no address.")
    for name in ("view_memory", "view_disk", "compact_commits", "log_retention", "largest_answer", "piece_seconds"):
        if getattr(made, name) <= 0:
            raise Misconfigured(f"{PREFIX}{name.upper()}: it must be more than 0.")
    _check_batch(made)


def _check_batch(made: Settings) -> None:
    given = {name: getattr(made, name) for name in _ARNS if getattr(made, name)}
    for name, pattern in _ARNS.items() if given else ():
        if not re.fullmatch(pattern, given.get(name, "")):
            raise Misconfigured(f"{PREFIX}{name.upper()} must be an ARN where others of infra/batch.yaml are set.")
