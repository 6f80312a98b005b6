"""Media that a body selects, by ids or by a query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chalicelib.access import view_queries
from chalicelib.access.scope import Scope
from chalicelib.core.batches import batched
from chalicelib.core.kinds import Kind
from chalicelib.core.models.entities import Media
from chalicelib.errors import BadInput, NotFound
from chalicelib.query.parsers import filters
from chalicelib.query.parsers.addresses import parse_address
from chalicelib.query.parsers.parameters import MediaQuery
from chalicelib.storage.dynamodb import entities


def select(scope: Scope, project: int, media_ids: Sequence[int] | None, media_query: str | None) -> Iterator[Media]:
    """The media of a project, each once: in the order of the ids, or of the query.

    Args:
        scope: what the caller may see.
        project: its id.
        media_ids: the ids; or None, and
        media_query: parameters of GetMediaList, as in an address.

    Raises:
        BadInput: both or neither is given, or the query is not valid.
        NotFound: a media is not in the project, or not visible to the caller.
    """
    if (media_ids is None) == (media_query is None):
        raise BadInput("Give either media_ids or media_query.")
    if media_query is not None:
        query = filters.parse(Kind.MEDIA, parse_address(media_query, MediaQuery, "media_query"))
        numbers = view_queries.ids(view_queries.current(project), query, scope)
    else:
        numbers = list(dict.fromkeys(media_ids or []))
    for part in batched(numbers, 500):
        found = {number: row.entity for number, row in entities.many(Kind.MEDIA, part).items()}
        seen = scope.visible_ids(project, Kind.MEDIA, found)
        for number in part:
            if number not in seen or found[number].project != project:
                raise NotFound.of("Media", number)
            yield found[number]
