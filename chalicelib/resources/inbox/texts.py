"""What notifications say to their reader now. What the reader may not see, or what is gone, is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from chalicelib.access import users
from chalicelib.access.background import scope_of
from chalicelib.access.scope import Scope
from chalicelib.core.permissions import Level
from chalicelib.errors import Forbidden
from chalicelib.resources.comments import service as comments_service
from chalicelib.resources.comments.schemas import COMMENT
from chalicelib.resources.imports.schemas import IMPORT
from chalicelib.resources.inbox.schemas import Notice
from chalicelib.resources.jobs.runs import RUN
from chalicelib.resources.notifications.schemas import Notification
from chalicelib.resources.tasks import service as tasks_service
from chalicelib.resources.tasks.honeypot_schemas import HONEYPOT_SCORE
from chalicelib.resources.tasks.schemas import TASK
from chalicelib.storage.dynamodb import records

QUOTED_CHARACTERS = 200
"""Characters of a comment, or of the reason of a failure, that a notification repeats."""
_Told = tuple[str, str]


def notices(user: int, items: Iterable[Notification]) -> list[Notice]:
    """The notifications that a user may see, in their order."""
    scopes: dict[int, Scope | None] = {}
    found = []
    for item in items:
        if item.project not in scopes:
            scopes[item.project] = _scope(user, item.project)
        scope = scopes[item.project]
        told = _TELLERS[item.topic](scope, item) if scope else None
        if told:
            text, rest = told
            found.append(
                Notice(
                    id=item.id,
                    topic=item.topic,
                    project=item.project,
                    text=text,
                    link=f"#/projects/{item.project}{rest}",
                    created_datetime=item.created_datetime,
                    is_read=item.is_read,
                )
            )
    return found


def _scope(user: int, project: int) -> Scope | None:
    try:
        return scope_of(user, project, "notification")
    except Forbidden:
        return None


def _of_mention(scope: Scope, item: Notification) -> _Told | None:
    comment = records.maybe(COMMENT, int(item.subject))
    if comment is None or comment.project != item.project or scope.caller.id not in comment.mentions:
        return None
    if not comments_service.visible(scope, item.project, [comment]):
        return None
    author = users.by_id([comment.created_by]).get(comment.created_by)
    place = f"/media/{comment.media_id}?frame={comment.frame or 0}&comment={comment.parent or comment.id}"
    return f"{author.username if author else 'Somebody'} mentions you: {_cut(comment.text)}", place


def _of_task(scope: Scope, item: Notification) -> _Told | None:
    task = records.maybe(TASK, int(item.subject))
    if task is None or task.project != item.project:
        return None
    level = scope.within_project(item.project)
    if not tasks_service.is_visible(scope, task, level):
        return None
    why = f": {_cut(task.reason)}" if task.reason else "."
    return f"Task {task.id} of {task.name} is {task.state}{why}", "/work"


def _of_job(scope: Scope, item: Notification) -> _Told | None:
    run = records.maybe(RUN, item.subject)
    if run is None or run.user != scope.caller.id or run.project != item.project:
        return None
    return f"A job of {run.algorithm_name} failed: {_cut(run.message or run.phase)}", "/jobs"


def _of_import(scope: Scope, item: Notification) -> _Told | None:
    found = records.maybe(IMPORT, item.subject)
    if found is None or found.user != scope.caller.id or found.project != item.project:
        return None
    return f"An import failed: {_cut(found.message or '')}", "/transfers"


def _of_quality(scope: Scope, item: Notification) -> _Told | None:
    score = records.maybe(HONEYPOT_SCORE, item.subject)
    if score is None or score.project != item.project or score.suspended_datetime is None or score.score is None:
        return None
    if scope.within_project(item.project) < Level.FULL:
        return None
    person = users.by_id([score.user]).get(score.user)
    name = person.username if person else f"User {score.user}"
    mean = f"{score.score * 100:.0f} %"
    text = f"{name} has a mean F1 of {mean} in the last {len(score.results)} honeypots of {score.name}"
    return f"{text}, and gets no more of its tasks.", "/quality/people"


_TELLERS: dict[str, Callable[[Scope, Notification], _Told | None]] = {
    "mentions": _of_mention,
    "tasks": _of_task,
    "jobs": _of_job,
    "imports": _of_import,
    "quality": _of_quality,
}


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= QUOTED_CHARACTERS else f"{line[: QUOTED_CHARACTERS - 1]}…"
