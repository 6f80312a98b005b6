"""The feed of a project: the events of its commits, in order and without a gap.

    page = read(project, after="0", limit=100)
    page = read(project, after=page.next, limit=100)

A reader that keeps `next` reads every event once. Commits that a snapshot has replaced are kept for
`settings.log_retention`; a reader that falls further behind lists the project anew (`Expired`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from chalicelib.access.masks import level_of
from chalicelib.access.scope import UNRESTRICTED, Scope
from chalicelib.core.kinds import DefinitionKind, Kind
from chalicelib.core.permissions import Level
from chalicelib.errors import BadInput, Expired
from chalicelib.resources.events.events import Event, events_of
from chalicelib.resources.tasks import service as tasks_service
from chalicelib.resources.tasks.schemas import PERSON, TASK, person_claim
from chalicelib.storage.dynamodb import records
from chalicelib.storage.log import log
from chalicelib.storage.view.snapshot.snapshot_records import pointer

MOST_EVENTS = 1000
"""Events of one page."""
MOST_COMMITS = 1000
"""Commits that one page reads at most, where few of their events are asked for or may be seen."""
MOST_BYTES = 3_000_000
"""Bytes of events above which a page takes no further event: Lambda's limit is 6 MB."""
OF_WHOLE_PROJECT = frozenset({"dataset", "import"})
"""Kinds of which a reader who may not see all of the project sees the reader's own only, as in lists."""
_POSITION = re.compile(r"(0|[1-9][0-9]{0,14})(?:/([1-9][0-9]{0,5}))?")
_EVENT = re.compile(r"([1-9][0-9]{0,14})/([1-9][0-9]{0,14})(?:/([1-9][0-9]{0,5}))?")


def place_of(event: str) -> tuple[int, int, int] | None:
    """The project, the commit and the number in it (0 where it has one event) that the id of an event names."""
    found = _EVENT.fullmatch(event)
    return (int(found[1]), int(found[2]), int(found[3] or 0)) if found else None


@dataclass(frozen=True, kw_only=True)
class Page:
    """Some events.

    Attributes:
        events: the events, in order.
        next: where the next page begins, also after an empty page.
        behind: the number of commits that are left; where the scope is restricted, 1 if there may be more events.
    """

    events: list[Event]
    next: str
    behind: int


@dataclass
class _Reading:
    """The progress of one page."""

    seq: int
    """The last commit that was begun."""
    number: int = 0
    """The last event of it that was taken; 0 where all were."""
    commits: int = 0
    found: list[Event] = field(default_factory=list)
    size: int = 0

    @property
    def position(self) -> str:
        return f"{self.seq}/{self.number}" if self.number else str(self.seq)


def last(project: int) -> str:
    """The position after the last commit."""
    return str(log.last(project, fresh=True))


def read(
    project: int,
    *,
    after: str = "0",
    limit: int = 100,
    kinds: frozenset[str] = frozenset(),
    scope: Scope = UNRESTRICTED,
) -> Page:
    """Events after a position.

    Args:
        project: the project.
        after: `SEQ`, a commit all of whose events were read, or `SEQ/N`, the Nth event of a commit.
        limit: most events, 1 to `MOST_EVENTS`; a page may end sooner.
        kinds: kinds and types (`events.KINDS`); empty for all.
        scope: that of the reader; events of entities that the reader may not see are left out.

    Raises:
        BadInput: the position is malformed, or lies after the last commit.
        Expired: the changes after the position are no longer kept.
    """
    reading = _begin(after)
    is_at_end = False
    events: list[Event] = []
    while not is_at_end and len(events) < limit and reading.commits < MOST_COMMITS and reading.size < MOST_BYTES:
        reading.found = []
        is_at_end = _read_events(project, reading, limit - len(events), kinds)
        events += _visible(project, reading.found, scope)
        if not scope.hides(project):
            break
    behind = 0 if is_at_end else _count_left(project, reading, scope)
    return Page(events=events, next=reading.position, behind=behind)


def _begin(after: str) -> _Reading:
    found = _POSITION.fullmatch(after)
    if found is None:
        raise BadInput(f"after: {after!r} is no position. Give the `next` of a page, or the number of a commit.")
    return _Reading(seq=int(found[1]), number=int(found[2] or 0))


def _read_events(project: int, reading: _Reading, most: int, kinds: frozenset[str]) -> bool:
    """Take up to `most` events; whether the log has no more."""
    is_empty = True
    for commit_seq, events in _commits(project, reading):
        is_empty = False
        done = reading.number if commit_seq == reading.seq else 0
        reading.seq, reading.number = commit_seq, done
        for event in events[done:]:
            if event.is_of(kinds):
                if len(reading.found) >= most or (reading.found and reading.size + event.size > MOST_BYTES):
                    reading.seq -= not reading.number  # nothing of this commit was taken
                    return False
                reading.found.append(event)
                reading.size += event.size
            reading.number = event.number
        reading.number = 0
        reading.commits += 1
        if reading.commits >= MOST_COMMITS:
            return False
    if is_empty:
        _check_reached(project, reading)
    return True


