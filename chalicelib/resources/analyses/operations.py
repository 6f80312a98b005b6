"""Analyses: counts that the page of a project shows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from chalicelib.core.models.accounts import Project
from chalicelib.core.models.algorithms import ANALYSIS, Analysis, AnalysisSpec, AnalysisUpdate
from chalicelib.core.permissions import Permission
from chalicelib.http.addresses import PROJECT
from chalicelib.http.crud import RecordResource, record_operations
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.query.parsers.parameters import MediaQuery
from chalicelib.resources.analyses import service as analyses_service
from chalicelib.storage.dynamodb import ids, records

TAG = "Analyses"
OPERATIONS = Operations(tag=TAG)


def make_analysis(call: Call[Project, NoQuery, AnalysisSpec]) -> Analysis:
    """A new analysis; its query is looked at now, so that a wrong one is not found out on the page."""
    analyses_service.check(call.body.data_query)
    analysis = Analysis(
        id=ids.reserve(ANALYSIS.name)[0], project=call.project, name=call.body.name, data_query=call.body.data_query
    )
    return records.create(ANALYSIS, analysis)


def change_analysis(call: Call[Analysis, NoQuery, AnalysisUpdate], change: dict[str, Any]) -> dict[str, Any]:
    """Update the given members."""
    if call.body.data_query is not None:
        analyses_service.check(call.body.data_query)
    return change


_RESOURCE = RecordResource(
    plural="Analyses",
    kind=ANALYSIS,
    tag=TAG,
    read=Permission.VIEW,
    write=Permission.EDIT,
    spec=AnalysisSpec,
    update=AnalysisUpdate,
    schema_update=AnalysisSpec,
    store=make_analysis,
    check_change=change_analysis,
)
_SPECIAL: dict[str, dict[str, Any]] = {"CreateAnalysis": {"needs": Permission.FULL}}

OPERATIONS += (
    replace(operation, legacy=True, **_SPECIAL.get(operation.id, {})) for operation in record_operations(_RESOURCE)
)


@OPERATIONS.get(
    "/rest/SectionAnalysis/{project}", "GetSectionAnalysis", needs=Permission.VIEW, addresses=PROJECT, legacy=True
)
def count(call: Call[Project, MediaQuery, None]) -> dict[str, int]:
    """The count of every analysis of a project, over the media that match.

    A count is that of the media that match the analysis, or of their annotations, whichever is larger.
    """
    return analyses_service.counts(call.project, call.query, call.scope)
