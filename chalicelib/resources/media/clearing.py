"""Delete the annotations of deleted media: localizations, and states that have no media left.

Every step is idempotent.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from chalicelib.access import view_queries
from chalicelib.access.scope import UNRESTRICTED
from chalicelib.access.view_queries import all_rows
from chalicelib.core.kinds import Kind
from chalicelib.core.models.entities import State
from chalicelib.query.operators import Op
from chalicelib.query.tree import Query, Test
from chalicelib.resources.entities.service import has_earlier, plan_removal
from chalicelib.storage.dynamodb import entities, steps

A_ROUND = 10 * steps.MOST_STEPS
"""Approximate number of rows that one call deletes, in about a second; callers check their deadline between calls."""


def on(kind: Kind, media: Sequence[int]) -> Query:
    """A query for every localization, or state, on some media."""
    operator = Op.IN if kind is Kind.LOCALIZATION else Op.OVERLAPS
    return all_rows(kind, Test("media", operator, tuple(media)))


def clear(project: int, user: int, media: Sequence[int]) -> bool:
    """Delete annotations of media of a project, up to about `A_ROUND` rows.

    Returns:
        whether all were deleted; if not, call it again.
    """
    view = view_queries.current(project)
    localizations = view_queries.ids(view, replace(on(Kind.LOCALIZATION, media), stop=A_ROUND), UNRESTRICTED)
    delete_rows(Kind.LOCALIZATION, project, user, localizations)
    done = len(localizations)
    states = view_queries.ids(view, on(Kind.STATE, media), UNRESTRICTED) if done < A_ROUND else []
    for start in range(0, len(states), entities.ROWS_A_READ):
        if done >= A_ROUND:
            break
        going = with_nothing_else(view, states[start : start + entities.ROWS_A_READ], media)
        delete_rows(Kind.STATE, project, user, going)
        done += len(going)
    return done < A_ROUND


def with_nothing_else(view: view_queries.View, states: Sequence[int], media: Sequence[int]) -> list[int]:
    """Those of the states that have no other media left."""
    rows: list[State] = [row.entity for row in entities.many(Kind.STATE, states).values()]
    others = {number for row in rows for number in row.media} - set(media)
    left = view.exists(Kind.MEDIA, others)
    return [row.id for row in rows if not left & set(row.media)]


def delete_rows(kind: Kind, project: int, user: int, numbers: Sequence[int]) -> None:
    """Delete entities of a project, each commit with its entries of the change log, including earlier marks.

    Entities that are deleted already are skipped.
    """

    def delete(part: Sequence[int]) -> None:
        rows = list(entities.many(kind, part).values())
        half = len(rows) // 2 if has_earlier(rows) else 0
        for some in (rows[:half], rows[half:]):
            done, edits = plan_removal(kind, project, some)
            steps.apply(project, done, user=user, edits=edits)

    steps.in_parts(numbers, delete)
