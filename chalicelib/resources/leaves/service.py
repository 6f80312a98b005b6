"""Leaves: label hierarchies, whose paths derive from the names of all ancestors.

Creating a child, moving, renaming and deleting read leaves that other requests may be changing. A guard
(`storage/dynamodb/steps.py`) makes the commit fail if the tree has changed since it was read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chalicelib.access import view_queries
from chalicelib.core.kinds import Kind
from chalicelib.core.log.edits import changed, differences
from chalicelib.core.models.entities import Leaf
from chalicelib.core.resource import now, shown_members
from chalicelib.core.values.attribute_values import fill
from chalicelib.errors import BadInput
from chalicelib.query.operators import Op
from chalicelib.query.parsers import filters
from chalicelib.query.parsers.annotation_bodies import LeafBulkUpdate
from chalicelib.query.parsers.bodies import LeafIdQuery
from chalicelib.query.parsers.parameters import LeafQuery
from chalicelib.query.tree import Test, Tree, both
from chalicelib.query.values import fold
from chalicelib.resources.annotations.bulk_edits import find_ids, first_of_one_type
from chalicelib.resources.annotations.schemas import LeafSpec, LeafSuggestion, LeafUpdate
from chalicelib.resources.bulk import service as bulk_service
from chalicelib.resources.entities.bulk import rewrite_attributes
from chalicelib.resources.entities.service import ATTRIBUTE_CHANGES, Writer, check_change, type_of, unknown_type
from chalicelib.resources.leaves import bulk as leaves_bulk
from chalicelib.resources.leaves import hierarchy
from chalicelib.resources.leaves import trees as leaves_trees
from chalicelib.resources.leaves.foreign_types import leaf_types
from chalicelib.resources.leaves.trees import LEAF, find, parent_of, places
from chalicelib.storage.dynamodb import entities, ids, steps
from chalicelib.storage.dynamodb.transactions import TooLarge
from chalicelib.storage.log import growth

MOST_SUGGESTED = 1_000


def create(writer: Writer, specs: Sequence[LeafSpec], *, listed: bool) -> list[int]:
    """Create leaves, up to 500: all or none. Their parents must exist already.

    Raises:
        BadInput: one of them breaks a rule.
        NotFound: a parent does not exist.
        TooMany: there are many, and the project's log has grown too far beyond its snapshot.
    """
    growth.make_room(writer.project, len(specs))
    return steps.retry_on_conflict(lambda: _create(writer, specs, listed=listed))


def _create(writer: Writer, specs: Sequence[LeafSpec], *, listed: bool) -> list[int]:
    guard = steps.guard(writer.project)
    moment = now()
    types = leaf_types(writer, {spec.type for spec in specs})
    above_of = places(writer.project, {spec.parent for spec in specs})
    made = []
    for index, (spec, number) in enumerate(zip(specs, ids.reserve(LEAF, len(specs)), strict=True)):
        place = f"[{index}]." if listed else ""
        if spec.type not in types:
            raise BadInput(f"{place}{unknown_type(Kind.LEAF, writer.project, spec.type)}")
        above = above_of[parent_of(spec.parent)]
        try:
            leaf = Leaf(
                id=number,
                project=writer.project,
                type=types[spec.type].id,
                name=spec.name,
                parent=parent_of(spec.parent),
                path=hierarchy.path(above.path, spec.name),
                depth=above.depth,
                attributes=fill(
                    types[spec.type].attribute_types,
                    spec.attributes or {},
                    moment,
                    spec.__struct_fields__,
                    shown_members(Leaf),
                ),
                revision=len(types[spec.type].revisions),
                created_by=writer.user,
                created_datetime=moment,
                modified_by=writer.user,
                modified_datetime=moment,
            )
        except BadInput as refusal:
            member = "" if refusal.message.startswith("name: ") else "attributes: "
            raise BadInput(f"{place}{member}{refusal.message}") from None
        made.append(leaf)
    hang = any(leaf.parent is not None for leaf in made)
    steps.create(LEAF, made, user=writer.user, rewritten=(), edits=[], guarded=guard if hang else None)
    return [leaf.id for leaf in made]


def update(writer: Writer, number: int, body: LeafUpdate) -> Leaf:
    """Change one leaf; a new name or parent changes the paths of its subtree as well.

    A leaf moved below one of its own descendants swaps places with it: the descendant takes the leaf's place. If the
    subtree exceeds one commit, the paths are updated in several.
    """
    fixed = writer.authorship()
    if body.name is not None:
        fixed["name"] = body.name
    if body.parent is not None:
        fixed["parent"] = parent_of(body.parent)
    moved = writer.bulk_change(LEAF, "reparent", [number], body, fixed=fixed)

    def attempt() -> Leaf | int:
        """The changed leaf, or the number of rows that would have to change."""
        guard = steps.guard(writer.project)
        before = entities.get_stored(LEAF, number)
        moved.type = before.entity.type
        after: Leaf = rewrite_attributes(moved, type_of(LEAF, writer.project, moved.type))(before.entity)
        moves = body.name is not None or body.parent is not None
        planned = leaves_trees.plan_move(writer.project, before.entity, after) if moves else [after]
        if len(planned) > steps.MOST_STEPS:
            return len(planned)
        done = leaves_trees.plan_rewrite(planned, before)
        edits = [changed(LEAF, step.before.entity, step.after) for step in done if step.before]
        try:
            steps.apply(writer.project, done, user=writer.user, edits=edits, guarded=guard if moves else None)
        except TooLarge:
            if len(planned) == 1:
                raise
            return len(planned)
        return after

    done = steps.retry_on_conflict(attempt)
    if isinstance(done, Leaf):
        return done
    top = fixed.get("parent") or number
    rebuilt = writer.bulk_change(LEAF, "rebuild_paths", [top])
    bulk_service.run(
        moved, rebuilt, rows=max(done, bulk_service.SOON_DONE + 1), handlers=leaves_bulk.HANDLERS, scope=writer.scope
    )
    leaf: Leaf = entities.get(LEAF, number)
    return leaf


def delete(writer: Writer, number: int) -> int:
    """Delete a leaf with its subtree, deepest first. Returns how many."""
    count = 1 + len(leaves_trees.below(writer.project, [number]))
    bulk_service.run(
        writer.bulk_change(LEAF, "delete_subtree", [number]),
        rows=count,
        handlers=leaves_bulk.HANDLERS,
        scope=writer.scope,
    )
    return count


def update_many(writer: Writer, parameters: LeafQuery, body: LeafBulkUpdate, count: int | None) -> int:
    """Change the attributes of all leaves that match parameters and body. Returns how many.

    Raises:
        BadInput: before any change.
    """
    check_change(body, ATTRIBUTE_CHANGES)
    query = filters.parse(LEAF, parameters, body)
    view = view_queries.current(writer.project)
    numbers = find_ids(view, query, writer.scope, count)
    first = first_of_one_type(LEAF, view, query, numbers)
    if first is None:
        return 0
    edited = writer.bulk_change(LEAF, "edit", numbers, body, type=first.type, fixed=writer.authorship())
    changed_leaf = rewrite_attributes(edited, type_of(LEAF, writer.project, edited.type))(first)
    edited.logged = differences(first, changed_leaf)
    bulk_service.run(edited, handlers=leaves_bulk.HANDLERS, scope=writer.scope)
    return len(numbers)


def delete_many(writer: Writer, parameters: LeafQuery, body: LeafIdQuery | None, count: int | None) -> int:
    """Delete the leaves that match parameters and body, without their subtrees. Returns how many."""
    numbers = find_ids(view_queries.current(writer.project), filters.parse(LEAF, parameters, body), writer.scope, count)
    bulk_service.run(
        writer.bulk_change(LEAF, "delete", numbers),
        handlers=leaves_bulk.HANDLERS,
        scope=writer.scope,
    )
    return len(numbers)


def suggest(project: int, ancestor: str, wanted: str, min_level: int) -> list[LeafSuggestion]:
    """The leaves below an ancestor whose names match, by group and name.

    Args:
        project: their project.
        ancestor: the path of a leaf, the project's label included; an unknown one suggests nothing.
        wanted: the prefix of names; with `*` in it, the text before the first is the prefix, the text after the last
            the suffix, and the rest occurs between.
        min_level: levels below the ancestor at least; 1 is everything, the ancestor itself included.
    """
    top = next(iter(find(project, Test("path", Op.EQ, ancestor))), None)
    if top is None:
        return []
    beneath = both(Test("path", Op.UNDER, ancestor), Test("type", Op.EQ, top.type), *_pattern_terms(wanted))
    deep = [leaf for leaf in find(project, beneath) if min_level <= 1 or leaf.depth - top.depth >= min_level]
    numbers = tuple({leaf.parent for leaf in deep if leaf.parent is not None})
    parents = {leaf.id: leaf for leaf in find(project, Test("id", Op.IN, numbers))} if numbers else {}
    suggested = []
    for leaf in deep:
        parent = parents.get(leaf.parent or 0)
        group = ancestor if parent is None else parent.name
        if parent is not None and (alias := parent.attributes.get("alias")):
            group = f"{group} ({alias})"
        data = {"alias": leaf.attributes["alias"]} if "alias" in leaf.attributes else {}
        suggested.append(LeafSuggestion(value=leaf.name, group=group, data=data))
    return sorted(suggested, key=lambda each: (each.group, each.value))[:MOST_SUGGESTED]


def _pattern_terms(wanted: str) -> Iterable[Tree]:
    first, *others = fold(wanted).split("*")
    if first:
        yield Test("name", Op.STARTS, first)
    if others and others[-1]:
        yield Test("name", Op.ENDS, others[-1])
    for piece in others[:-1]:
        if piece:
            yield Test("name", Op.CONTAINS, piece)
