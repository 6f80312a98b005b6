"""The event bus: the events of all projects on an EventBridge bus that the operator chose (`LIMN_EVENT_BUS`)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.access.scope import UNRESTRICTED, Scope
from chalicelib.core.models.accounts import PROJECT
from chalicelib.core.time import clock
from chalicelib.errors import Gone
from chalicelib.resources.events import service as events_service
from chalicelib.resources.events.events import Event
from chalicelib.resources.webhooks.advance import Disable, NotAccepted, Receiver, Result
from chalicelib.resources.webhooks.sender import body_of
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import records
from chalicelib.storage.dynamodb.progress import streams
from chalicelib.storage.dynamodb.progress.streams import Stream

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient

WORD = "webhook"
READER = 0
"""The bus among the readers of a project's events."""
ENTRIES_PER_CALL = 10
"""Entries that EventBridge takes in one call."""
LONGEST_PAUSE = 300.0
"""Seconds until the next attempt at most."""
_logger = logging.getLogger("limn.bus")


@lru_cache(maxsize=1)
def client() -> EventBridgeClient:
    """The EventBridge client of this process."""
    config = Config(connect_timeout=2, read_timeout=5, retries={"max_attempts": 3, "mode": "standard"})
    return boto3.client("events", endpoint_url=settings().aws_endpoint or None, config=config)


def ensure(project: int, position: str | None = None) -> None:
    """Create the stream of a project, after a position or its present last event, unless it has one."""
    if streams.get(WORD, project, READER) is None:
        streams.add(WORD, project, READER, position or events_service.last(project))


def open_receiver(stream: Stream) -> Receiver | None:
    """The bus; None where the deployment has none, or the project is gone."""
    if not settings().event_bus:
        streams.remove(stream)
        return None
    project = records.maybe(PROJECT, stream.project)
    if project is None or project.deleted is not None:
        streams.remove(stream)
        return None
    return _Bus()


class _Bus:
    """The bus as the receiver of a stream. It is never disabled: it is the operator's."""

    at_once = ENTRIES_PER_CALL
    kinds: frozenset[str] = frozenset()
    scope: Scope = UNRESTRICTED

    def deliver(self, given: Sequence[Event], stream: Stream) -> Result:
        """Put events on the bus. EventBridge keeps no order among them; `time` and `id` have it."""
        entries = [
            {
                "EventBusName": settings().event_bus,
                "Source": f"limn.{settings().stage}",
                "DetailType": event.type,
                "Time": datetime.fromisoformat(event.time),
                "Resources": [],
                "Detail": body_of(event.thin()).decode(),
            }
            for event in given
        ]
        try:
            said = client().put_events(Entries=entries)  # type: ignore[arg-type]
        except (ClientError, BotoCoreError) as failure:
            _logger.warning("the bus takes no events: %s", type(failure).__name__)
            return NotAccepted()
        if said.get("FailedEntryCount"):
            codes = {entry.get("ErrorCode", "") for entry in said["Entries"]} - {""}
            _logger.warning("the bus refused events of project %d: %s", stream.project, ", ".join(sorted(codes)))
            return NotAccepted()
        return None

    def skip(self, expired: Gone, stream: Stream) -> Result:  # noqa: ARG002 the receiver's interface
        """Log the loss."""
        _logger.error("events of project %d after %s expired before the bus took them", stream.project, stream.position)
        return None

    def note_failure(self, failed: NotAccepted, stream: Stream) -> None:  # noqa: ARG002 the receiver's interface
        """Try again within minutes, and never give up: the failures count anew each day."""
        stream.next_at = min(stream.next_at, clock.seconds() + LONGEST_PAUSE)
        if stream.failing_since and clock.seconds() - stream.failing_since > 86_400:  # noqa: PLR2004 seconds of a day
            stream.failing_since = clock.seconds()

    def flush(self) -> None:
        """Nothing is noted."""

    def disable(self, ended: Disable, stream: Stream) -> None:
        """Never."""
