"""Revisions: what changes to a type's attributes mean for the values written before them.

A type lists every change to its attributes that concerns values, in order; a thing says how many of them its values
have been through. So a rename is one small commit however many things there are: whoever reads a thing takes its values
through what came since (`up_to_date`), and whoever writes it writes them as they have become. A thing written under a
definition that somebody had just changed says so itself, and is read right as well.
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
    """An attribute came; `value`, if there is one, is what things get that were there."""

    name: str
    value: Any = None


class Removed(msgspec.Struct, frozen=True, tag=True):
    """An attribute went with all its values."""

    name: str


class Renamed(msgspec.Struct, frozen=True, tag=True):
    """An attribute got another name; none that the type had then."""

    name: str
    to: str


class Recast(msgspec.Struct, frozen=True, tag=True):
    """Numbers became whole, towards zero, or floating."""

    name: str
    dtype: Literal["int", "float"]


Revision = Added | Removed | Renamed | Recast


def revised(values: Values, revisions: Sequence[Revision]) -> Values:
    """Values after revisions, in the order they had. The given ones are not modified."""
    after = dict(values)
    for revision in revisions:
        match revision:
            case Removed(name):
                after.pop(name, None)
            case Added(name, value):
                after.pop(name, None)  # a stray value of that name is nobody's
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
    """A number of the other dtype; an integer beyond what a float can be stays as near as one comes."""
    return math.trunc(number) if dtype == "int" else float(number)


def up_to_date(entity: E, revisions: Sequence[Revision]) -> E:
    """A thing with its values as its type has them, the thing itself where they are.

    Raises:
        Conflict: the thing has been through more than that: the type was read too long ago.
    """
    done: int = entity.revision  # type: ignore[attr-defined]
    if done == len(revisions):
        return entity
    if done > len(revisions):
        raise Conflict("The attributes of the type were changed by somebody else at the same time.")
    values = revised(entity.attributes, revisions[done:])  # type: ignore[attr-defined]
    return msgspec.structs.replace(entity, attributes=values, revision=len(revisions))
