"""Change logs: the author, the entity and the values of each change."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Literal
from urllib.parse import urlencode

import msgspec
from msgspec import Meta

from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import Project
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import DATE, Id, Resource
from chalicelib.core.text.dates import read_date
from chalicelib.errors import BadInput
from chalicelib.http.addresses import PROJECT
from chalicelib.http.operation import Call, Documents, Operations
from chalicelib.resources.change_logs import service as change_logs_service
from chalicelib.resources.change_logs.schemas import ChangeLog
from chalicelib.resources.change_logs.service import ChangeLogFilter
from chalicelib.settings import settings

OPERATIONS = Operations(tag="Change logs")


MOST_ENTRIES = 10_000
"""Entries of one page, if `stop` asks for them."""


class ChangeLogQuery(Resource, kw_only=True):
    """The filters of change logs, of which one at least is required, and the page."""

    user_id: Annotated[Id | None, Meta(description="Changes that this user made.")] = None
    entity_id: Annotated[Id | None, Meta(description="Changes of the object with this id.")] = None
    entity_type: Annotated[
        Literal["media", "localization", "state", "leaf"] | None, Meta(description="Changes of objects of this kind.")
    ] = None
    since: Annotated[Annotated[str, DATE] | None, Meta(description="Changes from this time on, ISO 8601.")] = None
    before: Annotated[Annotated[str, DATE] | None, Meta(description="Changes before this time, ISO 8601.")] = None
    after: Annotated[int, Meta(ge=0, description="Changes after the one with this id: the next page.")] = 0
    stop: Annotated[int, Meta(ge=1, le=MOST_ENTRIES, description="Most changes of the page.")] = 1000


@OPERATIONS.get(
    "/rest/ChangeLog/{project}", "GetChangeLogList", needs=Permission.VIEW, addresses=PROJECT, returns=list[ChangeLog]
)
def list_changes(call: Call[Project, ChangeLogQuery, None]) -> Documents:
    """Who changed what, the oldest change first.

    A creation has one entry for each entity, whose old values are all null; a bulk change has one for all that it
    changed. One filter must be given; an `entity_id` without `entity_type` is that of entities of any kind. A page has
    at most `stop` entries, 1,000 by default; if there are more, the header `Link` has the address of the next page,
    whose `after` is the id of the last entry.
    """
    query = call.query
    filters = (query.user_id, query.entity_id, query.entity_type, query.since, query.before)
    if all(each is None for each in filters):
        raise BadInput("Give one of user_id, entity_id, entity_type, since and before at least.")
    wanted = ChangeLogFilter(
        user=query.user_id,
        entity=query.entity_id,
        kind=Kind(query.entity_type) if query.entity_type else None,
        after=query.after,
        since=None if query.since is None else read_date("since", query.since),
        before=None if query.before is None else read_date("before", query.before),
    )
    found = list(islice(change_logs_service.list_changes(call.project, wanted, call.scope), query.stop + 1))
    shown = found[: query.stop]
    headers = {}
    if len(found) > len(shown):
        given = {name: value for name, value in msgspec.structs.asdict(query).items() if value is not None}
        following = urlencode({**given, "after": shown[-1].id})
        headers["Link"] = f'<{settings().public_url}/rest/ChangeLog/{call.project}?{following}>; rel="next"'
    return Documents(documents=map(msgspec.json.encode, shown), headers=headers)
