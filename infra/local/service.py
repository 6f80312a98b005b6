"""The running local stack: two ports, the queue pollers and the first user.

Imported after AWS runs and the environment is set, for it imports the service itself.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import boto3

from app import app
from chalicelib.access import authentication, passwords
from chalicelib.core.models.accounts import USER, UserSpec
from chalicelib.errors import LimnError
from chalicelib.resources.accounts import creation
from chalicelib.resources.events.operations import WAITING
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import records
from functions import clip, compact, dataset, email, jobs, purge, source, transcode, upkeep, webhook
from infra.emulator import aws
from infra.emulator.batch.queue import LocalQueue
from infra.emulator.batch.steps.step import Runner
from infra.emulator.private_files import write_private
from infra.emulator.s3.front import S3Front
from infra.emulator.sqlite import database
from infra.local import struct_types
from infra.local.background.queues import EventSourceMapping, Pollers
from infra.local.background.schedule import Schedule, Timer
from infra.local.folder import PLACE, read_place
from infra.local.http import operator_page, outbox, stored_answers
from infra.local.http.gateway import Gateway, Server
from infra.local.http.reply import Reply
from infra.local.tenants import tenant_of

FIRST_USER = "admin"
LITTLE_ROOM = 2_000_000_000
"""Bytes; where fewer are free on the disk, the start says so."""


class Service:
    """Everything that `make run` starts and stops."""

    def __init__(self, home: Path, host: str, port: int, runner: Runner | None = None) -> None:
        self._home, self._host, self._port = home, host, port
        self._gateway = Gateway(app)
        self._gateway.is_operator = _is_operator
        self._gateway.tenant_of = tenant_of
        self._gateway.page("/outbox", self._outbox)
        self._gateway.page(operator_page.PATH, operator_page.serve)
        self._gateway.folder(stored_answers.PREFIX, stored_answers.StoredAnswers(aws.REGION).serve)
        self._api = Server(self._gateway, host, port)
        self._s3 = S3Front(aws.signing_keys(), host=host, port=port + 1)
        self._pollers = Pollers(_sources(), region=aws.REGION)
        self._schedule = Schedule(*_timers(), region=aws.REGION)
        self._jobs = LocalQueue(home, runner, jobs.handler, settings().job_files_image) if runner else None
        self._place: dict[str, str] = {}

    def start(self) -> Iterator[str]:
        """Start all of it, a word before each step."""
        restored = aws.restore()
        if restored.rows:
            yield f"restored {restored.rows} rows, {restored.objects} objects, {restored.messages} waiting messages"
        if (left := shutil.disk_usage(self._home).free) < LITTLE_ROOM:
            yield f"WARNING: only {left / 1e6:,.0f} MB are left on the disk of {self._home}"
        _release_locks()
        struct_types.prepare()
        yield f"serving S3 on port {self._port + 1}"
        self._s3.start()
        yield f"serving the API on port {self._port}"
        self._first_user()
        threading.Thread(target=self._api.serve_forever, args=(0.05,), name="gateway", daemon=True).start()
        yield "polling the queues"
        self._pollers.start()
        self._schedule.start()
        if self._jobs is not None and (again := self._jobs.start()):
            yield f"{again} interrupted steps of jobs are begun again"
        write_private(self._home / PLACE, json.dumps(self._place, indent=2) + "\n")

    def greeting(self) -> str:
        """Where everything is and how to get in."""
        place = self._place
        return (
            f"  console   {place['url']}          (API: /docs, its schema: /schema)\n"
            f"  mail      {place['outbox_url']}\n"
            f"  S3        {place['s3_url']}\n"
            f"  user      {place['username']}\n"
            f"  password  {place['password'] or 'not known any more: ask for a new one by mail'}\n"
            f"  token     {place['token']}\n\n"
            f"  The same is in {self._home / PLACE}; a first hour with it is in docs/first-hour.md.\n"
        )

    def stop(self) -> Iterator[str]:
        """Stop taking requests, let queue functions finish, write the data."""
        yield "closing the ports"
        self._api.shutdown()
        self._api.server_close()
        WAITING.end_all()
        self._gateway.close()
        if self._jobs is not None:
            yield "ending the steps of jobs; they are begun again at the next start"
            self._jobs.stop()
        yield "waiting for queue functions (again Ctrl-C does not wait; their messages come back at the next start)"
        self._pollers.stop(timeout=10.0)
        self._schedule.stop(timeout=10.0)
        self._s3.stop()
        if problem := database.current().problem():
            yield f"WARNING: not everything could be stored: {problem}"

    def _first_user(self) -> None:
        """The first user, with the password of the last run where there was one, and a token."""
        known = read_place(self._home)
        user = records.get_claimed(USER, "username", FIRST_USER)
        password = known.get("password", "")
        if user is None:
            password = password or secrets.token_urlsafe(9)
            spec = UserSpec(
                username=FIRST_USER, first_name="Local", last_name="Admin", email="admin@example.org", password=password
            )
            user = creation.register(spec, is_staff=True)
        token = known.get("token", "")
        if not token or not _is_operator(f"Token {token}"):
            token = passwords.issue_token(user, refresh=False)
        self._place = {
            "url": settings().public_url,
            "s3_url": settings().s3_endpoint,
            "s3_access_key": aws.ACCESS_KEY,
            "s3_secret_key": aws.signing_keys()[aws.ACCESS_KEY],
            "username": FIRST_USER,
            "password": password,
            "token": token,
            "outbox_url": self._page_url("/outbox"),
            "admin_url": self._page_url(operator_page.PATH),
        }

    def _page_url(self, path: str) -> str:
        return f"{settings().public_url}{path}?key={self._gateway.page_key}"

    def _outbox(self, _method: str, query: str, _body: bytes) -> Reply:
        return outbox.page(aws.REGION, as_json="format=json" in query)


def _is_operator(authorization: str | None) -> bool:
    """Whether an Authorization header is that of a user with all rights."""
    try:
        return authentication.authenticate(authorization).is_staff
    except LimnError:
        return False


def _release_locks() -> None:
    """Let the locks of messages that were being worked on when the last run was killed end: no process holds them now.

    On AWS such a lock ends with the time-out of the function that died. The row stays: it tells a run that died from
    one that failed.
    """
    client, table = boto3.client("dynamodb"), settings().idempotency_table
    for page in client.get_paginator("scan").paginate(TableName=table):
        for row in page["Items"]:
            if row.get("status", {}).get("S") == "INPROGRESS":
                client.update_item(
                    TableName=table,
                    Key={"id": row["id"]},
                    UpdateExpression="SET in_progress_expiration = :past",
                    ExpressionAttributeValues={":past": {"N": "1"}},
                )


def _timers() -> list[Timer]:
    every = float(os.environ.get("COMPACT_EVERY", "180"))
    return [
        Timer(name="compact", handler=compact.handler, every=every),
        Timer(name="jobs", handler=jobs.handler, every=15.0, timeout=90.0),
        Timer(name="upkeep", handler=upkeep.handler, every=300.0),
        Timer(name="webhook", handler=webhook.handler, every=15.0, timeout=90.0),
    ]


def _sources() -> list[EventSourceMapping]:
    place = settings()
    rows = (
        # a third one, for the first pieces of a new video while large pieces of others are encoded
        ("transcode", place.transcode_queue_url, transcode.handler, 3, None, 900.0),
        ("clip", place.clip_queue_url, clip.handler, 2, None, 900.0),
        # one import, export or listing of a tenant, and one of another that does not wait for it
        ("dataset", place.dataset_queue_url, dataset.handler, 2, 1, 900.0),
        ("source", place.source_queue_url, source.handler, 2, 1, 900.0),
        ("email", place.email_queue_url, email.handler, 1, None, 30.0),
        ("purge", place.purge_queue_url, purge.handler, 1, None, 900.0),
        ("webhook", place.webhook_queue_url, webhook.handler, 4, None, 90.0),
    )
    return [
        EventSourceMapping(
            name=name, queue_url=queue, handler=handler, concurrency=at_once, share=share, timeout=seconds
        )
        for name, queue, handler, at_once, share, seconds in rows
    ]
