"""The counts in a project's answer: files, bytes, seconds of video, a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from chalicelib.access import view_queries
from chalicelib.access.scope import UNRESTRICTED, Scope
from chalicelib.core.keys import key_forms
from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import PROJECT, Project
from chalicelib.core.permissions import Level
from chalicelib.errors import Conflict, NotFound
from chalicelib.query.tree import Query, Sort
from chalicelib.resources.media import statistics as media_statistics
from chalicelib.resources.temporary_files.schemas import TEMPORARY_FILE
from chalicelib.storage.dynamodb import records
from chalicelib.storage.log import tickets


class Counts(NamedTuple):
    """The counts of a project's contents."""

    num_files: int
    size: int
    duration: int
    first_thumb: str | None
    first_thumb_media: int | None


class _Picture(msgspec.Struct):
    path: str = ""


class _Files(msgspec.Struct):
    thumbnail: list[_Picture] | None = None


class _Media(msgspec.Struct):
    id: int
    media_files: _Files | None = None


_A_PAGE = 100
_KNOWN_PROJECTS = 200
MOST_LOADED = 20
"""Views that one list of projects loads, at most."""
MOST_BEHIND = 20
"""Commits that a view applies before a project is answered, at most: each may have 500 rows, and take 10 ms."""
_decode = msgspec.json.Decoder(_Media).decode
_known: dict[int, tuple[int, Counts]] = {}
"""By project: the number of the last commit, and the counts at that commit."""


def refresh(project: Project) -> Project:
    """The project with current counts; with the stored ones where its view is far behind the log."""
    last = tickets.last_taken([project.id]).get(project.id, 0)
    return _refresh(project, last) if _is_near(project, last) else project


def refresh_listed(projects: Sequence[Project]) -> list[Project]:
    """Projects for a list: with current counts where the view is in memory or no counts are stored.

    A request loads the views of at most `MOST_LOADED` projects; the others keep the stored counts, as do those whose
    view has much to catch up with.
    """
    last = tickets.last_taken(project.id for project in projects if project.id in _known)
    loaded = 0
    shown = []
    for project in projects:
        is_loaded = view_queries.loaded(project.id)
        loaded += not is_loaded and not project.num_files
        is_fresh = is_loaded or (not project.num_files and loaded <= MOST_LOADED)
        seq = last.get(project.id, 0)
        shown.append(_refresh(project, seq) if is_fresh and _is_near(project, seq) else project)
    return shown


def _is_near(project: Project, last: int) -> bool:
    """Whether its view has few commits to apply, or nothing was counted yet; else it catches up beside requests."""
    if not project.num_files or last <= MOST_BEHIND or last - view_queries.reached_seq(project.id) <= MOST_BEHIND:
        return True
    view_queries.catch_up(project.id)
    return False


def _refresh(project: Project, last: int) -> Project:
    """The project with current counts; they are stored with it, for answers that do not wait for them.

    `last` is the number of its last commit, 0 where that was not read: counts of that commit are not made again.
    """
    counts = _counts(project.id, last)
    now = msgspec.structs.replace(project, **counts._asdict())
    if now != project:
        try:
            records.edit(PROJECT, project.id, lambda current: msgspec.structs.replace(current, **counts._asdict()))
        except (Conflict, NotFound):
            return now
    return now


def within(project: Project, scope: Scope) -> Project:
    """The project with counts of what the caller may see, if that is not all of it."""
    reader = scope.for_level(Level.VIEW)
    if not reader.is_restricted or Kind.MEDIA not in reader.terms(project.id):  # hidden layers hide no media
        return project
    counts = _count(view_queries.current(project.id), reader)
    temporary = reader.visible(TEMPORARY_FILE.name, records.list_children(TEMPORARY_FILE, project.id))
    return msgspec.structs.replace(project, **counts._replace(num_files=counts.num_files + len(temporary))._asdict())


def _counts(project: int, last: int) -> Counts:
    known = _known.get(project)
    if known is None or known[0] != last:
        view = view_queries.current(project)
        if known is None or known[0] != view.seq:
            if len(_known) >= _KNOWN_PROJECTS:
                _known.clear()
            known = _known[project] = (view.seq, _count(view, UNRESTRICTED))
    temporary = len(records.list_children(TEMPORARY_FILE, project))
    return known[1]._replace(num_files=known[1].num_files + temporary)


def _count(view: view_queries.View, scope: Scope) -> Counts:
    found = media_statistics.sums(view, Query(kind=Kind.MEDIA), scope)
    media, thumb = _first_picture(view, scope, found.count)
    return Counts(found.count, found.total_size, int(found.duration), thumb, media)


def _first_picture(view: view_queries.View, scope: Scope, count: int) -> tuple[int | None, str | None]:
    """The first media with a thumbnail that is an object of ours, and its key."""
    for start in range(0, count, _A_PAGE):
        page = Query(kind=Kind.MEDIA, sort=(Sort("$id"),), start=start, stop=start + _A_PAGE)
        for media in map(_decode, view_queries.documents(view, page, scope)):
            for picture in (media.media_files and media.media_files.thumbnail) or ():
                if picture.path and not key_forms.is_url(picture.path):
                    return media.id, picture.path
    return None, None
