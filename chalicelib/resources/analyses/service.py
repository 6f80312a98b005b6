"""Analyses: counting what a search string finds on media and on their annotations."""

from __future__ import annotations

from chalicelib.access import view_queries
from chalicelib.access.scope import Scope
from chalicelib.core.kinds import Kind
from chalicelib.core.models.algorithms import ANALYSIS
from chalicelib.errors import BadInput
from chalicelib.query.operators import Op
from chalicelib.query.parsers import filters, search_string
from chalicelib.query.parsers.parameters import MediaQuery
from chalicelib.query.tree import Query, Related, Test, Tree, both
from chalicelib.storage.dynamodb import records

ANNOTATIONS = (Kind.LOCALIZATION, Kind.STATE)


def check(text: str) -> None:
    """Raise BadInput unless a text is a search string. Its names may be those of attributes that come later."""
    search_string.parse(text, "data_query")


def counts(project: int, parameters: MediaQuery, scope: Scope) -> dict[str, int]:
    """The count of every analysis of a project, by name; of several of one name that of the last.

    It is that of the media that match the parameters, or of the annotations on these, whichever is more.

    Raises:
        BadInput: a parameter breaks a rule of its language.
    """
    view = view_queries.current(project)
    media = filters.parse(Kind.MEDIA, parameters)
    if parameters.start or parameters.stop is not None:
        chosen: Tree = Test("id", Op.IN, tuple(view_queries.ids(view, media, scope)))
    else:
        view_queries.count(view, media, scope)
        chosen = media.where
    found = {}
    for analysis in records.list_children(ANALYSIS, project):
        wanted = search_string.parse(analysis.data_query, "data_query")
        queries = [Query(kind=Kind.MEDIA, where=both(chosen, wanted), type=media.type)]
        queries += [
            Query(kind=kind, where=both(Related(Kind.MEDIA, _of_type(chosen, media.type)), wanted))
            for kind in ANNOTATIONS
        ]
        numbers = [_count(view, query, scope) for query in queries]
        found[analysis.name] = max(numbers[0], sum(numbers[1:]))
    return found


def _of_type(chosen: Tree, number: int | None) -> Tree:
    return chosen if number is None else both(chosen, Test("type", Op.EQ, number))


def _count(view: view_queries.View, query: Query, scope: Scope) -> int:
    """How much a query finds; nothing where its names are not those of this kind."""
    try:
        return view_queries.count(view, query, scope)
    except BadInput:
        return 0
