"""The email queue's function: sends each email once."""

from __future__ import annotations

from chalicelib.errors import LimnError
from chalicelib.resources.email import project_emails, system_emails
from chalicelib.resources.email import service as email_service
from chalicelib.resources.email.messages import SendEmail
from chalicelib.storage.objects import objects
from functions.worker import Delivery, worker

RECEIVES = 4
"""Deliveries of an email: one that fails for minutes is moved to the dead-letter queue."""


def _send(message: SendEmail, _: Delivery) -> None:
    project_emails.check_now(message)
    email_service.send_email(message, read=lambda _bucket, path: objects.read(project_emails.attachment_key(path)))


def _report(message: SendEmail, reason: Exception) -> bool:
    """Email the sender that an email could not be sent; returns whether there is a sender to notify."""
    if message.asked_by is None:
        return False
    why = f"{reason.message} {reason.details or ''}" if isinstance(reason, LimnError) else type(reason).__name__
    report = system_emails.undelivered_notice(message.subject, message.recipients, why.strip())
    system_emails.enqueue(report, message.asked_by, number=f"{message.id}-undelivered")
    return True


handler = worker({SendEmail: _send}, on_poison=_report, receives=RECEIVES)
