"""Messages: Structs with a versioned tag, and their encoding in the body of an SQS message."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, Union

import msgspec
from msgspec import UNSET, UnsetType

from chalicelib.core.context import holding
from chalicelib.errors import TooLarge

MAX_MESSAGE_BYTES = 256 * 1024
"""Most bytes of a message, and of the messages of one batch together.

SQS takes 1 MB, but bills each 64 KB as a request; larger data belongs into an object.
"""


class Unreadable(Exception):
    """A body that is not a message of the expected kinds. Redelivery cannot help."""


class Message(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    """Base of messages. A subclass gives its tag with a version: `class SendEmail(Message, tag="email.1")`.

    A field that is added later has a default, so that messages in flight during an upgrade can be read; old code
    ignores it. Any other change gets the next version, in a new class; keep the old one until no queue holds its
    messages.
    """

    generation: str | UnsetType = UNSET
    """Set where given-up work is started again: results of another generation do not count in this one."""

    def idempotency_key(self) -> str:
        """The identity of the work: the tag and all fields, unless the kind has an id of its own.

        The same work sent again within a day of its completion is skipped; to repeat it, a field must differ.
        """
        return f"{tag_of(type(self))}#{hashlib.sha256(_ENCODER.encode(self)).hexdigest()}"


_GENERATION: ContextVar[str | None] = ContextVar("generation", default=None)


def within(message: Message) -> AbstractContextManager[None]:
    """Give messages sent while one is handled its generation."""
    return holding(_GENERATION, None if isinstance(message.generation, UnsetType) else message.generation)


_TENANT: ContextVar[str | None] = ContextVar("tenant", default=None)


def of_tenant(name: str | None) -> AbstractContextManager[None]:
    """Messages sent inside belong to a tenant: SQS serves tenants in turn (decision 305)."""
    return holding(_TENANT, name)


def tenant() -> str | None:
    """The tenant of the messages that are sent now; None for the service's own."""
    return _TENANT.get()


_ENCODER = msgspec.json.Encoder(order="sorted")


def tag_of(kind: type[Message]) -> str:
    """The tag of a kind of message: `email.1`."""
    return str(kind.__struct_config__.tag)


def encode(message: Message) -> str:
    """The body for a queue. Raises TooLarge: it has more than `LARGEST` bytes."""
    if message.generation is UNSET and (generation := _GENERATION.get()) is not None:
        message = msgspec.structs.replace(message, generation=generation)
    body = _ENCODER.encode(message)
    if len(body) > MAX_MESSAGE_BYTES:
        raise TooLarge(
            f"A {tag_of(type(message))} message may have at most {MAX_MESSAGE_BYTES} bytes; this one has {len(body)}."
        )
    return body.decode()


def decode(body: str | bytes, kinds: Iterable[type[Message]]) -> Message:
    """The message in a body.

    Raises:
        Unreadable: it is not JSON, its tag is not one of `kinds`, or a field is missing or has another type.
    """
    try:
        message: Message = _decoder(tuple(kinds)).decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as failure:
        raise Unreadable(str(failure)) from failure
    return message


@lru_cache(maxsize=32)
def _decoder(kinds: tuple[type[Message], ...]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(Union[kinds])  # noqa: UP007 the kinds are known at run time only
