"""Queries of a project's view: brought up to date, checked against its definitions, narrowed to a scope, run.

    view = view_queries.current(project)                                       all that was committed before now
    view_queries.ids(view, filters.parse(kind, parameters, body), call.scope)
    view_queries.ids(view, Query(kind=kind), UNRESTRICTED)                     the service's own work

The scope is required: what a query may find is decided where it is written, and cannot be forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable

from chalicelib.access import effective_permission, users
from chalicelib.access.scope import Scope
from chalicelib.core.field_selection import shaper
from chalicelib.core.permissions import Level
from chalicelib.query.check import check
from chalicelib.query.tree import Query
from chalicelib.storage.view.view import View
from chalicelib.storage.view.views import current, loaded

__all__ = ["View", "count", "current", "documents", "ids", "loaded"]


def ids(view: View, query: Query, scope: Scope) -> list[int]:
    """The ids of the matches within a scope, in order. Raises BadInput or NotFound for unknown names."""
    return view.ids(_checked(view, query, scope))


def count(view: View, query: Query, scope: Scope) -> int:
    """The number of matches within a scope."""
    return view.count(_checked(view, query, scope))


def documents(view: View, query: Query, scope: Scope, fields: str | None = None) -> Iterable[bytes]:
    """The JSON documents of the matches within a scope, in order; with only some members where `fields` names them.

    Each shows the caller's `effective_permission` on it.
    """
    found: Iterable[bytes] = view.documents(_checked(view, query, scope))
    found = effective_permission.documents(scope, view.project, query.kind, found)
    return found if fields is None else map(shaper(query.kind, fields), found)


def _checked(view: View, query: Query, scope: Scope) -> Query:
    """A query ready for the view, narrowed to what the scope allows: what is found, and what it is related to."""
    found, seen = scope.terms(view.project), scope.at(Level.VIEW).terms(view.project)
    return check(query, view.definitions, found, seen, _users)


def _users(address: str) -> list[int]:
    return [user.id for user in users.with_address(address)]
