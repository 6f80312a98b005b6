"""Responses that are a message. Clients know these shapes by their names."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class MessageResponse(Struct, kw_only=True, omit_defaults=True):
    """What the operation did."""

    message: str


class CreateResponse(Struct, kw_only=True, omit_defaults=True):
    """The id of a new record or entity, and a message."""

    message: str
    id: int | str
    """The new id; for a transcode or job its uid."""
    object: dict[str, Any] | None = None
    """The new object, where the operation returns it."""


class CreateListResponse(Struct, kw_only=True, omit_defaults=True):
    """The ids of new records or entities, in the order of the request, and a message."""

    message: str
    id: list[int | str]
    """The new ids; for transcodes and jobs their uids."""
    object: list[dict[str, Any]] | None = None
    """The new objects, where the operation returns them."""


class BadRequestResponse(Struct, kw_only=True):
    """The error of a bad request."""

    message: str
    """The rule that was broken, in a sentence."""
    details: str
    """The field and the rule; `None` where the message has both."""


class NotFoundResponse(Struct, kw_only=True):
    """The error of a request for a missing object, without permission, or in conflict with the current state."""

    message: str
    details: str = "None"
