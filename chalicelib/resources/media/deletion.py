"""Delete media, their localizations, and states that have no media left.

Annotations are deleted before their media; annotations made during the deletion are deleted after it
(`resources/media/clearing.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib.access import view_queries
from chalicelib.access.scope import UNRESTRICTED
from chalicelib.core.kinds import Kind
from chalicelib.query.parsers import filters
from chalicelib.query.parsers.bodies import MediaIdQuery
from chalicelib.query.parsers.parameters import MediaQuery
from chalicelib.resources.bulk import service as bulk_service
from chalicelib.resources.entities.service import Writer
from chalicelib.resources.media import bulk as media_bulk
from chalicelib.resources.media.changes import check_count
from chalicelib.resources.media.clearing import on


def delete(writer: Writer, numbers: Sequence[int]) -> int:
    """Delete media of a project and their annotations. Returns how many. Objects are kept until a purge."""
    if not numbers:
        return 0
    view = view_queries.current(writer.project)
    rows = sum(view_queries.count(view, on(kind, numbers), UNRESTRICTED) for kind in (Kind.LOCALIZATION, Kind.STATE))
    changes = [writer.bulk_change(Kind.MEDIA, verb, numbers) for verb in ("delete", "clear")]
    bulk_service.run(*changes, rows=len(numbers) + rows, handlers=media_bulk.HANDLERS, scope=writer.scope)
    return len(numbers)


def delete_many(writer: Writer, parameters: MediaQuery, body: MediaIdQuery | None, count: int | None) -> int:
    """Delete all media that match parameters and body; return the number. Raises BadInput as `check_count`."""
    query = filters.parse(Kind.MEDIA, parameters, body)
    numbers = view_queries.ids(view_queries.current(writer.project), query, writer.scope)
    check_count(numbers, count)
    return delete(writer, numbers)
