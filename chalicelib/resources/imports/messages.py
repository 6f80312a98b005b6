"""Messages of imports. Queue: dataset."""

from __future__ import annotations

from chalicelib.queues.base import Message


class CheckImport(Message, frozen=True, kw_only=True, tag="import.check.1"):
    """Read the archive of an import, and prepare the parts that will be created. Queue: dataset."""

    uid: str


class RunImportPart(Message, frozen=True, kw_only=True, tag="import.part.1"):
    """Create what one part of an import holds, then send the next. Queue: dataset."""

    uid: str
    part: int
