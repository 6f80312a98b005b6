"""What the projects of an organization use, by month."""

from __future__ import annotations

from typing import Annotated, get_args

from msgspec import Meta

from chalicelib.access import view_queries
from chalicelib.core.models.accounts import Organization, Project
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Resource
from chalicelib.core.usage_limits import LimitName, is_in_force, present_month
from chalicelib.http.addresses import ORGANIZATION_ADDRESS
from chalicelib.http.operation import Call, Operations
from chalicelib.resources.usage import service as usage_service
from chalicelib.storage.dynamodb.progress import usage

OPERATIONS = Operations(tag="Organizations")
GIGABYTE = 10**9
PRICES = {"gigabyte": 0.023, "minute": 0.0040, "thousand requests": 0.0085, "thousand mails": 0.10}
"""Dollars: of a GB stored for a month in S3, a minute transcoded, and so on, as docs/costs.md computes them."""
Month = Annotated[str, Meta(pattern=r"^[0-9]{4}-(0[1-9]|1[0-2])$(?!\n)")]


class UsageQuery(Resource, kw_only=True):
    """Which months."""

    since: Annotated[
        Month | None, Meta(description="The first month, `2026-01`; without it the present month alone.")
    ] = None


class UsageRow(Resource, kw_only=True):
    """What one project used in one month (UTC)."""

    month: Annotated[Month, Meta(description="The month, such as `2026-11`.")]
    project: int
    name: Annotated[str, Meta(description="The name of the project.")]
    originals: Annotated[int, Meta(description="Bytes of the file of each media that a download gives, at the end.")]
    renditions: Annotated[int, Meta(description="Bytes of the other files of media, but sound alone.")]
    derived: Annotated[int, Meta(description="Bytes of exports and versions of datasets.")]
    transcoded_minutes: Annotated[float, Meta(description="Minutes of video whose transcode succeeded.")]
    requests: Annotated[int, Meta(description="Requests that named the project or something in it.")]
    mails: Annotated[int, Meta(description="Mails that members sent.")]
    estimated_cost: Annotated[
        float, Meta(description="Dollars for all of that, by the prices of docs/costs.md; without traffic.")
    ]
    exhausted: Annotated[list[LimitName], Meta(description="Limits that are reached now; in the present month.")] = []


@OPERATIONS.get("/rest/Usage/{organization}", "GetUsageList", needs=Permission.ADMIN, addresses=ORGANIZATION_ADDRESS)
def list_usage(call: Call[Organization, UsageQuery, None]) -> list[UsageRow]:
    """What the projects of an organization use, by month and project.

    Stored bytes are those at the last look of the month; projects that nobody has open are measured now, twenty at the
    most. Requests and mails are added about once a minute. `usage_limits` of an organization or a project limit them:
    its administrators are mailed at 80 %, and at 100 % what would use more is refused (403).
    """
    month = present_month()
    usage_service.enforce_limits(usage.flush())
    rows, loaded = [], 0
    for project in usage_service.projects_of(call.organization):
        if view_queries.loaded(project.id) or loaded < usage_service.MOST_LOADED:
            loaded += not view_queries.loaded(project.id)
            usage_service.measure(project.id)
        for each, counts in usage_service.by_month(project.id).items():
            if (call.query.since or month) <= each <= month:
                reached = _limits_of(project) if each == month else []
                rows.append(_row(each, project.id, project.name, counts, reached))
    return sorted(rows, key=lambda row: (row.month, row.project))


def _limits_of(project: Project) -> list[LimitName]:
    """The limits that a project has reached and that are in force."""
    found = {key.partition(" ")[2] for key, month in project.exhausted.items() if is_in_force(month)}
    return [name for name in get_args(LimitName) if name in found]


def _row(month: str, project: int, name: str, counts: dict[str, int], exhausted: list[LimitName]) -> UsageRow:
    sizes = {each: counts[each] for each in usage_service.CLASSES}
    minutes, requests, mails = counts.get("seconds", 0) / 60, counts.get("requests", 0), counts.get("mails", 0)
    cost = (
        sum(sizes.values()) / GIGABYTE * PRICES["gigabyte"]
        + minutes * PRICES["minute"]
        + requests / 1000 * PRICES["thousand requests"]
        + mails / 1000 * PRICES["thousand mails"]
    )
    return UsageRow(
        month=month,
        project=project,
        name=name,
        **sizes,
        transcoded_minutes=round(minutes, 2),
        requests=requests,
        mails=mails,
        estimated_cost=round(cost, 4),
        exhausted=exhausted,
    )
