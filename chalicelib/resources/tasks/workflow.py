"""The states of a project's tasks, and the changes between them."""

from __future__ import annotations

import msgspec
from msgspec import UNSET

from chalicelib.errors import BadInput
from chalicelib.resources.tasks.schemas import (
    TASK,
    TASK_WORKFLOW,
    TaskWorkflow,
    TaskWorkflowUpdate,
)
from chalicelib.storage.dynamodb import records


def workflow_of(project: int) -> TaskWorkflow:
    """The states and transitions of a project's tasks; the default where none are set."""
    return records.find(TASK_WORKFLOW, project, "workflow") or TaskWorkflow(project=project)


def change_workflow(project: int, body: TaskWorkflowUpdate) -> TaskWorkflow:
    """Replace the states and transitions of a project.

    Raises:
        BadInput: a name is used twice, a transition names no state, the first state is not open, or tasks are in a
            state that would be gone.
    """
    before = workflow_of(project)
    states = before.states if body.states is UNSET else body.states
    transitions = before.transitions if body.transitions is UNSET else body.transitions
    names = [state.name for state in states]
    if len(set(names)) < len(names):
        raise BadInput("states: each name once.")
    if states[0].stage != "open":
        raise BadInput("states: the first one is that of new tasks; its stage is 'open'.")
    for number, each in enumerate(transitions):
        if unknown := {each.source, each.target} - set(names):
            raise BadInput(f"transitions[{number}]: {min(unknown)!r} is not a state; there are {', '.join(names)}.")
    used = {task.state for task in records.list_children(TASK, project)} if body.states is not UNSET else set()
    if gone := used - set(names):
        raise BadInput(f"states: tasks are in state {min(gone)!r}; keep it, or change these tasks first.")
    after = TaskWorkflow(project=project, states=states, transitions=transitions)
    if records.find(TASK_WORKFLOW, project, "workflow") is None:
        records.create(TASK_WORKFLOW, after)
    else:
        records.edit(TASK_WORKFLOW, project, lambda _: after)
    _restage(project, after)
    return after


def _restage(project: int, workflow: TaskWorkflow) -> None:
    for task in records.list_children(TASK, project):
        if task.stage != workflow.stage_of(task.state):
            records.edit(
                TASK, task.id, lambda found: msgspec.structs.replace(found, stage=workflow.stage_of(found.state))
            )
