"""The structs of erasures."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from chalicelib.core.records import RecordKind
from chalicelib.core.resource import Id, Resource, Timestamp

ErasureStatus = Literal["Begun", "Running", "Completed"]


class ErasureSpec(Resource, kw_only=True):
    """Whose data is erased."""

    user: Annotated[Id, Meta(description="The user who is erased. The account is closed for good.")]


class FoundData(Resource, kw_only=True):
    """Where data of the person was found."""

    place: Annotated[str, Meta(description="Where, such as `account`, `audit log` or `comments`.")]
    number: Annotated[int, Meta(description="In how many members, entries, records or commits.")]


class Erasure(Resource, kw_only=True):
    """An erasure, and its report."""

    hidden: ClassVar = frozenset({"sealed", "organizations", "is_surveyed"})

    id: int
    organization: int
    user: Annotated[int, Meta(description="The user who is erased; the id stays.")]
    status: Annotated[
        ErasureStatus,
        Meta(
            description="`Begun`: the request that began it has not closed the account; repeat it. `Running`: the "
            "account is closed, a queue function erases the rest. `Completed`: nothing is left but copies."
        ),
    ] = "Begun"
    created_by: int
    created_datetime: Timestamp
    completed_datetime: Timestamp | None = None
    found: Annotated[list[FoundData], Meta(description="Where the data was, and how much.")] = []
    copies_end_datetime: Annotated[
        Timestamp | None,
        Meta(
            description="When the last backup, replaced object, log of a function and dead letter with the data ends."
        ),
    ] = None
    sealed: str = ""
    """The person's names until it is completed, encrypted."""
    organizations: list[int] = []
    """In whose logs and projects the data is looked for."""
    is_surveyed: bool = False
    """Whether what the queue function erases has been counted."""


class ErasureCreated(Resource, kw_only=True):
    """An erasure that was begun."""

    message: str
    id: int
    object: Erasure


ERASURE = RecordKind(name="erasure", struct=Erasure, links={"organization": "organization", "user": "user"})
