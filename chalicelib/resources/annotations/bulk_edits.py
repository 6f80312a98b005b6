"""Change and delete many localizations or states, selected by a query.

The request is checked here, before any change; `resources/bulk/service.py` runs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from chalicelib.access import view_queries
from chalicelib.access.scope import UNRESTRICTED, Scope
from chalicelib.access.view_queries import all_rows
from chalicelib.core.kinds import Kind
from chalicelib.core.log.edits import differences
from chalicelib.errors import BadInput
from chalicelib.query.operators import Op
from chalicelib.query.parsers import filters
from chalicelib.query.parsers.annotation_bodies import (
    LocalizationBulkDelete,
    LocalizationBulkUpdate,
    StateBulkDelete,
    StateBulkUpdate,
)
from chalicelib.query.parsers.parameters import ListQuery
from chalicelib.query.tree import Query, Test, negated
from chalicelib.resources.annotations import bulk as annotations_bulk
from chalicelib.resources.bulk import service as bulk_service
from chalicelib.resources.entities.bulk import rewrite_attributes
from chalicelib.resources.entities.service import ATTRIBUTE_CHANGES, Writer, author, check_change, type_of, uuid_text
from chalicelib.storage.dynamodb import entities

BulkUpdate = LocalizationBulkUpdate | StateBulkUpdate
BulkDelete = LocalizationBulkDelete | StateBulkDelete
ONE_TYPE = "type: the matches are of several types; all that are changed together must be of one."


def find_ids(view: view_queries.View, query: Query, scope: Scope, count: int | None) -> list[int]:
    """The ids that a query finds. Raises BadInput: their number differs from the caller's `count`."""
    found = view_queries.ids(view, query, scope)
    check_count(len(found), count)
    return found


def find_matches(writer: Writer, query: Query, count: int | None) -> list[tuple[int, int]]:
    """The ids and types of the annotations that a query finds. Raises as `find_ids`."""
    found = view_queries.matches(writer.project, query, writer.scope)
    check_count(len(found), count)
    return found


def check_count(number: int, count: int | None) -> None:
    """Raise BadInput if the number of matches differs from the caller's `count`."""
    if count is not None and number != count:
        raise BadInput(f"count: {count} were expected, {number} match; nothing was changed.")


def first_of(kind: Kind, numbers: Sequence[int]) -> Any:
    """The first match that still exists; None if none of the first few does."""
    return next((row.entity for row in entities.many(kind, numbers[:5]).values()), None)


def first_of_one_type(kind: Kind, view: view_queries.View, query: Query, numbers: Sequence[int]) -> Any:
    """The first match that still exists; None if none of the first few does.

    Raises:
        BadInput: not all matches have its type.
    """
    first = first_of(kind, numbers)
    if first is None or query.type is not None:
        return first
    others = all_rows(kind, Test("id", Op.IN, tuple(numbers)), negated(Test("type", Op.EQ, first.type)))
    if view_queries.count(view, others, UNRESTRICTED):
        raise BadInput(ONE_TYPE)
    return first


def update(kind: Kind, writer: Writer, parameters: ListQuery, body: BulkUpdate, count: int | None) -> int:
    """Change all annotations that match parameters and body.

    Rows change in place unless `in_place` is 0, or is absent for states that move to a new version: then each change
    creates a new row, and the original row keeps its content.

    Returns:
        the number of matches.

    Raises:
        BadInput, NotFound, Forbidden: before any change.
    """
    name = author(writer, body.user_elemental_id)
    check_change(body, (*ATTRIBUTE_CHANGES, "new_version", "new_elemental_id", "user_elemental_id", "in_place"))
    query = filters.parse(kind, parameters, body)
    if kind is Kind.LOCALIZATION and (body.ids or body.user_elemental_id):
        query = replace(query, show_all_marks=True)
    if body.new_version is not None:
        versions = view_queries.current(writer.project).definitions.versions
        if body.new_version not in versions:
            raise BadInput(f"new_version: the project has no version {body.new_version}.")
    found = find_matches(writer, query, count)
    numbers = [number for number, _ in found]
    first = first_of(kind, numbers)
    if first is None:
        return 0
    if query.type is None and any(type_ != first.type for _, type_ in found):
        raise BadInput(ONE_TYPE)
    change = writer.bulk_change(kind, "edit", numbers, body, type=first.type, fixed=_common_members(writer, body, name))
    changed = rewrite_attributes(change, type_of(kind, writer.project, change.type))
    change.logged = differences(first, changed(first))
    if body.new_version is not None and writer.scope.is_restricted:
        writer.scope.check(kind, [changed(row.entity) for row in entities.many(kind, numbers).values()])
    in_place = bool(body.in_place) if body.in_place is not None else not (kind is Kind.STATE and body.new_version)
    if not in_place:
        change.verb = "copy"
    elif body.new_version is not None or body.new_elemental_id is not None:
        change.verb = "move"
    bulk_service.run(change, handlers=annotations_bulk.HANDLERS, scope=writer.scope)
    return len(numbers)


def delete(kind: Kind, writer: Writer, parameters: ListQuery, body: BulkDelete | None, count: int | None) -> int:
    """Delete all annotations that match: they become tombstones in place, or `prune` removes their rows.

    Returns:
        the number of matches.
    """
    numbers = [number for number, _ in find_matches(writer, filters.parse(kind, parameters, body), count)]
    if body and body.pedantic:
        stale = Test("latest", Op.EQ, value=False)
        earlier = all_rows(kind, Test("id", Op.IN, tuple(numbers)), stale)
        if view_queries.count(view_queries.current(writer.project), earlier, UNRESTRICTED):
            raise BadInput("pedantic: some of the matches are earlier marks; only the latest may be addressed.")
    prune = bool(body and body.prune)
    bulk_service.run(
        writer.bulk_change(
            kind,
            "prune" if prune else "tombstone",
            numbers,
            fixed={"variant_deleted": True, **writer.authorship()},
            children=None if kind is not Kind.STATE else "prune" if prune else "tombstone",
        ),
        handlers=annotations_bulk.HANDLERS,
        scope=writer.scope,
    )
    return len(numbers)


def _common_members(writer: Writer, body: BulkUpdate, name: int | None) -> dict[str, Any]:
    """The members that get the same value in every row."""
    fixed = writer.authorship()
    if name is not None:
        fixed["created_by"] = name
    if body.new_version is not None:
        fixed["version"] = body.new_version
    if body.new_elemental_id is not None:
        fixed["elemental_id"] = uuid_text(body.new_elemental_id)
    return fixed
