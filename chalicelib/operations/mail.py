"""Mail to members of a project (`spec/3` §13)."""

from __future__ import annotations

import uuid

from chalicelib.domain.accounts import Project
from chalicelib.domain.jobs import EmailSpec
from chalicelib.domain.permissions import Permission
from chalicelib.domain.responses import MessageResponse
from chalicelib.messages import send
from chalicelib.operations.addresses import PROJECT
from chalicelib.operations.operation import Call, NoQuery, Operation
from chalicelib.services import project_mail
from chalicelib.settings import settings

TAG = "Email"


def send_email(call: Call[Project, NoQuery, EmailSpec]) -> MessageResponse:
    """Send a mail to members of the project."""
    message = project_mail.prepare(call.project, call.body, str(uuid.uuid4()))
    send(settings().email_queue_url, message)
    return MessageResponse(message="Email message sent!")


OPERATIONS = (
    Operation(
        id="SendEmail",
        method="POST",
        path="/rest/Email/{project}",
        summary="Send a mail to members of the project, with files of the project attached.",
        details="Recipients are `Name <name@example.org>` or `name@example.org`, and members of the project.",
        needs=Permission.EXECUTE,
        addresses=PROJECT,
        body=EmailSpec,
        returns=MessageResponse,
        handler=send_email,
        tag=TAG,
    ),
)
