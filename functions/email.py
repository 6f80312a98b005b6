"""The email queue's function: sends mail, each once."""

from __future__ import annotations

from chalicelib.errors import LimnError
from chalicelib.queues import SendEmail
from chalicelib.resources.email import project_emails, system_emails
from chalicelib.resources.email import service as email_service
from chalicelib.storage.objects import objects
from functions.worker import Delivery, worker

RECEIVES = 4
"""`maxReceiveCount` of the email queue: a mail that fails for minutes is for a person to look at."""


def _send(message: SendEmail, _: Delivery) -> None:
    email_service.send_email(message, read=lambda _bucket, path: objects.read(project_emails.attachment_key(path)))


def _tell(message: SendEmail, reason: Exception) -> bool:
    """Tell who asked for a mail that it did not go; whether there is such a one."""
    if message.asked_by is None:
        return False
    why = f"{reason.message} {reason.details or ''}" if isinstance(reason, LimnError) else type(reason).__name__
    letter = system_emails.undelivered(message.subject, message.recipients, why.strip())
    system_emails.post(letter, message.asked_by, number=f"{message.id}-undelivered")
    return True


handler = worker({SendEmail: _send}, on_poison=_tell, receives=RECEIVES)
