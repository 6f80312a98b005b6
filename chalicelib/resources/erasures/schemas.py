"""The structs of erasures."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from chalicelib.core.models.personal import Erasure
from chalicelib.core.resource import Id, Resource


class ErasureSpec(Resource, kw_only=True):
    """The body that orders an erasure."""

    user: Annotated[Id, Meta(description="The user who is erased. The account is closed for good.")]


class ErasureCreated(Resource, kw_only=True):
    """An erasure that was begun."""

    message: str
    id: int
    object: Erasure
