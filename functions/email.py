"""The email queue's function: sends mail, each once."""

from __future__ import annotations

from chalicelib.messages import SendEmail
from chalicelib.services import mail
from chalicelib.storage import objects
from functions.worker import Delivery, worker

RECEIVES = 4
"""`maxReceiveCount` of the email queue: a mail that fails for minutes is for a person to look at."""


def _send(message: SendEmail, _: Delivery) -> None:
    mail.send_email(message, read=lambda bucket, key: objects.read(key, bucket=bucket))


handler = worker({SendEmail: _send}, receives=RECEIVES)
