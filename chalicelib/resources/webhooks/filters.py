"""Which events a webhook or a rule takes: patterns of types, and a query over the entities as they are at the time.

A query is evaluated on rows in memory, not in a view: the sender needs no view, and an event has few entities.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from chalicelib.access import users
from chalicelib.access.scope import UNRESTRICTED, Scope
from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import Definitions
from chalicelib.core.models.entities import media_of
from chalicelib.core.text.names import nearest
from chalicelib.errors import BadInput, NotFound
from chalicelib.query import evaluate
from chalicelib.query.check import check
from chalicelib.query.cost import check_cost
from chalicelib.query.parsers import filters
from chalicelib.query.parsers.addresses import NO_FILTERS, PAGING, parse_address
from chalicelib.query.parsers.parameters import (
    FileQuery,
    LeafQuery,
    ListQuery,
    LocalizationQuery,
    MediaQuery,
    StateQuery,
)
from chalicelib.query.tree import AfterMedia, And, Coincident, Not, Or, Query, Related, Tree
from chalicelib.resources.events.events import KINDS
from chalicelib.storage.dynamodb import entities, records

PREFIX = "limn."
ANY = "*"
_QUERIES: dict[Kind, type[ListQuery]] = {
    Kind.MEDIA: MediaQuery,
    Kind.LOCALIZATION: LocalizationQuery,
    Kind.STATE: StateQuery,
    Kind.LEAF: LeafQuery,
    Kind.FILE: FileQuery,
}
EVENT_ROWS = 100_000
"""The rows of a list that cost as much as the hundred entities of an event: those are compared in Python."""
EVENT_SECONDS = 0.5
"""The most that a query may cost for each event, as estimated."""
MOST_MEDIA = 5_000
"""Media of the entities of one event that a query looks at, those with the lowest ids."""
_NOT_FILTERS = NO_FILTERS | PAGING | {"force_es"}


class Unfit(BadInput):
    """A query does not fit the definitions of a project."""


def is_match(type_: str, patterns: Iterable[str]) -> bool:
    """Whether a type of events matches one of some patterns."""
    return any(
        pattern in (ANY, type_) or (pattern.endswith(".*") and type_.startswith(pattern[:-1])) for pattern in patterns
    )


def kinds_of(patterns: Iterable[str]) -> frozenset[str]:
    """What to ask the feed for so that it has all that the patterns match; empty for all."""
    names = {pattern.removeprefix(PREFIX).removesuffix(".*") for pattern in patterns}
    return frozenset(names) if names <= KINDS else frozenset()


def check_types(patterns: Sequence[str]) -> None:
    """Raise BadInput for a pattern that matches no known type."""
    known = [PREFIX + name for name in KINDS if "." in name]
    for pattern in patterns:
        if not any(is_match(type_, [pattern]) for type_ in known):
            raise BadInput(
                f"types: no event has the type {pattern[:100]!r}.{nearest(pattern, known)} Give a type, a beginning "
                "that ends with `.*`, or `*`."
            )


def kind_of(patterns: Sequence[str]) -> Kind | None:
    """The one kind of entities whose events match, None where there are several or others."""
    words = {pattern.removeprefix(PREFIX).partition(".")[0] for pattern in patterns}
    return Kind(words.pop()) if len(words) == 1 and words <= set(Kind) else None


def check_query(
    text: str | None, patterns: Sequence[str], definitions: Iterable[int], others: Iterable[int] = ()
) -> None:
    """Check a query before it is stored.

    Args:
        text: the query.
        patterns: the types of events.
        definitions: the projects whose definitions must have its names.
        others: projects that need not have them.

    Raises:
        BadInput: the types are not of one kind of entities, or the query breaks a rule or is too expensive.
    """
    if text is None:
        return
    kind = kind_of(patterns)
    if kind is None:
        raise BadInput(
            f"query: it needs types of one kind of entities, such as `limn.media.*`; the kinds are {', '.join(Kind)}."
        )
    _parse(kind, text)
    for project in definitions:
        _check_event_cost(_check(kind, text, records.definitions(project), UNRESTRICTED))
    for project in others:
        with contextlib.suppress(Unfit):
            find_matching(kind, text, project, [], UNRESTRICTED)


def find_matching(kind: Kind, text: str, project: int, numbers: Sequence[int], scope: Scope) -> list[int]:
    """The ids among some whose entities match now.

    Raises:
        Unfit: the query does not fit the definitions of the project.
        BadInput: it breaks a rule of its language, which may have become stricter since it was stored.
    """
    _parse(kind, text)
    try:
        checked = _check(kind, text, records.definitions(project), scope)
    except (BadInput, NotFound) as refusal:
        raise Unfit(refusal.message, refusal.details) from refusal
    _check_event_cost(checked)
    found = [row.entity for row in entities.many(kind, numbers).values()]
    things: dict[Kind, list[Any]] = {kind: found}
    if any(isinstance(node, Related) for node in _nodes(checked.where)):
        media = sorted({number for each in found for number in media_of(each)})[:MOST_MEDIA]
        things[Kind.MEDIA] = [row.entity for row in entities.many(Kind.MEDIA, media).values()]
    chosen = set(evaluate.ids(checked, things))
    return [number for number in numbers if number in chosen]


def _check(kind: Kind, text: str, definitions: Definitions, scope: Scope) -> Query:
    query = replace(_parse(kind, text), merge=False, exclude_parents=False)
    seen = scope.terms(definitions.project)
    checked = check(query, definitions, {}, seen, users.by_address(scope))
    for node in _nodes(checked.where):
        if isinstance(node, AfterMedia | Coincident) or (isinstance(node, Related) and node.to is not Kind.MEDIA):
            raise BadInput("query: it may ask about the entity itself, and about the media of an annotation.")
    return checked


def _check_event_cost(checked: Query) -> None:
    try:
        check_cost(checked, lambda _: EVENT_ROWS, budget=EVENT_SECONDS)
    except BadInput as refusal:
        message = f"query: it is evaluated for each event, which leaves it less time than a list. {refusal.message}"
        raise BadInput(message) from refusal


def _parse(kind: Kind, text: str) -> Query:
    if not text.strip("?"):
        raise BadInput("query: it has no parameter; leave it out, or give one such as `?attribute=Species::Cod`.")
    parameters = parse_address(text, _QUERIES[kind], "query", _NOT_FILTERS)
    query = filters.parse(kind, parameters)
    if query.nearest:
        raise BadInput("query: a search by distance of vectors is not a filter.")
    return query


def _nodes(tree: Tree) -> Iterable[Any]:
    yield tree
    if isinstance(tree, And | Or):
        for term in tree.terms:
            yield from _nodes(term)
    elif isinstance(tree, Not):
        yield from _nodes(tree.term)
    elif isinstance(tree, Related):
        yield from _nodes(tree.where)
