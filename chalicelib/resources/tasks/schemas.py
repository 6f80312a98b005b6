"""The structs of tasks: units of annotation work, their states, and who does them."""

from __future__ import annotations

from hashlib import blake2s
from typing import Annotated, ClassVar, Literal

from msgspec import UNSET, Meta, UnsetType, field

from chalicelib.core.permissions import ProjectLevelName
from chalicelib.core.records import RecordKind, padded
from chalicelib.core.resource import DATE, Id, Name, Resource, Timestamp
from chalicelib.resources.tasks.honeypot_schemas import HoneypotSpec

Frame = Annotated[int, Meta(ge=0, le=2**53)]
Number = Annotated[int, Meta(ge=0)]
Stage = Literal["open", "active", "review", "closed"]
StateName = Annotated[str, Meta(min_length=1, max_length=64)]
Reason = Annotated[str, Meta(min_length=1, max_length=2_000)]
LeaseSeconds = Annotated[int, Meta(ge=30, le=86_400)]
DEFAULT_LEASE = 1_800
"""Seconds of a lease where none are given."""
MOST_COPIES = 10
"""Copies of a unit of work."""
ChecklistText = Annotated[str, Meta(min_length=1, max_length=500)]


class TaskState(Resource, kw_only=True):
    """A state of the tasks of a project."""

    name: StateName
    stage: Annotated[
        Stage,
        Meta(
            description=(
                "`open`: NextTask hands it out. `active`: somebody works on it. "
                "`review`: NextTask hands it to reviewers. `closed`: the work is over."
            )
        ),
    ]


class Transition(Resource, kw_only=True):
    """A change of state that is allowed."""

    source: Annotated[StateName, Meta(description="The state before.")]
    target: Annotated[StateName, Meta(description="The state after.")]
    level: Annotated[ProjectLevelName, Meta(description="The level that it needs.")] = "Can Edit"
    needs_reason: Annotated[bool, Meta(description="Whether `reason` must be given.")] = False


_TO_DO, _IN_PROGRESS, _TO_REVIEW, _DONE, _REJECTED = "to do", "in progress", "to review", "done", "rejected"
DEFAULT_STATES = [
    TaskState(name=_TO_DO, stage="open"),
    TaskState(name=_IN_PROGRESS, stage="active"),
    TaskState(name=_TO_REVIEW, stage="review"),
    TaskState(name=_REJECTED, stage="open"),
    TaskState(name=_DONE, stage="closed"),
]
DEFAULT_TRANSITIONS = [
    Transition(source=_TO_DO, target=_IN_PROGRESS),
    Transition(source=_REJECTED, target=_IN_PROGRESS),
    Transition(source=_IN_PROGRESS, target=_TO_DO),
    Transition(source=_IN_PROGRESS, target=_TO_REVIEW),
    Transition(source=_TO_REVIEW, target=_DONE, level="Can Transfer"),
    Transition(source=_TO_REVIEW, target=_REJECTED, level="Can Transfer", needs_reason=True),
    Transition(source=_DONE, target=_TO_REVIEW, level="Full Control"),
]


class TaskWorkflowUpdate(Resource, kw_only=True):
    """The states of a project's tasks, and the changes between them. Each list that is given replaces the one there."""

    may_be_empty: ClassVar = True

    states: Annotated[
        Annotated[list[TaskState], Meta(min_length=1, max_length=20)] | UnsetType,
        Meta(description="The first one is that of new tasks."),
    ] = UNSET
    transitions: Annotated[list[Transition], Meta(max_length=200)] | UnsetType = UNSET


class TaskWorkflow(Resource, kw_only=True):
    """The states of a project's tasks."""

    project: int
    states: list[TaskState] = field(default_factory=lambda: list(DEFAULT_STATES))
    transitions: list[Transition] = field(default_factory=lambda: list(DEFAULT_TRANSITIONS))

    def stage_of(self, state: str) -> Stage:
        """The stage of a state; `open` for one that no longer exists."""
        return next((each.stage for each in self.states if each.name == state), "open")

    def find(self, source: str, target: str) -> Transition | None:
        """The transition between two states; None where it is not allowed."""
        return next((each for each in self.transitions if (each.source, each.target) == (source, target)), None)

    def after(self, source: str, stage: Stage) -> Transition | None:
        """The first transition from a state to one of a stage."""
        return next((e for e in self.transitions if e.source == source and self.stage_of(e.target) == stage), None)


