"""Entries of entities whose type or version was deleted, while their rows are still being deleted.

The deletion is one commit without the ids of the entities; a queue function deletes the rows later, with entries of
their own (`resources/types/retirement.py`). Until then the ids are in the list that the function works through.
"""

from __future__ import annotations

from collections.abc import Iterator

from chalicelib.core.log.commits import Commit, Edit
from chalicelib.core.log.edits import deleted
from chalicelib.resources.types import retirement
from chalicelib.storage.dynamodb import retired
from chalicelib.storage.dynamodb.retired import Retired
from chalicelib.storage.log import log


def list_edits(project: int) -> Iterator[tuple[Commit, list[Edit]]]:
    """The commits that deleted definitions, each with the entries of the entities whose rows are not deleted yet."""
    for entry in retired.current(project).entries:
        commits = log.read_after(project, entry.seq)
        end = next((commit for commit in commits if _ends(commit, entry)), None)
        if end is None:  # it was read while the definition was being deleted
            continue
        buried = {
            (edit.kind, number)
            for commit in commits
            for edit in commit.edits
            if edit.new.get("_deleted") is True
            for number in edit.ids
        }
        left = (
            (kind, [number for number in numbers if (kind, number) not in buried])
            for kind, numbers in retirement.list_entities(project, entry)
        )
        yield end, [deleted(kind, numbers) for kind, numbers in left if numbers]


def _ends(commit: Commit, entry: Retired) -> bool:
    return any(
        change.is_gone and change.is_definition and (change.kind, change.id) == (entry.kind.value, entry.id)
        for change in commit.changes
    )
