"""Messages of types and versions. Queue: purge."""

from __future__ import annotations

from chalicelib.queues.base import Message, tag_of


class DeleteRetired(Message, frozen=True, kw_only=True, tag="retired.bury.1"):
    """Delete the entities of a deleted type or version. Queue: purge."""

    id: str
    """A uuid for each message: a continued deletion must not count as a duplicate."""
    project: int
    name: str
    """The name of the intent."""
    key: str
    """The name of the object that lists the ids."""
    done: int = 0
    """How much of the list is done."""
    seen: int = 0
    """The last commit of the log that was searched for later entities; 0 before the first search."""
    last: bool = False
    """Whether every request that could still write such entities has ended."""

    def idempotency_key(self) -> str:
        """The message's id alone."""
        return f"{tag_of(type(self))}#{self.id}"
