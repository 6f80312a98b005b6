"""Notifications of the caller: what happened, and how they want to be told."""

from __future__ import annotations

import msgspec
from msgspec import UNSET

from chalicelib.core.permissions import Permission
from chalicelib.core.responses import MessageResponse
from chalicelib.errors import BadInput
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.resources.inbox import service as inbox_service
from chalicelib.resources.inbox import texts
from chalicelib.resources.inbox.schemas import (
    Notice,
    NoticeQuery,
    NoticesRead,
    NotificationSettings,
    NotificationSettingsUpdate,
)
from chalicelib.resources.notifications import service as notifications_service
from chalicelib.resources.notifications.schemas import INBOX, Inbox
from chalicelib.storage.dynamodb import records

OPERATIONS = Operations(tag="Personal", needs=Permission.SIGNED_IN, scoped=False)


@OPERATIONS.get("/rest/Notifications", "GetNotificationList")
def list_notifications(call: Call[None, NoticeQuery, None]) -> list[Notice]:
    """The caller's latest notifications, oldest first: at most 200, of what the caller may see now."""
    inbox = records.maybe(INBOX, call.caller.id)
    items = [] if inbox is None else inbox.items
    return texts.notices(call.caller.id, [each for each in items if not (call.query.unread and each.is_read)])


@OPERATIONS.patch("/rest/Notifications", "UpdateNotificationList")
def mark_read(call: Call[None, NoQuery, NoticesRead]) -> MessageResponse:
    """Mark notifications of the caller as read. They are not mailed any more."""
    inbox_service.mark_read(call.caller.id, call.body.ids)
    return MessageResponse(message="Notifications are marked as read!")


@OPERATIONS.get("/rest/NotificationSettings", "GetNotificationSettings")
def get_settings(call: Call[None, NoQuery, None]) -> NotificationSettings:
    """How the caller wants to be told of mentions, tasks, failed jobs, failed imports and quality."""
    inbox = records.maybe(INBOX, call.caller.id)
    return NotificationSettings() if inbox is None else inbox_service.settings_of(inbox)


@OPERATIONS.patch("/rest/NotificationSettings", "UpdateNotificationSettings")
def change_settings(call: Call[None, NoQuery, NotificationSettingsUpdate]) -> NotificationSettings:
    """Change how the caller wants to be told. Mails of one minute are one mail; a daily mail comes once a day."""
    given = {name: value for name, value in msgspec.structs.asdict(call.body).items() if value is not UNSET}
    if not given:
        raise BadInput("Nothing to change: give one of mentions, tasks, jobs, imports, quality.")
    notifications_service.inbox_of(call.caller.id)

    def change(found: Inbox) -> Inbox:
        return msgspec.structs.replace(found, **given)

    return inbox_service.settings_of(records.edit(INBOX, call.caller.id, change))
