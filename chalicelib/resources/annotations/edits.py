"""Change and delete one localization or state.

A change in place rewrites the row. Any other change becomes the next mark of the element: a new row. The old row keeps
its id and content, and in the same commit it is no longer the latest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Edit
from chalicelib.core.log.edits import changed, deleted, tombstoned, unseen
from chalicelib.core.models.definitions import AnyType
from chalicelib.core.models.entities import Geometry, LocalizationUpdate, StateUpdate
from chalicelib.core.models.marks import identity, next_mark
from chalicelib.core.resource import Timestamp, given, now
from chalicelib.core.values import refinements
from chalicelib.core.values.attribute_values import merge
from chalicelib.core.values.frames import refuse_beyond
from chalicelib.core.values.revisions import up_to_date
from chalicelib.core.values.shapes import REFINING, SHAPES, refinements_of
from chalicelib.errors import BadInput, Modified
from chalicelib.resources.annotations import tracks
from chalicelib.resources.annotations.creation import size_of
from chalicelib.resources.entities.service import (
    Writer,
    author,
    check_version,
    current_mark,
    latest_of,
    live_mark,
    parent_of,
    plan_latest_flags,
    refuse_stale,
    rows_of,
    type_of,
    uuid_text,
)
from chalicelib.storage.dynamodb import entities, ids, steps
from chalicelib.storage.dynamodb.entities import Stored
from chalicelib.storage.dynamodb.steps import Guard, RowChange
from chalicelib.storage.log import log

Update = LocalizationUpdate | StateUpdate
Find = Callable[[], Stored[Any]]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The plan of a change of one row: the resulting latest row, the steps, their log entries, and perhaps a guard."""

    row: Any
    steps: list[RowChange]
    edits: list[Edit]
    guarded: Guard | None = None

    def apply(self, writer: Writer) -> Any:
        """Apply the plan; returns the resulting latest row."""
        writer.apply(self.steps, self.edits, self.guarded)
        return self.row


def by_id(kind: Kind, number: int, first: Stored[Any] | None = None) -> Find:
    """Finds a row by its id: the first call returns the row already read, later calls read it again."""
    known = [first] if first else []
    return lambda: known.pop() if known else entities.get_stored(kind, number)


def update(
    kind: Kind, writer: Writer, find: Find, body: Update, *, in_place: bool, unless_changed: str | None = None
) -> Any:
    """Change one annotation.

    Args:
        kind: localization or state.
        writer: the author of the change.
        find: reads the addressed row; an earlier mark stands for the latest of its element unless `body` is pedantic.
        body: the change.
        in_place: whether the row itself is changed, if `body` does not say.
        unless_changed: the `If-Match` header: the change is of the row that was modified then.

    Returns:
        the resulting latest row.

    Raises:
        BadInput, NotFound, Forbidden: the body breaks a rule.
        Modified: the row was modified since.
    """
    name = author(writer, body.user_elemental_id)
    if body.in_place is not None:
        in_place = bool(body.in_place)
    elif name is not None:
        in_place = True
    if body.parent is not None:
        parent_of(kind, writer.project, body.parent)
    if isinstance(body, LocalizationUpdate) and body.version is not None:
        check_version(writer.project, body.version)

    def attempt() -> Any:
        guard = steps.guard(writer.project) if _moves(body) else None
        before = current_mark(kind, find(), pedantic=bool(body.pedantic))
        _refuse_changed(before.entity, unless_changed)
        before = live_mark(kind, before)
        moment = now()
        change = _change(kind, writer, before, body)
        if name is not None:
            change["created_by"] = name
        after = msgspec.structs.replace(before.entity, **change, modified_by=writer.user, modified_datetime=moment)
        writer.scope.check(kind, [after])
        plan = plan_rewrite(kind, before, after, guard) if in_place else plan_mark(kind, before, after, guard)
        return plan.apply(writer)

    return steps.retry_on_conflict(attempt)


