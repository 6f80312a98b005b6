"""Notifications of the operator."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from chalicelib.access import rate_limits
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Flag, Resource
from chalicelib.core.responses import MessageResponse
from chalicelib.errors import Unavailable
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.resources.email import system_emails
from chalicelib.settings import settings

OPERATIONS = Operations(tag="Service")


class NotifySpec(Resource, kw_only=True):
    """A message to the operator, in the mail or as a file that is attached to it."""

    accepts: ClassVar = {"sendAsFile": "send_as_file"}

    message: Annotated[
        str, Meta(min_length=1, max_length=50_000, pattern=r"\S", description="What to say, at most 50,000 characters.")
    ]
    send_as_file: Annotated[Flag | None, Meta(description="1 attaches the message as a file.")] = None


@OPERATIONS.post("/rest/Notify", "Notify", needs=Permission.STAFF, status=200)
def notify(call: Call[None, NoQuery, NotifySpec]) -> MessageResponse:
    """Mail a message to the operator.

    For staff, 60 an hour. 503 where the operator has set no address for notifications.
    """
    address = settings().notify_address
    if not address or not settings().email_enabled:
        raise Unavailable("Not Processed", "The operator has set no address for notifications, or mail is off.")
    rate_limits.check(rate_limits.NOTIFICATION, call.caller)
    try:
        system_emails.enqueue(
            system_emails.notification(call.caller.username, call.body.message, as_file=bool(call.body.send_as_file)),
            address,
        )
    except Unavailable as failure:
        raise Unavailable("Not Processed", failure.message) from failure
    return MessageResponse(message="Processed")
