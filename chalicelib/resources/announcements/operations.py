"""Announcements of the operator, shown to each user until that user acknowledges them."""

from __future__ import annotations

from typing import Any

from chalicelib.core.models.personal import ANNOUNCEMENT, Announcement
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import now
from chalicelib.core.responses import MessageResponse
from chalicelib.errors import NotFound
from chalicelib.http.addresses import plain
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.storage.dynamodb import records

OPERATIONS = Operations(tag="Personal")


@OPERATIONS.get("/rest/Announcements", "GetAnnouncementList", needs=Permission.SIGNED_IN)
def list_announcements(call: Call[None, NoQuery, None]) -> list[Announcement]:
    """The announcements to the caller that have not ended and are not acknowledged yet, oldest first."""
    moment = now()
    return [item for item in records.list_children(ANNOUNCEMENT, call.caller.id) if item.eol_datetime > moment]


def _maybe(path: dict[str, Any]) -> Announcement | None:
    return records.maybe(ANNOUNCEMENT, path["id"])


@OPERATIONS.delete(
    "/rest/Announcement/{id}", "DeleteAnnouncement", needs=Permission.SIGNED_IN, addresses=plain(_maybe, id=int)
)
def delete_announcement(call: Call[Announcement | None, NoQuery, None]) -> MessageResponse:
    """Acknowledge an announcement.

    The caller does not see it again, other users do.
    """
    if call.target is None or call.target.user != call.caller.id:
        raise NotFound.of("Announcement", call.path["id"])
    records.remove(ANNOUNCEMENT, call.target.id)
    return MessageResponse(message=f"Announcement {call.target.id} deleted successfully!")
