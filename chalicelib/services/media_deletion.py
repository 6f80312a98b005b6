"""Deleting media, with the localizations on them and the states of which no media is left (`spec/4` §3.6).

What lies on a media goes before it, and what came onto it meanwhile after it (`services/media_clearing.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib.domain.kinds import Kind
from chalicelib.query import filters
from chalicelib.query.bodies import MediaIdQuery
from chalicelib.query.parameters import MediaQuery
from chalicelib.services import asking, bulk
from chalicelib.services.bulk_changes import BulkChange, Verb
from chalicelib.services.media_changes import check_count
from chalicelib.services.media_clearing import on


def delete(project: int, user: int, numbers: Sequence[int]) -> int:
    """Delete media of a project and what lies on them; how many. Their objects are kept until a purge."""
    if not numbers:
        return 0
    view = asking.current(project)
    rows = sum(asking.count(view, on(kind, numbers)) for kind in (Kind.LOCALIZATION, Kind.STATE))
    verbs: tuple[Verb, ...] = ("delete", "clear")
    changes = [
        BulkChange(kind=Kind.MEDIA, project=project, user=user, verb=verb, numbers=list(numbers)) for verb in verbs
    ]
    bulk.run(*changes, rows=len(numbers) + rows)
    return len(numbers)


def delete_many(project: int, user: int, parameters: MediaQuery, body: MediaIdQuery | None, count: int | None) -> int:
    """Delete all media that parameters and body choose; how many were found. Raises BadInput as `check_count`."""
    numbers = asking.ids(asking.current(project), filters.parse(Kind.MEDIA, parameters, body))
    check_count(numbers, count)
    return delete(project, user, numbers)
