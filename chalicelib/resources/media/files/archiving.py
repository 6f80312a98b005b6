"""Move media to the archive and back.

A request to archive takes effect after a week; until then it can be withdrawn. Then the media's large files are moved,
but only files that every media using them wants archived: clones and their original wait for each other. Thumbnails
and segment files stay, because lists and timelines still show them. A request to restore completes when all files of
the media are readable.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

import msgspec

from chalicelib.core.keys import key_forms
from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.core.kinds import Kind
from chalicelib.core.log.edits import changed
from chalicelib.core.models.entities import ArchiveState, Media
from chalicelib.core.resource import now, timestamp
from chalicelib.core.time import clock
from chalicelib.storage.dynamodb import entities
from chalicelib.storage.objects import owners, storage_class

PATIENCE = timedelta(days=7)
"""How long a request to archive can be withdrawn."""
_LARGE = ("streaming", "archival", "audio", "image", "attachment")


def advance(numbers: Iterable[int]) -> list[int]:
    """Move media as far as is possible now. Returns the ids of media that still wait."""
    waiting = []
    for number, (found, is_deleted) in owners.get_owners(Kind.MEDIA, numbers).items():
        if isinstance(found, Media) and not is_deleted and not _advance(found):
            waiting.append(number)
    return waiting


def large(media: Media) -> list[ObjectKey]:
    """The keys of the objects that are archived with a media."""
    entries = [entry for role in _LARGE for entry in getattr(media.media_files, role, None) or []]
    return list(owners.authorize(media, (entry.path for entry in entries)).values())


def _advance(media: Media) -> bool:
    """Move one media as far as is possible. Returns whether it is finished."""
    match media.archive_state:
        case "to_archive":
            if not _is_ripe(media):
                return True  # requested again meanwhile, in a task of its own
            return _archive(media)
        case "to_live":
            return _restore(media)
        case "live":
            # Withdrawn during a move that crashed.
            return _thaw(media)
        case _:
            return True


def _archive(media: Media) -> bool:
    wanted = large(media)
    if any(_is_needed(key, media) for key in wanted):
        return False
    for key in wanted:
        storage_class.freeze(key)
    after = _become(media, "to_archive", "archived")
    if after.archive_state != "archived":
        return _advance(after)
    return True


def _restore(media: Media) -> bool:
    if not _thaw(media):
        return False
    _become(media, "to_live", "live")
    return True


def _thaw(media: Media) -> bool:
    """Request every object of a media. Returns whether all are readable."""
    found = [storage_class.thaw(key) for key in large(media)]
    return all(found)


def _become(media: Media, before: ArchiveState, state: ArchiveState) -> Media:
    def edit(current: Media) -> Media | None:
        if current.archive_state != before:
            return None
        return msgspec.structs.replace(current, archive_state=state, archive_status_date=now())

    after: Media = entities.edit(
        Kind.MEDIA, media.id, edit, user=None, describe=lambda old, new: [changed(Kind.MEDIA, old, new)]
    )
    return after


def _is_needed(key: ObjectKey, media: Media) -> bool:
    """Whether another media needs an object readable."""
    owner = key_forms.owner_of(key.path)
    if owner is None:
        return False
    project, _, number = owner
    rows = owners.get_owners(Kind.MEDIA, [number, *owners.clones(project, number)])
    others = [found for found, is_deleted in rows.values() if isinstance(found, Media) and not is_deleted]
    return any(
        other.id != media.id and key in large(other) and other.archive_state != "archived" and not _is_ripe(other)
        for other in others
    )


def _is_ripe(media: Media) -> bool:
    """Whether a request to archive is old enough and was not withdrawn."""
    if media.archive_state != "to_archive":
        return False
    return (media.archive_status_date or "") <= timestamp(clock.utc_now() - PATIENCE)
