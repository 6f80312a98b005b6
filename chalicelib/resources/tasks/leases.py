"""Leases of tasks, and what their holders change.

`next_task` leases a task by a conditional write: of two callers that want one task, one gets it and the other takes the
next. A lease that is not renewed ends, and the task is handed out again. The claim `person` of a task keeps a user from
two copies of the same unit, whichever requests race.
"""

from __future__ import annotations

import contextlib
import secrets
from datetime import datetime, timedelta
from typing import Any

import msgspec

from chalicelib.access.scope import Scope
from chalicelib.core.log.commits import Note
from chalicelib.core.permissions import LEVEL_OF, Level
from chalicelib.core.resource import now, timestamp
from chalicelib.core.text.dates import parse_date
from chalicelib.core.time import clock
from chalicelib.errors import BadInput, Conflict, Forbidden, LimnError, NotFound
from chalicelib.queues import send
from chalicelib.resources.notifications import service as notifications_service
from chalicelib.resources.tasks import blindness, candidates, honeypots
from chalicelib.resources.tasks.messages import ScoreTask
from chalicelib.resources.tasks.schemas import (
    HANDED_IN,
    TASK,
    ChecklistItem,
    NextTaskSpec,
    Task,
    TaskUpdate,
    TaskWorkflow,
)
from chalicelib.resources.tasks.workflow import workflow_of
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import records
from chalicelib.storage.dynamodb.transactions import Transaction

ATTEMPTS = 20
"""Tasks that a call tries to lease; each is lost to somebody who got it."""
IDLE_SECONDS = 120.0
"""A longer pause between two actions of a person does not count as time spent."""
DEFAULT_RENEWAL = 1_800
"""Seconds by which a change by its holder renews a lease."""


SCORE_DELAY = 15
"""Seconds after which the request that hands a task in has ended."""


class _HeldByCaller(LimnError):
    """The caller has another copy of the same unit."""

    status = 409


def next_task(scope: Scope, project: int, spec: NextTaskSpec, level: Level) -> Task | None:
    """Lease the next task that fits the caller: one that the caller has already, or else one that waits.

    Returns:
        the task; None where none waits for this caller.

    Raises:
        Conflict: others were faster, attempt after attempt.
    """
    workflow = workflow_of(project)
    blindness.tidy(project, scope.caller.id)
    for _ in range(ATTEMPTS):
        task = candidates.find(scope, project, spec, workflow, level)
        if task is None:
            return None
        leased = _try_lease(task, scope.caller.id, workflow, spec)
        if leased is None:
            continue
        if leased.is_scored and leased.name in honeypots.suspensions(project, scope.caller.id):
            # suspended meanwhile, maybe after those who suspend looked for what the caller holds
            give_back(leased, scope.caller.id, workflow)
            continue
        return leased
    raise Conflict("Others leased the tasks that waited for you, one after the other; retry.")


def _try_lease(task: Task, user: int, workflow: TaskWorkflow, spec: NextTaskSpec) -> Task | None:
    held = _HeldByCaller("The caller has another copy of this unit.")

    def lease(found: Task) -> Task | None:
        moment = now()
        if found.stage != task.stage or not candidates.waits_for(found, user, moment):
            return None
        after = _renew(found, user, spec.lease_seconds)
        if spec.stage == "open":
            after.assignee = user
            if found.stage == "open":
                start = workflow.after(found.state, "active")
                if start is None:
                    return None
                after.state, after.stage = start.target, "active"
        return after

    is_new = spec.stage == "open" and task.assignee != user
    if is_new:
        blindness.hide_copies(task, user)
    leased = None
    with contextlib.suppress(_HeldByCaller, Conflict, NotFound):
        leased = records.edit(TASK, task.id, lease, taken=held)
    if leased is not None and leased.leased_by == user and (leased.leased_until or "") > now():
        return leased
    if is_new:
        blindness.show_copies(task, user)
    return None


def give_back(task: Task, user: int, workflow: TaskWorkflow) -> None:
    """Return a task that a person holds to those who may have it; another task stays as it is."""

    def free(found: Task) -> Task | None:
        if found.leased_by != user or found.stage not in ("active", "review"):
            return None
        after = msgspec.structs.replace(
            found, leased_by=None, leased_until=None, active_at=None, modified_datetime=now()
        )
        if found.stage == "active":
            step = workflow.after(found.state, "open")
            after.state, after.stage = step.target if step else workflow.states[0].name, "open"
            after.assignee = None
        return after

    with contextlib.suppress(NotFound):
        after = records.edit(TASK, task.id, free, also=lambda change, before, after: _note(change, before, after, user))
        if after.assignee != user:
            blindness.show_copies(after, user)


