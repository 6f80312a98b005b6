"""The message of consensus layers. Queue: dataset."""

from __future__ import annotations

from chalicelib.queues.base import Message


class MakeConsensus(Message, frozen=True, kw_only=True, tag="consensus.round.1"):
    """Decide the next media of a consensus layer, then send the next round. Queue: dataset."""

    uid: str
    round: int
