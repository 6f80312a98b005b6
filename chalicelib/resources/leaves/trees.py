"""The trees of leaves: where they hang, and what follows from that for the paths of all below (`spec/4` §12).

What changes a tree is planned on the leaves as the view has them, and done in commits with a guard
(`storage/dynamodb/steps.py`) that was taken before the view was asked: it lets only those succeed since whose planning
nobody else made a leaf below another, moved, renamed or removed one. `hang`, `settle` and `fell` are parts of bulk
changes (`resources/bulk/service.py`): they return how many leaves they did, 0 where the rest of one is to come, and
whether a transaction told of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from chalicelib.access import authentication, view_queries
from chalicelib.access.scope import UNRESTRICTED
from chalicelib.core.edits import changed, deleted
from chalicelib.core.entities import Leaf
from chalicelib.core.kinds import Kind
from chalicelib.errors import BadInput, Conflict, NotFound
from chalicelib.query.operators import Op
from chalicelib.query.tree import Query, Test, Tree
from chalicelib.resources.bulk.changes import BulkChange, How
from chalicelib.resources.leaves import hierarchy
from chalicelib.storage.dynamodb import entities, steps
from chalicelib.storage.dynamodb.entities import Stored
from chalicelib.storage.dynamodb.steps import Guard, Step
from chalicelib.storage.dynamodb.transactions import Transaction

LEAF = Kind.LEAF
ROOT = -1
DEEPEST = 200
"""Levels below the root."""
A_COMMIT = steps.LARGEST - 1
"""Rows of a commit beside a guard and the row that says how far the change is."""
A_ROUND = 10
"""Commits that are planned at once: planning reads all leaves below, though not their rows."""
Also = Callable[[Transaction], None]
"""Adds to the transaction that does a leaf what is to go with it."""
_decode = msgspec.json.Decoder(Leaf).decode


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where leaves hang: the path above them, and their depth."""

    path: str
    depth: int


def parent_of(given: int | None) -> int | None:
    """A parent as it is kept: None at the top."""
    return None if given in (None, ROOT) else given


def found(project: int, where: Tree) -> list[Leaf]:
    """The leaves that fit."""
    documents = view_queries.documents(view_queries.current(project), Query(kind=LEAF, where=where), UNRESTRICTED)
    return [_decode(document) for document in documents]


def below(project: int, numbers: Sequence[int]) -> list[Leaf]:
    """All leaves below some, level by level."""
    known = set(numbers)
    lower: list[Leaf] = []
    level = list(numbers)
    while level:
        children = [leaf for leaf in found(project, Test("parent", Op.IN, tuple(level))) if leaf.id not in known]
        level = [leaf.id for leaf in children]
        known.update(level)
        lower += children
    return lower