def _commits(project: int, reading: _Reading) -> Iterator[tuple[int, list[Event]]]:
    """The commits after a position, with their events; the commit itself where it was begun and not finished."""
    start = reading.seq - 1 if reading.number else reading.seq
    try:
        for commit in log.follow(project, start, MOST_COMMITS - reading.commits + 1):
            yield commit.seq, events_of(commit)
    except log.Expired:
        raise _expiry(project) from None


def _check_reached(project: int, reading: _Reading) -> None:
    """Raise BadInput for a position after the last commit, where there was nothing to read."""
    if log.last(project) != reading.seq and (end := log.last(project, fresh=True)) < reading.seq:
        raise BadInput(f"after: {reading.position} is after the last change of the project, {end}.")


def _count_left(project: int, reading: _Reading, scope: Scope) -> int:
    """The number of commits that are not read to their end."""
    if scope.hides(project):
        return 1
    return max(log.last(project, fresh=True) - reading.seq, 0) + bool(reading.number)


def _expiry(project: int) -> Expired:
    end = log.last(project, fresh=True)
    found = pointer(project)
    oldest = found.seq if found else log.first(project)
    return Expired(
        "after: the changes after this position are no longer kept.",
        f"List the project anew, then read the events after the number in the answers' header Limn-Commit, or after "
        f"{end}, the last commit now. Commits from {oldest} on are kept.",
        begin=end,
        oldest=oldest,
    )


# --- permissions -----------------------------------------------------------------------------------------------------


def _visible(project: int, events: list[Event], scope: Scope) -> list[Event]:
    """The events that a reader may see, with those ids alone that the reader may see."""
    if scope.needed is Level.NONE:
        return events
    events = [event for event in events if event.reader in (None, scope.caller.id)]
    events = _without_hidden_tasks(project, events, scope)
    if not scope.hides(project):
        return events
    wanted: dict[Kind, set[int]] = {}
    for event in events:
        if event.kind in set(Kind) and event.changes is not None:
            wanted.setdefault(Kind(event.kind), set()).update(event.ids)
        wanted.setdefault(Kind.MEDIA, set()).update(event.media)
        for kind, number in _annotations_of(event):
            wanted.setdefault(kind, set()).add(number)
    seen = {kind: scope.visible_ids(project, kind, numbers) for kind, numbers in wanted.items()}
    return [found for event in events if (found := _seen(project, event, seen, scope)) is not None]


def _without_hidden_tasks(project: int, events: list[Event], scope: Scope) -> list[Event]:
    """The events without those of tasks that the reader does not see now: other copies, and what others do."""
    numbers = {int(event.ids[0]) for event in events if event.kind == TASK.name}
    if not numbers or (level := scope.within_project(project)) >= Level.FULL:
        return events
    tasks = list(records.many(TASK, numbers).values())
    claims = {person_claim(task.unit, scope.caller.id): task.unit for task in tasks}
    own = {claims[claim] for claim in records.owners_of(TASK, PERSON, list(claims))}
    seen = {task.id for task in tasks_service.visible(scope, project, tasks, level, own)}
    return [event for event in events if event.kind != TASK.name or int(event.ids[0]) in seen]


def _annotations_of(event: Event) -> Iterator[tuple[Kind, int]]:
    """The annotations that a comment is on, or another note names."""
    for kind in (Kind.LOCALIZATION, Kind.STATE):
        if (number := (event.more or {}).get(f"{kind}_id")) is not None:
            yield kind, number


def _seen(project: int, event: Event, seen: dict[Kind, set[int]], scope: Scope) -> Event | None:
    if not set(event.media) <= seen.get(Kind.MEDIA, set()):
        return None
    if any(number not in seen[kind] for kind, number in _annotations_of(event)):
        return None
    if event.kind in OF_WHOLE_PROJECT and event.user != scope.caller.id and scope.terms(project):
        return None
    if event.changes is None:
        return event if level_of(scope.in_project(project).whole) >= scope.needed or event.media else None
    if event.kind in set(Kind):
        return event.narrow_to(seen[Kind(event.kind)].__contains__)
    return event.narrow_to(lambda number: sees_definition(project, event.kind, number, scope))


def sees_definition(project: int, kind: str, number: int, scope: Scope) -> bool:
    """Whether a reader may see a definition, perhaps a deleted one."""
    if kind == DefinitionKind.VERSION and number in scope.hidden_rows(project).versions:
        return False
    if not scope.is_restricted or scope.needed is Level.NONE:
        return True
    known = scope.in_project(project)
    has_own = kind in (DefinitionKind.SECTION, DefinitionKind.VERSION)
    mask: Any = known.on(kind, number) if has_own else known.whole
    return level_of(mask) >= scope.needed
