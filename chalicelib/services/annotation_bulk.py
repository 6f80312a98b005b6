"""Changing and deleting many localizations or states, chosen by a query (`spec/4` §§10.5 and 11.3).

What is asked for is checked before anything changes. Then it is done in commits of up to 98 rows, each element whole;
a request that was stopped half-way may be repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec

from chalicelib.domain.attribute_values import converter
from chalicelib.domain.changes import deleted, differences, tombstoned, unseen
from chalicelib.domain.commits import Edit
from chalicelib.domain.kinds import Kind
from chalicelib.domain.marks import identity
from chalicelib.domain.resource import now
from chalicelib.domain.revisions import up_to_date
from chalicelib.errors import BadInput
from chalicelib.query import filters
from chalicelib.query.annotation_bodies import (
    LocalizationBulkDelete,
    LocalizationBulkUpdate,
    StateBulkDelete,
    StateBulkUpdate,
)
from chalicelib.query.operators import Op
from chalicelib.query.parameters import ListQuery
from chalicelib.query.tree import Query, Test, negated
from chalicelib.services import asking, tracks, visibility
from chalicelib.services.annotation_moves import Change, Plan, parts
from chalicelib.services.annotations import Writer, all_rows, author, hyphenated, rows_of, settling, type_of
from chalicelib.storage import entities, steps
from chalicelib.storage.steps import Step

BulkUpdate = LocalizationBulkUpdate | StateBulkUpdate
BulkDelete = LocalizationBulkDelete | StateBulkDelete


def matched(view: asking.View, query: Query, count: int | None) -> list[int]:
    """The ids that a query finds.

    Raises:
        BadInput: they are not as many as the caller says there are.
    """
    found = asking.ids(view, query)
    if count is not None and len(found) != count:
        raise BadInput(f"count: {count} were expected, {len(found)} match; nothing was changed.")
    return found


def refuse_mixed(kind: Kind, view: asking.View, query: Query, numbers: Sequence[int], first: int) -> None:
    """Raise BadInput unless all matches have the type of the first."""
    if query.type is not None:
        return
    others = all_rows(kind, Test("id", Op.IN, tuple(numbers)), negated(Test("type", Op.EQ, first)))
    if asking.count(view, others):
        raise BadInput("type: the matches are of several types; all that are changed together must be of one.")


def update(kind: Kind, writer: Writer, parameters: ListQuery, body: BulkUpdate, count: int | None) -> int:
    """Change all annotations that parameters and body choose.

    In place unless `in_place` is 0, or not given for states that go to a new version: then each becomes a new row, and
    the original stays where it was (`spec/4` §10.3).

    Returns:
        how many were found.

    Raises:
        BadInput, NotFound, Forbidden: before anything was changed.
    """
    query = filters.parse(kind, parameters, body)
    if kind is Kind.LOCALIZATION and (body.ids or body.user_elemental_id):
        query = replace(query, show_all_marks=True)
    name = author(writer, body.user_elemental_id)
    view = asking.current(writer.project)
    if body.new_version is not None and body.new_version not in view.definitions.versions:
        raise BadInput(f"new_version: the project has no version {body.new_version}.")
    numbers = matched(view, query, count)
    first = next(iter(entities.many(kind, numbers[:5]).values()), None)
    if first is None:
        return 0
    refuse_mixed(kind, view, query, numbers, first.entity.type)
    change = _change(writer, type_of(kind, writer.project, first.entity.type), body, name)
    told = differences(first.entity, change(first.entity))
    if body.new_version is not None and visibility.current():
        visibility.check(kind, [change(row.entity) for row in entities.many(kind, numbers).values()])
    in_place = bool(body.in_place) if body.in_place is not None else not (kind is Kind.STATE and body.new_version)
    if in_place and body.new_version is None and body.new_elemental_id is None:
        entities.edit_many(kind, numbers, change, user=writer.user, describe=lambda done: [Edit(kind, done, *told)])
        return len(numbers)
    plan = Plan(
        kind=kind,
        writer=writer,
        change=change,
        told=told,
        version=body.new_version,
        renamed=body.new_elemental_id is not None,
    )
    (plan.move if in_place else plan.copy)(numbers)
    return len(numbers)


def delete(kind: Kind, writer: Writer, parameters: ListQuery, body: BulkDelete | None, count: int | None) -> int:
    """Delete all annotations that parameters and body choose: they become tombstones in place, or `prune` lets them go.

    Returns:
        how many were found.
    """
    view = asking.current(writer.project)
    numbers = matched(view, filters.parse(kind, parameters, body), count)
    stale = Test("latest", Op.EQ, value=False)
    if body and body.pedantic and asking.count(view, all_rows(kind, Test("id", Op.IN, tuple(numbers)), stale)):
        raise BadInput("pedantic: some of the matches are earlier marks; only the latest may be addressed.")
    prune = bool(body and body.prune)
    if kind is Kind.STATE:
        _delete_children(writer, view, numbers, prune=prune)
    if prune:
        _prune(kind, writer, view, sorted(numbers))
        return len(numbers)
    moment = now()

    def bury(row: Any) -> Any:
        if row.variant_deleted:
            return None
        return msgspec.structs.replace(row, variant_deleted=True, modified_by=writer.user, modified_datetime=moment)

    entities.edit_many(kind, numbers, bury, user=writer.user, describe=lambda done: [tombstoned(kind, done)])
    return len(numbers)


# --- changes -------------------------------------------------------------------------------------------------------


def _change(writer: Writer, of: Any, body: BulkUpdate, name: int | None) -> Change:
    """What becomes of each row."""
    fixed: dict[str, Any] = {"modified_by": writer.user, "modified_datetime": now()}
    if name is not None:
        fixed["created_by"] = name
    if body.new_version is not None:
        fixed["version"] = body.new_version
    if body.new_elemental_id is not None:
        fixed["elemental_id"] = hyphenated(body.new_elemental_id)
    merge = converter(of.attribute_types).merge
    attributes, reset, nulls = body.attributes, body.reset_attributes, body.null_attributes

    def change(row: Any) -> Any:
        if not (attributes or reset or nulls):
            return msgspec.structs.replace(row, **fixed)
        row = up_to_date(row, of.revisions)
        return msgspec.structs.replace(row, attributes=merge(row.attributes, attributes, reset, nulls), **fixed)

    return change


# --- deletions -----------------------------------------------------------------------------------------------------


def _delete_children(writer: Writer, view: asking.View, numbers: Sequence[int], *, prune: bool) -> None:
    """Delete what only these states contain, of those whose type asks for it."""
    parental = [
        number
        for number, of in view.definitions.types(Kind.STATE).items()
        if of.delete_child_localizations  # type: ignore[union-attr]
    ]
    if not parental or not numbers:
        return
    query = all_rows(Kind.STATE, Test("id", Op.IN, tuple(numbers)), Test("type", Op.IN, tuple(parental)))
    states = [row.entity for row in entities.many(Kind.STATE, asking.ids(view, query)).values()]
    tracks.delete_children(writer, states, prune=prune)


def _prune(kind: Kind, writer: Writer, view: asking.View, numbers: Sequence[int]) -> None:
    """Let rows go, lower ids first, and make the marks before them visible again that stay."""
    above = all_rows(kind, Test("id", Op.IN, tuple(numbers)), Test("mark", Op.GT, 0), Test("latest", Op.EQ, value=True))
    restoring = bool(numbers) and asking.count(view, above) > 0
    for part in parts(numbers, steps.LARGEST // 2 if restoring else steps.LARGEST):
        steps.again(lambda part=part: _prune_some(kind, writer, part))  # type: ignore[misc]


def _prune_some(kind: Kind, writer: Writer, part: Sequence[int]) -> None:
    rows = list(entities.many(kind, part).values())
    if not rows:
        return
    going = {row.entity.id for row in rows}
    above = [identity(row.entity) for row in rows if row.entity.latest and row.entity.mark]
    flips: list[Step] = []
    for others in rows_of(kind, writer.project, above).values():
        flips += settling(kind, [row for row in others if row.entity.id not in going])[0]
    edits = [deleted(kind, [row.entity.id for row in rows])]
    if flips:
        edits.append(unseen(kind, [step.after.id for step in flips]))
    removals = [Step(kind, row, None) for row in rows]
    steps.apply(writer.project, [*removals, *flips], user=writer.user, edits=edits)
