"""Change logs in answers: the author, the entity, and values before and after."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from chalicelib.core.resource import Timestamp


class ChangeLogDescriptionOfChangeNew(Struct, frozen=True, kw_only=True):
    """One member with its value: attributes under their names, built-in members with a `_` prefix."""

    name: str
    value: Any


class ChangeLogDescriptionOfChange(Struct, frozen=True, kw_only=True):
    """Members before and after, the same in both lists and in the same order."""

    old: Annotated[list[ChangeLogDescriptionOfChangeNew], Meta(description="Members before.")]
    new: Annotated[list[ChangeLogDescriptionOfChangeNew], Meta(description="The same members after.")]


class ChangeLog(Struct, frozen=True, kw_only=True):
    """One change of one entity, or of all entities that a bulk request changed alike."""

    id: int
    project: int
    user: Annotated[int | None, Meta(description="The author; null for the service itself.")]
    modified_datetime: Timestamp
    description_of_change: ChangeLogDescriptionOfChange
    change: Annotated[int, Meta(description="The number of its last commit, as events and history have it.")]


def describe_change(old: dict[str, object], new: dict[str, object]) -> ChangeLogDescriptionOfChange:
    """Describe a change: members of `new` that `old` lacks were null."""
    return ChangeLogDescriptionOfChange(
        old=[ChangeLogDescriptionOfChangeNew(name=name, value=old.get(name)) for name in new],
        new=[ChangeLogDescriptionOfChangeNew(name=name, value=value) for name, value in new.items()],
    )
