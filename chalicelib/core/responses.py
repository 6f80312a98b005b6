"""Responses that are a message. Clients know these shapes by their names."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

Change = Annotated[
    int | None, Meta(description="The number of the change that a deletion or bulk change made, for Restore.")
]


class MessageResponse(Struct, kw_only=True, omit_defaults=True):
    """What the operation did."""

    message: str
    change: Change = None


class DeletedResponse(Struct, kw_only=True, omit_defaults=True):
    """What the operation deleted."""

    message: str
    id: int
    change: Change = None


class CreateResponse(Struct, kw_only=True, omit_defaults=True):
    """The id of a new record or entity, and a message."""

    message: str
    id: Annotated[int | str, Meta(description="The new id; for a transcode or job its uid.")]
    object: Annotated[dict[str, Any] | None, Meta(description="The new object, where the operation returns it.")] = None


class CreateListResponse(Struct, kw_only=True, omit_defaults=True):
    """The ids of new records or entities, in the order of the request, and a message."""

    message: str
    id: Annotated[list[int | str], Meta(description="The new ids; for transcodes and jobs their uids.")]
    object: Annotated[
        list[dict[str, Any]] | None, Meta(description="The new objects, where the operation returns them.")
    ] = None


class BadRequestResponse(Struct, kw_only=True):
    """The error of a bad request."""

    message: Annotated[str, Meta(description="The rule that was broken, in a sentence.")]
    details: Annotated[str, Meta(description="The field and the rule; empty where the message has both.")]


class NotFoundResponse(Struct, kw_only=True):
    """The error of a request for a missing object, without permission, or in conflict with the current state."""

    message: str
    details: str = ""
