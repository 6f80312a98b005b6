"""Queues: one typed message per unit of work, and its sending.

    base     Message, its versioned tag, to and from a queue's body
    sending  SQS: one at a time or many, with the limits of its batches

A message names its work by ids; the handler reads the rest from storage. Delivery is at least once:
`functions/worker.py` skips finished messages, and handlers are idempotent.
"""

from chalicelib.queues.base import MAX_MESSAGE_BYTES, Message, Unreadable, decode, encode
from chalicelib.queues.sending import SETTLED, client, send, send_many, try_send

__all__ = [
    "MAX_MESSAGE_BYTES",
    "SETTLED",
    "Message",
    "Unreadable",
    "client",
    "decode",
    "encode",
    "send",
    "send_many",
    "try_send",
]
