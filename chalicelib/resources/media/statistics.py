"""Walks over lists of media: next, previous and sums."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import msgspec

from chalicelib.access import view_queries
from chalicelib.access.scope import Scope
from chalicelib.core.entities import Media
from chalicelib.core.kinds import Kind
from chalicelib.query.parsers import filters
from chalicelib.query.parsers.parameters import MediaQuery
from chalicelib.query.tree import AfterMedia, both
from chalicelib.resources.media.statistics_schemas import MediaStats

NONE = -1
COUNTED = ("archival", "streaming", "image", "thumbnail", "thumbnail_gif", "attachment")
DOWNLOADED = ("archival", "streaming", "image")


class _Sized(msgspec.Struct):
    size: int | None = None


class _Files(msgspec.Struct):
    archival: list[_Sized] | None = None
    streaming: list[_Sized] | None = None
    image: list[_Sized] | None = None
    thumbnail: list[_Sized] | None = None
    thumbnail_gif: list[_Sized] | None = None
    attachment: list[_Sized] | None = None


class _Shape(msgspec.Struct):
    num_frames: int | None = None
    fps: float | None = None
    media_files: _Files | None = None


_decode = msgspec.json.Decoder(_Shape).decode


def neighbours(media: Media, parameters: MediaQuery, scope: Scope) -> tuple[int, int]:
    """The ids of the previous and the next media in the list that parameters describe, −1 if there is none.

    In the default order, by name and id, a media outside the list has neighbours as well.
    """
    view = view_queries.current(media.project)
    query = filters.parse(Kind.MEDIA, parameters)
    numbers = view_queries.ids(view, query, scope)
    if media.id in numbers:
        place = numbers.index(media.id)
        before, behind = numbers[:place], numbers[place + 1 :]
    elif query.sort or query.start or query.stop is not None:
        before, behind = [], []
    else:
        behind = view_queries.ids(view, replace(query, where=both(query.where, AfterMedia(media.id))), scope)
        before = numbers[: len(numbers) - len(behind)]
    return (before[-1] if before else NONE), (behind[0] if behind else NONE)


def stats(project: int, parameters: MediaQuery, scope: Scope) -> MediaStats:
    """The sums over the media that match the parameters."""
    query = filters.parse(Kind.MEDIA, parameters)
    documents = view_queries.documents(view_queries.current(project), query, scope)
    return _sums(map(_decode, documents))


def _sums(found: Iterable[_Shape]) -> MediaStats:
    sums = MediaStats(count=0, duration=0.0, total_size=0, download_size=0)
    for media in found:
        sums.count += 1
        if media.num_frames and media.fps and media.fps > 0:
            sums.duration += media.num_frames / media.fps
        sums.total_size += sum(_sizes(media.media_files, COUNTED))
        sums.download_size += next(iter(_sizes(media.media_files, DOWNLOADED)), 0)
    return sums


def _sizes(files: _Files | None, roles: Iterable[str]) -> list[int]:
    entries = [entry for role in roles for entry in getattr(files, role, None) or []]
    return [entry.size for entry in entries if entry.size and entry.size > 0]
