"""AWS inside this process: moto with every local change applied.

`start()` gives the process made-up credentials and has all of its boto3 and pynamodb clients served in it, with their
data in memory or, where a directory is given, in a database (`infra.emulator.sqlite.database`) and files there. It
creates no resources: an application makes its own.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from moto import mock_aws
from moto.core import DEFAULT_ACCOUNT_ID
from moto.core.model_instances import reset_model_data
from moto.dynamodb.models import dynamodb_backends
from moto.s3.models import S3Backend, s3_backends
from moto.ses.models import ses_backends
from moto.sqs.models import sqs_backends

from infra.emulator import ses, sqs
from infra.emulator.dynamodb import backend as dynamodb
from infra.emulator.dynamodb import transactions as dynamo_transactions
from infra.emulator.dynamodb.rows import Rows
from infra.emulator.private_files import write_private
from infra.emulator.s3 import index as s3_index
from infra.emulator.s3 import objects as s3_objects
from infra.emulator.s3.contents import FILES
from infra.emulator.sqlite import database
from infra.emulator.sqlite.integrity import CannotStore

ACCESS_KEY = dynamodb.ACCESS_KEY
SIGNING_KEY = "signing-key"
"""The file with the secret key, in the data directory, with mode 0600; steps of jobs cannot read the directory."""
REGION = "us-east-1"
ACCOUNT = DEFAULT_ACCOUNT_ID

_SETTINGS = {
    "AWS_ACCESS_KEY_ID": ACCESS_KEY,
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
    # metrics are lines of the log, for CloudWatch to read
    "POWERTOOLS_METRICS_DISABLED": "true",
    # moto computes the checksums of a new upload in Python: 100 MB take 8 s instead of 1
    "AWS_REQUEST_CHECKSUM_CALCULATION": "when_required",
    "AWS_RESPONSE_CHECKSUM_VALIDATION": "when_required",
}
_secret_key = secrets.token_urlsafe(30)
_CHANGES = (dynamodb, s3_objects, sqs, ses)
_depth = 0
_REMOVED = ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL")


class Aws:
    """The running mock of this process."""

    def __init__(self, mock: Any, environment: dict[str, str | None]) -> None:
        self._mock = mock
        self._environment = environment
        self._running = True

    def reset(self) -> None:
        """Remove all data (rows, objects, uploads, messages, mail) and keep tables, buckets, queues and keys."""
        clear()

    def stop(self) -> None:
        """Stop the mock, drop its data and restore the environment. A second call has no effect."""
        global _depth  # noqa: PLW0603 -- as moto counts its own nesting
        if not self._running:
            return
        self._running = False
        _depth -= 1
        if _depth == 0:
            if FILES.directory is None:
                clear()
            s3_index.forget()
            database.stop()
        self._mock.stop()
        if _depth == 0:
            FILES.directory = None
            reset_model_data()
            database.stop()
            for change in _CHANGES:
                change.uninstall()
        for name, value in self._environment.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def start(*, region: str = REGION, data: Path | None = None) -> Aws:
    """Start AWS in this process, or share the one that runs: it ends when the last one stops.

    Clients made before are not intercepted unless moto was already imported; make them after.

    Args:
        region: the region of clients that name none.
        data: the directory with the data of earlier runs, which `restore` brings back; None keeps all in memory.

    Raises:
        infra.emulator.sqlite.integrity.Damaged: the data cannot be trusted.
        infra.emulator.sqlite.integrity.CannotStore: the directory takes no data.
    """
    global _depth, _secret_key  # noqa: PLW0603 -- as above
    if not _depth:
        database.start(data)
        FILES.directory = None
        if data is not None:
            FILES.open(data / "objects")
            try:
                _secret_key = _kept_secret(data / SIGNING_KEY)
            except OSError as failure:
                raise CannotStore(f"{data / SIGNING_KEY}: {failure.strerror}") from failure
    changed = {**_SETTINGS, "AWS_SECRET_ACCESS_KEY": _secret_key, "AWS_DEFAULT_REGION": region, "AWS_REGION": region}
    before = {name: os.environ.get(name) for name in (*changed, *_REMOVED)}
    for name in _REMOVED:
        os.environ.pop(name, None)
    os.environ.update(changed)
    for change in _CHANGES:
        change.install()
    # our own credentials stay: presigned URLs are checked against them
    mock = mock_aws(config={"core": {"mock_credentials": False, "reset_boto3_session": True}})
    mock.start()
    _depth += 1
    return Aws(mock, before)


def signing_keys() -> dict[str, str]:
    """Who may sign requests to the S3 of this process: the secret key by access key."""
    return {ACCESS_KEY: _secret_key}


def _kept_secret(path: Path) -> str:
    """The secret key of a directory of data, made at its first start; a damaged one is replaced.

    It is random, for what a program of this machine knows of the release must not let it sign requests for objects.
    """
    try:
        kept = path.read_text().strip()
    except (FileNotFoundError, UnicodeDecodeError):
        kept = ""
    if not re.fullmatch(r"[\w-]{40}", kept, re.ASCII):
        kept = secrets.token_urlsafe(30)
        write_private(path, kept + "\n")
    return kept


@dataclass(frozen=True)
class Restored:
    """How much `restore` brought back."""

    rows: int
    objects: int
    messages: int
    mails: int


def restore() -> Restored:
    """Load the stored data of the resources. Call it before they are used.

    Rows and messages need nothing; messages that the last process was working on can be received again at once.

    Raises:
        infra.emulator.sqlite.integrity.Damaged: the content of an object is not what was stored.
    """
    return Restored(
        rows=sum(len(table) for tables in _backends(dynamodb_backends) for table in tables.tables.values()),
        objects=s3_index.restore(),
        messages=sqs.release(),
        mails=sum(ses.restore(mail) for mail in _backends(ses_backends)),
    )


def clear() -> None:
    """Remove the data of every region."""
    with database.current().transaction():
        for tables in _backends(dynamodb_backends):
            for table in tables.tables.values():
                if isinstance(table.items, Rows):
                    table.items.clear()
    dynamo_transactions.recent.clear()
    for store in _backends(s3_backends):
        _empty(store)
    clear_messages()


def clear_messages() -> None:
    """Remove the messages of all queues, and the mails."""
    for queues in _backends(sqs_backends):
        for queue in queues.queues.values():
            sqs.clear(queue)
    for mail in _backends(ses_backends):
        mail.sent_messages.clear()
        mail.sent_message_count = 0


def _backends(service: Any) -> Iterator[Any]:
    for account in list(service.values()):
        yield from list(account.values())


def _empty(store: S3Backend) -> None:
    for bucket in store.buckets.values():
        for key in [key for keys in bucket.keys.lists() for key in keys[1]]:
            if hasattr(key, "dispose"):
                key.dispose()
        bucket.keys.clear()
        for upload in bucket.multiparts.values():
            upload.dispose()
        bucket.multiparts.clear()
