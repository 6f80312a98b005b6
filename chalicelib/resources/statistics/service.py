"""From the parameters of a request to statistics, and from statistics to rows with names."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

from chalicelib.access import view_queries
from chalicelib.access.scope import Scope
from chalicelib.core.kinds import Kind
from chalicelib.errors import BadInput
from chalicelib.query.operators import Op
from chalicelib.query.parsers.entities import EntityIdQuery, parse
from chalicelib.query.statistics.aggregates import MAXN_MEDIA, MOST_ROWS, Aggregate, Group, Statistics, Written
from chalicelib.query.tree import Query, Test
from chalicelib.resources.entities.spreadsheets import Presenter
from chalicelib.resources.statistics.schemas import Facet, FacetValue, StatisticsAnswer, StatisticsQuery

if TYPE_CHECKING:
    from chalicelib.storage.view.view import View

_COUNTS = ("count", "maxn")
"""Measures that are 0 where nothing is."""
_DAYS = frozenset({"year", "quarter", "month", "week", "day"})


def compute(
    project: int, query: StatisticsQuery, body: EntityIdQuery | None, scope: Scope
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
        limit=query.limit or (MOST_ROWS if query.fill else None),
    )
    view = view_queries.current(project)
    asked = view_queries.without_gaps(view, parse(query, body), scope)
    aggregate, found = view_queries.statistics(view, asked, written, scope)
    return aggregate, _fill(view, query, aggregate, found, scope) if query.fill else found


# --- timelines -------------------------------------------------------------------------------------------------------


def _fill(view: View, query: StatisticsQuery, aggregate: Aggregate, found: Statistics, scope: Scope) -> Statistics:
    """The rows of a timeline, including empty bins.

    Raises:
        BadInput: it is no timeline of one media, or has too many bins.
    """
    group = aggregate.groups[0] if len(aggregate.groups) == 1 and not aggregate.facets else None
    is_timeline = group is not None and group.value.column == "frame" and group.width is not None
    if group is None or not group.width or not is_timeline or query.order_by or len(query.media_id or ()) != 1:
        raise BadInput("fill: give group_by=$frame::WIDTH alone, one media_id, and no order_by.")
    frames = _frames_of(view, (query.media_id or [0])[0], scope)
    width = group.width
    count = math.ceil(frames / width)
    if count > MOST_ROWS:
        raise BadInput(f"fill: the media has {count} bins of {width:g} frames; at most {MOST_ROWS} are answered.")
    is_whole = width.is_integer()
    rows = {row[0]: row for row in found.rows[0]}
    present = {round(start / width) for start in rows if start is not None}
    nothing = tuple(0 if label in _COUNTS or label.startswith("distinct::") else None for label in aggregate.labels[1:])
    for number in set(range(count)) - present:
        start = number * int(width) if is_whole else number * width
        rows[start] = (start, *nothing)
    ordered = [rows[start] for start in sorted(start for start in rows if start is not None)]
    ordered += [rows[None]] if None in rows else []
    return Statistics(found.matched, [len(ordered)], [ordered[: aggregate.limit]])


def _frames_of(view: View, media: int, scope: Scope) -> int:
    """The number of frames of a media; 0 of one that the caller may not see."""
    query = Query(kind=Kind.MEDIA, where=Test("id", Op.EQ, media))
    for document in view_queries.documents(view, query, scope):
        return int(msgspec.json.decode(document).get("num_frames") or 0)
    return 0


# --- rows ------------------------------------------------------------------------------------------------------------


def answer(aggregate: Aggregate, found: Statistics) -> StatisticsAnswer:
    """Statistics as a response."""
    if aggregate.facets:
        facets = [
            Facet(
                name=group.label,
                total=total,
                values=[FacetValue(value=json_value(v, group), count=n) for v, n in values],
            )
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
                yield dict(zip(names, (group.label, _value_name(value, group, present), count), strict=True))
        return
    of_maxn = names.index(MAXN_MEDIA) if MAXN_MEDIA in names else None
    for row in found.rows[0]:
        cells = list(row)
        for place, group in enumerate(aggregate.groups):
            cells[place] = _value_name(row[place], group, present)
        if of_maxn is not None and present is not None:
            cells[of_maxn] = present({"media": row[of_maxn]})["media"]
        yield {name: json_value(cell) for name, cell in zip(names, cells, strict=True)}


def _value_name(value: Any, group: Group, present: Presenter | None) -> Any:
    """The value of a group, by name where it is the id of a user or media."""
    member = group.value.column or ""
    if present is not None and isinstance(value, int) and member in ("media", "created_by", "modified_by"):
        return present({member: value})[member]
    return json_value(value, group)


def json_value(value: Any, group: Group | None = None) -> Any:
    """A value as responses show it: instants and dates in ISO 8601, as filters take them."""
    if isinstance(value, datetime):
        if group is not None and group.unit in _DAYS:
            return value.date().isoformat()
        return f"{value.isoformat()}Z"
    return list(value) if isinstance(value, tuple) else value
