"""Tasks: units of annotation work that people lease, finish and review."""

from __future__ import annotations

from typing import Any

from chalicelib.core.models.accounts import Project
from chalicelib.core.permissions import Permission
from chalicelib.core.responses import MessageResponse
from chalicelib.errors import NotFound
from chalicelib.http.addresses import PROJECT, WITHIN_PROJECT, record_of_project
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.resources.tasks import blindness, leases, workflow
from chalicelib.resources.tasks import service as tasks_service
from chalicelib.resources.tasks.schemas import (
    TASK,
    NextTaskSpec,
    Task,
    TaskCount,
    TaskCreated,
    TaskQuery,
    TaskSpec,
    TaskUpdate,
    TaskWorkflow,
    TaskWorkflowUpdate,
)
from chalicelib.storage.dynamodb import records

OPERATIONS = Operations(tag="Tasks")
ONE = record_of_project(TASK)


@OPERATIONS.get("/rest/Tasks/{project}", "GetTaskList", needs=Permission.VIEW, addresses=WITHIN_PROJECT)
def list_tasks(call: Call[Project, TaskQuery, None]) -> list[Task]:
    """The tasks of a project that the caller may see.

    Members with Full Control see all. Others see their own tasks and those that wait for them, and never another
    copy of a unit that they work on.
    """
    return tasks_service.list_tasks(call.scope, call.project, call.query, call.level)


@OPERATIONS.post("/rest/Tasks/{project}", "CreateTaskList", needs=Permission.FULL, addresses=PROJECT)
def create_tasks(call: Call[Project, NoQuery, TaskSpec]) -> TaskCreated:
    """Make tasks of a selection of media: one for each media, or span of frames, and copy.

    A repeated request adds only the tasks of this name that do not exist yet. With `honeypots`, tasks on media whose
    annotations are known are mixed in; nothing that members below Full Control read tells them apart.
    """
    made, existing = tasks_service.create(call.scope, call.target, call.body)
    return TaskCreated(
        message=f"{len(made)} tasks created!",
        id=[task.id for task in made],
        existing=existing,
        honeypots=sum(task.is_honeypot for task in made),
    )


@OPERATIONS.get("/rest/TaskCounts/{project}", "GetTaskCounts", needs=Permission.VIEW, addresses=WITHIN_PROJECT)
def count_tasks(call: Call[Project, TaskQuery, None]) -> list[TaskCount]:
    """How many of the visible tasks are in each state, by set and person, with the seconds spent on them."""
    return tasks_service.counts(tasks_service.list_tasks(call.scope, call.project, call.query, call.level))


@OPERATIONS.post("/rest/NextTask/{project}", "NextTask", needs=Permission.EDIT, addresses=WITHIN_PROJECT, status=200)
def lease_next_task(call: Call[Project, NoQuery, NextTaskSpec]) -> Task:
    """Lease the next task for the caller: a task that the caller holds, or else one that waits.

    The lease ends at `leased_until` unless it is renewed by a PATCH of the task. Nobody else gets the task meanwhile.

    Raises:
        NotFound: no task waits for the caller.
    """
    task = leases.next_task(call.scope, call.project, call.body, call.level)
    if task is None:
        raise NotFound(f"No task of stage '{call.body.stage}' waits for you in project {call.project}.")
    return task


@OPERATIONS.get("/rest/TaskWorkflow/{project}", "GetTaskWorkflow", needs=Permission.VIEW, addresses=PROJECT)
def get_workflow(call: Call[Project, NoQuery, None]) -> TaskWorkflow:
    """The states of a project's tasks, and the changes between them."""
    return workflow.workflow_of(call.project)


@OPERATIONS.patch("/rest/TaskWorkflow/{project}", "UpdateTaskWorkflow", needs=Permission.FULL, addresses=PROJECT)
def change_workflow(call: Call[Project, NoQuery, TaskWorkflowUpdate]) -> TaskWorkflow:
    """Replace the states of a project's tasks, and the changes between them."""
    return workflow.change_workflow(call.project, call.body)


@OPERATIONS.get("/rest/Task/{id}", "GetTask", needs=Permission.VIEW, addresses=ONE)
def get_task(call: Call[Task, NoQuery, None]) -> Task:
    """One task."""
    return _seen(call)


@OPERATIONS.patch("/rest/Task/{id}", "UpdateTask", needs=Permission.EDIT, addresses=ONE)
def change_task(call: Call[Task, NoQuery, TaskUpdate]) -> Task:
    """Change the state or checklist of a task, or renew its lease. The person who has leased it may do so."""
    return leases.change(_seen(call), call.body, call.caller.id, call.level)


@OPERATIONS.delete("/rest/Task/{id}", "DeleteTask", needs=Permission.FULL, addresses=ONE)
def delete_task(call: Call[Task, NoQuery, None]) -> MessageResponse:
    """Delete a task. Its annotations stay."""
    records.remove(TASK, call.target.id, user=call.caller.id)
    if call.target.assignee is not None:
        blindness.show_copies(call.target, call.target.assignee)
    return MessageResponse(message=f"Task {call.target.id} deleted successfully!")


def _seen(call: Call[Task, Any, Any]) -> Task:
    if not tasks_service.is_visible(call.scope, call.target, call.level):
        raise NotFound.of(TASK.title, call.target.id)
    return call.target
