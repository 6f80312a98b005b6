"""Groups of users within an organization (`spec/3` §3.4)."""

from __future__ import annotations

from chalicelib.domain.records import RecordKind
from chalicelib.domain.resource import Id, Name, Resource


class GroupSpec(Resource, kw_only=True):
    """What creates a group."""

    name: Name
    initial_members: list[Id] | None = None


class GroupUpdateSpec(Resource, kw_only=True):
    """What a PATCH of a group may carry; adding a member twice adds it once."""

    name: Name | None = None
    add_members: list[Id] | None = None
    remove_members: list[Id] | None = None


class Group(Resource, kw_only=True):
    """A named set of users."""

    id: int
    organization: int
    name: Name
    members: list[int] = []


GROUP = RecordKind(name="group", struct=Group, title="Group", parent=("organization", "organization"))
