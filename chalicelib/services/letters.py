"""The mails the service writes of its own accord, all their texts in one place, and their sending.

Each is plain text and simple HTML made from the same sentences; what a user wrote is escaped.
"""

from __future__ import annotations

import html
import uuid
from dataclasses import dataclass

from chalicelib.domain.accounts import User
from chalicelib.errors import BadInput
from chalicelib.messages import SendEmail, send
from chalicelib.services import mail
from chalicelib.settings import settings


@dataclass(frozen=True)
class Letter:
    """Subject and sentences; a sentence that is a link stands alone."""

    subject: str
    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        """As plain text."""
        return "\n\n".join(self.sentences) + "\n"

    @property
    def html(self) -> str:
        """As simple HTML."""
        return "".join(f"<p>{_as_html(sentence)}</p>\n" for sentence in self.sentences)


def registration(organization: str, link: str) -> Letter:
    """To an invited address that has no account."""
    return Letter(
        f"You are invited to {organization}",
        (f"You are invited to join {organization}. Register here within seven days:", link),
    )


def acceptance(organization: str, link: str) -> Letter:
    """To an invited address that has an account."""
    return Letter(
        f"You are invited to {organization}",
        (f"You are invited to join {organization}. Accept here within seven days:", link),
    )


def password_reset(link: str) -> Letter:
    """To whoever asked for a new password."""
    return Letter(
        "Reset your password",
        ("Set a new password here within 24 hours:", link, "If you did not ask for this, nothing has changed."),
    )


def activation(link: str) -> Letter:
    """To a user who registered and has to confirm the address."""
    return Letter("Confirm your address", ("Your account is ready once you open this link:", link))


def lockout(user: User) -> Letter:
    """To a user whose account was locked."""
    return Letter(
        "Your account is locked",
        (
            f"Somebody entered a wrong password for {user.username} three times, so nobody can sign in with it for "
            "ten minutes.",
            "If it was not you, your password held; you need do nothing.",
        ),
    )


def post(letter: Letter, *addresses: str) -> None:
    """Put a letter into the email queue.

    Raises:
        BadInput: sending mail is switched off, or an address is none.
        Unavailable: the queue does not take it.
    """
    if not settings().email_enabled:
        raise BadInput("This deployment does not send email.")
    message = SendEmail(
        id=str(uuid.uuid4()),
        sender=settings().email_sender,
        recipients=list(addresses),
        subject=letter.subject,
        text=letter.text,
        html=letter.html,
    )
    mail.check(message)
    send(settings().email_queue_url, message)


def _as_html(sentence: str) -> str:
    safe = html.escape(sentence)
    if sentence.startswith(("http://", "https://")) and " " not in sentence:
        return f'<a href="{safe}">{safe}</a>'
    return safe
