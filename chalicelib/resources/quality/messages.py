"""The message of quality reports. Queue: dataset."""

from __future__ import annotations

from chalicelib.queues.base import Message


class MakeQualityReport(Message, frozen=True, kw_only=True, tag="quality.report.1"):
    """Compute a round of a report. The first is sent before its record is stored. Queue: dataset."""

    uid: str
    round: int = 0
