"""Copies that are blind to each other: while a person works on one, queries leave out the layers of the others.

The note is made before the lease and removed after the task is closed, so that a crash in between hides too much rather
than too little; `tidy` removes what a crash left. Members with Full Control see all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import msgspec

from chalicelib.core.models.definitions import VERSION
from chalicelib.core.models.personal import HIDDEN_LAYERS, HiddenCopy, HiddenLayers
from chalicelib.core.records import padded
from chalicelib.errors import Conflict
from chalicelib.resources.tasks.schemas import COPY, MOST_COPIES, TASK, Task, copy_claim
from chalicelib.storage.dynamodb import records


def hide_copies(task: Task, user: int) -> None:
    """Hide the layers of the other copies of a task's unit, and what was made of them, from a person.

    None is hidden where all copies have the same layer.
    """
    if task.version is None:
        return
    copies = records.owners_of(TASK, COPY, [copy_claim(task.unit, copy) for copy in range(1, MOST_COPIES + 1)])
    unit = records.many(TASK, copies.values()).values()
    others = {each.version for each in unit if each.version is not None} - {task.version}
    if others:
        derived = {each.id for each in records.list_children(VERSION, task.project) if others & {*each.made_of}}
        copy = HiddenCopy(media=task.media_id, versions=sorted(others | derived))
        _edit(task.project, user, lambda tasks: {**tasks, str(task.id): copy})


def hide_derived(project: int, version: int, sources: Collection[int]) -> None:
    """Hide a layer that is made of others from all who work on a copy that is blind to one of those."""
    for found in records.list_children(HIDDEN_LAYERS, project):
        if any(each in sources for each in found.versions.values()):
            _hide_everywhere(found, version, sources)
        if any({*sources} & {*copy.versions} and version not in copy.versions for copy in found.tasks.values()):
            _edit(
                project,
                found.user,
                lambda tasks: {
                    key: msgspec.structs.replace(copy, versions=sorted({*copy.versions, version}))
                    if {*sources} & {*copy.versions}
                    else copy
                    for key, copy in tasks.items()
                },
            )


def _hide_everywhere(found: HiddenLayers, version: int, sources: Collection[int]) -> None:
    def edit(now: HiddenLayers) -> HiddenLayers:
        more = {f"{key.partition('|')[0]}|{version}": version for key, each in now.versions.items() if each in sources}
        return msgspec.structs.replace(now, versions={**now.versions, **more})

    records.edit(HIDDEN_LAYERS, found.uid, edit)


def show_copies(task: Task, user: int) -> None:
    """Show them again."""
    if _find(task.project, user) is not None:
        _edit(task.project, user, lambda tasks: {key: each for key, each in tasks.items() if key != str(task.id)})


def tidy(project: int, user: int) -> None:
    """Show the copies of tasks that are closed, deleted, or somebody else's now."""
    found = _find(project, user)
    if found is None or not found.tasks:
        return
    tasks = {key: records.maybe(TASK, int(key)) for key in found.tasks}
    over = {key for key, task in tasks.items() if task is None or task.stage == "closed" or task.assignee != user}
    if over:
        _edit(project, user, lambda kept: {key: each for key, each in kept.items() if key not in over})


def _find(project: int, user: int) -> HiddenLayers | None:
    return records.find(HIDDEN_LAYERS, project, padded(user))


def _edit(project: int, user: int, edit: Callable[[dict[str, HiddenCopy]], dict[str, HiddenCopy]]) -> None:
    uid = f"{project}-{user}"
    if _find(project, user) is None:
        try:
            records.create(HIDDEN_LAYERS, HiddenLayers(uid=uid, project=project, user=user, tasks=edit({})))
        except Conflict:
            pass
        else:
            return
    records.edit(HIDDEN_LAYERS, uid, lambda found: msgspec.structs.replace(found, tasks=edit(found.tasks)))
