"""Change media: one media with all its members, or many by a query."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from chalicelib.access import view_queries
from chalicelib.access.scope import Scope
from chalicelib.core.kinds import Kind
from chalicelib.core.log.edits import differences
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.entities import Media
from chalicelib.core.models.media_files import MediaFiles
from chalicelib.core.resource import now
from chalicelib.core.text.dates import read_date
from chalicelib.errors import BadInput
from chalicelib.query.parsers import filters
from chalicelib.query.parsers.media_bodies import MediaBulkUpdate
from chalicelib.query.parsers.parameters import MediaQuery
from chalicelib.resources.annotations.bulk_edits import first_of_one_type
from chalicelib.resources.bulk import service as bulk_service
from chalicelib.resources.bulk.changes import BulkChange
from chalicelib.resources.entities.bulk import Rewrite
from chalicelib.resources.entities.service import (
    ATTRIBUTE_CHANGES,
    Writer,
    author,
    check_change,
    find_existing,
    uuid_text,
)
from chalicelib.resources.media import bulk as media_bulk
from chalicelib.resources.media import service as media_service
from chalicelib.resources.media.bulk import rewrite_media
from chalicelib.resources.media.readiness import edit_media
from chalicelib.resources.media.schemas import MediaUpdate, next_state, with_concat, with_live, with_multi
from chalicelib.storage.dynamodb import entities, records

_PLAIN = ("name", "num_frames", "fps", "codec", "width", "height", "summary_level")


def update(writer: Writer, project: Project, number: int, body: MediaUpdate) -> Media:
    """Change one media, atomically.

    Raises:
        BadInput: a member breaks a rule.
        Forbidden: files belong to another media, or an author was named without full control.
        NotFound: the media or the author does not exist.
    """
    user = author(writer, body.user_elemental_id)
    definitions = records.definitions(project.id)
    _check_members(project.id, (body.multi and body.multi.ids) or [], "multi.ids")
    _check_members(project.id, [part.id for part in body.concat or ()], "concat")
    if body.media_files:
        _check_members(project.id, body.media_files.ids or [], "media_files.ids")
        _check_members(project.id, [part.id for part in body.media_files.concat or ()], "media_files.concat")
        media_service.check_files(project, number, body.media_files)
    texts = {name: getattr(body, name) for name in ("last_edit_start", "last_edit_end")}
    moments = {name: None if text is None else read_date(name, text) for name, text in texts.items()}

    def how(current: Media) -> Media | None:
        change: dict[str, Any] = {name: getattr(body, name) for name in _PLAIN} | moments
        change["created_by"] = user
        change["elemental_id"] = uuid_text(body.elemental_id) if body.elemental_id else None
        change = {name: value for name, value in change.items() if value is not None}
        change |= media_service.values_after(
            definitions, current, body.attributes, body.reset_attributes, body.null_attributes, body.primary_section
        )
        if body.master_section is not None:
            folder = change.get("primary_section", current.primary_section)
            change["master_section"] = media_service.master_section(definitions, folder, body.master_section)
        change |= _files(current, body)
        if body.archive_state and (state := next_state(current.archive_state, body.archive_state)):
            change |= {"archive_state": state, "archive_status_date": now()}
        if body.archive_state:
            _check_archived(writer, _members([msgspec.structs.replace(current, **change)]))
        changed_media = _apply_change(current, change, writer.user)
        writer.scope.check(Kind.MEDIA, [changed_media] if changed_media else [])
        return changed_media

    after = edit_media(number, how, user=writer.user)
    if body.archive_state:
        bulk_service.run(
            _plan_archive(writer, _members([after]), body.archive_state),
            handlers=media_bulk.HANDLERS,
            scope=writer.scope,
        )
    return after


def update_many(writer: Writer, parameters: MediaQuery, body: MediaBulkUpdate, count: int | None) -> int:
    """Change all media that match parameters and body, in commits of up to 99. Returns the number of matches.

    Raises:
        BadInput: the body changes nothing, the matches have several types, their number differs from `count`, or a
            value breaks a rule; nothing was changed.
    """
    user = author(writer, body.user_elemental_id)
    wishes = (*ATTRIBUTE_CHANGES, "user_elemental_id", "primary_section")
    check_change(body, (*wishes, "archive_state"))
    view = view_queries.current(writer.project)
    query = filters.parse(Kind.MEDIA, parameters, body)
    numbers = view_queries.ids(view, query, writer.scope)
    check_count(numbers, count)
    first = first_of_one_type(Kind.MEDIA, view, query, numbers)
    if first is None:
        return 0
    signed = writer.authorship()
    edited = writer.bulk_change(
        Kind.MEDIA,
        "edit",
        numbers if any(getattr(body, name) is not None for name in wishes) else [],
        body,
        section=body.primary_section,
        fixed=signed if user is None else {**signed, "created_by": user},
    )
    how = rewrite_media(edited, view.definitions)
    members = _check_all(edited, how, numbers, writer.scope)
    changes = [edited]
    if body.archive_state:
        changes.append(_plan_archive(writer, [*numbers, *members], body.archive_state))
    bulk_service.run(*changes, handlers=media_bulk.HANDLERS, scope=writer.scope)
    return len(numbers)


def _check_all(edited: BulkChange, rewrite: Rewrite, numbers: list[int], scope: Scope) -> list[int]:
    """Check all matching media, a few at a time, before any is changed.

    Keeps the entry of the change log from the first media that changes.

    Returns:
        the ids of media that some of them show.

    Raises:
        BadInput, Forbidden: one of them cannot be changed this way.
    """
    members: list[int] = []
    for start in range(0, len(numbers), entities.ROWS_A_READ):
        rows = entities.many(Kind.MEDIA, numbers[start : start + entities.ROWS_A_READ]).values()
        found: list[Media] = [row.entity for row in rows]
        members += _members(found)
        after = [rewrite(one) for one in found] if edited.numbers else [None] * len(found)
        changed_pairs = ((old, new) for old, new in zip(found, after, strict=True) if new is not None)
        if edited.logged == ({}, {}):
            edited.logged = next((differences(old, new) for old, new in changed_pairs), edited.logged)
        scope.check(Kind.MEDIA, [new or old for old, new in zip(found, after, strict=True)])
    return members


def check_count(numbers: list[int], count: int | None) -> None:
    """Raise BadInput if the number of matches differs from the caller's `count`."""
    if count is not None and len(numbers) != count:
        raise BadInput(f"count: expected {count} media, {len(numbers)} match; nothing was changed.")