def _renew(task: Task, user: int, seconds: int) -> Task:
    """The task with its lease for a user from now on, and the time of the user since the last action."""
    at = clock.utc_now()
    return msgspec.structs.replace(
        task,
        leased_by=user,
        leased_until=timestamp(at + timedelta(seconds=seconds)),
        seconds=task.seconds + (_since_action(task, at) if task.leased_by == user else 0),
        active_at=timestamp(at),
        modified_datetime=timestamp(at),
    )


def _since_action(task: Task, at: datetime) -> int:
    last = parse_date(task.active_at) if task.active_at else None
    if last is None:
        return 0
    passed = (at - last).total_seconds()
    return round(passed) if 0 <= passed <= IDLE_SECONDS else 0


def change(task: Task, body: TaskUpdate, user: int, level: Level) -> Task:
    """Change the state or checklist of a task, or renew its lease.

    Raises:
        BadInput: there is no such transition, a reason is missing, or the checklist has another length.
        Forbidden: the transition needs a higher level, or another person works on the task.
    """
    workflow = workflow_of(task.project)

    def edit(found: Task) -> Task:
        is_own = found.leased_by == user and (found.leased_until or "") > now()
        if not is_own and level < Level.FULL:
            raise Forbidden("Only the person who has leased the task, or a member with Full Control, may change it.")
        seconds = DEFAULT_RENEWAL if body.lease_seconds is msgspec.UNSET else body.lease_seconds
        after = _renew(found, user, seconds) if is_own else msgspec.structs.replace(found, modified_datetime=now())
        if body.checklist is not msgspec.UNSET:
            after.checklist = _tick(found.checklist, body.checklist)
        if body.state is not msgspec.UNSET and body.state != found.state:
            _move(after, workflow, body, level)
        return after

    if all(getattr(body, name) is msgspec.UNSET for name in body.__struct_fields__):
        raise BadInput("Nothing to change: give one of state, reason, checklist, lease_seconds.")
    if body.reason is not msgspec.UNSET and body.state is msgspec.UNSET:
        raise BadInput("reason: give it together with state.")
    _order_score(task, workflow, body)
    after = records.edit(TASK, task.id, edit, also=lambda change, before, after: _note(change, before, after, user))
    if task.assignee is not None and (after.stage == "closed" or after.assignee != task.assignee):
        blindness.show_copies(after, task.assignee)
    if after.state != task.state and task.assignee not in (None, user):
        notifications_service.notify([task.assignee], "tasks", task.project, task.id)
    return after


def _order_score(task: Task, workflow: TaskWorkflow, body: TaskUpdate) -> None:
    """Order the score of a task that is to be handed in: of all tasks of a set with honeypots, at a random moment.

    It is sent first, so that no crash loses it; of a task that was not handed in there is no score.
    """
    is_handed_in = body.state is not msgspec.UNSET and workflow.stage_of(str(body.state)) in HANDED_IN
    if task.is_scored and is_handed_in and task.stage not in HANDED_IN and task.assignee is not None:
        delay = SCORE_DELAY + secrets.randbelow(settings().score_spread)
        send(settings().dataset_queue_url, ScoreTask(task=task.id, user=task.assignee, at=now()), delay)


def _tick(items: list[ChecklistItem], done: list[bool]) -> list[ChecklistItem]:
    if len(items) != len(done):
        raise BadInput(f"checklist: the task has {len(items)} steps; given {len(done)}.")
    return [ChecklistItem(text=item.text, done=each) for item, each in zip(items, done, strict=True)]


def _move(task: Task, workflow: TaskWorkflow, body: TaskUpdate, level: Level) -> None:
    """Change the state. What leaves a person's hands is free for the next: a lease ends with its stage."""
    state = str(body.state)
    step = workflow.find(task.state, state)
    if step is None:
        names = [each.target for each in workflow.transitions if each.source == task.state] or ["no state"]
        raise BadInput(f"state: from {task.state!r} a task goes to {', '.join(names)}; given {state!r}.")
    if level < LEVEL_OF[step.level]:
        raise Forbidden(f"state: the change from {task.state!r} to {state!r} needs {step.level}.")
    if step.needs_reason and body.reason is msgspec.UNSET:
        raise BadInput(f"reason: the change from {task.state!r} to {state!r} needs one.")
    task.reason = None if body.reason is msgspec.UNSET else body.reason
    stage = workflow.stage_of(state)
    if stage != task.stage:
        task.leased_by = task.leased_until = task.active_at = None
        if stage in HANDED_IN and task.stage not in HANDED_IN:
            task.handed_in_by = task.assignee
        if stage == "open":
            task.assignee = None
    task.state, task.stage = state, stage


def _note(change: Transaction, before: Task, after: Task, user: int) -> None:
    if before.state != after.state:
        data: dict[str, Any] = {"media_id": after.media_id, "old": before.state, "new": after.state}
        note = Note(type="task.changed", kind="task", id=after.id, media=[after.media_id], data=data)
        change.add_note(after.project, user, note)
