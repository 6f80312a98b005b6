"""Changing media: one with all that may be said of it, or many by a query (`spec/4` §§3.4, 3.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

import msgspec

from chalicelib.domain.accounts import Project
from chalicelib.domain.attribute_values import merge
from chalicelib.domain.changes import changed, differences
from chalicelib.domain.commits import Edit
from chalicelib.domain.definitions import Definitions
from chalicelib.domain.entities import Media, MediaFiles
from chalicelib.domain.kinds import Kind
from chalicelib.domain.media import (
    TAG_ATTRIBUTE,
    MediaUpdate,
    next_state,
    tag_text,
    tagged,
    tagged_names,
    with_concat,
    with_live,
    with_multi,
)
from chalicelib.domain.resource import now, timestamp
from chalicelib.domain.revisions import up_to_date
from chalicelib.errors import BadInput
from chalicelib.query import filters
from chalicelib.query.media_bodies import MediaBulkUpdate
from chalicelib.query.parameters import MediaQuery
from chalicelib.services import asking, media, ownership, visibility
from chalicelib.services.annotations import Writer, author, existing, hyphenated
from chalicelib.storage import entities, records

_PLAIN = ("name", "num_frames", "fps", "codec", "width", "height", "summary_level")
_ALLOWED = (TAG_ATTRIBUTE,)


def update(writer: Writer, project: Project, number: int, body: MediaUpdate) -> Media:
    """Change one media, all of it or nothing.

    Raises:
        BadInput: a member breaks a rule.
        Forbidden: files are not the media's own, or an author was named without full control.
        NotFound: the media or the author does not exist.
    """
    user = author(writer, body.user_elemental_id)
    definitions = records.definitions(project.id)
    named = [*((body.multi and body.multi.ids) or ()), *(part.id for part in body.concat or ())]
    _check_members(project.id, named, "multi" if body.multi else "concat")
    if body.media_files:
        media.check_keys(project, number, body.media_files)
    moments = {name: _moment(name, getattr(body, name)) for name in ("last_edit_start", "last_edit_end")}

    def how(current: Media) -> Media | None:
        change: dict[str, Any] = {name: getattr(body, name) for name in _PLAIN} | moments
        change["created_by"] = user
        change["elemental_id"] = hyphenated(body.elemental_id) if body.elemental_id else None
        change = {name: value for name, value in change.items() if value is not None}
        change |= _attributes(definitions, current, body)
        change |= _files(current, body)
        if body.archive_state and (state := next_state(current.archive_state, body.archive_state)):
            change |= {"archive_state": state, "archive_status_date": now()}
        changed_media = _marked(current, change, writer.user)
        visibility.check(Kind.MEDIA, [changed_media] if changed_media else [])
        return changed_media

    after: Media = ownership.edit(
        Kind.MEDIA, number, how, user=writer.user, describe=lambda old, new: [changed(Kind.MEDIA, old, new)]
    )
    if body.archive_state:
        _archive(writer, _members([after]), body.archive_state)
    return after


def update_many(writer: Writer, parameters: MediaQuery, body: MediaBulkUpdate, count: int | None) -> int:
    """Change all media that parameters and body choose, in commits of up to 99; how many were found.

    Raises:
        BadInput: nothing is to be changed, the matches are of several types or not as many as `count`, or a value
            breaks a rule; nothing was changed.
    """
    wishes = ("attributes", "reset_attributes", "null_attributes", "user_elemental_id", "primary_section")
    if body.archive_state is None and all(getattr(body, name) is None for name in wishes):
        raise BadInput(f"Nothing to change: give one of {', '.join(wishes)}, archive_state.")
    user = author(writer, body.user_elemental_id)
    view = asking.current(writer.project)
    numbers = asking.ids(view, filters.parse(Kind.MEDIA, parameters, body))
    check_count(numbers, count)
    found: list[Media] = [row.entity for row in entities.many(Kind.MEDIA, numbers).values()]
    if len({one.type for one in found}) > 1:
        raise BadInput("type: the matches are of several types; all that are changed together must be of one.")
    definitions = view.definitions
    plain: dict[str, Any] = {"created_by": user} if user is not None else {}

    def how(current: Media) -> Media | None:
        return _marked(current, plain | _attributes(definitions, current, body), writer.user)

    if visibility.current():
        visibility.check(Kind.MEDIA, [how(one) or one for one in found])
    if found and (first := how(found[0])) is not None:
        told = differences(found[0], first)
        entities.edit_many(
            Kind.MEDIA, numbers, how, user=writer.user, describe=lambda done: [Edit(Kind.MEDIA, done, *told)]
        )
    elif found:
        entities.edit_many(Kind.MEDIA, numbers, how, user=writer.user)
    if body.archive_state:
        _archive(writer, [*numbers, *_members(found)], body.archive_state)
    return len(numbers)


def check_count(numbers: list[int], count: int | None) -> None:
    """Raise BadInput where there are not as many as the caller says there are."""
    if count is not None and len(numbers) != count:
        message = f"count: expected {count} media, {len(numbers)} match; nothing was changed."
        raise BadInput(message)


def _attributes(definitions: Definitions, current: Media, body: MediaUpdate | MediaBulkUpdate) -> dict[str, Any]:
    """Attributes and primary section after the change, each following the other."""
    names = (tagged_names(body.reset_attributes), tagged_names(body.null_attributes))
    asked = (tagged(body.attributes), *names)
    if body.primary_section is None and all(part is None for part in asked):
        return {}
    type_ = media.type_of(definitions, current.type)
    before = up_to_date(current, type_.revisions).attributes
    attributes = merge(type_.attribute_types, before, *asked, always_allowed=_ALLOWED)
    change: dict[str, Any] = {"attributes": attributes, "revision": len(type_.revisions)}
    if body.primary_section is not None:
        attributes, section = media.in_folder(definitions, attributes, body.primary_section)
        return change | {"attributes": attributes, "primary_section": section}
    if any(TAG_ATTRIBUTE in (part or ()) for part in asked):
        attributes[TAG_ATTRIBUTE] = tag = tag_text(attributes[TAG_ATTRIBUTE])
        return change | {"primary_section": media.section_of_tag(definitions, tag)}
    return change


def _files(current: Media, body: MediaUpdate) -> dict[str, Any]:
    """The files after the change: roles given replace those there were."""
    files = current.media_files
    if body.media_files:
        given = {name: value for name, value in msgspec.structs.asdict(body.media_files).items() if value is not None}
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


def _marked(current: Media, change: dict[str, Any], user: int) -> Media | None:
    """The media with its changes and who made them; None where nothing differs."""
    after = msgspec.structs.replace(current, **change)
    if after == current:
        return None
    return msgspec.structs.replace(after, modified_by=user, modified_datetime=now())


def _archive(writer: Writer, numbers: Iterable[int], wish: str) -> None:
    def how(current: Media) -> Media | None:
        state = next_state(current.archive_state, wish) if current.project == writer.project else None
        if state is None:
            return None
        return _marked(current, {"archive_state": state, "archive_status_date": now()}, writer.user)

    wanted = list(dict.fromkeys(numbers))
    if wanted:
        entities.edit_many(Kind.MEDIA, wanted, how, user=writer.user)


def _members(found: Iterable[Media]) -> list[int]:
    return [number for one in found if one.media_files for number in one.media_files.ids or ()]


def _check_members(project: int, numbers: list[int], name: str) -> None:
    if numbers and len(existing(Kind.MEDIA, project, numbers)) != len(numbers):
        message = f"{name}: every id must be one media of project {project}, and none twice."
        raise BadInput(message)


def _moment(name: str, text: str | None) -> str | None:
    if text is None:
        return None
    try:
        return timestamp(datetime.fromisoformat(text))
    except ValueError:
        message = f"{name}: {text!r} is not a date and time of ISO 8601."
        raise BadInput(message) from None
