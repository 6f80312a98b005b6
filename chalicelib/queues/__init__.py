"""What the queues carry: one typed message per piece of queued work, and its sending.

    base     Message, its versioned tag, to and from a queue's body
    sending  SQS: one at a time or many, with the limits of its batches

A message says what is to be done by ids; the rest is read when it is done, for the queue is not where things are kept.
Delivery is at least once: `functions/worker.py` stops what is done already, and handlers bear being run again.
"""

from chalicelib.queues.base import LARGEST, Message, Unreadable, decode, encode
from chalicelib.queues.sending import SETTLED, client, send, send_many

__all__ = [
    "LARGEST",
    "SETTLED",
    "Message",
    "Unreadable",
    "client",
    "decode",
    "encode",
    "send",
    "send_many",
]
