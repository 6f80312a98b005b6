"""Wake-ups: a message after a commit of a project that is watched, so that senders of events look at its log.

A wake-up may be lost, and then the schedule finds the commits (`resources/webhooks/sweep.py`). So it is sent after the
commit, outside its transaction, and its failure fails no write. It is delayed, and covers the commits until then: a
container sends at most one for each project in `COVERED` seconds.
"""

from __future__ import annotations

import logging
import time
import uuid

from chalicelib.queues import Message, try_send
from chalicelib.settings import settings
from chalicelib.storage.log import log

DELAY = 1
"""Seconds until a wake-up can be received."""
COVERED = 0.5
"""Seconds after a wake-up in which a commit needs no other: less than `DELAY`, so that the commit is there by then."""
SHUN_SECONDS = 30.0
"""Seconds without wake-ups after the queue did not answer, so that writes do not wait for it."""
_MAX_REMEMBERED = 10_000
_logger = logging.getLogger("limn.wakeups")
_sent: dict[int, float] = {}
_shunned_until = 0.0


class ProjectChanged(Message, frozen=True, kw_only=True, tag="project.changed.1"):
    """The log of a project has new commits."""

    project: int
    seq: int
    id: str


def wake(project: int, seq: int) -> None:
    """Send a wake-up after a commit, where the project is watched and none was sent a moment ago."""
    if not (log.is_watched(project) or settings().event_bus):
        return
    global _shunned_until  # noqa: PLW0603 one per container
    moment = time.monotonic()
    if moment < _shunned_until or moment - _sent.get(project, -COVERED) < COVERED:
        return
    if len(_sent) > _MAX_REMEMBERED:
        _sent.clear()
    _sent[project] = moment
    message = ProjectChanged(project=project, seq=seq, id=uuid.uuid4().hex)
    if not try_send(settings().webhook_queue_url, message, delay=DELAY):
        _shunned_until = moment + SHUN_SECONDS
        _logger.warning("no wake-up for project %d; the schedule finds its commits", project)