class ChecklistItem(Resource, kw_only=True):
    """A step of a task."""

    text: ChecklistText
    done: bool = False


class TaskSpec(Resource, kw_only=True):
    """The body that creates tasks: one for each media or span of frames, and for each copy."""

    names: ClassVar = {"media_ids": "media", "versions": "version"}

    name: Annotated[Name, Meta(description="The name of the set of tasks. A repeated request adds only missing tasks.")]
    media_ids: Annotated[list[Id] | None, Meta(description="The media.")] = None
    media_query: Annotated[
        str | None,
        Meta(description="Parameters of GetMediaList, as in an address, instead of `media_ids`."),
    ] = None
    copies: Annotated[int, Meta(ge=1, le=MOST_COPIES, description="How many people do each, independently.")] = 1
    frames: Annotated[
        Annotated[int, Meta(ge=1)] | None, Meta(description="Frames of one task; without it a task is a whole media.")
    ] = None
    overlap: Annotated[Number, Meta(description="Frames that neighbouring tasks of a media share.")] = 0
    versions: Annotated[
        list[Id] | None, Meta(description="The target version of each copy, in order; one for all copies, or `copies`.")
    ] = None
    instructions: Annotated[str, Meta(max_length=20_000, description="Markdown.")] = ""
    checklist: Annotated[list[ChecklistText], Meta(max_length=50)] = []
    due_datetime: Annotated[Timestamp, DATE] | None = None
    honeypots: Annotated[
        HoneypotSpec | None,
        Meta(description="Mix in tasks on media whose annotations are known. Further requests of the set may omit it."),
    ] = None


class Task(Resource, kw_only=True):
    """A unit of work: one media or span of frames, done once."""

    hidden: ClassVar = frozenset({"stage", "active_at", "is_scored", "is_honeypot", "handed_in_by"})

    id: int
    project: int
    name: Name
    media_id: int
    start_frame: Annotated[int | None, Meta(description="The first frame; null for a whole media.")] = None
    end_frame: Annotated[int | None, Meta(description="The last frame, included.")] = None
    copy: Annotated[int, Meta(description="The number of the copy, from 1.")] = 1
    version: Annotated[int | None, Meta(description="The version in which its annotations are drawn.")] = None
    state: str
    stage: Stage = "open"
    reason: Annotated[str | None, Meta(description="Why its last change of state was made.")] = None
    instructions: str = ""
    checklist: list[ChecklistItem] = []
    due_datetime: Timestamp | None = None
    assignee: Annotated[int | None, Meta(description="The user who does it, or did it.")] = None
    leased_by: Annotated[int | None, Meta(description="The user who works on it now, as annotator or reviewer.")] = None
    leased_until: Annotated[Timestamp | None, Meta(description="When it is handed out again unless renewed.")] = None
    seconds: Annotated[
        int, Meta(description="Seconds spent; pauses above two minutes between actions are left out.")
    ] = 0
    active_at: Timestamp | None = None
    is_scored: bool = False
    """Whether its set has honeypots: all of these tasks are treated alike until one is scored in the background."""
    is_honeypot: bool = False
    handed_in_by: int | None = None
    created_by: int
    created_datetime: Timestamp
    modified_datetime: Timestamp

    @property
    def sources(self) -> tuple[int, ...]:
        """The media that a reader must be able to see."""
        return (self.media_id,)

    @property
    def unit(self) -> str:
        """What is done, whichever the copy."""
        return f"{self.project}|{self.name}|{self.media_id}|{self.start_frame}"


