"""Telling users of what happened: a notification in their inbox, and the order of a mail where they want one.

Only the subject is kept. What a notification says is made when it is read (`resources/inbox/texts.py`), so that nobody
reads what they may not see any more, and what is withdrawn disappears.
"""

from __future__ import annotations

import logging
import secrets
import uuid
from collections.abc import Iterable
from datetime import timedelta

import msgspec

from chalicelib.core.resource import now, timestamp
from chalicelib.core.time import clock
from chalicelib.errors import Conflict, LimnError
from chalicelib.queues import send
from chalicelib.resources.notifications.messages import MailNotifications
from chalicelib.resources.notifications.schemas import INBOX, MOST_KEPT, Inbox, Notification, Topic
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import records

MAIL_DELAY = 60
"""Seconds for which further notifications join the same mail."""
_LOST_AFTER = timedelta(minutes=15)
"""An ordered mail that did not go out for so long is ordered again."""
log = logging.getLogger("limn.notifications")


def inbox_of(user: int) -> Inbox:
    """The inbox of a user, made where there is none."""
    found = records.maybe(INBOX, user)
    if found is None:
        try:
            return records.create(INBOX, Inbox(user=user, secret=secrets.token_hex(16)))
        except Conflict:
            return records.get(INBOX, user)
    return found


def notify(users: Iterable[int], topic: Topic, project: int, subject: int | str) -> bool:
    """Add a notification for each user who wants one. A failure is logged; the change that it reports goes on.

    Call it before or after the change: a subject that does not exist when the notification is read is not shown.

    Returns:
        whether all were kept; work that may be repeated repeats it otherwise.
    """
    failures = 0
    for user in dict.fromkeys(users):
        try:
            _notify_user(user, topic, project, str(subject))
        except LimnError as failure:
            log.warning("a notification was not kept: %s", type(failure).__name__)
            failures += 1
    return not failures


def _notify_user(user: int, topic: Topic, project: int, subject: str) -> None:
    inbox = inbox_of(user)
    way = getattr(inbox, topic)
    if way == "none":
        return
    late = timestamp(clock.utc_now() - _LOST_AFTER)
    mail = way if way in ("mail", "daily") and settings().email_enabled else None
    orders = mail == "mail" and (inbox.mail_due is None or inbox.mail_due < late)
    if orders:
        # ordered first: a crash after it leaves a mail without content, which is not sent
        order_mail(user)

    def add(found: Inbox) -> Inbox | None:
        same = (topic, project, subject)
        if any((each.topic, each.project, each.subject) == same and not each.is_read for each in found.items):
            return None
        item = Notification(
            id=found.last + 1, topic=topic, project=project, subject=subject, created_datetime=now(), mail=mail
        )
        return msgspec.structs.replace(
            found,
            last=item.id,
            items=[*found.items, item][-MOST_KEPT:],
            mail_due=timestamp(clock.utc_now() + timedelta(seconds=MAIL_DELAY)) if orders else found.mail_due,
            digest="pending" if mail == "daily" else found.digest,
        )

    records.edit(INBOX, user, add)


def order_mail(user: int) -> None:
    """Order a mail of what waits for one, after `MAIL_DELAY`."""
    message = MailNotifications(user=user, way="mail", turn=str(uuid.uuid4()))
    send(settings().dataset_queue_url, message, MAIL_DELAY)


def order_digests() -> None:
    """Order the digests of the day. Repeated on the same day it orders nothing new."""
    for inbox in records.list_linked(INBOX, "digest", "pending"):
        send(settings().dataset_queue_url, MailNotifications(user=inbox.user, way="daily", turn=now()[:10]))
