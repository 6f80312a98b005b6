"""Messages of projects. Queue: purge."""

from __future__ import annotations

from chalicelib.queues.base import Message, tag_of


class PurgeProject(Message, frozen=True, kw_only=True, tag="project.purge.1"):
    """Remove the contents of a deleted project. Queue: purge."""

    id: str
    """A uuid for each message: a continued purge must not count as a duplicate."""
    project: int
    organization: int
    round: int = 1
    """From 1: later rounds remove rows written during earlier ones."""

    def idempotency_key(self) -> str:
        """The message's id alone."""
        return f"{tag_of(type(self))}#{self.id}"
