"""The counts in a project's answer: files, bytes, seconds of video, a picture."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from chalicelib.access import view_queries
from chalicelib.access.scope import UNRESTRICTED, Scope
from chalicelib.core import object_keys
from chalicelib.core.accounts import PROJECT, Project
from chalicelib.core.kinds import Kind
from chalicelib.core.permissions import Level
from chalicelib.errors import Conflict, NotFound
from chalicelib.query.tree import Query
from chalicelib.resources.temporary_files.schemas import TEMPORARY_FILE
from chalicelib.storage.dynamodb import records


class Counts(NamedTuple):
    """The counts of a project's contents."""

    num_files: int
    size: int
    duration: int
    first_thumb: str | None
    first_thumb_media: int | None


class _Sized(msgspec.Struct):
    size: int | None = None
    path: str = ""


class _Files(msgspec.Struct):
    archival: list[_Sized] | None = None
    streaming: list[_Sized] | None = None
    audio: list[_Sized] | None = None
    image: list[_Sized] | None = None
    thumbnail: list[_Sized] | None = None
    thumbnail_gif: list[_Sized] | None = None
    attachment: list[_Sized] | None = None


class _Media(msgspec.Struct):
    id: int
    num_frames: int | None = None
    fps: float | None = None
    media_files: _Files | None = None


_KNOWN_PROJECTS = 200
_decode = msgspec.json.Decoder(_Media).decode
_known: dict[int, tuple[int, Counts]] = {}
"""By project: the number of the last commit, and the counts at that commit."""


def refresh(project: Project) -> Project:
    """The project with current counts; they are stored with it, because lists show the stored ones."""
    counts = _counts(project.id)
    now = msgspec.structs.replace(project, **counts._asdict())
    if now != project:
        try:
            records.edit(PROJECT, project.id, lambda current: msgspec.structs.replace(current, **counts._asdict()))
        except (Conflict, NotFound):
            return now
    return now


def within(project: Project, scope: Scope) -> Project:
    """The project with counts of what the caller may see, if that is not all of it."""
    reader = scope.at(Level.VIEW)
    if not reader.terms(project.id).keys() & {Kind.MEDIA}:
        return project
    counts = _count(view_queries.current(project.id), reader)
    temporary = reader.only(TEMPORARY_FILE.name, records.list_children(TEMPORARY_FILE, project.id))
    return msgspec.structs.replace(project, **counts._replace(num_files=counts.num_files + len(temporary))._asdict())


def _counts(project: int) -> Counts:
    view = view_queries.current(project)
    known = _known.get(project)
    if known is None or known[0] != view.seq:
        if len(_known) >= _KNOWN_PROJECTS:
            _known.clear()
        known = _known[project] = (view.seq, _count(view, UNRESTRICTED))
    temporary = len(records.list_children(TEMPORARY_FILE, project))
    return known[1]._replace(num_files=known[1].num_files + temporary)


def _count(view: view_queries.View, scope: Scope) -> Counts:
    found, size, seconds = 0, 0, 0.0
    first: tuple[int, str] | None = None
    for document in view_queries.documents(view, Query(kind=Kind.MEDIA), scope):
        media = _decode(document)
        found += 1
        size += sum(entry.size or 0 for entry in _entries(media.media_files))
        picture = _picture(media)
        if picture and (first is None or media.id < first[0]):
            first = media.id, picture
        if media.num_frames and media.fps and media.fps > 0:
            seconds += media.num_frames / media.fps
    media_id, thumb = first or (None, None)
    return Counts(found, size, int(seconds), thumb, media_id)


def _picture(media: _Media) -> str | None:
    """The key of a media's thumbnail, if it is an object of ours."""
    pictures = (media.media_files.thumbnail if media.media_files else None) or []
    return next((entry.path for entry in pictures if entry.path and not object_keys.is_url(entry.path)), None)


def _entries(files: _Files | None) -> list[_Sized]:
    if files is None:
        return []
    return [entry for name in files.__struct_fields__ for entry in getattr(files, name) or []]
