"""Reading an inbox, its settings, and the mails of what is in it."""

from __future__ import annotations

import hmac
from hashlib import sha256
from typing import Literal

import msgspec

from chalicelib.core.models.accounts import USER
from chalicelib.core.text.secret_texts import are_equal
from chalicelib.errors import NotFound
from chalicelib.resources.email import system_emails
from chalicelib.resources.inbox import texts
from chalicelib.resources.inbox.schemas import NotificationSettings
from chalicelib.resources.notifications import service as notifications_service
from chalicelib.resources.notifications.schemas import INBOX, Inbox
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import records

MOST_LINES = 50
"""Notifications that a mail repeats; it says how many more there are."""


def settings_of(inbox: Inbox) -> NotificationSettings:
    """How a user is notified."""
    return NotificationSettings(**{name: getattr(inbox, name) for name in NotificationSettings.__struct_fields__})


def mark_read(user: int, ids: list[int] | None) -> None:
    """Mark notifications of a user as read: all, or some."""
    wanted = None if ids is None else set(ids)

    def mark(found: Inbox) -> Inbox:
        items = [
            msgspec.structs.replace(each, is_read=True) if wanted is None or each.id in wanted else each
            for each in found.items
        ]
        return msgspec.structs.replace(found, items=items)

    notifications_service.inbox_of(user)
    records.edit(INBOX, user, mark)


def mail(user: int, way: Literal["mail", "daily"]) -> None:
    """Send one mail of all that waits for it. A crash before its note has the mail sent again, with the same number.

    What was read in the console meanwhile, or may not be seen any more, is left out.
    """
    inbox = records.maybe(INBOX, user)
    if inbox is None:
        return
    waiting = [each for each in inbox.items if each.mail == way]
    found = records.maybe(USER, user)
    told = texts.notices(user, [each for each in waiting if not each.is_read])
    if told and found is not None and found.is_active and found.email:
        lines = [line for each in told[:MOST_LINES] for line in (each.text, f"{settings().public_url}/{each.link}")]
        email = system_emails.notices(lines, len(told), len(told) - MOST_LINES, _unsubscribe_link(inbox))
        system_emails.enqueue(email, found.email, number=f"notices-{user}-{waiting[0].id}-{waiting[-1].id}")
    sent = {each.id for each in waiting}

    def note(current: Inbox) -> Inbox:
        items = [msgspec.structs.replace(each, mail=None) if each.id in sent else each for each in current.items]
        left = {each.mail for each in items}
        digest: Literal["pending"] | None = "pending" if "daily" in left else None
        # what came while the mail was made has its own, ordered below
        due = None if way == "mail" else current.mail_due
        return msgspec.structs.replace(current, items=items, digest=digest, mail_due=due)

    after = records.edit(INBOX, user, note)
    if way == "mail" and any(each.mail == "mail" for each in after.items):
        notifications_service.order_mail(user)


# --- the link that unsubscribes --------------------------------------------------------------------------------------


def _signature(inbox: Inbox) -> str:
    return hmac.new(inbox.secret.encode(), f"unsubscribe|{inbox.user}".encode(), sha256).hexdigest()


def _unsubscribe_link(inbox: Inbox) -> str:
    return f"{settings().public_url}/unsubscribe?user={inbox.user}&signature={_signature(inbox)}"


def unsubscribe(user: int, signature: str) -> None:
    """End all mails of notifications of a user; they stay in the console.

    Raises:
        NotFound: the link is not that of a mail to this user.
    """
    inbox = records.maybe(INBOX, user)
    if inbox is None or not are_equal(signature, _signature(inbox)):
        raise NotFound("This link is incomplete, or no longer valid.")

    def end(found: Inbox) -> Inbox:
        after = msgspec.structs.replace(found, items=[msgspec.structs.replace(e, mail=None) for e in found.items])
        for topic in NotificationSettings.__struct_fields__:
            if getattr(after, topic) in ("mail", "daily"):
                setattr(after, topic, "console")
        after.digest = after.mail_due = None
        return after

    records.edit(INBOX, user, end)
