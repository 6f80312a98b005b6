"""The records of a media's files, by role and index.

Several workers may add files to one media at the same time: each change applies to the latest row of the media.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from chalicelib.core.models.entities import Media
from chalicelib.core.models.media_files import MediaFiles
from chalicelib.errors import BadInput, NotFound
from chalicelib.resources.entities.service import Writer
from chalicelib.resources.media.readiness import edit_media
from chalicelib.resources.media.service import check_file, project_with

Entries = list[Any]


def entries_of(media: Media, role: str) -> Entries:
    """The files of a role."""
    return list(getattr(media.media_files or MediaFiles(), role) or [])


def one(media: Media, role: str, index: int) -> Any:
    """The file at an index of a role. Raises BadInput if the index does not exist."""
    entries = entries_of(media, role)
    _check_index(index, entries, role)
    return entries[index]


def add(writer: Writer, media: Media, role: str, entry: Any, index: int | None) -> None:
    """Append a file to a role, or insert it before an index.

    Raises:
        Forbidden: its key belongs to another media.
        BadInput: it breaks a rule, or the index does not exist.
    """
    check_file(project_with(writer.project), media.id, role, entry)

    def insert(entries: Entries) -> Entries:
        if index is None:
            return [*entries, entry]
        _check_index(index, entries, role)
        return [*entries[:index], entry, *entries[index:]]

    _edit(writer, media.id, role, insert)


def replace(writer: Writer, media: Media, role: str, index: int, entry: Any) -> None:
    """Replace a file as a whole. Objects that are no longer named are deleted, unless a clone names them.

    Raises:
        Forbidden, BadInput: as `add`.
        NotFound: the role has no files.
    """
    check_file(project_with(writer.project), media.id, role, entry)

    def put(entries: Entries) -> Entries:
        _check_present(media.id, role, entries)
        _check_index(index, entries, role)
        return [*entries[:index], entry, *entries[index + 1 :]]

    _edit(writer, media.id, role, put)


def remove(writer: Writer, media: Media, role: str, index: int) -> None:
    """Remove a file; later files move up. Its object is deleted, unless a clone names it."""

    def without(entries: Entries) -> Entries:
        _check_present(media.id, role, entries)
        _check_index(index, entries, role)
        return [*entries[:index], *entries[index + 1 :]]

    _edit(writer, media.id, role, without)


def _edit(writer: Writer, media: int, role: str, edited: Callable[[Entries], Entries]) -> None:
    def edit(current: Media) -> Media:
        files = current.media_files or MediaFiles()
        files = msgspec.structs.replace(files, **{role: edited(entries_of(current, role))})
        return msgspec.structs.replace(current, media_files=files, **writer.authorship())

    edit_media(media, edit, user=writer.user)


def _check_index(index: int, entries: Entries, role: str) -> None:
    if index >= len(entries):
        raise BadInput(f"index: {index} is not there; {role} has {len(entries)} files.")


def _check_present(media: int, role: str, entries: Entries) -> None:
    if not entries:
        raise NotFound(f"Media {media} has no files of the role {role}.")