def _files(current: Media, body: MediaUpdate) -> dict[str, Any]:
    """The files after the change: the given roles replace the stored ones."""
    files = current.media_files
    if body.media_files:
        given = {name: value for name, value in msgspec.structs.asdict(body.media_files).items() if value is not None}
        if given.get("bucket_object", known := files.bucket_object if files else None) != known:
            raise BadInput("media_files.bucket_object: only the service sets it; leave it out.")
        _check_streaming(body.media_files)
        files = msgspec.structs.replace(files or MediaFiles(), **given)
    for wish, apply in _wishes(body):
        if wish is not None:
            files = apply(msgspec.structs.replace(current, media_files=files), wish)
    return {} if files is current.media_files else {"media_files": files}


def _wishes(body: MediaUpdate) -> Iterable[tuple[Any, Callable[[Media, Any], MediaFiles]]]:
    return ((body.multi, with_multi), (body.concat, with_concat), (body.live, with_live))


def _check_streaming(files: MediaFiles) -> None:
    for entry in files.streaming or []:
        if not entry.segment_info and not entry.reference_only:
            raise BadInput("media_files: a streaming file needs segment_info.")


def _apply_change(current: Media, change: dict[str, Any], user: int) -> Media | None:
    """The changed media with its modifier; None if nothing differs."""
    after = msgspec.structs.replace(current, **change)
    if not entities.differs(current, after):
        return None
    return msgspec.structs.replace(after, modified_by=user, modified_datetime=now())


def _plan_archive(writer: Writer, numbers: Iterable[int], wish: str) -> BulkChange:
    signed = writer.authorship()
    return writer.bulk_change(
        Kind.MEDIA,
        "archive",
        dict.fromkeys(numbers),
        wish=wish,
        fixed={**signed, "archive_status_date": signed["modified_datetime"]},
    )


def _check_archived(writer: Writer, numbers: list[int]) -> None:
    """Raise Forbidden if the caller may not archive a media that shows one of these."""
    if writer.scope.is_restricted:
        writer.scope.check(Kind.MEDIA, [row.entity for row in entities.many(Kind.MEDIA, numbers).values()])


def _members(found: Iterable[Media]) -> list[int]:
    return [number for one in found if one.media_files for number in one.media_files.ids or ()]


def _check_members(project: int, numbers: list[int], name: str) -> None:
    if numbers and len(find_existing(Kind.MEDIA, project, numbers)) != len(numbers):
        raise BadInput(f"{name}: every id must be one media of project {project}, and none twice.")
    rows = entities.many(Kind.MEDIA, numbers) if name == "multi.ids" else {}
    if nested := [number for number, row in rows.items() if _members([row.entity])]:
        raise BadInput(f"{name}: media {nested[0]} shows other media itself; name these.")
