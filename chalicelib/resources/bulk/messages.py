"""Messages of bulk changes. Queue: purge."""

from __future__ import annotations

from chalicelib.queues.base import Message, tag_of


class FinishBulkChange(Message, frozen=True, kw_only=True, tag="bulk.finish.1"):
    """Finish a bulk change whose request died. Queue: purge."""

    id: str
    """A uuid for each message: a change that goes on is not one that is done."""
    project: int
    name: str
    """Name of the intent."""
    key: str
    """Key of the object with the changes."""

    def idempotency_key(self) -> str:
        """By its id alone."""
        return f"{tag_of(type(self))}#{self.id}"
