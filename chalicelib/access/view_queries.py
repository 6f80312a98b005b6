"""Queries of a project's view: brought up to date, checked against its definitions, restricted to a scope, run.

    view = view_queries.current(project)                                       includes every commit before now
    view_queries.ids(view, filters.parse(kind, parameters, body), call.scope)
    view_queries.ids(view, Query(kind=kind), UNRESTRICTED)                     the service's own work

The scope is a required argument, so that it cannot be forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec.structs import replace

from chalicelib.access import effective_permission, users
from chalicelib.access.scope import UNRESTRICTED, Scope
from chalicelib.core.kinds import DefinitionKind, Kind
from chalicelib.core.models.definitions import SECTION, VERSION, Definitions
from chalicelib.core.permissions import Level
from chalicelib.core.web.field_selection import shaper
from chalicelib.errors import BadInput, Forbidden
from chalicelib.query.check import check
from chalicelib.query.cost import check_cost
from chalicelib.query.operators import Op
from chalicelib.query.statistics.aggregates import Aggregate, Statistics, Written, bind
from chalicelib.query.tree import And, Everything, Nearest, Not, Or, Query, Related, Test, Tree, both, either
from chalicelib.storage.view.cache import looking_ahead
from chalicelib.storage.view.view import View
from chalicelib.storage.view.views import catch_up, current, loaded, look_ahead, reached_seq

__all__ = [
    "View",
    "all_rows",
    "catch_up",
    "check_reach",
    "count",
    "current",
    "definitions_for",
    "documents",
    "ids",
    "loaded",
    "look_ahead",
    "looking_ahead",
    "matches",
    "pairs",
    "reached_seq",
    "statistics",
    "tally",
    "without_gaps",
]


def all_rows(kind: Kind, *where: Tree) -> Query:
    """A query for all matching rows, including earlier marks and tombstones."""
    return Query(kind=kind, where=both(*where), merge=False, show_deleted=True, show_all_marks=True)


def ids(view: View, query: Query, scope: Scope) -> list[int]:
    """The ids of the matches within a scope, in order.

    Raises:
        BadInput: an unknown name, or an estimated cost above the budget (`query/cost.py`).
        NotFound: an unknown section.
        Unavailable: the request's time ended before the query did.
    """
    return view.ids(_check(view, query, scope))


def matches(project: int, query: Query, scope: Scope) -> list[tuple[int, int]]:
    """The ids and types of the matches within a scope as of now, in order. Raises as `ids`."""
    view = current(project)
    return view.matches(_check(view, query, scope))


def count(view: View, query: Query, scope: Scope) -> int:
    """The number of matches within a scope."""
    return view.count(_check(view, query, scope))


def tally(view: View, query: Query, scope: Scope, column: str) -> list[tuple[Any, int]]:
    """The number of matches within a scope by the value of a column of the view, null included."""
    return view.tally(_check(view, query, scope), column)


def pairs(view: View, query: Query, scope: Scope, column: str) -> list[tuple[int, Any]]:
    """The ids of the matches within a scope, in order, each with the value of a column of the view."""
    return view.pairs(_check(view, query, scope), column)


def documents(view: View, query: Query, scope: Scope, fields: str | None = None) -> Iterable[bytes]:
    """The JSON documents of the matches within a scope, in order; only the members in `fields`, if given.

    Each has the caller's `effective_permission`.
    """
    found: Iterable[bytes] = view.documents(_check(view, query, scope))
    found = effective_permission.documents(scope, view.project, query.kind, found)
    if fields is None:
        return found
    return map(shaper(query.kind, fields, view.definitions.types(query.kind).values()), found)


def statistics(view: View, query: Query, written: Written, scope: Scope) -> tuple[Aggregate, Statistics]:
    """The statistics of the matches within a scope, and what was computed.

    Raises:
        BadInput: an unknown name, a bin or measure that does not fit, or an estimated cost above the budget.
    """
    checked = _check(view, query, scope)
    media = scope.for_level(Level.VIEW).terms(view.project).get(Kind.MEDIA)
    aggregate = bind(written, query, view.definitions, media)
    check_cost(checked, view.number_of, aggregate, bytes_of=view.text_bytes)
    return aggregate, view.statistics(checked, aggregate)


def check_reach(project: int, query: Query, scope: Scope) -> None:
    """Refuse work on all matches of a query where some are outside the scope.

    It is for entities that an operation changes along with the addressed one: the annotations of a deleted media.
    Hidden layers count as none: a refusal would tell of them.

    Raises:
        Forbidden: the caller's level on one of them is too low.
    """
    if closed := len(closed_ids(project, query, scope)):
        raise Forbidden(f"This would also change {closed} {query.kind} entities on which your permission is too low.")


def closed_ids(project: int, query: Query, scope: Scope) -> set[int]:
    """The ids of the matches on which the caller's level is too low; none of layers that are hidden."""
    if not scope.is_restricted or query.kind not in scope.terms(project):
        return set()
    view, hiding = current(project), scope.hidden_rows(project).terms() if query.kind.is_annotation else []
    known = replace(query, where=both(query.where, *hiding))
    return set(ids(view, known, UNRESTRICTED)).difference(ids(view, query, scope))


