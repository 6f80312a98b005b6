"""Comments on media, frames, regions and annotations: threads, mentions, resolution."""

from __future__ import annotations

from typing import Any

from chalicelib.core.models.accounts import Project
from chalicelib.core.permissions import Level, Permission
from chalicelib.core.resource import now
from chalicelib.errors import BadInput, Forbidden
from chalicelib.http.addresses import record_of_project, visible_only
from chalicelib.http.crud import RecordResource, record_operations
from chalicelib.http.operation import Call, NoQuery
from chalicelib.resources.comments import service as comments_service
from chalicelib.resources.comments.schemas import COMMENT, Comment, CommentQuery, CommentSpec, CommentUpdate
from chalicelib.resources.notifications import service as notifications_service
from chalicelib.storage.dynamodb import ids, records


def list_comments(call: Call[Project, CommentQuery, None]) -> list[Comment]:
    """The comments that match, oldest first."""
    return comments_service.list_comments(call.scope, call.project, call.query)


def make_comment(call: Call[Project, CommentQuery, CommentSpec]) -> Comment:
    """Store a comment by the caller."""
    target = comments_service.target_of(call.scope, call.project, call.body)
    if target.get("parent") and call.body.resolved:
        raise BadInput("resolved: a reply has none; PATCH the first comment of the thread.")
    at, user = now(), call.caller.id
    comment = Comment(
        id=ids.reserve(COMMENT.name)[0],
        project=call.project,
        text=call.body.text,
        resolved=call.body.resolved,
        resolved_by=user if call.body.resolved else None,
        mentions=comments_service.mentions_in(call.project, call.body.text),
        created_by=user,
        created_datetime=at,
        modified_by=user,
        modified_datetime=at,
        **target,
    )
    note = comments_service.note_of(None, comment)
    _notify_mentioned(call, comment.id, comment.mentions)
    return records.create(COMMENT, comment, also=lambda change: change.add_note(call.project, user, note))


def _notify_mentioned(call: Call[Any, Any, Any], comment: int, mentioned: list[int]) -> None:
    others = [each for each in mentioned if each != call.caller.id]
    notifications_service.notify(others, "mentions", call.project, comment)


def check_change(call: Call[Comment, NoQuery, CommentUpdate], change: dict[str, Any]) -> dict[str, Any]:
    """The members to replace. Raises Forbidden for the text of another, BadInput for the resolution of a reply."""
    if not change:
        return {}
    if "text" in change:
        if call.target.created_by != call.caller.id:
            raise Forbidden("text: only the author of a comment may change it.")
        change["mentions"] = comments_service.mentions_in(call.project, change["text"])
        added = [each for each in change["mentions"] if each not in call.target.mentions]
        _notify_mentioned(call, call.target.id, added)
    if "resolved" in change:
        if call.target.parent:
            raise BadInput(f"resolved: a reply has none; PATCH comment {call.target.parent}, the first of the thread.")
        change["resolved_by"] = call.caller.id if change["resolved"] else None
    return {**change, "modified_by": call.caller.id, "modified_datetime": now()}


def remove_comment(call: Call[Comment, NoQuery, None]) -> None:
    """Delete a comment with its replies. Raises Forbidden for another's comment below Full Control."""
    if call.target.created_by != call.caller.id and call.level < Level.FULL:
        raise Forbidden("Only its author, or a member with Full Control, may delete a comment.")
    comments_service.remove(call.target, call.caller.id)


OPERATIONS = record_operations(
    RecordResource(
        kind=COMMENT,
        tag="Comments",
        address=visible_only(
            record_of_project(COMMENT),
            lambda comment, scope: bool(comments_service.visible(scope, comment.project, [comment])),
        ),
        read=Permission.VIEW,
        write=Permission.EDIT,
        query=CommentQuery,
        spec=CommentSpec,
        update=CommentUpdate,
        find=list_comments,
        store=make_comment,
        check_change=check_change,
        event_of=comments_service.note_of,
        remove=remove_comment,
    )
)
