"""The message of mails about notifications. Queue: dataset, whose function sees what a user may see."""

from __future__ import annotations

from typing import Literal

from chalicelib.queues.base import Message


class MailNotifications(Message, frozen=True, kw_only=True, tag="notifications.mail.1"):
    """Mail a user what waits for one kind of mail, as one mail. Queue: dataset."""

    user: int
    way: Literal["mail", "daily"]
    turn: str
    """One message of each turn is handled: a day, or a uuid."""
