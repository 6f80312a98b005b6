"""The event `media.ready`: a media has files to show, from the service, from a client, or as a clone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Note
from chalicelib.core.log.edits import changed
from chalicelib.core.models.entities import Media
from chalicelib.core.models.media_files import is_ready
from chalicelib.resources.entities import object_cleanup
from chalicelib.storage.dynamodb.transactions import Transaction


def ready_event(media: int, **more: Any) -> Note:
    """The event of a media whose files are there."""
    return Note(type="media.ready", kind="media", id=media, media=[media], data=more)


def note_ready(change: Transaction, before: Media | None, after: Media) -> None:
    """Add the event to a transaction that gives a media its first video or image."""
    if is_ready(after.media_files) and not (before and is_ready(before.media_files)):
        change.add_note(after.project, after.modified_by, ready_event(after.id))


def edit_media(
    number: int,
    change: Callable[[Media], Media | None],
    *,
    user: int | None,
    also: Callable[[Transaction], None] | None = None,
) -> Media:
    """Apply an edit to a media as `object_cleanup.edit` does, with the event where it gets its first video or image.

    `also` adds items to the transaction.
    """

    def add(transaction: Transaction, before: Media | None, after: Media) -> None:
        note_ready(transaction, before, after)
        if also:
            also(transaction)

    edited: Media = object_cleanup.edit(
        Kind.MEDIA,
        number,
        change,
        user=user,
        describe=lambda before, after: [changed(Kind.MEDIA, before, after)],
        also=add,
    )
    return edited
