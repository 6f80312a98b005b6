"""What is kept of a user's notifications: how they are wanted, and the latest of them. One record for each user."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from chalicelib.core.records import RecordKind
from chalicelib.core.resource import Resource, Timestamp

Way = Literal["console", "mail", "daily", "none"]
Topic = Literal["mentions", "tasks", "jobs", "imports", "quality"]
MOST_KEPT = 200
"""Notifications of a user; older ones are dropped."""


class Notification(Resource, kw_only=True):
    """Something that happened: only what it is about. Its text is made when it is read, of what its reader may see."""

    id: int
    topic: Topic
    project: int
    subject: Annotated[str, Meta(description="The id of the comment, task, job, import or score.")]
    created_datetime: Timestamp
    is_read: bool = False
    mail: Annotated[Literal["mail", "daily"] | None, Meta(description="The mail that it waits for.")] = None


class Inbox(Resource, kw_only=True):
    """The notifications of a user.

    Attributes:
        user: whose they are.
        secret: signs the link that unsubscribes.
        mentions, tasks, jobs, imports, quality: how the user wants to be told of each topic.
        last: the number of the latest notification.
        items: the latest ones, oldest first.
        mail_due: when a mail that was ordered goes out.
        digest: `pending` while something waits for the daily digest.
    """

    user: int
    secret: str
    mentions: Way = "console"
    tasks: Way = "console"
    jobs: Way = "console"
    imports: Way = "console"
    quality: Way = "console"
    last: int = 0
    items: list[Notification] = []
    mail_due: Timestamp | None = None
    digest: Literal["pending"] | None = None


INBOX = RecordKind(name="inbox", struct=Inbox, identity="user", links={"digest": "digest"})