def places(project: int, parents: Iterable[int | None]) -> dict[int | None, Place]:
    """Where the children of parents hang; None is the top.

    Raises:
        BadInput: a parent is another project's, or too deep.
        NotFound: it does not exist.
    """
    wanted = {number for parent in parents if (number := parent_of(parent)) is not None}
    known: dict[int | None, Place] = {
        None: Place(path=hierarchy.root(authentication.project_of(project).name), depth=0)
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
        known[number] = Place(path=leaf.path, depth=leaf.depth + 1)
    return known


def planned(project: int, before: Leaf, after: Leaf) -> list[Leaf]:
    """A leaf, and those below it whose path or depth is to follow from its name and parent, as they become.

    The leaf comes first; behind it a descendant that it is moved below, which comes to where the leaf was: done apart,
    the two would each be below the other.

    Raises:
        BadInput: it is to be its own parent, or comes to hang too deep.
        NotFound: there is no such parent.
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

    def place_of(leaf: Leaf) -> Place:
        if leaf.parent is not None and leaf.parent not in known:
            above = leaves[leaf.parent]
            place = place_of(above)
            known[above.id] = Place(path=hierarchy.path(place.path, above.name), depth=place.depth + 1)
        return known[leaf.parent]

    plan = []
    for number, leaf in leaves.items():
        place = place_of(leaf)
        moved = msgspec.structs.replace(leaf, path=hierarchy.path(place.path, leaf.name), depth=place.depth)
        if number == after.id or moved != lower[number]:
            plan.append(moved)
    return plan


def _place_of_child(project: int, leaf: Leaf) -> dict[int | None, Place]:
    """Where the children of a leaf's parent hang: where the leaf does, if the parent was deleted alone."""
    try:
        return places(project, [leaf.parent])
    except NotFound:
        return {leaf.parent: Place(path=leaf.path.rpartition(hierarchy.SEPARATOR)[0], depth=leaf.depth)}


def rewriting(plan: Sequence[Leaf], first: Stored[Any] | None = None) -> list[Step]:
    """The steps that give leaves the places they were planned to have, and the first all its content if it is given.

    Raises:
        Conflict: one of them is gone.
    """
    rows = entities.many(LEAF, [leaf.id for leaf in plan if first is None or leaf.id != first.entity.id])
    done = []
    for leaf in plan:
        if first is not None and leaf.id == first.entity.id:
            done.append(Step(LEAF, first, leaf))
            continue
        if leaf.id not in rows:
            raise Conflict(f"The leaf {leaf.id} was removed by somebody else at the same time.")
        row = rows[leaf.id]
        moved = msgspec.structs.replace(row.entity, parent=leaf.parent, path=leaf.path, depth=leaf.depth)
        done.append(Step(LEAF, row, moved))
    return done


# --- parts of bulk changes -----------------------------------------------------------------------------------------


def hang(change: BulkChange, how: How, also: Also) -> tuple[int, bool]:
    """Give a leaf its name and parent; the paths of most of those below it follow by `settle`."""
    guard = steps.guard(change.project)
    before = entities.many(LEAF, change.numbers).get(change.numbers[0])
    if before is None:
        return 1, False
    plan = planned(change.project, before.entity, how(before.entity))
    done = rewriting(plan[:A_COMMIT], before)
    _apply(change, done, guard, also)
    return 1, True


def settle(change: BulkChange, also: Also) -> tuple[int, bool]:
    """Give all below a leaf the paths that follow from it."""
    guard = steps.guard(change.project)
    top = entities.many(LEAF, change.numbers)
    if not top:
        return 1, False
    leaf: Leaf = top[change.numbers[0]].entity
    first, *others = planned(change.project, leaf, leaf)
    plan = others if first == leaf else [first, *others]
    if not plan:
        return 1, False
    size = A_ROUND * A_COMMIT
    _apply(change, rewriting(plan[:size]), guard, also if len(plan) <= size else None)
    return (1, True) if len(plan) <= size else (0, False)


def fell(change: BulkChange, also: Also) -> tuple[int, bool]:
    """Delete a leaf with all below it, the lowest first."""
    guard = steps.guard(change.project)
    number = change.numbers[0]
    lower = below(change.project, [number])
    doomed = [*(leaf.id for leaf in sorted(lower, key=lambda leaf: -leaf.depth)), number]
    size = A_ROUND * A_COMMIT
    done = [Step(LEAF, row, None) for row in entities.many(LEAF, doomed[:size]).values()]
    _apply(change, done, guard, also if len(doomed) <= size else None)
    return (1, bool(done)) if len(doomed) <= size else (0, False)


def _apply(change: BulkChange, done: Sequence[Step], guard: Guard, also: Also | None) -> None:
    """Do steps in commits as large as can be, nobody having touched the trees since the guard; `also` with the last."""

    def apply(part: Sequence[Step]) -> None:
        nonlocal guard
        edits = [changed(LEAF, step.before.entity, step.after) for step in part if step.before and step.after]
        if gone := [step.before.entity.id for step in part if step.before and not step.after]:
            edits.append(deleted(LEAF, gone))
        last = also if part[-1] is done[-1] else None
        steps.apply(change.project, part, user=change.user, edits=edits, guarded=guard, also=last)
        guard = Guard(guard.project, guard.n + 1)

    steps.as_large(done, apply, A_COMMIT)
