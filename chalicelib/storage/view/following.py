"""Views that follow bulk writes before someone reads them.

The first query after an import would apply all of it, 20 µs of processor time a row. A process that lives on between
requests, as that of the local stack does, applies what it writes soon after it was written: `follow_written`, called
some times a second. A step is short, and queries come before it. Where no request runs, less is worth it.
"""

from __future__ import annotations

import logging

from chalicelib.errors import Unavailable
from chalicelib.storage.log import log
from chalicelib.storage.view import views
from chalicelib.storage.view.state import Gap

_logger = logging.getLogger("limn.following")
MANY = 1_000
"""Changes of a project that are not left to its next query, which takes 25 ms for as many."""
SOME = 100
"""The same while no request runs."""


def follow_written(least: int = MANY) -> list[int]:
    """Bring the views of the projects to which this process wrote at least so many changes up to date.

    Returns:
        these projects.
    """
    found = log.take_written(least)
    for project in found:
        try:
            views.follow(project)
        except (Gap, Unavailable):  # queries begin from the snapshot, or say so
            continue
        except Exception:  # the next query meets the same error and answers it
            _logger.exception("the view of project %d could not follow", project)
    return found
