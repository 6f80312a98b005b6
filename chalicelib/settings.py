"""Where things are and how large they may be: every environment variable Limn reads, in one place.

The stateful CloudFormation template (`infra/stateful.yaml`) has an output for each name it creates. An output
`RecordsTable` becomes the variable `LIMN_RECORDS_TABLE` of every function, on AWS and on the local stack alike.
"""

from __future__ import annotations

import os
from functools import lru_cache

import msgspec

PREFIX = "LIMN_"
_LISTS = ("allowed_origins", "store_origins")


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
    """Where people and clients reach the API; links in answers and emails start with it. No trailing slash."""
    s3_endpoint: str = ""
    """Where clients reach S3 when it is not AWS; presigned URLs start with it. Empty on AWS."""
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
    """Whether row protections add to what memberships and affiliations allow (`domain/permissions.py`)."""
    allowed_origins: list[str] = []
    """Origins (`scheme://host[:port]`) beside our own buckets whose URLs a caller may have us fetch."""
    store_origins: list[str] = []
    """Origins of object stores inside the operator's network that organizations may register buckets at."""
    gcs_endpoint: str = "https://storage.googleapis.com"
    """Where Google Cloud Storage is; another for an emulator, whose origin is then one of `store_origins`."""
    job_queue: str = ""
    """ARN of the AWS Batch queue that runs workflows without a job cluster. Empty where there is none."""
    job_execution_role: str = ""
    """ARN of the role with which Batch pulls images and writes logs."""
    job_files_role: str = ""
    """ARN of the role of jobs that take or make files; it reaches the files of jobs and nothing else."""
    job_files_image: str = "public.ecr.aws/aws-cli/aws-cli:2.31.0"
    """The image, its entrypoint `aws`, that brings files to jobs and takes them away."""
    stage: str = "local"
    view_memory: int = 1_500_000_000
    """What the views of all projects in one container may take together before the least recently used goes."""
    compact_commits: int = 1000
    """By how many commits a log outgrows its snapshot before there is a new one; many changes do it sooner."""
    log_retention: int = 7 * 24 * 3600
    """How long a commit is kept once a snapshot holds it: longer than any container lives."""
    largest_answer: int = 5_500_000
    """Answers above this go through S3: Lambda's limit is 6 MB, base64 and headers included."""
    piece_seconds: float = 60.0
    """The longest stretch of video that one queue message decodes."""


@lru_cache(maxsize=1)
def settings() -> Settings:
    """The settings of this process, read from the environment once.

    Raises:
        msgspec.ValidationError: a variable is missing or is not of its type; the message names it.
    """
    given = {
        field.name: os.environ[PREFIX + field.name.upper()]
        for field in msgspec.structs.fields(Settings)
        if PREFIX + field.name.upper() in os.environ
    }
    listed = {name: [part for part in given.pop(name).split(",") if part] for name in _LISTS if name in given}
    return msgspec.convert({**given, **listed}, Settings, strict=False)
