"""What every stored record is made of: Structs nested by *when* a field may be set.

A resource writes each of its fields once: the Struct of what a PATCH may change, extended by what is given at
creation, extended by what the service adds. A PATCH touches only the members it is given; 0, false and "" are values.
A member that null clears has the type `X | None | UnsetType` and the default UNSET; for every other member None means
"not given". `docs/decisions/008-null-is-absent.md` has the rule for callers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import UNSET, Meta, Struct, inspect

Id = Annotated[int, Meta(ge=1)]
Flag = Annotated[int, Meta(ge=0, le=1)]
ONE_LINE = r"^[^\x00-\x1f\x7f]*$(?!\n)"
"""No control characters; Python's `$` alone would let a line end pass at the end."""
Name = Annotated[str, Meta(min_length=1, max_length=128, pattern=ONE_LINE)]
TypeName = Annotated[str, Meta(min_length=1, max_length=64, pattern=ONE_LINE)]
Description = Annotated[str, Meta(max_length=256)]
Summary = Annotated[str, Meta(max_length=1024)]
Uuid = Annotated[str, Meta(pattern=r"^[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$(?!\n)")]
Timestamp = str
"""ISO 8601 in UTC with milliseconds and a Z, such as `2026-01-02T03:04:05.678Z`."""


class Resource(Struct, kw_only=True, omit_defaults=True):
    """Base of everything that is decoded from a body or encoded into an answer."""

    accepts: ClassVar[Mapping[str, str]] = {}
    """Older names of members, still accepted: old name → name (`spec/3` §18)."""
    also: ClassVar[Mapping[str, str]] = {}
    """Older names of members, still emitted: old name → name whose value it carries."""
    gathers: ClassVar[str | None] = None
    """The member, a mapping, that takes in what older clients sent as unknown members beside it."""
    unused: ClassVar[Mapping[str, str]] = {}
    """Members that clients send and that have no effect: name → why. Every other unknown member is refused."""
    is_open: ClassVar[bool] = False
    """Whether members of any name may be given."""
    is_whole: ClassVar[bool] = False
    """Whether a PATCH with it replaces everything, so that null stands for absence as at creation."""
    is_change: ClassVar[bool] = False
    """Whether it says, within the body of a PATCH, which members change: the rule of null holds in it too."""
    required_later: ClassVar[frozenset[str]] = frozenset()
    """Members that a handler misses only after a check that goes first, such as that of a URL's origin."""
    names: ClassVar[Mapping[str, str]] = {}
    """Members of a body that name entities or records by id: member → their kind (`access/references.py`)."""
    drops_unknown: ClassVar[frozenset[str]] = frozenset()
    """Of these, members whose unknown ids are left out instead of refused."""
    hidden: ClassVar[frozenset[str]] = frozenset()
    """Members that are stored and never emitted."""


class Created(Struct, kw_only=True, omit_defaults=True):
    """What CreateResponse says: the new thing's id, and the thing where the operation gives it."""

    message: str
    id: int | str
    object: dict[str, Any] | None = None


def answer(thing: Resource) -> dict[str, Any]:
    """The members of a thing as callers see them: every one, null where unset, under new and old names."""
    seen = msgspec.structs.asdict(thing)
    for old, name in thing.also.items():
        seen[old] = seen[name]
    for name in thing.hidden:
        del seen[name]
    return seen


def given(change: Struct) -> dict[str, Any]:
    """The members of a change that the caller gave; None for those that null clears."""
    members = zip(msgspec.structs.fields(change), msgspec.structs.asdict(change).items(), strict=True)
    return {
        name: value
        for field, (name, value) in members
        if value is not UNSET and (value is not None or field.default is UNSET)
    }


def options(type_: inspect.Type) -> Iterator[inspect.Type]:
    """What a member of a type may be, beneath annotations and beside null."""
    if isinstance(type_, inspect.Metadata):
        yield from options(type_.type)
    elif isinstance(type_, inspect.UnionType):
        for option in type_.types:
            yield from options(option)
    elif not isinstance(type_, inspect.NoneType):
        yield type_


def now() -> Timestamp:
    """This instant, as it is written into records."""
    return timestamp(datetime.now(UTC))


def timestamp(moment: datetime) -> Timestamp:
    """An instant in the service's own form; a naive one counts as UTC."""
    aware = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.isoformat(timespec="milliseconds").replace("+00:00", "Z")
