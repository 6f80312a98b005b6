"""The views that a container is making anew, because their snapshot has another shape (`shapes.py`).

Rows of ten million entities take minutes, and a request has 20 s. So a request makes rows until its time ends, and the
next one goes on after the last of them. Meanwhile the compaction does the same: where it was faster, its snapshot is
opened instead.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict

from chalicelib.core.time.deadline import remaining
from chalicelib.errors import Unavailable
from chalicelib.storage.log import growth
from chalicelib.storage.view.cache import DISK_SHARE, FOLLOW_SECONDS, LIFETIME
from chalicelib.storage.view.database.engine import engine
from chalicelib.storage.view.snapshot import snapshots
from chalicelib.storage.view.snapshot.renewal import Renewal
from chalicelib.storage.view.snapshot.snapshot_records import Manifest
from chalicelib.storage.view.view import View

MAX_RENEWALS = 8
"""The number of views under way in a container."""


class UnderWay(Unavailable):
    """Not all rows of a view are copied yet."""


class Renewals:
    """The views under way. All methods may be called from any thread, for one project by one thread at a time."""

    def __init__(self, *, notes_growth: bool = True) -> None:
        """Begin without views.

        Args:
            notes_growth: whether the compaction learns of a project whose view is begun.
        """
        self._notes_growth = notes_growth
        self._lock = threading.Lock()
        self._found: OrderedDict[int, Renewal] = OrderedDict()

    def begin(self, project: int, seconds: float = FOLLOW_SECONDS) -> View:
        """The view of the current snapshot, or an empty one.

        Args:
            project: its id.
            seconds: the longest time for making rows, less where the request has less.

        Raises:
            NotFound: a file of the snapshot is missing.
            UnderWay: not all rows are made; the next call goes on.
        """
        left = remaining()
        end = time.monotonic() + (seconds if left is None else min(left, seconds))
        return snapshots.begin(project, lambda number, manifest: self._read(number, manifest, end))

    def drop(self, project: int) -> None:
        """Forget the view of a project that is under way."""
        with self._lock:
            self._found.pop(project, None)

    def _read(self, project: int, manifest: Manifest, end: float) -> View:
        if manifest.database is None or not snapshots.is_other(manifest):
            self.drop(project)
            return snapshots.read(project, manifest)
        with self._lock:
            renewal = self._found.get(project)
        # A later snapshot of another shape changes nothing: the log leads there.
        if renewal is None or renewal.is_broken or renewal.old.age > LIFETIME or renewal.old.seq > manifest.seq:
            renewal = Renewal(snapshots.open_view(project, manifest))
            self._add(project, renewal)
            if self._notes_growth:
                growth.record(project, 0, 0)
        view = renewal.go_on(end)
        if view is None:
            message = "The project's view is being made anew for a new release; try again in some seconds."
            raise UnderWay(message, f"{renewal.rows} of {manifest.rows} rows are made.", retry_after=5)
        self.drop(project)
        return view

    def _add(self, project: int, renewal: Renewal) -> None:
        """Keep one, and drop those that were begun first where they are many or the disk is short."""
        with self._lock:
            self._found.pop(project, None)
            self._found[project] = renewal
            while len(self._found) > MAX_RENEWALS or (len(self._found) > 1 and engine().is_disk_short(DISK_SHARE)):
                self._found.popitem(last=False)
                engine().collect()
