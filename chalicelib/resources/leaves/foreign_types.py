"""Leaf types of other projects in the creation of leaves (decision 80).

Utilities that copy trees name the type of the source. It stands for the type of the same name in the destination, which
is copied from the source where the destination has none.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection

import msgspec

from chalicelib.access import authentication
from chalicelib.core.models.definitions import LEAF_TYPE, LeafType
from chalicelib.core.permissions import Level
from chalicelib.errors import BadInput
from chalicelib.resources.entities.service import Writer, types_of
from chalicelib.resources.leaves.trees import LEAF
from chalicelib.resources.types import attributes as types_attributes
from chalicelib.storage.dynamodb import ids, records


def leaf_types(writer: Writer, numbers: Collection[int]) -> dict[int, LeafType]:
    """The types of the project that ids in a body stand for; unknown ids are left out.

    Raises:
        BadInput: a type of another project has no counterpart here, and the caller may not make one.
    """
    found: dict[int, LeafType] = types_of(LEAF, writer.project, numbers)
    for number in sorted(set(numbers) - found.keys()):
        if (counterpart := _counterpart(writer, number)) is not None:
            found[number] = counterpart
    return found


def _counterpart(writer: Writer, number: int) -> LeafType | None:
    """The project's type for a type of another project; None if the caller cannot see that."""
    foreign: LeafType | None = records.maybe(LEAF_TYPE, number)
    if foreign is None or _level(writer, foreign.project, foreign) < Level.VIEW:
        return None
    own: list[LeafType] = records.list_children(LEAF_TYPE, writer.project)
    namesakes = [each for each in own if each.name.casefold() == foreign.name.casefold()]
    if namesakes:
        return min(namesakes, key=lambda each: each.id)
    if _level(writer, writer.project, None) < Level.FULL:
        raise BadInput(
            f"type: project {writer.project} has no leaf type {foreign.name!r}. To copy leaf type {number} of another "
            "project needs 'Full Control' here."
        )
    copy = msgspec.structs.replace(
        foreign, id=ids.reserve(LEAF_TYPE.name)[0], project=writer.project, elemental_id=str(uuid.uuid4()), revisions=[]
    )
    return types_attributes.create(LEAF, copy, writer.user)


def _level(writer: Writer, project: int, leaf_type: LeafType | None) -> Level:
    level = authentication.project_level(writer.scope.caller, project)
    if level > Level.NONE and leaf_type is not None and writer.scope.terms(project):
        return writer.scope.project_level(project, LEAF_TYPE.name, lambda: leaf_type)
    return level
