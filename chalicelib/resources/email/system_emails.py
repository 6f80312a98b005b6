"""The mails that the service itself writes: all their texts, and their sending.

Each is plain text and simple HTML made from the same sentences; what a user wrote is escaped.
"""

from __future__ import annotations

import html
import re
import uuid
from dataclasses import dataclass

from chalicelib.core.models.accounts import User
from chalicelib.errors import BadInput
from chalicelib.queues import send
from chalicelib.resources.email import service as email_service
from chalicelib.resources.email.messages import SendEmail, TextFile
from chalicelib.settings import settings


@dataclass(frozen=True)
class SystemEmail:
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
        """The email as HTML without styles."""
        return "".join(f"<p>{_as_html(sentence)}</p>\n" for sentence in self.sentences)


def registration(organization: str, link: str) -> SystemEmail:
    """To an invited address that has no account."""
    return SystemEmail(
        f"You are invited to {organization}",
        (f"You are invited to join {organization}. Register here within seven days:", link),
    )


def acceptance(organization: str, link: str) -> SystemEmail:
    """To an invited address that has an account."""
    return SystemEmail(
        f"You are invited to {organization}",
        (f"You are invited to join {organization}. Accept here within seven days:", link),
    )


def password_reset(link: str) -> SystemEmail:
    """To a user who asked for a new password."""
    return SystemEmail(
        "Reset your password",
        ("Set a new password here within 24 hours:", link, "If you did not ask for this, nothing has changed."),
    )


def activation(link: str) -> SystemEmail:
    """To a user who registered and has to confirm the address."""
    return SystemEmail("Confirm your address", ("Your account is ready once you open this link:", link))


def usage_warning(where: str, measure: str, percent: int) -> SystemEmail:
    """To the administrators of an organization, a limit of which is nearly reached."""
    return SystemEmail(
        f"{where}: {percent} % of a limit",
        (
            f"{where} has used {percent} % of its limit of {measure.replace('_', ' ')}.",
            "At 100 % what would use more is refused. Raise `usage_limits`, or delete what is not needed.",
        ),
    )


def wrong_codes(username: str) -> SystemEmail:
    """Warn a user of sign-ins with the right password and wrong codes."""
    return SystemEmail(
        "Wrong codes for your account",
        (
            f"Somebody signed in as {username} with your password, and gave wrong codes of your second factor.",
            "If that was not you, set a new password now: yours is known.",
        ),
    )


def sign_in_changed(username: str, change: str) -> SystemEmail:
    """To a user, a change of what signing in needs or accepts."""
    return SystemEmail(
        "Signing in to your account changed",
        (
            f"{change} The account is {username}.",
            "If that was not you, set a new password now, and look at second factor and passkeys in your profile.",
        ),
    )


def address_change(link: str) -> SystemEmail:
    """To the new address of a user, which counts once its link is opened."""
    return SystemEmail(
        "Confirm your new address",
        (
            "This address was given as the new one of an account. Confirm it here within 24 hours:",
            link,
            "If you did not ask for this, ignore this mail: without the link nothing changes.",
        ),
    )


def address_change_requested(username: str, address: str) -> SystemEmail:
    """To the old address of a user, when another one was asked for."""
    return SystemEmail(
        "A new address for your account",
        (
            f"The address of {username} is about to become {address}. Until that is confirmed, this one stays.",
            "If it was not you, set a new password now: that signs out everyone else and ends the change.",
        ),
    )


def address_changed(username: str, address: str) -> SystemEmail:
    """To the old address of a user, when another one took its place."""
    return SystemEmail("Your address was changed", (f"The address of {username} is {address} now.",))


def password_changed(username: str) -> SystemEmail:
    """To a user whose password was reset."""
    return SystemEmail(
        "Your password was changed",
        (
            f"{username} has a new password, and everyone who was signed in to the account is signed out.",
            "If it was not you, someone else can read your mail: secure that first, then reset the password again.",
        ),
    )


def lockout(user: User, link: str = "") -> SystemEmail:
    """To a user whose account was locked; the link lets the user in nevertheless."""
    way = ("You can sign in at once with this link and your password:", link) if link else ()
    return SystemEmail(
        "Your account is locked",
        (
            f"A wrong password for {user.username} was entered three times: signing in is off for ten minutes.",
            *way,
            "If it was not you, your password held, and no action is needed.",
        ),
    )


