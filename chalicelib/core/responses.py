"""What operations answer with a sentence. Clients know these shapes by their names (`spec/4` §14.6)."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class MessageResponse(Struct, kw_only=True, omit_defaults=True):
    """What was done."""

    message: str


class CreateResponse(Struct, kw_only=True, omit_defaults=True):
    """What was created."""

    message: str
    id: int | str
    """The id of what was created; for a transcode or job its uid."""
    object: dict[str, Any] | None = None
    """What was created, where the operation gives it."""


class CreateListResponse(Struct, kw_only=True, omit_defaults=True):
    """What was created, in the order it was given."""

    message: str
    id: list[int | str]
    """The ids of what was created; for transcodes and jobs their uids."""
    object: list[dict[str, Any]] | None = None
    """What was created, where the operation gives it."""


class BadRequestResponse(Struct, kw_only=True):
    """What was wrong with the request."""

    message: str
    """The rule that was broken, in a sentence."""
    details: str
    """The field and the rule; `None` where the message says it all."""


class NotFoundResponse(Struct, kw_only=True):
    """What was not found, was not allowed, or was in the way."""

    message: str
    details: str = "None"
