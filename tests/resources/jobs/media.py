"""Media that jobs are launched on, made without going through operations."""

from __future__ import annotations

from chalicelib.access import view_queries
from chalicelib.access.scope import UNRESTRICTED
from chalicelib.access.view_queries import all_rows
from chalicelib.core.kinds import Kind
from chalicelib.storage.dynamodb import entities, ids
from tests.resources.media.samples import bare_media, media_type


def media_of(project: int, count: int = 1) -> list[int]:
    """The first media of a project, made where it has fewer."""
    found = sorted(view_queries.ids(view_queries.current(project), all_rows(Kind.MEDIA), UNRESTRICTED))
    if len(found) < count:
        numbers = ids.reserve("media", count - len(found))
        type_ = media_type(project, dtype="image")
        entities.create(Kind.MEDIA, [bare_media(project, type_, number) for number in numbers], user=None)
        found += numbers
    return found[:count]