def notification(sender: str, message: str, *, as_file: bool) -> SystemEmail:
    """To the operator, a message of a user of staff."""
    if as_file:
        return SystemEmail(
            f"Notice from {sender}", ("The message is attached.",), (TextFile(name="notice.txt", text=message),)
        )
    return SystemEmail(
        f"Notice from {sender}", tuple(part for part in message.split("\n\n") if part.strip()) or (message,)
    )


def undelivered_notice(subject: str, recipients: list[str], reason: str) -> SystemEmail:
    """To the sender of a mail to members of a project that could not be delivered to some of them."""
    return SystemEmail(
        f"Not sent: {subject}", (f"Your mail {subject!r} could not be sent to {', '.join(recipients)}.", reason)
    )


def new_user(user: User) -> SystemEmail:
    """To the operator, about a new account."""
    return SystemEmail(
        f"New user {user.username}", (f"{user.display_name} ({user.email}) has the account {user.username}.",)
    )


def new_affiliation(organization: str, user: User, permission: str) -> SystemEmail:
    """To the administrators of an organization, about a new affiliation."""
    return SystemEmail(
        f"{user.display_name} belongs to {organization}",
        (f"{user.display_name} ({user.username}) joined {organization} with the permission {permission}.",),
    )


def new_membership(project: str, user: User, permission: str) -> SystemEmail:
    """To the operator, about a new member of a project."""
    return SystemEmail(
        f"{user.display_name} is a member of {project}",
        (f"{user.display_name} ({user.username}) became a member of {project} with the permission {permission}.",),
    )


_DISABLED = {
    "gone": "Its server answered 410 (Gone).",
    "failing": "Its server did not accept an event for three days.",
    "owner_lost_access": "You no longer have the permission that it needs.",
    "algorithm_missing": "Its algorithm does not exist any more.",
    "launches_itself": "Its jobs make media that launch it again. Narrow its query, and make the rule active again.",
    "algorithm_changed": "Somebody else changed what its algorithm runs. Look at it, and make the rule active again.",
    "refused": "Its algorithm cannot be launched.",
    "query_refused": "Its query is refused: a GET of it names the rule. Nothing is lost if it is mended within a week.",
    "error": "It failed for three days with an error of the service.",
}


def listener_disabled(noun: str, name: str, where: str, reason: str) -> SystemEmail:
    """To the owner of a webhook or rule that was disabled."""
    return SystemEmail(
        f"The {noun} {name} is disabled",
        (
            f"The {noun} {name} ({where}) gets no more events. {_DISABLED[reason]}",
            f"When this is mended, set active of the {noun} to true: it continues after the last event it accepted.",
            f"Events are kept for at least {settings().log_retention // 86400} days.",
        ),
    )


def notices(lines: list[str], count: int, more: int, unsubscribe: str) -> SystemEmail:
    """To a user, what happened since the last mail: a sentence and a link for each notification."""
    rest = (f"{more} more are in the console.",) if more > 0 else ()
    subject = lines[0] if count == 1 else f"{count} notifications"
    return SystemEmail(subject, (*lines, *rest, "To get no more mails of notifications, open:", unsubscribe))


def enqueue(email: SystemEmail, *addresses: str, number: str = "") -> None:
    """Put a mail into the email queue; of those with the same `number` one is sent.

    Raises:
        BadInput: mail is switched off, or an address is malformed.
        Unavailable: the queue does not take it.
    """
    if not settings().email_enabled:
        raise BadInput("This deployment does not send email.")
    message = SendEmail(
        id=number or str(uuid.uuid4()),
        sender=settings().email_sender,
        recipients=list(addresses),
        subject=email.line,
        text=email.text,
        html=email.html,
        files=list(email.files),
    )
    email_service.check(message)
    send(settings().email_queue_url, message)


def _as_html(sentence: str) -> str:
    safe = html.escape(sentence)
    if sentence.startswith(("http://", "https://")) and " " not in sentence:
        return f'<a href="{safe}">{safe}</a>'
    return safe
