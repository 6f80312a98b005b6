"""Messages of transcodes. Queue: transcode."""

from __future__ import annotations

from chalicelib.queues.base import Message


class PlanTranscode(Message, frozen=True, kw_only=True, tag="transcode.plan.1"):
    """Probe the source of a job and cut it into pieces. Queue: transcode."""

    job: str


class EncodePiece(Message, frozen=True, kw_only=True, tag="transcode.piece.1"):
    """Decode one piece of a job's source and encode the renditions of one group. Queue: transcode."""

    job: str
    index: int
    """From 0: all pieces of the plan for the first group of renditions, then all for the next."""


class AssembleTranscode(Message, frozen=True, kw_only=True, tag="transcode.assemble.1"):
    """Join the finished pieces of a group of renditions. Queue: transcode."""

    job: str
    group: int = 0
