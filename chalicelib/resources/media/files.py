"""The records of a media's files, by role and index (`spec/4` §4).

Several workers may add files to one media at the same time: each change is made to the media as it then is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from chalicelib.core import object_keys, origins
from chalicelib.core.edits import changed
from chalicelib.core.entities import Media, MediaFiles, VideoDefinition
from chalicelib.core.kinds import Kind
from chalicelib.errors import BadInput, NotFound
from chalicelib.resources.buckets import service as buckets_service
from chalicelib.resources.entities import object_cleanup
from chalicelib.resources.entities.service import Writer
from chalicelib.resources.media.service import project_with

Entries = list[Any]


def listed(media: Media, role: str) -> Entries:
    """The files of a role."""
    return list(getattr(media.media_files or MediaFiles(), role) or [])


def one(media: Media, role: str, index: int) -> Any:
    """The file at an index of a role. Raises BadInput where there is none."""
    entries = listed(media, role)
    _check_index(index, entries, role)
    return entries[index]


def add(writer: Writer, media: Media, role: str, entry: Any, index: int | None) -> None:
    """Append a file to a role, or insert it before the one at an index.

    Raises:
        Forbidden: its key is not one of the media's own.
        BadInput: it breaks a rule, or there is no such index.
    """
    check(writer.project, media.id, role, entry)

    def insert(entries: Entries) -> Entries:
        if index is None:
            return [*entries, entry]
        _check_index(index, entries, role)
        return [*entries[:index], entry, *entries[index:]]

    _edit(writer, media.id, role, insert)


def replace(writer: Writer, media: Media, role: str, index: int, entry: Any) -> None:
    """Put another file in the place of one, wholly; objects named no more go, unless a clone names them.

    Raises:
        Forbidden, BadInput: as `add`.
        NotFound: the role has no files.
    """
    check(writer.project, media.id, role, entry)

    def put(entries: Entries) -> Entries:
        _check_present(media.id, role, entries)
        _check_index(index, entries, role)
        return [*entries[:index], entry, *entries[index + 1 :]]

    _edit(writer, media.id, role, put)


def remove(writer: Writer, media: Media, role: str, index: int) -> None:
    """Take a file out; those behind it move up. Its object goes, unless a clone names it."""

    def without(entries: Entries) -> Entries:
        _check_present(media.id, role, entries)
        _check_index(index, entries, role)
        return [*entries[:index], *entries[index + 1 :]]

    _edit(writer, media.id, role, without)


def check(project: int, media: int, role: str, entry: Any) -> None:
    """Refuse a file whose key is not the media's own, or that lacks what its role needs.

    Raises:
        Forbidden, BadInput: which of the two.
    """
    is_reference = bool(isinstance(entry, VideoDefinition) and entry.reference_only)
    if object_keys.is_url(entry.path):
        if not is_reference:
            raise BadInput("path: a URL is taken for videos with reference_only alone.")
        entry.path = origins.normalize(entry.path, "path")
        if entry.segment_info and object_keys.is_url(entry.segment_info):
            entry.segment_info = origins.normalize(entry.segment_info, "segment_info")
        elif entry.segment_info:
            object_keys.check_media(entry.segment_info, project_with(project).organization, project, media)
        return
    of = project_with(project)
    object_keys.check_media(entry.path, of.organization, project, media)
    entry.bucket_id = buckets_service.check_key(of, entry.path, entry.bucket_id)
    if isinstance(entry, VideoDefinition):
        if entry.segment_info:
            object_keys.check_media(entry.segment_info, of.organization, project, media)
            buckets_service.check_key(of, entry.segment_info, None)
        elif role == "streaming":
            raise BadInput("segment_info: a streaming file needs one.")


def _edit(writer: Writer, media: int, role: str, how: Callable[[Entries], Entries]) -> None:
    def edited(current: Media) -> Media:
        files = current.media_files or MediaFiles()
        files = msgspec.structs.replace(files, **{role: how(listed(current, role))})
        return msgspec.structs.replace(current, media_files=files, **writer.signed())

    object_cleanup.edit(
        Kind.MEDIA, media, edited, user=writer.user, describe=lambda *both: [changed(Kind.MEDIA, *both)]
    )


def _check_index(index: int, entries: Entries, role: str) -> None:
    if index >= len(entries):
        message = f"index: {index} is not there; {role} has {len(entries)} files."
        raise BadInput(message)


def _check_present(media: int, role: str, entries: Entries) -> None:
    if not entries:
        message = f"Media {media} has no files of the role {role}."
        raise NotFound(message)
