"""Bulk changes of label trees, one leaf after the other (`trees.py` plans them)."""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib.core.kinds import Kind
from chalicelib.core.log.edits import changed, deleted
from chalicelib.core.models.entities import Leaf
from chalicelib.resources.bulk.service import Handlers, OneByOne
from chalicelib.resources.entities import bulk as entities_bulk
from chalicelib.resources.entities.bulk import rewrite_attributes
from chalicelib.resources.entities.service import type_of
from chalicelib.resources.leaves import trees as leaves_trees
from chalicelib.storage.dynamodb import entities, steps
from chalicelib.storage.dynamodb.steps import Guard, RowChange
from chalicelib.storage.dynamodb.transactions import Transaction

LEAF = Kind.LEAF
A_COMMIT = steps.MOST_STEPS - 1
"""Rows of a commit besides a guard and the row that records progress."""
A_ROUND = 50 * A_COMMIT
"""Leaves that are planned at once: planning reads the whole subtree from the view, but not its rows."""


class _OneLeaf(OneByOne):
    """Changes one leaf at a time."""

    def write(self, done: list[RowChange], guard: Guard, *, complete: bool) -> tuple[int, bool]:
        """Write steps in commits as large as can be; the last one notes the progress where the leaf is `complete`.

        Raises:
            Conflict: another process changed a tree since the guard was read.
        """

        def note(transaction: Transaction) -> None:
            self.note(transaction, 1)

        def apply(part: Sequence[RowChange]) -> None:
            nonlocal guard
            edits = [changed(LEAF, step.before.entity, step.after) for step in part if step.before and step.after]
            if gone := [step.before.entity.id for step in part if step.before and not step.after]:
                edits.append(deleted(LEAF, gone))
            also = note if complete and part[-1] is done[-1] else None
            steps.apply(self.change.project, part, user=self.change.user, edits=edits, guarded=guard, also=also)
            guard = Guard(guard.project, guard.n + 1)

        steps.as_large(done, apply, A_COMMIT)
        return (1, bool(done)) if complete else (0, False)


class Reparent(_OneLeaf):
    """Sets the name and parent of a leaf, and updates the paths of a first part of its subtree."""

    def do_one(self, number: int) -> tuple[int, bool]:
        """Change the leaf."""
        change = self.change
        guard = steps.guard(change.project)
        before = entities.many(LEAF, [number]).get(number)
        if before is None:
            return 1, False
        after = rewrite_attributes(change, type_of(LEAF, change.project, change.type))(before.entity)
        plan = leaves_trees.plan_move(change.project, before.entity, after)
        return self.write(leaves_trees.plan_rewrite(plan[:A_COMMIT], before), guard, complete=True)


class RebuildPaths(_OneLeaf):
    """Rewrites the paths of the subtree of a leaf."""

    def do_one(self, number: int) -> tuple[int, bool]:
        """Rewrite a round of the leaves whose path is wrong."""
        guard = steps.guard(self.change.project)
        top = entities.many(LEAF, [number])
        if not top:
            return 1, False
        leaf: Leaf = top[number].entity
        first, *others = leaves_trees.plan_move(self.change.project, leaf, leaf)
        plan = others if first == leaf else [first, *others]
        if not plan:
            return 1, False
        return self.write(leaves_trees.plan_rewrite(plan[:A_ROUND]), guard, complete=len(plan) <= A_ROUND)


class DeleteSubtree(_OneLeaf):
    """Deletes a leaf with its subtree, deepest leaves first."""

    def do_one(self, number: int) -> tuple[int, bool]:
        """Delete a round of leaves."""
        guard = steps.guard(self.change.project)
        lower = leaves_trees.below(self.change.project, [number])
        doomed = [*(leaf.id for leaf in sorted(lower, key=lambda leaf: -leaf.depth)), number]
        done = [RowChange(LEAF, row, None) for row in entities.many(LEAF, doomed[:A_ROUND]).values()]
        return self.write(done, guard, complete=len(doomed) <= A_ROUND)


HANDLERS: Handlers = {
    **entities_bulk.HANDLERS,
    ("delete_subtree", LEAF): DeleteSubtree,
    ("rebuild_paths", LEAF): RebuildPaths,
    ("reparent", LEAF): Reparent,
}
"""The verbs of this slice."""
