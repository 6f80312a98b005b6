"""Change logs: the author, the entity and the values of each change."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from chalicelib.core.accounts import Project
from chalicelib.core.kinds import Kind
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Id, Resource
from chalicelib.errors import BadInput
from chalicelib.http.addresses import PROJECT
from chalicelib.http.operation import Call, Documents, Operation
from chalicelib.resources.change_logs import service as change_logs_service
from chalicelib.resources.change_logs.schemas import ChangeLog
from chalicelib.resources.change_logs.service import Wanted


class ChangeLogQuery(Resource, kw_only=True):
    """The filters of change logs: author or entity; at least one is required."""

    user_id: Annotated[Id | None, Meta(description="Changes that this user made.")] = None
    entity_id: Annotated[Id | None, Meta(description="Changes of the object with this id.")] = None
    entity_type: Annotated[
        Literal["media", "localization", "state", "leaf"] | None, Meta(description="Changes of objects of this kind.")
    ] = None


def list_changes(call: Call[Project, ChangeLogQuery, None]) -> Documents:
    """The matching changes, oldest first."""
    query = call.query
    if query.user_id is None and query.entity_id is None and query.entity_type is None:
        raise BadInput("Give one of user_id, entity_id and entity_type at least.")
    kind = Kind(query.entity_type) if query.entity_type else None
    found = change_logs_service.list_changes(
        call.project, Wanted(user=query.user_id, entity=query.entity_id, kind=kind), call.scope
    )
    return Documents(documents=map(msgspec.json.encode, found))


OPERATIONS = (
    Operation(
        id="GetChangeLogList",
        method="GET",
        path="/rest/ChangeLog/{project}",
        summary="Who changed what, the oldest change first.",
        details="A creation has one entry for each object, whose old values are all null; a bulk change has one for "
        "all that it changed. One of the parameters must be given; an `entity_id` without `entity_type` is that of "
        "objects of any kind.",
        needs=Permission.VIEW,
        addresses=PROJECT,
        query=ChangeLogQuery,
        returns=list[ChangeLog],
        handler=list_changes,
        tag="Change logs",
    ),
)
