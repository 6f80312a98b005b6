"""Groups of users within an organization."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from chalicelib.core.records import RecordKind
from chalicelib.core.resource import Id, Name, Resource

Members = Annotated[list[Id], Meta(max_length=500)]
"""Most users that one request adds or removes: each is looked up."""


class GroupSpec(Resource, kw_only=True):
    """The body that creates a group."""

    name: Name
    initial_members: Annotated[Members | None, Meta(description="Ids of the first members.")] = None


class GroupUpdateSpec(Resource, kw_only=True):
    """The body of a PATCH of a group; adding a member twice adds it once."""

    name: Name | None = None
    add_members: Annotated[Members | None, Meta(description="Ids of users to add.")] = None
    remove_members: Annotated[Members | None, Meta(description="Ids of users to remove.")] = None


class Group(Resource, kw_only=True):
    """A named set of users."""

    hidden: ClassVar = frozenset({"external_id"})

    id: int
    organization: int
    name: Name
    members: Annotated[list[int], Meta(description="Ids of the members.")] = []
    external_id: str | None = None
    """What the identity provider that provisions it calls it."""


GROUP = RecordKind(name="group", struct=Group, parent=("organization", "organization"))
