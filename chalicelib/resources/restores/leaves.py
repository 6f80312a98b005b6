"""Deleted leaves that come back below their parents.

No name of a leaf is claimed, and its path derives from those above it. So a leaf comes back under its id and name, at
the place that its parent has by now.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import msgspec

from chalicelib.access import authentication
from chalicelib.core.kinds import Kind
from chalicelib.core.log.edits import restored
from chalicelib.core.models.entities import Leaf
from chalicelib.errors import Conflict
from chalicelib.resources.bulk.service import Handler
from chalicelib.resources.leaves import hierarchy
from chalicelib.resources.leaves.trees import DEEPEST, TreePosition
from chalicelib.resources.restores.kept import restorable
from chalicelib.storage.dynamodb import entities, steps
from chalicelib.storage.dynamodb.entities import Stored
from chalicelib.storage.dynamodb.steps import RowChange

LEAF = Kind.LEAF


def in_order(project: int, numbers: Collection[int]) -> tuple[list[int], list[int]]:
    """Deleted leaves, each after its parent, and those of them whose path changes.

    Leaves that stayed below one whose path changes get new paths, too.

    Raises:
        Conflict: the parent of one is deleted and does not come back, is below the leaf by now, or is too deep.
    """
    leaves: dict[int, Leaf] = {number: row.stored.entity for number, row in entities.get_deleted(LEAF, numbers).items()}
    parents = {leaf.parent for leaf in leaves.values() if leaf.parent is not None} - leaves.keys()
    there = entities.many(LEAF, parents)
    for number, leaf in leaves.items():
        if leaf.parent in parents and leaf.parent not in there:
            message = f"The leaf {number} cannot be restored alone: its parent {leaf.parent} is deleted."
            raise Conflict(message, "Restore the change that deleted the parent; it may be part of the same request.")
    placed = _place(project, leaves)
    if unplaced := leaves.keys() - placed.keys():
        message = f"The leaf {min(unplaced)} cannot be restored: its parent is below it by now, or too deep."
        raise Conflict(message, f"Give the parent another place first. No leaf is deeper than {DEEPEST}.")
    return list(placed), [number for number, leaf in placed.items() if leaf.path != leaves[number].path]


class RestoreLeaves(Handler):
    """Brings deleted leaves back."""

    def do(self, left: list[int], most: int) -> tuple[int, bool]:
        """Restore the leaves of one part that are still deleted and whose parents are there."""
        project, part = self.change.project, left[:most]
        guard = steps.guard(project)
        rows: dict[int, Stored[Any]] = {row.entity.id: row for row in restorable(LEAF, part)}
        leaves = {number: row.entity for number, row in rows.items()}
        placed = _place(project, leaves)
        done = [RowChange(LEAF, rows[number], leaf) for number, leaf in placed.items()]
        return self.apply(done, [restored(LEAF, list(placed))] if placed else [], len(part), guard if done else None)


def _place(project: int, leaves: Mapping[int, Leaf]) -> dict[int, Leaf]:
    """Leaves with their paths, each after its parent; without those whose parent has no place.

    A parent that is there may be below one of the leaves: `DELETE /rest/Leaves` deletes leaves without their subtrees.
    It has a place as soon as that leaf has one, which is never where the leaf would be its own ancestor.
    """
    parents = entities.many(LEAF, {leaf.parent for leaf in leaves.values() if leaf.parent is not None} - leaves.keys())
    live: dict[int, Leaf] = {}
    level: Iterable[int] = parents
    while rows := entities.many(LEAF, level):
        live |= {number: row.entity for number, row in rows.items()}
        level = {leaf.parent for leaf in live.values() if leaf.parent is not None} - live.keys() - leaves.keys()
    root = hierarchy.root(authentication.project_of(project).name)
    known: dict[int | None, TreePosition] = {None: TreePosition(path=root, depth=0)}
    waiting = dict(leaves)
    for number in parents:
        between: dict[int, Leaf] = {}
        top: int | None = number
        while top is not None and top in live:
            between[top] = live[top]
            top = live[top].parent
        if top in leaves:
            waiting |= between
        elif live[number].depth < DEEPEST:
            known[number] = TreePosition(path=live[number].path, depth=live[number].depth + 1)
    found: dict[int, Leaf] = {}
    while ready := [leaf for leaf in waiting.values() if leaf.parent in known]:
        for leaf in ready:
            place = known[leaf.parent]
            path = hierarchy.path(place.path, leaf.name)
            found[leaf.id] = msgspec.structs.replace(leaf, path=path, depth=place.depth)
            if place.depth < DEEPEST:
                known[leaf.id] = TreePosition(path=path, depth=place.depth + 1)
            del waiting[leaf.id]
    return {number: leaf for number, leaf in found.items() if number in leaves}