def _check(view: View, query: Query, scope: Scope) -> Query:
    """A checked query within the budget, restricted to the scope."""
    found, reader = scope.terms(view.project), scope.for_level(Level.VIEW)
    definitions = _visible(view.definitions, reader) if scope.is_restricted else view.definitions
    query = _with_centers(view, query, scope)
    checked = check(query, definitions, found, reader.terms(view.project), users.by_address(scope))
    checked = _with_seen_incidents(view, checked, scope)
    check_cost(checked, view.number_of, bytes_of=view.text_bytes)
    return checked


def without_gaps(view: View, query: Query, scope: Scope) -> Query:
    """The query without localizations that only begin a gap of a track: nobody sees one, and no export has it.

    They have no place, and a state contains them. States are looked at only where something without a place matches.
    """
    if query.kind is not Kind.LOCALIZATION:
        return query
    placeless = both(Not(Test("x", Op.PRESENT)), Not(Test("points", Op.PRESENT)))
    if not ids(view, replace(query, where=both(query.where, placeless), start=0, stop=1), scope):
        return query
    return replace(query, where=both(query.where, Not(both(placeless, Related(Kind.STATE, Everything())))))


def _with_seen_incidents(view: View, query: Query, scope: Scope) -> Query:
    """A checked query of media that are found and counted by annotations which are seen: none only begins a gap."""
    if query.incident is None:
        return query
    terms = query.incident.terms if isinstance(query.incident, Or) else (query.incident,)
    if not any(isinstance(each, Related) and each.to is Kind.LOCALIZATION for each in terms):
        return query
    seen = without_gaps(view, Query(kind=Kind.LOCALIZATION), scope)
    if isinstance(seen.where, Everything):
        return query
    shown = _check(view, seen, scope).where

    def narrow(term: Tree) -> Tree:
        if isinstance(term, Related) and term.to is Kind.LOCALIZATION:
            return replace(term, where=both(term.where, shown))
        return term

    incident = either(*map(narrow, terms))
    wheres = query.where.terms if isinstance(query.where, And) else (query.where,)
    where = both(*(incident if each == query.incident else each for each in wheres))
    return replace(query, where=where, incident=incident)


def _with_centers(view: View, query: Query, scope: Scope) -> Query:
    """The query with the vectors of the entities that it names as centers.

    Raises:
        BadInput: there is no such entity that the caller may see, or it has no vector.
    """
    wanted = tuple(each.like for each in query.nearest if each.like is not None)
    if not wanted:
        return query
    rows = Query(kind=query.kind, where=Test("id", Op.IN, wanted), show_all_marks=True)
    known = {
        row["id"]: row["attributes"] for row in map(msgspec.json.decode, view.documents(_check(view, rows, scope)))
    }

    def nearest_to(nearest: Nearest) -> Nearest:
        if nearest.like is None:
            return nearest
        vector = known.get(nearest.like, {}).get(nearest.name)
        if not isinstance(vector, list):
            message = (
                f"float_array: like: there is no {query.kind} {nearest.like} with a vector {nearest.name[:100]!r}."
            )
            raise BadInput(message)
        return replace(nearest, center=tuple(vector), like=None)

    return replace(query, nearest=tuple(map(nearest_to, query.nearest)))


def definitions_for(definitions: Definitions, scope: Scope) -> Definitions:
    """The definitions without the sections and versions whose names the caller may not read.

    Queries have hidden versions, too: which mark of an element they show depends on them.
    """
    if not scope.hides(definitions.project):
        return definitions
    reader = scope.for_level(Level.VIEW)
    shown = _visible(definitions, reader)
    versions = reader.visible(VERSION.name, definitions.versions.values())
    shown.by_kind[DefinitionKind.VERSION] = {version.id: version for version in versions}
    return shown


def _visible(definitions: Definitions, scope: Scope) -> Definitions:
    """The definitions without the sections that the caller may not see."""
    shown = Definitions(project=definitions.project, by_kind=dict(definitions.by_kind))
    sections = scope.visible(SECTION.name, definitions.sections.values())
    shown.by_kind[DefinitionKind.SECTION] = {section.id: section for section in sections}
    return shown
