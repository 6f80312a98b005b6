"""Bounds of what the stores of tenants answer: time, and bytes that are read."""

from __future__ import annotations

import re

from chalicelib.core.time import deadline
from chalicelib.errors import Unavailable

ANSWER_SECONDS = 30.0
SLOWEST_BYTES = 512 * 1024
"""Bytes in a second that a store has to send or take, beside `ANSWER_SECONDS`."""
LARGEST_LISTING = 8 * 1024 * 1024
"""Bytes of an answer without an object: a listing of 1,000 keys of 1,024 bytes has less."""
LARGEST_OBJECT = 128 * 1024 * 1024
"""Bytes of an object that is read whole; larger ones are read by range."""
_SPAN = re.compile(r"bytes=(?P<first>\d+)-(?P<last>\d+)")


def check_time() -> None:
    """Raise Unavailable where the request has no time left for one to a store."""
    if (left := deadline.remaining()) is not None and left <= 0:
        raise no_answer("The time of the request is over.")


def no_answer(reason: object) -> Unavailable:
    """The error for a store that does not answer as it should, with the reason as its details."""
    return Unavailable("The object store does not answer.", str(reason))


def too_much() -> Unavailable:
    """The error for an answer beyond its bound, which is not asked for again."""
    return no_answer("It sent more than it was asked for.")


def largest_answer(span: str, *, is_object: bool) -> int:
    """The bytes that are read of an answer: those of the range that was asked for, of an object, or of a listing."""
    if not is_object:
        return LARGEST_LISTING
    asked = _SPAN.fullmatch(span)
    return int(asked["last"]) - int(asked["first"]) + 1 if asked else LARGEST_OBJECT
