"""The media of a launch: found, checked, and cut into jobs."""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib.access import references, view_queries
from chalicelib.access.scope import Scope
from chalicelib.core.kinds import Kind
from chalicelib.errors import BadInput, Forbidden
from chalicelib.query.parsers import filters
from chalicelib.query.parsers.addresses import parse_address
from chalicelib.query.parsers.parameters import MediaQuery
from chalicelib.resources.entities.service import find_existing
from chalicelib.resources.jobs.runs import MOST_JOBS, MOST_MEDIA, JobSpec

MOST_NAMED = 10
"""Ids of media that a message names."""


def media_of(project: int, spec: JobSpec, scope: Scope, *, all_media: bool) -> list[int]:
    """The ids of the media that a body names or selects. Raises BadInput: it does neither, and not all are meant."""
    if spec.media_query is not None:
        query = filters.parse(Kind.MEDIA, parse_address(spec.media_query, MediaQuery, "media_query"))
        return view_queries.ids(view_queries.current(project), query, scope)
    if spec.media_ids is not None:
        return spec.media_ids
    if not all_media:
        raise BadInput("Request body validation error", "'media_ids' is a required property.")
    return view_queries.ids(view_queries.current(project), filters.parse(Kind.MEDIA, MediaQuery()), scope)


def check_media(project: int, numbers: Sequence[int], scope: Scope) -> None:
    """Check that media may be worked on.

    Raises:
        Forbidden: the caller may not launch an algorithm on one.
        BadInput: the project has no such media; whether another one has is not told.
    """
    if scope.is_restricted:
        closed = set(numbers) - references.visible(scope, project, Kind.MEDIA.value, numbers)
        if closed:
            raise Forbidden(f"media_ids: your permission on media {min(closed)} is too low.")
        return
    if unknown := set(numbers) - find_existing(Kind.MEDIA, project, numbers):
        shown = ", ".join(map(str, sorted(unknown)[:MOST_NAMED]))
        more = f" and {len(unknown) - MOST_NAMED} others" if len(unknown) > MOST_NAMED else ""
        raise BadInput(f"media_ids: the project has no media {shown}{more}.")


def batches_of(media: list[int], size: int) -> list[list[int]]:
    """The media of each job, `size` at most. Raises BadInput: these are too many, for a job or a launch."""
    size = min(size, MOST_MEDIA) if len(media) <= MOST_MEDIA else size
    if size > MOST_MEDIA:
        raise BadInput(f"files_per_job: a job takes {MOST_MEDIA} media at most; {len(media)} are asked for at once.")
    batches = [media[start : start + size] for start in range(0, len(media), size)]
    if len(batches) > MOST_JOBS:
        message = (
            f"{len(media)} media in batches of {size} are {len(batches)} jobs; {MOST_JOBS} may be started at once."
        )
        raise BadInput(message)
    return batches
