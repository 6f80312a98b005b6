"""What survives a restart of the local stack: rows, objects, uploads, keys, waiting messages and sent mail.

`State` follows moto's memory at a short distance: after `start`, a thread writes what has changed every half second, so
a killed process loses no more than that, and a stopped one nothing. Tables, buckets and queues are not kept: the
template makes them, and `load` fills those that exist.

Objects are written before the rows that name them, because a row was committed after its object was stored.
"""

# ruff: noqa: SLF001 -- what is kept here has no public name in moto
from __future__ import annotations

import base64
import json
import logging
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moto.core import DEFAULT_ACCOUNT_ID
from moto.kms.models import Key, kms_backends
from moto.ses.models import Message as PlainMail
from moto.ses.models import RawMessage, ses_backends
from moto.sqs.models import Message, sqs_backends

from infra.local.sqs import Shelf, now
from infra.local.state_objects import ObjectFiles, replace_file
from infra.local.state_rows import RowLog

INTERVAL = 0.5
"""Seconds between two writes."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Loaded:
    """How much `State.load` brought back."""

    rows: int
    objects: int
    messages: int
    mails: int
    keys: int


class State:
    """The data directory of one local stack."""

    def __init__(self, directory: Path, *, region: str = "us-east-1") -> None:
        self.directory, self.region = directory, region
        self._rows = RowLog(directory / "dynamodb.log", region)
        self._objects = ObjectFiles(directory / "s3")
        self._written: dict[str, str] = {}
        self._stopping = threading.Event()
        self._writing = threading.Lock()
        self._thread: threading.Thread | None = None

    def load(self) -> Loaded:
        """Fill moto from the directory, and note what changes from then on.

        Call it once, when the stack's resources exist and before anybody uses them.
        """
        self.directory.mkdir(parents=True, exist_ok=True)
        loaded = Loaded(
            rows=self._rows.load(),
            objects=self._objects.load(),
            messages=self._load_messages(),
            mails=self._load_mail(),
            keys=self._load_keys(),
        )
        self._rows.open()
        return loaded

    def start(self) -> None:
        """Save every half second from now on, in a thread of its own."""
        self._stopping.clear()
        self._thread = threading.Thread(target=self._follow, name="state", daemon=True)
        self._thread.start()

    def save(self) -> None:
        """Write everything that has changed since `load` or the last time."""
        with self._writing:
            self._save_keys()
            self._rows.flush(self._objects.flush)
            self._save_messages()
            self._save_mail()

    def stop(self) -> None:
        """Write what is left and end."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self.save()
        self._rows.close()

    def _follow(self) -> None:
        while not self._stopping.wait(INTERVAL):
            try:
                self.save()
            except Exception:  # the disk may be full now and not later
                log.exception("The data could not be written")

    def _write(self, name: str, content: Any) -> None:
        text = json.dumps(content, default=_plain)
        if self._written.get(name) != text:
            replace_file(self.directory / f"{name}.json", text)
            self._written[name] = text

    def _read(self, name: str) -> list[dict[str, Any]]:
        path = self.directory / f"{name}.json"
        content: list[dict[str, Any]] = json.loads(path.read_bytes()) if path.exists() else []
        return content

    # ------------------------------------------------------------------------------------------------- queues

    def _save_messages(self) -> None:
        queues = sqs_backends[DEFAULT_ACCOUNT_ID][self.region].queues
        waiting = [
            {
                "queue": name, "id": message.id, "body": message.body, "attributes": message.message_attributes,
                "received": message.approximate_receive_count, "first": message.approximate_first_receive_timestamp,
                "sent": message.sent_timestamp, "delayed_until": message.delayed_until,
            }
            for name, queue in list(queues.items())
            if isinstance(queue._messages, Shelf)
            for message in queue._messages
        ]  # fmt: skip
        self._write("messages", waiting)

    def _load_messages(self) -> int:
        queues = sqs_backends[DEFAULT_ACCOUNT_ID][self.region].queues
        count = 0
        for about in self._read("messages"):
            queue = queues.get(about["queue"])
            if queue is None:
                continue
            message = Message(about["id"], about["body"])
            message.message_attributes = _binary(about["attributes"])
            message.approximate_receive_count = about["received"]
            message.approximate_first_receive_timestamp = about["first"]
            message.sent_timestamp = about["sent"]
            message.delayed_until = min(about["delayed_until"], now() + 900_000)
            queue.add_message(message)
            count += 1
        return count

    # --------------------------------------------------------------------------------------------------- mail

    def _save_mail(self) -> None:
        mails = [
            {"raw": isinstance(mail, RawMessage), **vars(mail)}
            for mail in list(ses_backends[DEFAULT_ACCOUNT_ID][self.region].sent_messages)
            if isinstance(mail, RawMessage | PlainMail)
        ]
        self._write("mail", mails)

    def _load_mail(self) -> int:
        backend = ses_backends[DEFAULT_ACCOUNT_ID][self.region]
        mails = self._read("mail")
        for about in mails:
            mail = object.__new__(RawMessage if about.pop("raw") else PlainMail)
            vars(mail).update(_binary(about))
            backend.sent_messages.append(mail)
        return len(mails)

    # --------------------------------------------------------------------------------------------------- keys

    def _save_keys(self) -> None:
        """Symmetric keys and their material: what was sealed before a restart can be opened after it."""
        keys = [
            {name: getattr(key, name) for name in _KEY_FIELDS}
            for key in list(kms_backends[DEFAULT_ACCOUNT_ID][self.region].keys.values())
            if key.key_spec == "SYMMETRIC_DEFAULT"
        ]
        self._write("keys", keys)

    def _load_keys(self) -> int:
        """Bring the old keys back under their old ids; aliases stay with the keys that the template made."""
        backend = kms_backends[DEFAULT_ACCOUNT_ID][self.region]
        count = 0
        for about in self._read("keys"):
            if about["id"] in backend.keys:
                continue
            key = Key(
                None, about["key_usage"], "SYMMETRIC_DEFAULT", about["description"], DEFAULT_ACCOUNT_ID, self.region
            )
            for name, value in _binary(about).items():
                setattr(key, name, value)
            key.creation_date = about.get("creation_date") or time.time()
            backend.keys[key.id] = key
            count += 1
        return count


_KEY_FIELDS = (
    "id",
    "arn",
    "key_material",
    "key_usage",
    "description",
    "policy",
    "key_state",
    "enabled",
    "creation_date",
)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    raise TypeError(type(value))


def _binary(value: Any) -> Any:
    """The reverse of `_plain`, however deep."""
    if isinstance(value, dict):
        if value.keys() == {"base64"}:
            return base64.b64decode(value["base64"])
        return {name: _binary(each) for name, each in value.items()}
    return [_binary(each) for each in value] if isinstance(value, list) else value
