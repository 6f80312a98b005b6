"""Messages of transcodes. Queue: transcode."""

from __future__ import annotations

from chalicelib.queues.base import Message


class PlanTranscode(Message, frozen=True, kw_only=True, tag="transcode.plan.1"):
    """Probe the source of a job and cut it into pieces. Queue: transcode."""

    job: str


class EncodePiece(Message, frozen=True, kw_only=True, tag="transcode.piece.1"):
    """Decode one piece of a job's source and encode every rendition of it. Queue: transcode."""

    job: str
    index: int
    """Which piece of the plan, from 0."""


class AssembleTranscode(Message, frozen=True, kw_only=True, tag="transcode.assemble.1"):
    """Join the pieces of a job, all done, into renditions. Queue: transcode."""

    job: str
