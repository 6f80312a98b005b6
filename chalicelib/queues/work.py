"""The messages of the queues. A class says which queue its messages go to."""

from __future__ import annotations

import msgspec

from chalicelib.queues.base import Message, tag_of


class PlanTranscode(Message, frozen=True, kw_only=True, tag="transcode.plan.1"):
    """Probe the source of a job and cut it into pieces. Queue: transcode."""

    job: str


class EncodePiece(Message, frozen=True, kw_only=True, tag="transcode.piece.1"):
    """Decode one piece of a job's source and encode every rendition of it. Queue: transcode."""

    job: str
    index: int
    """Which piece of the plan, from 0."""


class AssembleTranscode(Message, frozen=True, kw_only=True, tag="transcode.assemble.1"):
    """Join the pieces of a job, all done, into renditions. Queue: transcode."""

    job: str


class ImportImage(Message, frozen=True, kw_only=True, tag="image.import.1"):
    """Fetch an image by URL and make it the picture of a media. Queue: transcode."""

    media: int
    url: str
    thumbnail_url: str | None = None
    """Made from the image where it is not given."""


class CutClip(Message, frozen=True, kw_only=True, tag="clip.1"):
    """Cut the clip that a File record describes. Queue: clip."""

    file: int


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
    """Address of who is told where it cannot be sent; None for nobody but the operator."""

    def idempotency_key(self) -> str:
        """By its id alone."""
        return f"{tag_of(type(self))}#{self.id}"


class PurgeProject(Message, frozen=True, kw_only=True, tag="project.purge.1"):
    """Remove what is left of a deleted project. Queue: purge."""

    id: str
    """A uuid for each message: a purge that goes on is not one that is done."""
    project: int
    organization: int
    round: int = 1
    """From 1: later rounds remove what was still being written during those before."""

    def idempotency_key(self) -> str:
        """By its id alone."""
        return f"{tag_of(type(self))}#{self.id}"


class FinishBulkChange(Message, frozen=True, kw_only=True, tag="bulk.finish.1"):
    """Do what is left of a change of many things whose request died. Queue: purge."""

    id: str
    """A uuid for each message: a change that goes on is not one that is done."""
    project: int
    name: str
    """Of the intent."""
    key: str
    """Of the object that says what is to be done."""

    def idempotency_key(self) -> str:
        """By its id alone."""
        return f"{tag_of(type(self))}#{self.id}"


class BuryRetired(Message, frozen=True, kw_only=True, tag="retired.bury.1"):
    """Bury what went with a type or a version that was deleted. Queue: purge."""

    id: str
    """A uuid for each message: a burial that goes on is not one that is done."""
    project: int
    name: str
    """Of the intent."""
    key: str
    """Of the object that lists what was there."""
    done: int = 0
    """How much of the list is done."""
    seen: int = 0
    """Up to which commit the log was searched for what came later; 0 where it was not yet."""
    last: bool = False
    """Whether nobody can be writing any of it any more."""

    def idempotency_key(self) -> str:
        """By its id alone."""
        return f"{tag_of(type(self))}#{self.id}"
