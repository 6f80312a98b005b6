"""Views that follow bulk writes before someone reads them.

The first query after an import would apply all of it, 20 µs of processor time a row. A process that lives on between
requests, as that of the local stack does, applies what it writes soon after it was written: `follow_written`, called
a few times a second. A step is short, and queries come before it.
"""

from __future__ import annotations

from chalicelib.errors import Unavailable
from chalicelib.storage.log import log
from chalicelib.storage.view import views
from chalicelib.storage.view.state import Gap

MANY = 1_000
"""Changes of a project that are not left to its next query, which takes 25 ms for as many."""


def follow_written() -> list[int]:
    """Bring the views of the projects to which this process wrote many changes up to date; returns these projects."""
    found = log.take_written(MANY)
    for project in found:
        try:
            views.follow(project)
        except (Gap, Unavailable):  # queries begin from the snapshot, or say so
            continue
    return found
