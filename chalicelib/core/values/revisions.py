"""Revisions: how changes of a type's attributes affect the values written before them.

A type lists every change of its attributes that affects values, in order; each entity stores the number of revisions
that its values are at. So a rename is one small commit for any number of entities: a reader applies the missing
revisions to the values (`up_to_date`), and a writer stores the result. An entity written under a definition that was
changed concurrently has the older number, and is read correctly too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, TypeVar

import msgspec

from chalicelib.errors import Conflict

E = TypeVar("E", bound=msgspec.Struct)
Values = dict[str, Any]


class Added(msgspec.Struct, frozen=True, tag=True):
    """An attribute was added; existing entities get `value`, if given."""

    name: str
    value: Any = None


class Removed(msgspec.Struct, frozen=True, tag=True):
    """An attribute was deleted with all its values."""

    name: str


class Renamed(msgspec.Struct, frozen=True, tag=True):
    """An attribute was renamed, to a name that was free then."""

    name: str
    to: str


class Recast(msgspec.Struct, frozen=True, tag=True):
    """Numbers became integers, truncated towards zero, or floats."""

    name: str
    dtype: Literal["int", "float"]


Revision = Added | Removed | Renamed | Recast


def revised(values: Values, revisions: Sequence[Revision]) -> Values:
    """Values after revisions, in their order. The given ones are not modified."""
    after = dict(values)
    for revision in revisions:
        match revision:
            case Removed(name):
                after.pop(name, None)
            case Added(name, value):
                after.pop(name, None)  # a stray value under that name belongs to no attribute
                if value is not None:
                    after[name] = value
            case Renamed(name, to) if name in after:
                after.pop(to, None)
                after = {to if each == name else each: value for each, value in after.items()}
            case Recast(name, dtype) if type(after.get(name)) in (int, float):
                after[name] = recast(after[name], dtype)
            case _:
                pass
    return after


def recast(number: float, dtype: Literal["int", "float"]) -> float:
    """A number of the other dtype; an integer beyond the range of floats becomes the nearest float."""
    return math.trunc(number) if dtype == "int" else float(number)


def up_to_date(entity: E, revisions: Sequence[Revision]) -> E:
    """An entity with its values at its type's last revision; the same object if they are.

    Raises:
        Conflict: the entity is at a later revision: the type was read too long ago.
    """
    done: int = entity.revision  # type: ignore[attr-defined]
    if done == len(revisions):
        return entity
    if done > len(revisions):
        raise Conflict("The attributes of the type were changed by another request at the same time.")
    values = revised(entity.attributes, revisions[done:])  # type: ignore[attr-defined]
    return msgspec.structs.replace(entity, attributes=values, revision=len(revisions))
