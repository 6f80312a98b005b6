"""Messages of exports and of versions of datasets. Queue: dataset."""

from __future__ import annotations

from typing import Literal

from chalicelib.queues.base import Message

What = Literal["export", "dataset"]


class PlanExport(Message, frozen=True, kw_only=True, tag="export.plan.1"):
    """Divide the work into parts. Queue: dataset."""

    uid: str
    what: What = "export"


class WritePart(Message, frozen=True, kw_only=True, tag="export.part.1"):
    """Write one part. Queue: dataset."""

    uid: str
    index: int
    what: What = "export"


class JoinExport(Message, frozen=True, kw_only=True, tag="export.join.1"):
    """Join the parts, beginning or going on. Queue: dataset."""

    uid: str
    turn: int = 0
    what: What = "export"
