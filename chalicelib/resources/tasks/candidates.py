"""The tasks that a person may be handed, found by a few calls however many tasks a project has (decision 208).

Waiting tasks are stored in the order of their set and of a hash of their id. A caller begins at a random place of that
order, reads a page, and leaves out the units of which the caller has a copy: the claims `person` tell. So callers at
the same time seldom want the same task, and only one who has done nearly all that waits reads further pages.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from chalicelib.access.scope import Scope
from chalicelib.core.permissions import LEVEL_OF, Level
from chalicelib.core.resource import now
from chalicelib.resources.tasks import honeypots
from chalicelib.resources.tasks.schemas import (
    HOLDER,
    PERSON,
    TASK,
    NextTaskSpec,
    Stage,
    Task,
    TaskWorkflow,
    person_claim,
    set_key,
    stage_key,
)
from chalicelib.resources.tasks.service import visible
from chalicelib.storage.dynamodb import records

PAGE = 50
"""Tasks of a page; a further page has twice as many as the one before, up to `LARGEST_PAGE`."""
LARGEST_PAGE = 800
_END = "~"
"""Sorts behind all keys."""


def find(scope: Scope, project: int, spec: NextTaskSpec, workflow: TaskWorkflow, level: Level) -> Task | None:
    """A task to hand to the caller now: one that the caller holds, one whose lease ended, or a free one."""
    return next((secrets.choice(part) for part in _parts(scope, project, spec, workflow, level) if part), None)


def _parts(
    scope: Scope, project: int, spec: NextTaskSpec, workflow: TaskWorkflow, level: Level
) -> Iterator[list[Task]]:
    user = scope.caller.id
    stages: tuple[Stage, ...] = ("active", "open") if spec.stage == "open" else ("review",)
    suspensions = cache(lambda: honeypots.suspensions(project, user))  # read where a set has honeypots

    def is_suspended(task: Task) -> bool:
        return task.is_scored and task.name in suspensions()

    def is_fit(task: Task) -> bool:
        return (
            task.stage in stages
            and spec.name in (None, task.name)
            and not is_suspended(task)
            and waits_for(task, user, now())
            and (task.stage != "open" or workflow.after(task.state, "active") is not None)
            and (task.stage != "review" or (task.assignee != user and _may_move(task, workflow, level)))
        )

    def keep_fitting(part: Sequence[Task]) -> list[Task]:
        return _without_own_units(
            _without_hidden(scope, project, [task for task in part if is_fit(task)]), user, spec, level
        )

    held = [task for task in records.list_linked(TASK, HOLDER, user) if task.project == project]
    yield _without_hidden(scope, project, [task for task in held if is_fit(task)])
    if spec.stage == "open":
        ended = records.list_range(TASK, project, stage_key("active"), f"{stage_key('active')}{now()}")
        yield keep_fitting(ended)
    for part in _pages_of_stage(project, stages[-1], spec.name):
        yield keep_fitting(part)
        if spec.name is not None and all(map(is_suspended, part)):
            return  # so are the others of the set


def waits_for(task: Task, user: int, moment: str) -> bool:
    """Whether nobody but a user holds the lease of a task."""
    return task.leased_by in (None, user) or (task.leased_until or "") <= moment


def _may_move(task: Task, workflow: TaskWorkflow, level: Level) -> bool:
    return any(each.source == task.state and LEVEL_OF[each.level] <= level for each in workflow.transitions)


def _without_hidden(scope: Scope, project: int, found: Sequence[Task]) -> list[Task]:
    return visible(scope, project, found, Level.FULL, own=()) if found else []


def _without_own_units(found: list[Task], user: int, spec: NextTaskSpec, level: Level) -> list[Task]:
    """The tasks of units of which a person has no other copy; a reviewer with Full Control may have one."""
    if not found or (spec.stage == "review" and level >= Level.FULL):
        return found
    owners = records.owners_of(TASK, PERSON, [person_claim(task.unit, user) for task in found])
    return [task for task in found if owners.get(person_claim(task.unit, user), task.id) == task.id]


def _pages_of_stage(project: int, stage: Stage, name: str | None) -> Iterator[list[Task]]:
    """The tasks of a stage and set, page by page: from a random place to the end, then from the beginning to there."""
    begin = stage_key(stage) if name is None else f"{stage_key(stage)}{set_key(name)}|"
    start = f"{begin}{_random_place()}"
    if name is None:
        # the sets are few: the place is random within one of them
        found = records.list_range(TASK, project, start, f"{begin}{_END}", most=1)
        start = f"{begin}{set_key(found[0].name)}|{_random_place()}" if found else begin
    yield from _pages(lambda first, most: records.list_range(TASK, project, first, f"{begin}{_END}", most), start)
    yield from _pages(lambda first, most: records.list_range(TASK, project, first, start, most), begin)


def _pages(read: Callable[[str, int], list[Task]], start: str) -> Iterator[list[Task]]:
    most = PAGE
    while found := read(start, most):
        yield found
        if len(found) < most:
            return
        start, most = f"{TASK.sort_key(found[-1])} ", min(2 * most, LARGEST_PAGE)


def _random_place() -> str:
    return secrets.token_hex(4)
