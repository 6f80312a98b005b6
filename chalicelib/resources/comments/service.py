"""Comments: what they are on, whom they mention, and which of them a caller may see.

A comment is as visible as its target: the media, and the localization or state if it is on one. The comments of a
deleted target are kept and not shown; a restored target has them again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from chalicelib.access import users
from chalicelib.access.scope import Scope
from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Note
from chalicelib.core.models.accounts import MEMBERSHIP
from chalicelib.core.models.entities import Localization, Media
from chalicelib.core.models.marks import identity
from chalicelib.core.records import padded
from chalicelib.errors import BadInput, NotFound
from chalicelib.resources.comments.schemas import COMMENT, Comment, CommentQuery, CommentSpec
from chalicelib.resources.entities.service import rows_of
from chalicelib.storage.dynamodb import entities, records, steps
from chalicelib.storage.dynamodb.transactions import Transaction

_MENTION = re.compile(r"(?<![\w.+@-])@([\w.+-]{1,150})")
_PLACE = ("frame", "end_frame", "region")
_TARGETS = {"media_id": Kind.MEDIA, "localization_id": Kind.LOCALIZATION, "state_id": Kind.STATE}


def target_of(scope: Scope, project: int, spec: CommentSpec) -> dict[str, Any]:
    """The members that say what a new comment is on.

    Raises:
        BadInput: the body names no target or several, or a frame that the target does not have.
        NotFound: the target or the parent is not in the project, or not visible to the caller.
    """
    given = [name for name in (*_TARGETS, "parent") if getattr(spec, name) is not None]
    if len(given) != 1:
        raise BadInput(f"Give exactly one of media_id, localization_id, state_id or parent; given: {given or 'none'}.")
    name, number = given[0], getattr(spec, given[0])
    if name != "media_id" and (extra := [each for each in _PLACE if getattr(spec, each) is not None]):
        raise BadInput(f"{extra[0]}: give it with media_id only; another target has its own.")
    if name == "parent":
        return _target_of_thread(scope, project, number)
    found = _visible_target(scope, project, _TARGETS[name], number)
    if isinstance(found, Media):
        return {"media_id": found.id, **_place_on(found, spec)}
    if isinstance(found, Localization):
        return {"media_id": found.media, "frame": found.frame, "localization_id": found.id}
    return {"media_id": found.media[0], "frame": found.frame, "state_id": found.id}


def _visible_target(scope: Scope, project: int, kind: Kind, number: int) -> Any:
    found = entities.get(kind, number)
    if not scope.visible_ids(project, kind, _ids_present(project, kind, {number})):
        raise NotFound.of(kind.title(), number)
    return found


def _target_of_thread(scope: Scope, project: int, number: int) -> dict[str, Any]:
    first = records.get(COMMENT, number)
    if first.project != project or not visible(scope, project, [first]):
        raise NotFound.of(COMMENT.title, number)
    names = ("media_id", "frame", "end_frame", "region", "localization_id", "state_id")
    return {**{name: getattr(first, name) for name in names}, "parent": first.parent or first.id}


def _place_on(media: Media, spec: CommentSpec) -> dict[str, Any]:
    if spec.frame is None:
        if spec.end_frame is not None:
            raise BadInput("end_frame: needs frame, the first frame of the span.")
    else:
        last = spec.frame if spec.end_frame is None else spec.end_frame
        if last < spec.frame:
            raise BadInput(f"end_frame: {last} is before frame {spec.frame}.")
        if media.num_frames and last >= media.num_frames:
            raise BadInput(f"frame: media {media.id} has frames 0 to {media.num_frames - 1}; given {last}.")
    region = spec.region
    if region and (region.x + region.width > 1 or region.y + region.height > 1):
        raise BadInput("region: x + width and y + height are at most 1, the edge of the frame.")
    return {"frame": spec.frame, "end_frame": spec.end_frame, "region": region}


def mentions_in(project: int, text: str) -> list[int]:
    """The ids of the members of a project whose user names a text mentions, each once, in the order of the text."""
    names = [name.casefold().rstrip(".") for name in _MENTION.findall(text)]
    if not names:
        return []
    members = users.with_user_names(records.list_children(MEMBERSHIP, project))
    by_name = {(member.username or "").casefold(): member.user for member in members}
    return list(dict.fromkeys(by_name[name] for name in names if name in by_name))


def visible(scope: Scope, project: int, found: Sequence[Comment]) -> list[Comment]:
    """The comments among some of a project whose target exists and is visible to the caller.

    Guests see the thread that their share link names, and no other.
    """
    kept = found
    if (view := scope.caller.guest_view) is not None:
        kept = [comment for comment in found if view.comment and view.comment in (comment.id, comment.parent)]
    for member, kind in _TARGETS.items():
        numbers = {number for comment in kept if (number := getattr(comment, member)) is not None}
        if numbers:
            there = scope.visible_ids(project, kind, _ids_present(project, kind, numbers))
            kept = [comment for comment in kept if getattr(comment, member) in there | {None}]
    return list(kept)


def _ids_present(project: int, kind: Kind, numbers: set[int]) -> set[int]:
    """The ids whose media exists, or whose element does: a later mark of it may be its deletion."""
    rows = [stored.entity for stored in entities.many(kind, numbers).values() if stored.entity.project == project]
    if kind is Kind.MEDIA:
        return {row.id for row in rows}
    marks = rows_of(kind, project, {identity(row) for row in rows if not row.latest})
    newest = {element: max(each, key=lambda mark: mark.entity.mark).entity for element, each in marks.items() if each}
    return {row.id for row in rows if not newest.get(identity(row), row).variant_deleted}


def list_comments(scope: Scope, project: int, query: CommentQuery) -> list[Comment]:
    """The visible comments of a project that match, oldest first."""
    prefixes = [""] if query.media_id is None else [f"{padded(number)}|" for number in dict.fromkeys(query.media_id)]
    stored = [comment for prefix in prefixes for comment in records.list_children(COMMENT, project, prefix)]
    found = visible(scope, project, [comment for comment in stored if _matches(comment, query)])
    return sorted(found, key=lambda comment: comment.id)[query.start : query.stop]


def _matches(comment: Comment, query: CommentQuery) -> bool:
    names = ("localization_id", "state_id", "parent", "resolved", "created_by")
    equal = all(getattr(query, name) in (None, getattr(comment, name)) for name in names)
    return equal and (query.mentions is None or query.mentions in comment.mentions) and _has_frame(comment, query.frame)


def _has_frame(comment: Comment, frame: int | None) -> bool:
    if frame is None:
        return True
    if comment.frame is None:
        return False
    return comment.frame <= frame <= (comment.frame if comment.end_frame is None else comment.end_frame)


def note_of(before: Comment | None, after: Comment | None) -> Note:
    """The event of a created, changed or deleted comment."""
    comment = after or before
    assert comment is not None  # noqa: S101 one of them is given
    action = "created" if before is None else "updated" if after else "deleted"
    changed = {
        name: getattr(comment, name)
        for name in ("text", "resolved", "mentions")
        if before is None or after is None or getattr(before, name) != getattr(after, name)
    }
    data = {"media_id": comment.media_id, "parent": comment.parent, **changed}
    target = {name: number for name in _TARGETS if (number := getattr(comment, name)) is not None}
    return Note(type=f"comment.{action}", kind="comment", id=comment.id, media=[comment.media_id], data=data | target)


def remove(comment: Comment, user: int) -> None:
    """Delete a comment, and the replies of a first comment before it: a crash in between leaves no reply alone."""
    replies = [] if comment.parent else _replies_to(comment)
    for each in (*replies, comment):
        _remove_one(each.id, user)


def _replies_to(first: Comment) -> list[Comment]:
    beside = records.list_children(COMMENT, first.project, f"{padded(first.media_id)}|")
    return [comment for comment in beside if comment.parent == first.id]


def _remove_one(number: int, user: int) -> None:
    def attempt() -> None:
        found = records.maybe(COMMENT, number)
        if found is None:
            return
        transaction = Transaction()
        records.drop(transaction, COMMENT, found, user=user)
        transaction.add_note(found.project, user, note_of(found, None))
        transaction.run()

    steps.retry_on_conflict(attempt)
