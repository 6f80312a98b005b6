"""Tasks: creation from a selection of media, who sees which, counts."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import islice

from chalicelib.access.scope import Scope
from chalicelib.core.batches import batched
from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.definitions import VERSION
from chalicelib.core.models.entities import Media
from chalicelib.core.permissions import Level
from chalicelib.core.resource import now, timestamp
from chalicelib.core.text.dates import parse_date
from chalicelib.errors import BadInput, NotFound
from chalicelib.resources.media.selection import select
from chalicelib.resources.tasks import honeypots
from chalicelib.resources.tasks.schemas import (
    COPY,
    PERSON,
    TASK,
    ChecklistItem,
    Task,
    TaskCount,
    TaskQuery,
    TaskSpec,
    copy_claim,
    person_claim,
)
from chalicelib.resources.tasks.workflow import workflow_of
from chalicelib.storage.dynamodb import entities, ids, limits, records
from chalicelib.storage.dynamodb.transactions import Transaction

MOST_TASKS = 10_000
"""The most tasks that one request creates."""
PER_TRANSACTION = 20
"""The most new tasks of one transaction; each takes four rows."""


# --- creation --------------------------------------------------------------------------------------------------------


def create(scope: Scope, project: Project, spec: TaskSpec) -> tuple[list[Task], int]:
    """Create the tasks of a selection that do not exist yet. A repetition after a crash adds what is missing.

    Returns:
        the new tasks, and how many existed.

    Raises:
        BadInput: no or both selections, wrong spans, versions or dates, or too many tasks.
        NotFound: a media or version is not in the project, or not visible.
    """
    versions = _versions(project.id, spec)
    due = _due(spec.due_datetime)
    scored = honeypots.set_of(scope, project.id, spec)
    units = list(islice(_units(scope, project.id, spec), MOST_TASKS + 1))
    known: set[honeypots.Unit] = set()
    if scored is not None:
        units, known = honeypots.draw(scope, scored, units, lambda media: _spans(media, spec), MOST_TASKS)
    if len(units) * spec.copies > MOST_TASKS:
        raise BadInput(f"One request creates at most {MOST_TASKS} tasks; select fewer media, or longer spans.")
    if scored is not None:
        honeypots.store(scored)
    moment = now()
    made = [
        Task(
            id=0,
            project=project.id,
            name=spec.name,
            media_id=media,
            start_frame=first,
            end_frame=last,
            copy=copy + 1,
            version=versions[copy],
            state="",
            instructions=spec.instructions,
            checklist=[ChecklistItem(text=text) for text in spec.checklist],
            due_datetime=due,
            is_scored=scored is not None,
            is_honeypot=(media, first, last) in known,
            created_by=scope.caller.id,
            created_datetime=moment,
            modified_datetime=moment,
        )
        for media, first, last in units
        for copy in range(spec.copies)
    ]
    missing = add_missing(project.id, made)
    return missing, len(made) - len(missing)


def add_missing(project: int, made: Sequence[Task]) -> list[Task]:
    """Store the tasks whose copy of their unit does not exist yet, in the first state, with new ids; these tasks."""
    state = workflow_of(project).states[0]
    there = records.owners_of(TASK, COPY, [copy_claim(task.unit, task.copy) for task in made])
    missing = [task for task in made if copy_claim(task.unit, task.copy) not in there]
    numbers = ids.reserve(TASK.name, len(missing)) if missing else []
    for task, number in zip(missing, numbers, strict=True):
        task.id, task.state, task.stage = number, state.name, state.stage
    for part in batched(missing, PER_TRANSACTION):
        limits.retry_lost_creation(lambda part=part: _store(part))  # type: ignore[misc]
    return missing


def _due(given: str | None) -> str | None:
    if given is None:
        return None
    moment = parse_date(given)
    if moment is None:
        raise BadInput(f"due_datetime: {given!r} is not a date and time in ISO 8601.")
    return timestamp(moment)


def _store(part: Sequence[Task]) -> None:
    change = Transaction()
    for task in part:
        records.add(change, TASK, task)
    change.run()


def _versions(project: int, spec: TaskSpec) -> list[int | None]:
    given = spec.versions or []
    if len(given) not in (0, 1, spec.copies):
        raise BadInput(f"versions: give one for all copies, or {spec.copies}, one for each; given {len(given)}.")
    for number in given:
        if records.get(VERSION, number).project != project:
            raise NotFound.of("Version", number)
    return list(given) if len(given) == spec.copies else [given[0] if given else None] * spec.copies


def _units(scope: Scope, project: int, spec: TaskSpec) -> Iterator[tuple[int, int | None, int | None]]:
    if spec.frames is None and spec.overlap:
        raise BadInput("overlap: needs frames, the length of a span.")
    if spec.frames is not None and spec.overlap >= spec.frames:
        raise BadInput(f"overlap: {spec.overlap} is not below frames, {spec.frames}.")
    for media in select(scope, project, spec.media_ids, spec.media_query):
        yield from _spans(media, spec)


def _spans(media: Media, spec: TaskSpec) -> Iterator[tuple[int, int | None, int | None]]:
    if spec.frames is None or not media.num_frames:
        yield media.id, None, None
        return
    first = 0
    while True:
        last = min(first + spec.frames, media.num_frames) - 1
        yield media.id, first, last
        if last == media.num_frames - 1:
            return
        first = last + 1 - spec.overlap


# --- who sees what ---------------------------------------------------------------------------------------------------


def visible(scope: Scope, project: int, found: Sequence[Task], level: Level, own: Container[str]) -> list[Task]:
    """The tasks that a caller may see.

    With Full Control all. Others see their own, and those that they may be handed: of a unit that has several copies,
    never a copy of another. Nobody sees tasks on media that are deleted or hidden.

    Args:
        scope: the caller.
        project: the project.
        found: tasks of it.
        level: the caller's level.
        own: the units of which the caller has a copy.
    """
    media = {task.media_id for task in found}
    there = scope.visible_ids(project, Kind.MEDIA, entities.existing_ids(project, Kind.MEDIA, media))
    kept = [task for task in found if task.media_id in there]
    if level >= Level.FULL:
        return kept
    user = scope.caller.id
    return [
        task
        for task in kept
        if user in (task.assignee, task.leased_by)
        or (task.unit not in own and (task.assignee is None or _may_review(task, level)))
    ]


def is_visible(scope: Scope, task: Task, level: Level) -> bool:
    """Whether a caller may see a task."""
    has_copy = level < Level.FULL and records.owners_of(TASK, PERSON, [person_claim(task.unit, scope.caller.id)])
    return bool(visible(scope, task.project, [task], level, {task.unit} if has_copy else ()))


def _may_review(task: Task, level: Level) -> bool:
    return task.stage == "review" and level >= Level.TRANSFER


def list_tasks(scope: Scope, project: int, query: TaskQuery, level: Level) -> list[Task]:
    """The visible tasks of a project that match, in the order of their ids."""
    tasks = records.list_children(TASK, project)
    own = {task.unit for task in tasks if task.assignee == scope.caller.id}
    found = visible(scope, project, tasks, level, own)
    names = ("name", "state", "assignee", "leased_by")
    matching = [
        task
        for task in found
        if all(getattr(query, name) in (None, getattr(task, name)) for name in names)
        and (query.media_id is None or task.media_id in query.media_id)
    ]
    return sorted(matching, key=lambda task: task.id)[query.start : query.stop]


def counts(tasks: Sequence[Task]) -> list[TaskCount]:
    """How many of some tasks are in each state by set and person, with the seconds spent."""
    found: dict[tuple[str, str, int | None], TaskCount] = {}
    for task in tasks:
        key = (task.name, task.state, task.assignee)
        count = found.setdefault(key, TaskCount(name=key[0], state=key[1], assignee=key[2], count=0, seconds=0))
        count.count += 1
        count.seconds += task.seconds
    return list(found.values())
