"""The event `media.ready`: a media has files to show, from the service, from a client, or as a clone."""

from __future__ import annotations

from typing import Any

from chalicelib.core.commits import Note
from chalicelib.core.entities import Media
from chalicelib.core.media_files import is_ready
from chalicelib.storage.dynamodb.transactions import Transaction


def ready_event(media: int, **more: Any) -> Note:
    """The event of a media whose files are there."""
    return Note(type="media.ready", kind="media", id=media, media=[media], data=more)


def note_ready(change: Transaction, before: Media | None, after: Media) -> None:
    """Add the event to a transaction that gives a media its first video or image."""
    if is_ready(after.media_files) and not (before and is_ready(before.media_files)):
        change.note(after.project, after.modified_by, ready_event(after.id))