def delete(
    kind: Kind, writer: Writer, find: Find, *, prune: bool, pedantic: bool, unless_changed: str | None = None
) -> int:
    """Delete one annotation: a tombstone becomes its latest mark, or `prune` removes the row.

    Pruning the latest mark makes the previous one visible again. If the type of a state requires it, the localizations
    that only the state contains are deleted too, and restored with it. `unless_changed` is that of `update`.

    Returns:
        the id of the tombstone, or of the removed row.

    Raises:
        Modified: the row was modified since.
    """
    operation = log.new_operation(writer.project) if kind is Kind.STATE else None

    def attempt() -> int:
        before = find()
        refuse_stale(before.entity, pedantic=pedantic)
        _refuse_changed(current_mark(kind, before).entity if unless_changed else None, unless_changed)
        if kind is Kind.STATE and before.entity.localizations:
            kept = type_of(kind, writer.project, before.entity.type)
            if kept.delete_child_localizations:
                tracks.delete_children(writer, [before.entity], prune=prune)
        plan = plan_prune(kind, before) if prune else _plan_tombstone(kind, writer, before, now())
        return int(plan.apply(writer).id)

    with log.part_of(operation):
        return steps.retry_on_conflict(attempt)


def _refuse_changed(row: Any, unless_changed: str | None) -> None:
    """Raise Modified unless the latest row is the one that was modified at the given time."""
    if unless_changed is None or unless_changed.strip() == "*":
        return
    if unless_changed.strip().removeprefix("W/").strip('"') != row.modified_datetime:
        raise Modified(
            f"If-Match: {row.id} was modified at {row.modified_datetime} by user {row.modified_by}. "
            "Read it again, and send its modified_datetime."
        )


# --- what changes --------------------------------------------------------------------------------------------------


def _moves(body: Update) -> bool:
    """Whether the change may move the row to another element."""
    return body.elemental_id is not None or getattr(body, "version", None) is not None


def _change(kind: Kind, writer: Writer, before: Stored[Any], body: Update) -> dict[str, Any]:
    """The changed members with their new values."""
    row, change = before.entity, dict[str, Any]()
    attributes = body.attributes is not None or body.reset_attributes or body.null_attributes
    geometry = isinstance(body, LocalizationUpdate) and given(body).keys() & {*Geometry.__struct_fields__}
    if attributes or geometry:
        of = before.type or type_of(kind, writer.project, row.type)
        change |= _members_by_type(of, up_to_date(row, of.revisions), body)
    if body.mark is not None and body.mark != row.mark:
        raise BadInput(f"mark: the service counts the marks of an element; this one is at mark {row.mark}.")
    if body.frame is not None and body.frame != row.frame:
        media = [row.media] if kind is Kind.LOCALIZATION else row.media
        refuse_beyond(body.frame, entities.frame_counts(row.project, media).values())
        change["frame"] = body.frame
    if body.parent is not None:
        change["parent"] = int(body.parent)
    if body.elemental_id is not None:
        change["elemental_id"] = uuid_text(body.elemental_id)
    if isinstance(body, StateUpdate):
        change |= tracks.with_members(row, writer.project, body)
    elif body.version is not None:
        change["version"] = body.version
    return change


def _members_by_type(of: AnyType, row: Any, body: Update) -> dict[str, Any]:
    """The part of a change that depends on the row's type."""
    change: dict[str, Any] = {}
    if body.attributes is not None or body.reset_attributes or body.null_attributes:
        change["attributes"] = merge(
            of.attribute_types, row.attributes, body.attributes, body.reset_attributes, body.null_attributes
        )
        change["revision"] = row.revision
    if isinstance(body, LocalizationUpdate):
        change |= _geometry(of, row, body)
    return change


def _geometry(of: Any, row: Any, body: LocalizationUpdate) -> dict[str, Any]:
    """The given coordinates and refinements, and what follows from them.

    A client that knows no refinements may move a shape: its mask and holes move along. It cannot change the size of a
    box with a mask, or the form of a polygon with holes: what it does not see would be wrong then.

    Raises:
        BadInput: a shape of this dtype has no such member, or the changed shape breaks a rule.
    """
    members = given(body)
    changed = {name: members[name] for name in Geometry.__struct_fields__ if name in members}
    own = SHAPES[of.dtype]
    known = {*own.members, *(REFINING[name] for name in own.refinements)}
    for name, value in changed.items():
        if name not in known and value is not None:
            raise BadInput(f"{name}: a {of.dtype} has {', '.join(own.members)}. Nothing was changed.")
    if "points" in changed and "holes" not in changed:
        changed["holes"] = refinements.moved_holes(row, changed["points"])
    after = msgspec.structs.replace(row, **changed)
    if not refinements_of(after) and not (of.skeleton and "points" in changed):
        return changed | ({"bounds": None} if row.bounds else {})
    size = None
    if after.mask or after.angle:
        size = size_of(entities.get(Kind.MEDIA, row.media))
    refinements.check(after, of, size)
    return {**changed, "bounds": refinements.bounds(after, size)}


