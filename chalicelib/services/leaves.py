"""Leaves: label hierarchies, whose paths follow from the names of all above (`spec/4` §12).

Who makes a leaf below another, moves, renames or removes one, reads leaves that others may be changing: a guard
(`storage/steps.py`) lets only those succeed since whose reading nobody else did any of that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from chalicelib.domain import hierarchy
from chalicelib.domain.annotation_bodies import LeafSpec, LeafSuggestion, LeafUpdate
from chalicelib.domain.attribute_values import converter, fill, merge
from chalicelib.domain.changes import changed, deleted, differences
from chalicelib.domain.commits import Edit
from chalicelib.domain.entities import Leaf
from chalicelib.domain.kinds import Kind
from chalicelib.domain.resource import now
from chalicelib.domain.revisions import up_to_date
from chalicelib.errors import BadInput, NotFound
from chalicelib.query import filters
from chalicelib.query.annotation_bodies import LeafBulkUpdate
from chalicelib.query.bodies import LeafIdQuery
from chalicelib.query.operators import Op
from chalicelib.query.parameters import LeafQuery
from chalicelib.query.tree import Query, Test, Tree, both
from chalicelib.query.values import fold
from chalicelib.services import access, asking
from chalicelib.services.annotation_bulk import matched, refuse_mixed
from chalicelib.services.annotations import Writer, type_of, types_of
from chalicelib.storage import entities, ids, steps
from chalicelib.storage.entities import Stored
from chalicelib.storage.steps import Guard, Step

LEAF = Kind.LEAF
ROOT = -1
DEEPEST = 200
"""Levels below the root."""
MOST_SUGGESTED = 1_000
_decode = msgspec.json.Decoder(Leaf).decode


@dataclass(frozen=True, kw_only=True)
class _Place:
    """Where leaves hang: the path above them, and their depth."""

    path: str
    depth: int


def create(writer: Writer, specs: Sequence[LeafSpec], *, listed: bool) -> list[int]:
    """Make leaves, up to 500: all or none. Their parents must exist already.

    Raises:
        BadInput: one of them breaks a rule.
        NotFound: a parent does not exist.
    """
    return steps.again(lambda: _create(writer, specs, listed=listed))


def _create(writer: Writer, specs: Sequence[LeafSpec], *, listed: bool) -> list[int]:
    guard = steps.guard(writer.project)
    moment = now()
    types = types_of(LEAF, writer.project, (spec.type for spec in specs))
    places = _places(writer.project, {spec.parent for spec in specs})
    made = []
    for index, (spec, number) in enumerate(zip(specs, ids.reserve(LEAF, len(specs)), strict=True)):
        place = f"[{index}]." if listed else ""
        if spec.type not in types:
            raise BadInput(f"{place}type: the project has no leaf type {spec.type}.")
        above = places[_parent(spec.parent)]
        try:
            leaf = Leaf(
                id=number,
                project=writer.project,
                type=spec.type,
                name=spec.name,
                parent=_parent(spec.parent),
                path=hierarchy.path(above.path, spec.name),
                depth=above.depth,
                attributes=fill(types[spec.type].attribute_types, spec.attributes or {}, moment),
                revision=len(types[spec.type].revisions),
                created_by=writer.user,
                created_datetime=moment,
                modified_by=writer.user,
                modified_datetime=moment,
            )
        except BadInput as refusal:
            raise BadInput(f"{place}{refusal.message}") from None
        made.append(leaf)
    hang = any(leaf.parent is not None for leaf in made)
    steps.create(LEAF, made, user=writer.user, rewritten=(), edits=[], guarded=guard if hang else None)
    return [leaf.id for leaf in made]


def update(writer: Writer, number: int, body: LeafUpdate) -> Leaf:
    """Change one leaf; its new name or place is in the paths of all below it as well.

    A leaf that is moved below one of its own descendants changes places with it: the descendant comes to where the
    leaf was. With more than 98 leaves below, the paths follow in several commits; a request that was stopped half-way
    may be repeated.
    """

    def attempt() -> Leaf:
        guard = steps.guard(writer.project)
        before = entities.stored(LEAF, number)
        leaf: Leaf = before.entity
        change: dict[str, Any] = {"modified_by": writer.user, "modified_datetime": now()}
        if body.attributes is not None or body.reset_attributes or body.null_attributes:
            of = type_of(LEAF, writer.project, leaf.type)
            leaf = up_to_date(leaf, of.revisions)
            change["attributes"] = merge(
                of.attribute_types, leaf.attributes, body.attributes, body.reset_attributes, body.null_attributes
            )
        if body.name is not None:
            change["name"] = body.name
        if body.parent is not None:
            change["parent"] = _parent(body.parent)
        after = msgspec.structs.replace(leaf, **change)
        planned = [Step(LEAF, before, after)]
        if body.name is None and body.parent is None:
            _apply(writer, planned, None)
        else:
            planned = _replaced(writer.project, before, after)
            _apply(writer, planned, guard)
        return planned[0].after  # type: ignore[no-any-return]

    return steps.again(attempt)


def delete(writer: Writer, number: int) -> int:
    """Delete a leaf with all below it, the lowest first; how many there were."""

    def attempt() -> int:
        guard = steps.guard(writer.project)
        doomed = [*_below(writer.project, [number]), entities.stored(LEAF, number)]
        doomed.sort(key=lambda row: (row.entity.id == number, -row.entity.depth))
        _apply(writer, [Step(LEAF, row, None) for row in doomed], guard)
        return len(doomed)

    return steps.again(attempt)


def update_many(writer: Writer, parameters: LeafQuery, body: LeafBulkUpdate, count: int | None) -> int:
    """Change the attributes of all leaves that parameters and body choose; how many there were.

    Raises:
        BadInput: before anything was changed.
    """
    query = filters.parse(LEAF, parameters, body)
    view = asking.current(writer.project)
    numbers = matched(view, query, count)
    first = next(iter(entities.many(LEAF, numbers[:5]).values()), None)
    if first is None:
        return 0
    refuse_mixed(LEAF, view, query, numbers, first.entity.type)
    of = type_of(LEAF, writer.project, first.entity.type)
    merged = converter(of.attribute_types).merge
    moment = now()

    def change(leaf: Leaf) -> Leaf:
        leaf = up_to_date(leaf, of.revisions)
        attributes = merged(leaf.attributes, body.attributes, body.reset_attributes, body.null_attributes)
        return msgspec.structs.replace(leaf, attributes=attributes, modified_by=writer.user, modified_datetime=moment)

    told = differences(first.entity, change(first.entity))
    entities.edit_many(LEAF, numbers, change, user=writer.user, describe=lambda done: [Edit(LEAF, done, *told)])
    return len(numbers)


def delete_many(writer: Writer, parameters: LeafQuery, body: LeafIdQuery | None, count: int | None) -> int:
    """Delete the leaves that parameters and body choose, and none below them; how many there were."""
    numbers = matched(asking.current(writer.project), filters.parse(LEAF, parameters, body), count)
    for part in _parts(numbers):
        steps.again(lambda part=part: _remove(writer, entities.many(LEAF, part).values()))  # type: ignore[misc]
    return len(numbers)


def suggest(project: int, ancestor: str, wanted: str, min_level: int) -> list[LeafSuggestion]:
    """The leaves below an ancestor whose names fit, by group and name.

    Args:
        project: where.
        ancestor: the path of a leaf, the project's label included; an unknown one suggests nothing.
        wanted: the beginning of names; with `*` in it what is before the first is the beginning, what is behind the
            last the end, and the rest lies between.
        min_level: levels below the ancestor at least; 1 is everything, the ancestor itself included.
    """
    top = next(iter(_found(project, Test("path", Op.EQ, ancestor))), None)
    if top is None:
        return []
    beneath = both(Test("path", Op.UNDER, ancestor), Test("type", Op.EQ, top.type), *_fitting(wanted))
    deep = [leaf for leaf in _found(project, beneath) if min_level <= 1 or leaf.depth - top.depth >= min_level]
    numbers = tuple({leaf.parent for leaf in deep if leaf.parent is not None})
    parents = {leaf.id: leaf for leaf in _found(project, Test("id", Op.IN, numbers))} if numbers else {}
    suggested = []
    for leaf in deep:
        parent = parents.get(leaf.parent or 0)
        group = ancestor if parent is None else parent.name
        if parent is not None and (alias := parent.attributes.get("alias")):
            group = f"{group} ({alias})"
        data = {"alias": leaf.attributes["alias"]} if "alias" in leaf.attributes else {}
        suggested.append(LeafSuggestion(value=leaf.name, group=group, data=data))
    return sorted(suggested, key=lambda each: (each.group, each.value))[:MOST_SUGGESTED]


# --- places --------------------------------------------------------------------------------------------------------


def _parent(given: int | None) -> int | None:
    return None if given in (None, ROOT) else given


def _places(project: int, parents: Iterable[int | None]) -> dict[int | None, _Place]:
    """Where the children of parents hang; None is the top.

    Raises:
        BadInput: a parent is another project's.
        NotFound: it does not exist.
    """
    wanted = {number for parent in parents if (number := _parent(parent)) is not None}
    places: dict[int | None, _Place] = {None: _Place(path=hierarchy.root(access.project_of(project).name), depth=0)}
    found = entities.many(LEAF, wanted)
    for number in sorted(wanted):
        if number not in found:
            raise NotFound.of("Leaf", number)
        leaf: Leaf = found[number].entity
        if leaf.project != project:
            raise BadInput(f"parent: leaf {number} belongs to another project.")
        if leaf.depth >= DEEPEST:
            raise BadInput(f"parent: leaf {number} is {leaf.depth} levels deep; none may be deeper than {DEEPEST}.")
        places[number] = _Place(path=leaf.path, depth=leaf.depth + 1)
    return places


def _replaced(project: int, before: Stored[Any], after: Leaf) -> list[Step]:
    """The steps that give a leaf and all below it the paths that follow from its name and parent; the leaf first."""
    rows = {row.entity.id: row for row in [before, *_below(project, [after.id])]}
    leaves: dict[int, Leaf] = {number: row.entity for number, row in rows.items()} | {after.id: after}
    if after.parent == after.id:
        raise BadInput("parent: a leaf cannot be its own parent.")
    if after.parent is not None and after.parent in rows:
        leaves[after.parent] = msgspec.structs.replace(leaves[after.parent], parent=before.entity.parent)
    places = _places(project, {leaf.parent for leaf in leaves.values() if leaf.parent not in rows})

    def place_of(leaf: Leaf) -> _Place:
        if leaf.parent is not None and leaf.parent not in places:
            above = leaves[leaf.parent]
            place = place_of(above)
            places[above.id] = _Place(path=hierarchy.path(place.path, above.name), depth=place.depth + 1)
        return places[leaf.parent]

    planned = []
    for number, leaf in leaves.items():
        place = place_of(leaf)
        moved = msgspec.structs.replace(leaf, path=hierarchy.path(place.path, leaf.name), depth=place.depth)
        if number == after.id or moved != rows[number].entity:
            planned.append(Step(LEAF, rows[number], moved))
    return planned


def _below(project: int, numbers: Sequence[int]) -> list[Stored[Any]]:
    """The rows of all leaves below some, level by level."""
    known = set(numbers)
    below: list[int] = []
    level = list(numbers)
    while level:
        children = [leaf.id for leaf in _found(project, Test("parent", Op.IN, tuple(level))) if leaf.id not in known]
        known.update(children)
        below += children
        level = children
    return list(entities.many(LEAF, below).values())


def _remove(writer: Writer, rows: Iterable[Stored[Any]]) -> None:
    _apply(writer, [Step(LEAF, row, None) for row in rows], None)


def _apply(writer: Writer, planned: Sequence[Step], guard: Guard | None) -> None:
    """Do steps in commits as large as can be. With a guard, nobody made, moved or removed leaves since it was taken."""
    for part in _parts(planned):
        edits = [changed(LEAF, step.before.entity, step.after) for step in part if step.before and step.after]
        if gone := [step.before.entity.id for step in part if step.before and not step.after]:
            edits.append(deleted(LEAF, gone))
        steps.apply(writer.project, part, user=writer.user, edits=edits, guarded=guard)
        guard = guard and Guard(guard.project, guard.n + 1)


def _found(project: int, where: Tree) -> list[Leaf]:
    documents = asking.documents(asking.current(project), Query(kind=LEAF, where=where))
    return [_decode(document) for document in documents]


def _fitting(wanted: str) -> Iterable[Tree]:
    first, *others = fold(wanted).split("*")
    if first:
        yield Test("name", Op.STARTS, first)
    if others and others[-1]:
        yield Test("name", Op.ENDS, others[-1])
    for piece in others[:-1]:
        if piece:
            yield Test("name", Op.CONTAINS, piece)


def _parts(things: Sequence[Any]) -> list[Sequence[Any]]:
    return [things[start : start + steps.LARGEST] for start in range(0, len(things), steps.LARGEST)]
