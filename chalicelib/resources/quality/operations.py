"""Quality reports: how far layers of annotations agree, with each other or with a reference."""

from __future__ import annotations

from chalicelib.core.models.accounts import Project
from chalicelib.core.permissions import Permission
from chalicelib.core.responses import MessageResponse
from chalicelib.http.addresses import WITHIN_PROJECT, own_record_of_project
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.resources.quality import service as quality_service
from chalicelib.resources.quality.schemas import (
    QUALITY_REPORT,
    QualityReport,
    QualityReportCreated,
    QualityReportSpec,
)
from chalicelib.storage.dynamodb import records

OPERATIONS = Operations(tag="Quality")
ONE = own_record_of_project(QUALITY_REPORT, "uid")


@OPERATIONS.post(
    "/rest/QualityReports/{project}", "CreateQualityReport", needs=Permission.VIEW, addresses=WITHIN_PROJECT
)
def create_report(call: Call[Project, NoQuery, QualityReportSpec]) -> QualityReportCreated:
    """Order a report of how far layers agree. It is made in the background of what the caller may see.

    Shapes are paired frame by frame so that the sum of their similarities is largest: boxes and polygons by
    intersection over union, dots and lines by distance.
    """
    report = quality_service.order(call.scope, call.project, call.body)
    return QualityReportCreated(message=f"Report {report.uid} started!", id=report.uid, uid=report.uid)


@OPERATIONS.get(
    "/rest/QualityReports/{project}", "GetQualityReportList", needs=Permission.VIEW, addresses=WITHIN_PROJECT
)
def list_reports(call: Call[Project, NoQuery, None]) -> list[QualityReport]:
    """The caller's reports of a project without their results, oldest first."""
    found = records.list_children(QUALITY_REPORT, call.project)
    return [quality_service.without_results(each) for each in found if each.user == call.caller.id]


@OPERATIONS.get("/rest/QualityReport/{uid}", "GetQualityReport", needs=Permission.VIEW, addresses=ONE)
def get_report(call: Call[QualityReport, NoQuery, None]) -> QualityReport:
    """One report of the caller: its status and, once it is made, its results."""
    return call.target


@OPERATIONS.delete("/rest/QualityReport/{uid}", "DeleteQualityReport", needs=Permission.VIEW, addresses=ONE)
def delete_report(call: Call[QualityReport, NoQuery, None]) -> MessageResponse:
    """Delete a report, or cancel one that is at work."""
    records.remove(QUALITY_REPORT, call.target.uid)
    return MessageResponse(message=f"Report {call.target.uid} deleted!")