# --- plans ---------------------------------------------------------------------------------------------------------


def plan_rewrite(kind: Kind, before: Stored[Any], after: Any, guard: Guard | None = None) -> Plan:
    """Change the row itself. In another element it becomes the latest mark; the old element keeps its earlier marks."""
    if identity(before.entity) == identity(after):
        return Plan(row=after, steps=[RowChange(kind, before, after)], edits=[changed(kind, before.entity, after)])
    elements = rows_of(kind, after.project, [identity(before.entity), identity(after)])
    left = [row for row in elements[identity(before.entity)] if row.entity.id != after.id]
    joined = [row for row in elements[identity(after)] if row.entity.id != after.id]
    after = msgspec.structs.replace(after, mark=next_mark(row.entity for row in joined), latest=True)
    flips = plan_latest_flags(kind, left)[0] + plan_latest_flags(kind, joined, [after])[0]
    return Plan(
        row=after,
        steps=[RowChange(kind, before, after), *flips],
        edits=[changed(kind, before.entity, after), *_unseen(kind, flips)],
        guarded=None if joined else guard,
    )


def plan_mark(kind: Kind, before: Stored[Any], after: Any, guard: Guard | None = None) -> Plan:
    """Add the change as a new row, the latest mark of its element; in another element it is a creation."""
    number = ids.reserve(kind)[0]
    if identity(before.entity) == identity(after) and before.entity.latest:
        made = msgspec.structs.replace(after, id=number, mark=before.entity.mark + 1, latest=True)
        flips = [RowChange(kind, before, msgspec.structs.replace(before.entity, latest=False))]
        joined = [before]
    else:
        joined = rows_of(kind, after.project, [identity(after)])[identity(after)]
        made = msgspec.structs.replace(after, id=number, mark=next_mark(row.entity for row in joined), latest=True)
        flips, _ = plan_latest_flags(kind, joined, [made])
    told = _unseen(kind, flips)
    if identity(before.entity) == identity(after):
        told.insert(0, changed(kind, before.entity, made, [before.entity.id, number]))
    return Plan(row=made, steps=[*flips, RowChange(kind, None, made)], edits=told, guarded=None if joined else guard)


def plan_prune(kind: Kind, before: Stored[Any]) -> Plan:
    """Remove the row; if it was the latest of several marks, the previous mark becomes the latest."""
    row = before.entity
    flips: list[RowChange] = []
    if row.latest and row.mark:
        others = rows_of(kind, row.project, [identity(row)])[identity(row)]
        flips, _ = plan_latest_flags(kind, [other for other in others if other.entity.id != row.id])
    edits = [deleted(kind, [row.id]), *_unseen(kind, flips)]
    return Plan(row=row, steps=[RowChange(kind, before, None), *flips], edits=edits)


def _plan_tombstone(kind: Kind, writer: Writer, before: Stored[Any], moment: Timestamp) -> Plan:
    """Add a copy of the row as the tombstone of its element; nothing if the row is a tombstone already."""
    row = before.entity
    if row.latest and row.variant_deleted:
        return Plan(row=row, steps=[], edits=[])
    newest = before if row.latest else latest_of(kind, row.project, identity(row)) or before
    made = msgspec.structs.replace(
        row,
        id=ids.reserve(kind)[0],
        mark=newest.entity.mark + 1,
        latest=True,
        variant_deleted=True,
        modified_by=writer.user,
        modified_datetime=moment,
    )
    retired = RowChange(kind, newest, msgspec.structs.replace(newest.entity, latest=False))
    told = list(dict.fromkeys([row.id, newest.entity.id, made.id]))
    return Plan(row=made, steps=[retired, RowChange(kind, None, made)], edits=[tombstoned(kind, told)])


def _unseen(kind: Kind, flips: list[RowChange]) -> list[Edit]:
    return [unseen(kind, [step.after.id for step in flips])] if flips else []
