"""Messages of exports and of versions of datasets. Queue: dataset."""

from __future__ import annotations

from typing import Literal

from msgspec import field

from chalicelib.core.resource import Timestamp
from chalicelib.queues.base import Message

WorkKind = Literal["export", "dataset"]


class PlanExport(Message, frozen=True, kw_only=True, tag="export.plan.1"):
    """Divide the work into parts. It is sent before the record is stored. Queue: dataset."""

    uid: str
    kind: WorkKind = field(default="export", name="what")
    project: int = 0
    """Where the objects are; 0 in messages of older releases."""


class WritePart(Message, frozen=True, kw_only=True, tag="export.part.1"):
    """Write one part. Queue: dataset."""

    uid: str
    index: int
    kind: WorkKind = field(default="export", name="what")
    project: int = 0
    has_pictures: bool = False
    """Whether `DrawPictures` has stored the pictures of the part; a part with pictures is first sent without."""


class DrawPictures(Message, frozen=True, kw_only=True, tag="export.pictures.1"):
    """Draw the pictures of a part of an export, then send `WritePart` again. Queue: transcode."""

    uid: str
    index: int
    project: int


class RemoveExport(Message, frozen=True, kw_only=True, tag="export.remove.1"):
    """Remove what a deletion left. It is sent before the record is deleted, with a delay. Queue: dataset."""

    uid: str
    kind: WorkKind = field(default="export", name="what")
    project: int
    sent: Timestamp
    """When it was sent: a second deletion is other work."""


class JoinExport(Message, frozen=True, kw_only=True, tag="export.join.1"):
    """Join the parts, from the start or where an earlier message stopped. Queue: dataset."""

    uid: str
    turn: int = 0
    kind: WorkKind = field(default="export", name="what")
