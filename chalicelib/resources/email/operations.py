"""Mail to members of a project."""

from __future__ import annotations

import uuid

from chalicelib.access import rate_limits
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.jobs import EmailSpec
from chalicelib.core.permissions import Level, Permission
from chalicelib.core.responses import MessageResponse
from chalicelib.core.text import email_addresses
from chalicelib.http.addresses import PROJECT
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.queues import send_many
from chalicelib.resources.email import project_emails
from chalicelib.settings import settings
from chalicelib.storage.dynamodb.progress import usage

OPERATIONS = Operations(tag="Email")


@OPERATIONS.post("/rest/Email/{project}", "SendEmail", needs=Permission.EXECUTE, addresses=PROJECT, spends=("mails",))
def send_email(call: Call[Project, NoQuery, EmailSpec]) -> MessageResponse:
    """Send a mail to members of the project, with files of the project attached.

    Recipients are `Name <name@example.org>` or `name@example.org`, and members of the project; 400 names those who are
    not. Each gets a separate mail. Where one cannot be sent, the caller gets a mail about it. Attachments are objects
    of the project, 7,000,000 bytes together; more is 413. 200 mails an hour of a caller and 60 to an address are
    allowed; more is 429.
    """
    mails = project_emails.prepare(call.project, call.body, str(uuid.uuid4()), call.caller.id, Level.EXECUTE)
    for message in mails:
        rate_limits.check(rate_limits.PROJECT_MAIL, call.caller, email_addresses.parse(message.recipients[0]).address)
    send_many(settings().email_queue_url, mails)
    usage.count(call.project, "mails", len(mails))
    return MessageResponse(message="Email message sent!")
