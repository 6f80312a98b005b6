"""Announcements of the operator, shown to each user until that user acknowledges them."""

from __future__ import annotations

from typing import Any

from chalicelib.core.models.personal import ANNOUNCEMENT, Announcement
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import now
from chalicelib.core.responses import MessageResponse
from chalicelib.errors import NotFound
from chalicelib.http.addresses import plain
from chalicelib.http.operation import Call, NoQuery, Operation
from chalicelib.storage.dynamodb import records

TAG = "Personal"


def list_announcements(call: Call[None, NoQuery, None]) -> list[Announcement]:
    """The announcements to the caller that have not ended and were not acknowledged, oldest first."""
    moment = now()
    return [item for item in records.list_children(ANNOUNCEMENT, call.caller.id) if item.eol_datetime > moment]


def delete_announcement(call: Call[Announcement | None, NoQuery, None]) -> MessageResponse:
    """Acknowledge an announcement: the caller does not see it again, other users do."""
    if call.target is None or call.target.user != call.caller.id:
        raise NotFound.of("Announcement", call.path["id"])
    records.remove(ANNOUNCEMENT, call.target.id)
    return MessageResponse(message=f"Announcement {call.target.id} deleted successfully!")


def _maybe(path: dict[str, Any]) -> Announcement | None:
    return records.maybe(ANNOUNCEMENT, path["id"])


OPERATIONS = (
    Operation(
        id="GetAnnouncementList",
        method="GET",
        path="/rest/Announcements",
        summary="The announcements to the caller that are not acknowledged yet.",
        needs=Permission.SIGNED_IN,
        returns=list[Announcement],
        handler=list_announcements,
        tag=TAG,
    ),
    Operation(
        id="DeleteAnnouncement",
        method="DELETE",
        path="/rest/Announcement/{id}",
        summary="Acknowledge an announcement.",
        needs=Permission.SIGNED_IN,
        addresses=plain(_maybe, id=int),
        returns=MessageResponse,
        handler=delete_announcement,
        tag=TAG,
    ),
)
