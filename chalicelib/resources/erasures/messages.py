"""Messages of erasures. Queue: purge."""

from __future__ import annotations

import msgspec

from chalicelib.queues.base import Message, tag_of


class ErasePerson(Message, frozen=True, kw_only=True, tag="erasure.1"):
    """Erase the remaining data of a closed account. Queue: purge."""

    id: str
    """A uuid for each message: a continuation must not count as a duplicate."""
    erasure: int
    after: str = ""
    """The place after which it goes on; empty to begin."""
    found: dict[str, int] = msgspec.field(default_factory=dict)
    """What has been counted so far, by place."""

    def idempotency_key(self) -> str:
        """The message's id alone."""
        return f"{tag_of(type(self))}#{self.id}"
