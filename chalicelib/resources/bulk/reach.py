"""What a bulk change reaches: whoever asks for it needs the level of the operation on each row that it writes.

The rows that a change names, those that go with them (the annotations of a media, the localizations of a track, the
media of a section), and those that make room for them: the marks of an element that others join. It is judged before
anything is written, and only where permissions are fine-grained; the queue that finishes a change does not judge again.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from chalicelib.access import view_queries
from chalicelib.access.scope import UNRESTRICTED, Scope
from chalicelib.core.kinds import Kind
from chalicelib.errors import Forbidden
from chalicelib.query.operators import Op
from chalicelib.query.tree import Query, Test
from chalicelib.resources.annotations import tracks
from chalicelib.resources.bulk.changes import BulkChange
from chalicelib.resources.entities.service import all_rows
from chalicelib.resources.media import clearing as media_clearing
from chalicelib.resources.sections import changes as sections_changes


class _Named(msgspec.Struct):
    version: int
    elemental_id: str


_named = msgspec.json.Decoder(_Named).decode


def check(scope: Scope, changes: Iterable[BulkChange]) -> None:
    """Raise Forbidden where the level of the scope's caller is too low on a row that one of the changes writes."""
    if not scope.is_restricted:
        return
    for change in changes:
        if change.verb == "dissolve":
            for number in change.numbers:
                view_queries.check_reach(change.project, sections_changes.inside(number), scope)
        elif change.verb != "repath":
            view_queries.check_reach(change.project, _rows(change.kind, change.numbers), scope)
            _check_others(scope, change)


def _check_others(scope: Scope, change: BulkChange) -> None:
    if change.kind is Kind.MEDIA and change.verb == "delete":
        view_queries.check_reach(change.project, media_clearing.on(Kind.LOCALIZATION, change.numbers), scope)
        _check_states(scope, change)
    elif change.verb in ("move", "copy"):
        view_queries.check_reach(change.project, _joined(change), scope)
    elif change.children:
        doomed = _children(change)
        view_queries.check_reach(change.project, _rows(Kind.LOCALIZATION, doomed), scope)


def _rows(kind: Kind, numbers: Iterable[int]) -> Query:
    return all_rows(kind, Test("id", Op.IN, tuple(numbers)))


def _check_states(scope: Scope, change: BulkChange) -> None:
    """States go with the last of their media: refuse where one of those that go is closed to the caller."""
    if Kind.STATE not in scope.terms(change.project):
        return
    view = view_queries.current(change.project)
    query = media_clearing.on(Kind.STATE, change.numbers)
    closed = set(view_queries.ids(view, query, UNRESTRICTED)).difference(view_queries.ids(view, query, scope))
    if media_clearing.with_nothing_else(view, sorted(closed), change.numbers):
        message = "This would also delete states on which your permission is too low."
        raise Forbidden(message)


def _joined(change: BulkChange) -> Query:
    """The rows of the elements that rows come into."""
    view = view_queries.current(change.project)
    found = [_named(each) for each in view_queries.documents(view, _rows(change.kind, change.numbers), UNRESTRICTED)]
    versions = {change.fixed.get("version", row.version) for row in found}
    names = {change.fixed.get("elemental_id", row.elemental_id) for row in found}
    there = Test("version", Op.IN, tuple(versions)), Test("elemental_id", Op.IN, tuple(names))
    return all_rows(change.kind, *there)


def _children(change: BulkChange) -> list[int]:
    """The localizations that go with states, of those whose type asks for it."""
    states = tracks.parental(change.project, change.numbers)
    return tracks.children(change.project, states)
