"""Messages of imports. Queue: dataset."""

from __future__ import annotations

from chalicelib.core.resource import Timestamp
from chalicelib.queues.base import Message


class CheckImport(Message, frozen=True, kw_only=True, tag="import.check.1"):
    """Read the archive of an import, and prepare the parts that will be created. Queue: dataset."""

    uid: str
    project: int = 0
    """Where the parts are; 0 in messages of older releases."""


class RunImportPart(Message, frozen=True, kw_only=True, tag="import.part.1"):
    """Create what one part of an import holds, then send the next. Queue: dataset."""

    uid: str
    part: int
    project: int = 0


class RemoveImport(Message, frozen=True, kw_only=True, tag="import.remove.1"):
    """Remove what a cancellation left. It is sent before the record is deleted, with a delay. Queue: dataset."""

    uid: str
    project: int
    sent: Timestamp
    """When it was sent: a second cancellation is other work."""
