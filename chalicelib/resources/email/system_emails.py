"""The mails the service writes of its own accord, all their texts in one place, and their sending.

Each is plain text and simple HTML made from the same sentences; what a user wrote is escaped.
"""

from __future__ import annotations

import html
import re
import uuid
from dataclasses import dataclass

from chalicelib.core.accounts import User
from chalicelib.errors import BadInput
from chalicelib.queues import SendEmail, TextFile, send
from chalicelib.resources.email import service as email_service
from chalicelib.settings import settings


@dataclass(frozen=True)
class Letter:
    """Subject and sentences; a sentence that is a link stands alone."""

    subject: str
    sentences: tuple[str, ...]
    files: tuple[TextFile, ...] = ()

    @property
    def line(self) -> str:
        """The subject as a header takes it: names that users gave may be long, or hold what a header must not."""
        return (
            re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+", " ", self.subject)[: email_service.LONGEST_SUBJECT].strip()
            or "Limn"
        )

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
            f"Somebody entered a wrong password for {user.username} three times: nobody can sign in for ten minutes.",
            "If it was not you, your password held; you need do nothing.",
        ),
    )


def notice(sender: str, message: str, *, as_file: bool) -> Letter:
    """To the operator's people, what one of the staff has to say."""
    if as_file:
        return Letter(
            f"Notice from {sender}", ("The notice is attached.",), (TextFile(name="notice.txt", text=message),)
        )
    return Letter(f"Notice from {sender}", tuple(part for part in message.split("\n\n") if part.strip()) or (message,))


def undelivered(subject: str, recipients: list[str], reason: str) -> Letter:
    """To whoever had a mail sent to members of a project, when one of them could not be reached."""
    return Letter(
        f"Not sent: {subject}", (f"Your mail {subject!r} could not be sent to {', '.join(recipients)}.", reason)
    )


def new_user(user: User) -> Letter:
    """To the operator's people, when somebody got an account."""
    return Letter(
        f"New user {user.username}", (f"{user.display_name} ({user.email}) has the account {user.username}.",)
    )


def new_affiliation(organization: str, user: User, permission: str) -> Letter:
    """To the administrators of an organization, when somebody came to it."""
    return Letter(
        f"{user.display_name} belongs to {organization}",
        (f"{user.display_name} ({user.username}) was taken into {organization} with the permission {permission}.",),
    )


def new_membership(project: str, user: User, permission: str) -> Letter:
    """To the operator's people, when somebody came to a project."""
    return Letter(
        f"{user.display_name} is a member of {project}",
        (f"{user.display_name} ({user.username}) became a member of {project} with the permission {permission}.",),
    )


def post(letter: Letter, *addresses: str, number: str = "") -> None:
    """Put a letter into the email queue; of those with the same `number` one is sent.

    Raises:
        BadInput: sending mail is switched off, or an address is none.
        Unavailable: the queue does not take it.
    """
    if not settings().email_enabled:
        raise BadInput("This deployment does not send email.")
    message = SendEmail(
        id=number or str(uuid.uuid4()),
        sender=settings().email_sender,
        recipients=list(addresses),
        subject=letter.line,
        text=letter.text,
        html=letter.html,
        files=list(letter.files),
    )
    email_service.check(message)
    send(settings().email_queue_url, message)


def _as_html(sentence: str) -> str:
    safe = html.escape(sentence)
    if sentence.startswith(("http://", "https://")) and " " not in sentence:
        return f'<a href="{safe}">{safe}</a>'
    return safe
