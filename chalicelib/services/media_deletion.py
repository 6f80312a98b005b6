"""Deleting media, with the localizations on them and the states of which no media is left (`spec/4` §3.6).

What lies on a media goes first: a request that was stopped half-way may be repeated, and what came onto the media
meanwhile goes after it.
"""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib.domain.changes import deleted
from chalicelib.domain.entities import State
from chalicelib.domain.kinds import Kind
from chalicelib.query import filters
from chalicelib.query.bodies import MediaIdQuery
from chalicelib.query.operators import Op
from chalicelib.query.parameters import MediaQuery
from chalicelib.query.tree import Test
from chalicelib.services import asking
from chalicelib.services.annotations import all_rows
from chalicelib.services.media_changes import check_count
from chalicelib.storage import entities


def delete(project: int, user: int, numbers: Sequence[int]) -> int:
    """Delete media of a project and what lies on them; how many there were. Their objects are kept until a purge."""
    if not numbers:
        return 0
    _delete_annotations(project, user, numbers)
    done = delete_rows(Kind.MEDIA, numbers, user)
    _delete_annotations(project, user, numbers)
    return done


def delete_many(project: int, user: int, parameters: MediaQuery, body: MediaIdQuery | None, count: int | None) -> int:
    """Delete all media that parameters and body choose; how many were found. Raises BadInput as `check_count`."""
    numbers = asking.ids(asking.current(project), filters.parse(Kind.MEDIA, parameters, body))
    check_count(numbers, count)
    return delete(project, user, numbers)


def _delete_annotations(project: int, user: int, media: Sequence[int]) -> None:
    view = asking.current(project)
    numbers = tuple(media)
    localizations = asking.ids(view, all_rows(Kind.LOCALIZATION, Test("media", Op.IN, numbers)))
    delete_rows(Kind.LOCALIZATION, localizations, user)
    states = asking.ids(view, all_rows(Kind.STATE, Test("media", Op.OVERLAPS, numbers)))
    if not states:
        return
    rows: list[State] = [row.entity for row in entities.many(Kind.STATE, states).values()]
    others = {number for row in rows for number in row.media} - set(numbers)
    left = view.exists(Kind.MEDIA, others)
    delete_rows(Kind.STATE, [row.id for row in rows if not left & set(row.media)], user)


def delete_rows(kind: Kind, numbers: Sequence[int], user: int) -> int:
    """Delete entities, with an entry of the change log for each commit; how many there were."""
    done = 0
    for start in range(0, len(numbers), entities.ROWS_A_TRANSACTION):
        part = numbers[start : start + entities.ROWS_A_TRANSACTION]
        done += entities.delete_many(kind, part, user=user, edits=[deleted(kind, part)])
    return done
