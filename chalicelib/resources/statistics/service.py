"""From the parameters of a request to statistics, and from statistics to rows with names."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec

from chalicelib.access import view_queries
from chalicelib.access.scope import Scope
from chalicelib.core.kinds import Kind
from chalicelib.core.resource import Resource
from chalicelib.errors import BadInput
from chalicelib.query.aggregates import Aggregate, Group, Statistics, Written
from chalicelib.query.parsers import filters
from chalicelib.query.parsers.bodies import IdQuery, LocalizationIdQuery, MediaIdQuery, StateIdQuery
from chalicelib.query.parsers.parameters import ListQuery, LocalizationQuery, MediaQuery, StateQuery
from chalicelib.query.tree import Query
from chalicelib.resources.entities.spreadsheets import Presenter
from chalicelib.resources.statistics.schemas import (
    Facet,
    FacetValue,
    StatisticsAnswer,
    StatisticsIdQuery,
    StatisticsQuery,
)

PARAMETERS: dict[Kind, type[ListQuery]] = {
    Kind.LOCALIZATION: LocalizationQuery,
    Kind.STATE: StateQuery,
    Kind.MEDIA: MediaQuery,
}
BODIES: dict[Kind, type[IdQuery]] = {
    Kind.LOCALIZATION: LocalizationIdQuery,
    Kind.STATE: StateIdQuery,
    Kind.MEDIA: MediaIdQuery,
}
_OURS = frozenset({"kind", "group_by", "measure", "facets", "order_by", "limit", "plot"})
_OF_LISTS = frozenset({"fields", "operation"})
"""Parameters of lists that say what is answered, not what matches."""
_DAYS = frozenset({"year", "quarter", "month", "week", "day"})


def compute(
    project: int, query: StatisticsQuery, body: StatisticsIdQuery | None, scope: Scope
) -> tuple[Aggregate, Statistics]:
    """The statistics that a request describes, of what the caller may see.

    Raises:
        BadInput: a name is unknown, a parameter is not of the kind, or the cost is above the budget.
    """
    written = Written(
        group_by=query.group_by or (),
        measure=query.measure or (),
        facets=query.facets or (),
        order_by=query.order_by or (),
        limit=query.limit,
    )
    return view_queries.statistics(view_queries.current(project), _selection(query, body), written, scope)


def _selection(query: StatisticsQuery, body: StatisticsIdQuery | None) -> Query:
    """The query that selects the entities."""
    kind = Kind(query.kind)
    for name in _OF_LISTS:
        if getattr(query, name) is not None:
            raise BadInput(f"{name}: statistics have no such parameter. Give group_by, measure or facets.")
    try:
        parameters = msgspec.convert(_narrowed(query, PARAMETERS[kind], kind, _OURS), PARAMETERS[kind], strict=False)
    except msgspec.ValidationError as error:
        raise BadInput(f"{error}") from None
    chosen = None if body is None else BODIES[kind](**_narrowed(body, BODIES[kind], kind))
    return filters.parse(kind, parameters, chosen)


def _narrowed(
    given: Resource, struct: type[Resource], kind: Kind, ours: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """The members that lists of a kind have. Raises BadInput for any other member that was given."""
    own = {field.name for field in msgspec.structs.fields(struct)}
    values = {}
    for field in msgspec.structs.fields(given):
        value = getattr(given, field.name)
        if field.name in own:
            values[field.name] = value
        elif field.name not in ours and value != field.default:
            raise BadInput(f"{field.name}: lists of {kind} entities have no such member.")
    return values


# --- rows ------------------------------------------------------------------------------------------------------------


def answer(aggregate: Aggregate, found: Statistics) -> StatisticsAnswer:
    """Statistics as a response."""
    if aggregate.facets:
        facets = [
            Facet(name=group.label, total=total, values=[FacetValue(value=shown(v, group), count=n) for v, n in values])
            for group, total, values in zip(aggregate.groups, found.groups, found.rows, strict=True)
        ]
        return StatisticsAnswer(kind=aggregate.kind.value, matched=found.matched, facets=facets)
    return StatisticsAnswer(
        kind=aggregate.kind.value, matched=found.matched, groups=found.groups[0], rows=list(rows(aggregate, found))
    )


def columns(aggregate: Aggregate) -> tuple[str, ...]:
    """The names of the columns: an attribute called like a measure, or `attributes`, is `attributes.<name>`."""
    if aggregate.facets:
        return "facet", "value", "count"
    groups = [group.label for group in aggregate.groups]
    measures = aggregate.labels[len(groups) :]
    taken = (*measures, "attributes")
    return (*(f"attributes.{name}" if name in taken else name for name in groups), *measures)


def rows(aggregate: Aggregate, found: Statistics, present: Presenter | None = None) -> Iterator[dict[str, Any]]:
    """The rows of statistics by the names of their columns.

    Args:
        aggregate: what was computed.
        found: the statistics.
        present: replaces ids of users and media by addresses and names.
    """
    names = columns(aggregate)
    if aggregate.facets:
        for group, values in zip(aggregate.groups, found.rows, strict=True):
            for value, count in values:
                yield dict(zip(names, (group.label, _named(value, group, present), count), strict=True))
        return
    for row in found.rows[0]:
        cells = list(row)
        for place, group in enumerate(aggregate.groups):
            cells[place] = _named(row[place], group, present)
        yield {name: shown(cell) for name, cell in zip(names, cells, strict=True)}


def _named(value: Any, group: Group, present: Presenter | None) -> Any:
    """The value of a group, by name where it is the id of a user or media."""
    member = group.value.column or ""
    if present is not None and isinstance(value, int) and member in ("media", "created_by", "modified_by"):
        return present({member: value})[member]
    return shown(value, group)


def shown(value: Any, group: Group | None = None) -> Any:
    """A value as responses show it: instants and dates in ISO 8601, as filters take them."""
    if isinstance(value, datetime):
        if group is not None and group.unit in _DAYS:
            return value.date().isoformat()
        return f"{value.isoformat()}Z"
    return list(value) if isinstance(value, tuple) else value
