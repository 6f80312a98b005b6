"""Questions to a project's view: brought up to date, checked against its definitions, answered.

view = asking.current(project)                       all that was committed before now
asking.ids(view, filters.parse(kind, parameters, body))
"""

from __future__ import annotations

from collections.abc import Iterable

from chalicelib.access import effective_permission, users
from chalicelib.access import scope as access_scope
from chalicelib.core.field_selection import shaper
from chalicelib.core.permissions import Level
from chalicelib.query.check import check
from chalicelib.query.tree import Query
from chalicelib.storage.view.view import View
from chalicelib.storage.view.views import current, loaded

__all__ = ["View", "count", "current", "documents", "ids", "loaded"]


def ids(view: View, query: Query) -> list[int]:
    """The ids of what a query finds, in order. Raises BadInput or NotFound where it names what there is not."""
    return view.ids(_checked(view, query))


def count(view: View, query: Query) -> int:
    """How much a query finds."""
    return view.count(_checked(view, query))


def documents(view: View, query: Query, fields: str | None = None) -> Iterable[bytes]:
    """The JSON documents of what a query finds, in order; with only some members where `fields` names them.

    Those that a caller asked for tell what they may do with each.
    """
    found: Iterable[bytes] = view.documents(_checked(view, query))
    if query.asked:
        found = effective_permission.documents(view.project, query.kind, found)
    return found if fields is None else map(shaper(query.kind, fields), found)


def _checked(view: View, query: Query) -> Query:
    """A query ready for the view; one that a caller asked finds only what they may do as they want with."""
    if not query.asked:
        return check(query, view.definitions, users=_users)
    scope, seen = access_scope.scope(view.project), access_scope.scope(view.project, Level.VIEW)
    return check(query, view.definitions, scope, seen, _users)


def _users(address: str) -> list[int]:
    return [user.id for user in users.with_address(address)]
