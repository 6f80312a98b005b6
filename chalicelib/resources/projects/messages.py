"""Messages of projects. Queue: purge."""

from __future__ import annotations

from chalicelib.queues.base import Message, tag_of


class PurgeProject(Message, frozen=True, kw_only=True, tag="project.purge.1"):
    """Remove what is left of a deleted project. Queue: purge."""

    id: str
    """A uuid for each message: a purge that goes on is not one that is done."""
    project: int
    organization: int
    round: int = 1
    """From 1: later rounds remove what was still being written during those before."""

    def idempotency_key(self) -> str:
        """By its id alone."""
        return f"{tag_of(type(self))}#{self.id}"
