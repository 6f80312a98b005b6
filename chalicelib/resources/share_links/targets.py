"""What share links show: checked when a link is made, and the media of searches and datasets when it is opened."""

from __future__ import annotations

from typing import Any

from chalicelib.access import view_queries
from chalicelib.access.scope import UNRESTRICTED
from chalicelib.core.kinds import Kind
from chalicelib.core.models.datasets import DATASET
from chalicelib.core.models.definitions import SECTION, VERSION, Section
from chalicelib.core.models.entities import Media
from chalicelib.core.models.share_links import MOST_FOUND, FrameSpan, SharedView, ShareLink, ShareLinkSpec
from chalicelib.core.records import padded
from chalicelib.errors import BadInput, NotFound
from chalicelib.query.tree import InSection, Query
from chalicelib.resources.comments.schemas import COMMENT, Comment
from chalicelib.resources.datasets import rows as dataset_rows
from chalicelib.storage.dynamodb import entities, records

MEMBERS = ("section", "media_ids", "frames", "view", "dataset", "search", "comment")
"""The members of a link's target; a link has exactly one."""


def check(project: int, spec: ShareLinkSpec) -> None:
    """Check what a new link names.

    Raises:
        BadInput: it names nothing, several things, or what the project does not have.
    """
    given = [name for name in MEMBERS if getattr(spec, name) is not None]
    if len(given) != 1:
        raise BadInput(f"Give exactly one of {', '.join(MEMBERS)}; given: {', '.join(given) or 'none'}.")
    if spec.section is not None and _section(project, "section", spec.section).dtype != "folder":
        raise BadInput(f"section: {spec.section} is a search or a list; give it as search.")
    if spec.search is not None and _section(project, "search", spec.search).dtype == "folder":
        raise BadInput(f"search: {spec.search} is a folder; give it as section.")
    _check_media(project, spec.media_ids or [])
    if spec.frames is not None:
        _check_span(project, spec.frames)
    if spec.view is not None:
        _check_view(project, spec.view)
    if spec.dataset is not None:
        _check_dataset(project, spec.dataset)


def media_found(link: ShareLink) -> list[int]:
    """The media that the search or the version of a dataset of a link has now; none of other links.

    Raises:
        NotFound: the search, dataset or comment is gone.
        BadInput: they are more than a link shows.
    """
    found: list[int] = []
    if link.search is not None:
        _require(records.find(SECTION, link.project, padded(link.search)))
        query = Query(kind=Kind.MEDIA, where=InSection(link.search), stop=MOST_FOUND + 1)
        found = view_queries.ids(view_queries.current(link.project), query, UNRESTRICTED)
    elif link.dataset is not None:
        found = dataset_rows.list_media(_require(records.maybe(DATASET, link.dataset)))
    elif link.comment is not None:
        _require(records.maybe(COMMENT, link.comment))
    if len(found) > MOST_FOUND:
        raise BadInput(f"The link leads to more than {MOST_FOUND:,} media; ask for one to fewer.")
    return found


def of_comment(project: int, number: int | None) -> dict[str, Any]:
    """The members of a link to a comment: its thread, and the frames, or the media without, that it is on.

    Raises:
        BadInput: the project does not have the comment.
    """
    if number is None:
        return {}
    found: Comment | None = records.maybe(COMMENT, number)
    if found is None or found.project != project:
        raise BadInput(f"comment: the project has no comment {number}.")
    thread = {"comment": found.parent or found.id}
    if found.frame is None:
        return {**thread, "media_ids": [found.media_id]}
    last = found.frame if found.end_frame is None else found.end_frame
    return {**thread, "frames": FrameSpan(media_id=found.media_id, start=found.frame, stop=last + 1)}


def _require(record: Any) -> Any:
    if record is None:
        raise NotFound("What this link shows is no longer there.")
    return record


def _section(project: int, name: str, number: int) -> Section:
    found: Section | None = records.find(SECTION, project, padded(number))
    if found is None:
        raise BadInput(f"{name}: the project has no section {number}.")
    return found


def _check_media(project: int, numbers: list[int]) -> None:
    found = entities.many(Kind.MEDIA, dict.fromkeys(numbers))
    for index, number in enumerate(numbers):
        if number not in found or found[number].entity.project != project:
            raise BadInput(f"media_ids[{index}]: the project has no media {number}.")


def _media(project: int, name: str, number: int) -> Media:
    found: Media | None = entities.maybe(Kind.MEDIA, number)
    if found is None or found.project != project:
        raise BadInput(f"{name}: the project has no media {number}.")
    return found


def _check_span(project: int, span: FrameSpan) -> None:
    count = _media(project, "frames.media_id", span.media_id).num_frames or 1
    if not span.start < span.stop <= count:
        raise BadInput(f"frames: 0 <= start < stop <= {count}, the number of frames.")


def _check_view(project: int, view: SharedView) -> None:
    count = _media(project, "view.media_id", view.media_id).num_frames or 1
    if view.frame >= count:
        raise BadInput(f"view.frame: the media has frames 0 to {count - 1}.")
    versions = {each.id for each in records.list_children(VERSION, project)}
    if unknown := [each for each in view.versions or () if each not in versions]:
        raise BadInput(f"view.versions: the project has no version {unknown[0]}.")
    definitions = records.definitions(project)
    types = {*definitions.types(Kind.LOCALIZATION), *definitions.types(Kind.STATE)}
    if unknown := [each for each in view.types or () if each not in types]:
        raise BadInput(f"view.types: the project has no type of annotations {unknown[0]}.")


def _check_dataset(project: int, uid: str) -> None:
    found = records.maybe(DATASET, uid)
    if found is None or found.project != project:
        raise BadInput(f"dataset: the project has no version {uid[:64]!r}.")
    if found.status != "succeeded":
        raise BadInput(f"dataset: {found.name!r} is {found.status}; it can be shared once it has succeeded.")
    if found.media > MOST_FOUND:
        raise BadInput(f"dataset: it has {found.media:,} media; links show {MOST_FOUND:,} at most.")
