"""Trees of leaves: positions, and the paths that derive from name and parent.

A change of a tree is planned on the leaves of the view and committed with a guard (`storage/dynamodb/steps.py`) that
was read before the view: the commit fails if another process has changed a tree meanwhile. Bulk changes of trees are
in `bulk.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from chalicelib.access import authentication, view_queries
from chalicelib.access.scope import UNRESTRICTED
from chalicelib.core.kinds import Kind
from chalicelib.core.models.entities import Leaf
from chalicelib.errors import BadInput, Conflict, NotFound
from chalicelib.query.operators import Op
from chalicelib.query.tree import Query, Test, Tree
from chalicelib.resources.leaves import hierarchy
from chalicelib.storage.dynamodb import entities
from chalicelib.storage.dynamodb.entities import Stored
from chalicelib.storage.dynamodb.steps import RowChange

LEAF = Kind.LEAF
ROOT = -1
DEEPEST = 200
"""Levels below the root."""
_decode = msgspec.json.Decoder(Leaf).decode


@dataclass(frozen=True, kw_only=True)
class TreePosition:
    """The position of leaves: the path above them, and their depth."""

    path: str
    depth: int


def parent_of(given: int | None) -> int | None:
    """A parent in its stored form: None for a root."""
    return None if given in (None, ROOT) else given


def find(project: int, where: Tree) -> list[Leaf]:
    """The leaves that match."""
    documents = view_queries.documents(view_queries.current(project), Query(kind=LEAF, where=where), UNRESTRICTED)
    return [_decode(document) for document in documents]


def below(project: int, numbers: Sequence[int]) -> list[Leaf]:
    """The descendants of some leaves, level by level."""
    known = set(numbers)
    lower: list[Leaf] = []
    level = list(numbers)
    while level:
        children = [leaf for leaf in find(project, Test("parent", Op.IN, tuple(level))) if leaf.id not in known]
        level = [leaf.id for leaf in children]
        known.update(level)
        lower += children
    return lower


def places(project: int, parents: Iterable[int | None]) -> dict[int | None, TreePosition]:
    """The positions of the children of parents; None for roots.

    Raises:
        BadInput: a parent belongs to another project, or is too deep.
        NotFound: it does not exist.
    """
    wanted = {number for parent in parents if (number := parent_of(parent)) is not None}
    known: dict[int | None, TreePosition] = {
        None: TreePosition(path=hierarchy.root(authentication.project_of(project).name), depth=0)
    }
    rows = entities.many(LEAF, wanted)
    for number in sorted(wanted):
        if number not in rows:
            raise NotFound.of("Leaf", number)
        leaf: Leaf = rows[number].entity
        if leaf.project != project:
            raise BadInput(f"parent: leaf {number} belongs to another project.")
        if leaf.depth >= DEEPEST:
            raise BadInput(f"parent: leaf {number} is {leaf.depth} levels deep; none may be deeper than {DEEPEST}.")
        known[number] = TreePosition(path=leaf.path, depth=leaf.depth + 1)
    return known


def plan_move(project: int, before: Leaf, after: Leaf) -> list[Leaf]:
    """A changed leaf, and the descendants whose path or depth changes with it.

    The leaf is first. A descendant that becomes its parent is second and takes the leaf's place: in separate changes,
    each of the two would be below the other.

    Raises:
        BadInput: it would be its own parent, or too deep.
        NotFound: the parent does not exist.
    """
    if after.parent == after.id:
        raise BadInput("parent: a leaf cannot be its own parent.")
    lower = {leaf.id: leaf for leaf in below(project, [after.id])}
    leaves = {after.id: after}
    if after.parent is not None and after.parent in lower:
        leaves[after.parent] = msgspec.structs.replace(lower[after.parent], parent=before.parent)
    leaves = leaves | {number: leaf for number, leaf in lower.items() if number not in leaves}
    known = places(project, {leaf.parent for leaf in leaves.values() if leaf.parent not in leaves} - {before.parent})
    if before.parent not in leaves:
        known |= _place_of_child(project, before)

    def place_of(leaf: Leaf) -> TreePosition:
        if leaf.parent is not None and leaf.parent not in known:
            above = leaves[leaf.parent]
            place = place_of(above)
            known[above.id] = TreePosition(path=hierarchy.path(place.path, above.name), depth=place.depth + 1)
        return known[leaf.parent]

    plan = []
    for number, leaf in leaves.items():
        place = place_of(leaf)
        moved = msgspec.structs.replace(leaf, path=hierarchy.path(place.path, leaf.name), depth=place.depth)
        if number == after.id or moved != lower[number]:
            plan.append(moved)
    return plan


def _place_of_child(project: int, leaf: Leaf) -> dict[int | None, TreePosition]:
    """The position of the children of a leaf's parent: that of the leaf, if only the parent was deleted."""
    try:
        return places(project, [leaf.parent])
    except NotFound:
        return {leaf.parent: TreePosition(path=leaf.path.rpartition(hierarchy.SEPARATOR)[0], depth=leaf.depth)}


def plan_rewrite(plan: Sequence[Leaf], first: Stored[Any] | None = None) -> list[RowChange]:
    """The steps that give leaves their planned positions; the first leaf gets its full content if given.

    Raises:
        Conflict: one of them was deleted.
    """
    rows = entities.many(LEAF, [leaf.id for leaf in plan if first is None or leaf.id != first.entity.id])
    done = []
    for leaf in plan:
        if first is not None and leaf.id == first.entity.id:
            done.append(RowChange(LEAF, first, leaf))
            continue
        if leaf.id not in rows:
            raise Conflict(f"The leaf {leaf.id} was removed by another request at the same time.")
        row = rows[leaf.id]
        moved = msgspec.structs.replace(row.entity, parent=leaf.parent, path=leaf.path, depth=leaf.depth)
        done.append(RowChange(LEAF, row, moved))
    return done
