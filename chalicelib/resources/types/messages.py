"""Messages of types and versions. Queue: purge."""

from __future__ import annotations

from chalicelib.queues.base import Message, tag_of


class BuryRetired(Message, frozen=True, kw_only=True, tag="retired.bury.1"):
    """Bury what went with a type or a version that was deleted. Queue: purge."""

    id: str
    """A uuid for each message: a burial that goes on is not one that is done."""
    project: int
    name: str
    """Of the intent."""
    key: str
    """Of the object that lists what was there."""
    done: int = 0
    """How much of the list is done."""
    seen: int = 0
    """Up to which commit the log was searched for what came later; 0 where it was not yet."""
    last: bool = False
    """Whether nobody can be writing any of it any more."""

    def idempotency_key(self) -> str:
        """By its id alone."""
        return f"{tag_of(type(self))}#{self.id}"
