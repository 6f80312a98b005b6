"""Mail to members of a project."""

from __future__ import annotations

import uuid

from chalicelib.domain import addresses
from chalicelib.domain.accounts import Project
from chalicelib.domain.jobs import EmailSpec
from chalicelib.domain.permissions import Permission
from chalicelib.domain.responses import MessageResponse
from chalicelib.messages import send_many
from chalicelib.operations.addresses import PROJECT
from chalicelib.operations.operation import Call, NoQuery, Operation
from chalicelib.services import project_mail, rate_limits
from chalicelib.settings import settings

TAG = "Email"


def send_email(call: Call[Project, NoQuery, EmailSpec]) -> MessageResponse:
    """Send a mail to members of the project."""
    mails = project_mail.prepare(call.project, call.body, str(uuid.uuid4()), call.caller.id)
    for message in mails:
        rate_limits.check(rate_limits.PROJECT_MAIL, call.caller, addresses.parse(message.recipients[0]).address)
    send_many(settings().email_queue_url, mails)
    return MessageResponse(message="Email message sent!")


OPERATIONS = (
    Operation(
        id="SendEmail",
        method="POST",
        path="/rest/Email/{project}",
        summary="Send a mail to members of the project, with files of the project attached.",
        details="Recipients are `Name <name@example.org>` or `name@example.org`, and members of the project; 400 names "
        "those who are not. Each gets a separate mail. Where one cannot be sent, the caller gets a mail about it. "
        "Attachments are objects of the project, 7,000,000 bytes together; more is 413. 200 mails an hour of "
        "a caller and 60 to an address are allowed; more is 429.",
        needs=Permission.EXECUTE,
        addresses=PROJECT,
        body=EmailSpec,
        returns=MessageResponse,
        handler=send_email,
        tag=TAG,
    ),
)