class TaskUpdate(Resource, kw_only=True):
    """The body of a PATCH of a task."""

    state: Annotated[StateName | UnsetType, Meta(description="The next state.")] = UNSET
    reason: Annotated[Reason | UnsetType, Meta(description="Why; required by some transitions.")] = UNSET
    checklist: Annotated[list[bool] | UnsetType, Meta(description="Whether each step is done, in order.")] = UNSET
    lease_seconds: Annotated[LeaseSeconds | UnsetType, Meta(description="Renew the lease for as many seconds.")] = UNSET


class TaskQuery(Resource, kw_only=True):
    """Filters of a list of tasks; all that are given hold."""

    name: Annotated[str | None, Meta(description="The name of the set of tasks.")] = None
    state: Annotated[str | None, Meta(description="The state.")] = None
    media_id: Annotated[list[int] | None, Meta(description="The media.")] = None
    assignee: Annotated[int | None, Meta(description="The user who does it, or did it.")] = None
    leased_by: Annotated[int | None, Meta(description="The user who works on it now.")] = None
    start: Annotated[Number, Meta(description="How many of the first tasks to leave out.")] = 0
    stop: Annotated[Frame | None, Meta(description="The number of the task before which the list ends.")] = None


class TaskCreated(Resource, kw_only=True):
    """The answer to a creation of tasks."""

    message: str
    id: Annotated[list[int], Meta(description="Ids of the new tasks.")]
    existing: Annotated[int, Meta(description="Tasks of this name that existed already.")] = 0
    honeypots: Annotated[int, Meta(description="How many of the new tasks are honeypots.")] = 0


class NextTaskSpec(Resource, kw_only=True):
    """Which task to lease."""

    name: Annotated[str | None, Meta(description="Of the tasks with this name only.")] = None
    stage: Annotated[Literal["open", "review"], Meta(description="To annotate (`open`), or to review.")] = "open"
    lease_seconds: LeaseSeconds = DEFAULT_LEASE


class TaskCount(Resource, kw_only=True):
    """How many tasks of one person are in one state, and the time spent on them."""

    name: str
    state: Annotated[str, Meta(description="A state of the workflow.")]
    assignee: Annotated[int | None, Meta(description="Id of who works on them; null for nobody yet.")] = None
    count: Annotated[int, Meta(description="Number of tasks.")]
    seconds: Annotated[int, Meta(description="Time spent, without idle time.")]


HANDED_IN: tuple[Stage, ...] = ("review", "closed")
"""The stages of a task whose work was handed in."""
HOLDER = "taskholder"
"""The word under which the tasks that a user holds are listed."""
COPY, PERSON = "copy", "person"
"""The claims of a task: one task is a copy of a unit, and a person has one copy of it."""


def stage_key(stage: Stage) -> str:
    """The beginning of the sort keys of tasks of a stage."""
    return f"{stage}|"


def set_key(name: str) -> str:
    """The part of a sort key that tells sets of tasks apart; two names seldom have the same."""
    return _digest(name)


def copy_claim(unit: str, copy: int) -> str:
    """The claim of a copy of a unit."""
    return f"{unit}|{copy}"


def person_claim(unit: str, user: int) -> str:
    """The claim of a person on a unit."""
    return f"{unit}|{user}"


def _digest(word: str) -> str:
    return blake2s(word.encode(), digest_size=4).hexdigest()


def _sort_key(task: Task) -> str:
    """Waiting tasks by set and in a random order, leases by their end (decision 208)."""
    begin = stage_key(task.stage)
    if task.stage == "active":
        return f"{begin}{task.leased_until or ''}|{padded(task.id)}"
    if task.stage == "closed":
        return f"{begin}{padded(task.id)}"
    return f"{begin}{set_key(task.name)}|{_digest(str(task.id))}|{padded(task.id)}"


TASK = RecordKind(
    name="task",
    struct=Task,
    parent=("project", "project"),
    key=_sort_key,
    links={"leased_by": HOLDER},
    claims=lambda task: {
        COPY: copy_claim(task.unit, task.copy),
        **({PERSON: person_claim(task.unit, task.assignee)} if task.assignee else {}),
    },
)
TASK_WORKFLOW = RecordKind(
    name="taskworkflow",
    struct=TaskWorkflow,
    parent=("project", "project"),
    key=lambda _: "workflow",
    identity="project",
)
