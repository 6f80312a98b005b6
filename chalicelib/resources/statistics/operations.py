"""Statistics: groups, measures and facets over any query, as JSON, CSV and plots."""

from __future__ import annotations

from typing import Any

import msgspec

from chalicelib.access import view_queries
from chalicelib.core.models.accounts import Project
from chalicelib.core.permissions import Permission
from chalicelib.http.addresses import WITHIN_PROJECT
from chalicelib.http.operation import Answer, Call, Documents, Operations
from chalicelib.query.parsers.entities import EntityIdQuery
from chalicelib.resources.entities.spreadsheets import Presenter
from chalicelib.resources.statistics import plots
from chalicelib.resources.statistics import service as statistics_service
from chalicelib.resources.statistics.schemas import StatisticsAnswer, StatisticsQuery

OPERATIONS = Operations(tag="Statistics")
_DETAILS = (
    "The parameters of the list of the kind select the entities; only those that the caller may see are counted. An "
    "annotation on several media counts once in each group that a media gives it. CSV shows names of media and "
    "addresses of users. `format=svg` draws bars, lines over bins, or a heat map of two groups of bins."
)


@OPERATIONS.get(
    "/rest/Statistics/{project}",
    "GetStatistics",
    needs=Permission.VIEW,
    addresses=WITHIN_PROJECT,
    returns=StatisticsAnswer,
    formats=("jsonl", "csv", "svg"),
    details=_DETAILS,
    by_ids=EntityIdQuery,
)
def get_statistics(call: Call[Project, StatisticsQuery, Any]) -> StatisticsAnswer | Documents | Answer:
    """Counts, sums, means, quantiles and MaxN of the entities that match, by groups; or facets."""
    aggregate, found = statistics_service.compute(call.project, call.query, call.body, call.scope)
    if call.accept not in ("csv", "jsonl", "svg"):
        return statistics_service.answer(aggregate, found)
    present = Presenter(view_queries.current(call.project), call.scope) if call.accept != "jsonl" else None
    rows = statistics_service.rows(aggregate, found, present)
    names = statistics_service.columns(aggregate)
    if call.accept == "svg":
        return Answer(
            content_type="image/svg+xml",
            body=plots.draw(plots.table_of(aggregate, names, list(rows)), call.query.plot).encode(),
            headers=plots.HEADERS,
        )
    return Documents(documents=map(msgspec.json.encode, rows), members=names)
