"""Walks over lists of media: next, previous and sums."""

from __future__ import annotations

from msgspec.structs import replace

from chalicelib.access import view_queries
from chalicelib.access.scope import Scope
from chalicelib.core.kinds import Kind
from chalicelib.core.models.entities import Media
from chalicelib.query.parsers import filters
from chalicelib.query.parsers.parameters import MediaQuery
from chalicelib.query.statistics.aggregates import Written
from chalicelib.query.tree import AfterMedia, Query, both
from chalicelib.resources.media.schemas import MediaStats

NONE = -1
_SUMS = ("count", "sum::$duration", "sum::$total_size", "sum::$download_size")


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
    return sums(view_queries.current(project), filters.parse(Kind.MEDIA, parameters), scope)


def sums(view: view_queries.View, query: Query, scope: Scope) -> MediaStats:
    """The sums over the media that a query selects."""
    _, found = view_queries.statistics(view, query, Written(measure=_SUMS), scope)
    [[(count, duration, total, download)]] = found.rows
    return MediaStats(count=count, duration=duration or 0.0, total_size=total or 0, download_size=download or 0)
