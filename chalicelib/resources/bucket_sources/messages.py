"""Messages of bucket sources. Queue: source."""

from __future__ import annotations

from chalicelib.queues.base import Message


class ListObjects(Message, frozen=True, kw_only=True, tag="source.list.1"):
    """List a page of a source: what follows a name. Queue: source."""

    source: int
    run: str
    """The listing that the page belongs to; another one may have begun meanwhile."""
    after: str = ""
    began: str
    objects: int = 0
    skipped: int = 0
    created: int = 0
    changed: int = 0
    missing: int = 0
    missing_media: list[int] = []


class LookAtObjects(Message, frozen=True, kw_only=True, tag="source.objects.1"):
    """Look at objects that an event of their bucket named: written, or removed. Queue: source."""

    bucket: str
    """The name of the bucket at its store."""
    names: list[str]
    event: str
    """What tells this event from others about the same object."""


class IndexObjects(Message, frozen=True, kw_only=True, tag="source.index.1"):
    """Make the frame tables and thumbnails of media that refer to objects. Queue: source."""

    project: int
    bucket: int
    names: list[str]
    etags: list[str]
    """ETags of the objects, in the same order: a replaced object is other work."""
    sent: str
    """When it was sent: work that an earlier message left is not taken for done."""
