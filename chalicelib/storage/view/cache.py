"""The views of a container: brought up to date before every use, the least recently used given up for memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable

from chalicelib.core.commits import Commit
from chalicelib.settings import settings
from chalicelib.storage.view.locks import Shared
from chalicelib.storage.view.view import Gap, View

ReadAfter = Callable[[int, int], Iterable[Commit]]
"""From a project and a number to the commits after that number, in order: `log.read_after`."""
COMMITS_AT_ONCE = 256
"""How many commits are applied in one transaction: bounds what a cold load holds twice."""


class Views:
    """The views that this container has. All methods may be called from any thread."""

    def __init__(self, read_after: ReadAfter, memory: int | None = None, begin: Callable[[int], View] = View) -> None:
        """Keep no views yet.

        Args:
            read_after: reads a project's log.
            memory: the budget in bytes for all views together; that of the settings if not given.
            begin: makes the view that a project's log is followed from: that of its snapshot, or an empty one.
        """
        self._read_after = read_after
        self._begin = begin
        self._memory = memory
        self._lock = threading.Lock()
        self._views: OrderedDict[int, View] = OrderedDict()
        self._refreshes: dict[int, Shared] = {}

    def current(self, project: int) -> View:
        """The project's view, with all that was committed before this call."""
        with self._lock:
            shared = self._refreshes.setdefault(project, Shared())
        shared.run(lambda: self._refresh(project))
        with self._lock:
            view = self._views.get(project)
        # Given up in between: only where views are many and memory is short.
        return view if view is not None else self.current(project)

    def loaded(self, project: int) -> bool:
        """Whether the project's view is in memory."""
        with self._lock:
            return project in self._views

    def drop(self, project: int) -> None:
        """Give up a view."""
        with self._lock:
            self._views.pop(project, None)

    def _refresh(self, project: int) -> None:
        with self._lock:
            view = self._views.get(project)
        if view is None:
            view = self._begin(project)
        try:
            self._follow(view)
        except Gap:
            # The log no longer reaches back to where this view stands: begin anew.
            view = self._begin(project)
            self._follow(view)
        with self._lock:
            self._views[project] = view
            self._views.move_to_end(project)
            self._evict()

    def _follow(self, view: View) -> None:
        waiting: list[Commit] = []
        for commit in self._read_after(view.project, view.seq):
            waiting.append(commit)
            if len(waiting) >= COMMITS_AT_ONCE:
                view.apply(waiting)
                waiting = []
        view.apply(waiting)

    def _evict(self) -> None:
        """Give up least recently used views until the rest fits; the newest stays whatever its size."""
        budget = self._memory if self._memory is not None else settings().view_memory
        while len(self._views) > 1 and sum(view.memory for view in self._views.values()) > budget:
            # Not closed: a reader may hold it. Its memory goes with its last reader.
            self._views.popitem(last=False)
