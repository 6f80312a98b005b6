"""Messages of the webhook queue, beside the wake-ups of `storage/log/wakeups.py`.

Each has an id, so that work is repeated whenever it is asked for.
"""

from __future__ import annotations

from chalicelib.queues import Message


class DeliverEvents(Message, frozen=True, kw_only=True, tag="webhook.deliver.1"):
    """Send the events that a stream has not seen."""

    project: int
    webhook: int
    """0 for the event bus."""
    id: str


class RedeliverEvent(Message, frozen=True, kw_only=True, tag="webhook.redeliver.1"):
    """Send one event to a webhook again, out of order."""

    project: int
    webhook: int
    event: str
    id: str
