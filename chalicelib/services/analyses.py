"""Analyses: counting what a search string finds on media and on their annotations (`spec/3` §12.10)."""

from __future__ import annotations

from chalicelib.domain.algorithms import ANALYSIS
from chalicelib.domain.kinds import Kind
from chalicelib.errors import BadInput
from chalicelib.query import filters, search_string
from chalicelib.query.operators import Op
from chalicelib.query.parameters import MediaQuery
from chalicelib.query.tree import Query, Related, Test, Tree, both
from chalicelib.services import asking
from chalicelib.storage import records

ANNOTATIONS = (Kind.LOCALIZATION, Kind.STATE)


def check(text: str) -> None:
    """Raise BadInput unless a text is a search string. Its names may be those of attributes that come later."""
    search_string.parse(text, "data_query")


def counts(project: int, parameters: MediaQuery) -> dict[str, int]:
    """The count of every analysis of a project, by name; of several of one name that of the last.

    It is that of the media that match the parameters, or of the annotations on these, whichever is more.

    Raises:
        BadInput: a parameter breaks a rule of its language.
    """
    view = asking.current(project)
    media = filters.parse(Kind.MEDIA, parameters)
    if parameters.start or parameters.stop is not None:
        chosen: Tree = Test("id", Op.IN, tuple(asking.ids(view, media)))
    else:
        asking.count(view, media)
        chosen = media.where
    found = {}
    for analysis in records.listed(ANALYSIS, project):
        wanted = search_string.parse(analysis.data_query, "data_query")
        queries = [Query(kind=Kind.MEDIA, where=both(chosen, wanted), type=media.type, asked=True)]
        queries += [
            Query(kind=kind, where=both(Related(Kind.MEDIA, _of_type(chosen, media.type)), wanted), asked=True)
            for kind in ANNOTATIONS
        ]
        numbers = [_count(view, query) for query in queries]
        found[analysis.name] = max(numbers[0], sum(numbers[1:]))
    return found


def _of_type(chosen: Tree, number: int | None) -> Tree:
    return chosen if number is None else both(chosen, Test("type", Op.EQ, number))


def _count(view: asking.View, query: Query) -> int:
    """How much a query finds; nothing where its names are not those of this kind."""
    try:
        return asking.count(view, query)
    except BadInput:
        return 0
