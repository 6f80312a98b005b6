"""Statistics: groups, measures and facets over any query, as JSON, CSV and plots."""

from __future__ import annotations

from typing import Any

import msgspec

from chalicelib.access import view_queries
from chalicelib.core.models.accounts import Project
from chalicelib.core.permissions import Permission
from chalicelib.http.addresses import WITHIN_PROJECT
from chalicelib.http.operation import Answer, Call, Documents, Operation
from chalicelib.query.parsers.entities import EntityIdQuery
from chalicelib.resources.entities.spreadsheets import Presenter
from chalicelib.resources.statistics import plots
from chalicelib.resources.statistics import service as statistics_service
from chalicelib.resources.statistics.schemas import StatisticsAnswer, StatisticsQuery

TAG = "Statistics"


def get_statistics(call: Call[Project, StatisticsQuery, Any]) -> StatisticsAnswer | Documents | Answer:
    """Statistics of all that match."""
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


_DETAILS = (
    "The parameters of the list of the kind select the entities; only those that the caller may see are counted. An "
    "annotation on several media counts once in each group that a media gives it. CSV shows names of media and "
    "addresses of users. `format=svg` draws bars, lines over bins, or a heat map of two groups of bins."
)
OPERATIONS = (
    Operation(
        id="GetStatistics",
        method="GET",
        path="/rest/Statistics/{project}",
        summary="Counts, sums, means, quantiles and MaxN of the entities that match, by groups; or facets.",
        details=_DETAILS,
        needs=Permission.VIEW,
        addresses=WITHIN_PROJECT,
        query=StatisticsQuery,
        returns=StatisticsAnswer,
        formats=("jsonl", "csv", "svg"),
        handler=get_statistics,
        tag=TAG,
    ),
    Operation(
        id="GetStatisticsById",
        method="PUT",
        path="/rest/Statistics/{project}",
        summary="The same of entities chosen by ids or an object search in the body.",
        details=_DETAILS,
        needs=Permission.VIEW,
        addresses=WITHIN_PROJECT,
        query=StatisticsQuery,
        body=EntityIdQuery,
        returns=StatisticsAnswer,
        formats=("jsonl", "csv", "svg"),
        handler=get_statistics,
        tag=TAG,
    ),
)
