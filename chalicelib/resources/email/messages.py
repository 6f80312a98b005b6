"""Messages of email. Queue: email."""

from __future__ import annotations

import msgspec

from chalicelib.queues.base import Message, tag_of


class Attachment(msgspec.Struct, frozen=True, kw_only=True):
    """A file of a mail: the object it is read from, and its name in the mail."""

    bucket: str
    key: str
    name: str


class TextFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of a mail that travels with its message."""

    name: str
    text: str


class SendEmail(Message, frozen=True, kw_only=True, tag="email.1"):
    """Send a mail, once. Queue: email."""

    id: str
    """Made by the sender, a uuid for instance: mail of the same id is sent once, of the same text as often as asked."""
    sender: str
    recipients: list[str]
    """Each `Name <address>` or `address`."""
    subject: str
    text: str
    html: str | None = None
    attachments: list[Attachment] = msgspec.field(default_factory=list)
    files: list[TextFile] = msgspec.field(default_factory=list)
    asked_by: str | None = None
    """Where a mail goes that it could not be sent; None where only the operator learns of it."""
    project: int = 0
    """The project whose members write to each other; 0 for a mail of the service."""
    author: int = 0
    """The user who asked for it."""
    members: list[int] = msgspec.field(default_factory=list)
    """The users who have the addresses of its recipients."""

    def idempotency_key(self) -> str:
        """By its id alone."""
        return f"{tag_of(type(self))}#{self.id}"
