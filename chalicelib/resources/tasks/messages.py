"""The message of tasks. Queue: dataset."""

from __future__ import annotations

from chalicelib.queues.base import Message


class ScoreTask(Message, frozen=True, kw_only=True, tag="tasks.score.1"):
    """Score a task of a set with honeypots, if it is one. It is sent before the task is handed in. Queue: dataset."""

    task: int
    user: int
    """Who hands it in."""
    at: str
    """When; a task that is handed in again is scored again."""
