"""The views of a container: brought up to date before every use, the least recently used evicted to free memory."""

from __future__ import annotations

import resource
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from contextvars import ContextVar
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from weakref import WeakValueDictionary

from chalicelib.core.context import holding
from chalicelib.core.log.commits import Commit
from chalicelib.errors import Unavailable
from chalicelib.settings import settings
from chalicelib.storage.view.database.engine import engine, trim
from chalicelib.storage.view.locks import Shared
from chalicelib.storage.view.view import Gap, View

ReadAfter = Callable[[int, int], Iterable[Commit]]
"""From a project and a number to the commits after that number, in order: `log.read_after`."""
_PAGE = resource.getpagesize()
COMMITS_PER_TRANSACTION = 256
"""The most commits applied in one transaction: with `CHANGES_PER_TRANSACTION`, bounds the memory of a cold load."""
CHANGES_PER_TRANSACTION = 10_000
"""A transaction ends with the commit that makes it this many changes."""
FOLLOW_SECONDS = 20.0
"""The longest time, in seconds, that a request follows the log: a gateway waits 29 s. Progress is kept."""
_TOO_MUCH = "The project has grown faster than it can be read; try again in some seconds."
LIFETIME = 12 * 3600.0
"""Seconds after which a view restarts from the newest snapshot: objects of older ones stay for a day."""
LITTLE_DISK = 1_000_000
"""Views that wrote up to this many bytes are not evicted for want of disk."""
DISK_SHARE = 0.7
"""The share of the disk for views that data which cannot be fetched again may take."""


def _parts(commits: Iterable[Commit], changes: int) -> Iterator[list[Commit]]:
    """Commits in parts, each of one transaction."""
    part: list[Commit] = []
    left = changes
    for commit in commits:
        part.append(commit)
        left -= len(commit.changes)
        if left <= 0 or len(part) >= COMMITS_PER_TRANSACTION:
            yield part
            part, left = [], changes
    if part:
        yield part


class _Ahead(NamedTuple):
    """Commits of a project after a number, the first `COMMITS_PER_TRANSACTION`, which are being read."""

    project: int
    seq: int
    commits: Future[list[Commit]]


_AHEAD: ContextVar[_Ahead | None] = ContextVar("commits_ahead", default=None)
_readers = ThreadPoolExecutor(4, thread_name_prefix="look-ahead")


def looking_ahead() -> AbstractContextManager[None]:
    """Drop what was read ahead for a request and not used: it is too old for the next one."""
    return holding(_AHEAD, None)


def resident() -> int:
    """Resident memory of this process in bytes, as the kernel counts it."""
    with Path("/proc/self/statm").open("rb") as file:
        return int(file.read().split()[1]) * _PAGE


class Views:
    """The views of this container. All methods may be called from any thread."""

    def __init__(
        self,
        read_after: ReadAfter,
        memory: int | None = None,
        begin: Callable[[int], View] = View,
        measure: Callable[[], int] = resident,
    ) -> None:
        """Begin without views.

        Args:
            read_after: reads a project's log.
            memory: the most bytes that `measure` may return; by default the setting's.
            begin: makes the view from which a project's log is followed: that of its snapshot, or an empty one.
            measure: returns the memory of the process, in bytes.
        """
        self._read_after = read_after
        self._begin = begin
        self._memory = memory
        self._measure = measure
        self._lock = threading.Lock()
        self._views: OrderedDict[int, View] = OrderedDict()
        self._refreshes: WeakValueDictionary[int, Shared] = WeakValueDictionary()
        self._catching_up: set[int] = set()

    def current(self, project: int) -> View:
        """The project's view, with every commit made before this call."""
        with self._lock:
            shared = self._refreshes.get(project) or Shared()
            self._refreshes[project] = shared
        ahead = self._take_ahead(project)
        shared.run(lambda is_alone: self._refresh(project, ahead if is_alone else None))
        with self._lock:
            view = self._views.get(project)
        # Evicted meanwhile: only where views are many and memory is short.
        return view if view is not None else self.current(project)

    def look_ahead(self, project: int) -> None:
        """Begin to read the commits that the next `current` of this request needs, beside other calls.

        Call it inside `looking_ahead`.
        """
        with self._lock:
            view = self._views.get(project)
        if view is not None:
            seq = view.seq
            commits = _readers.submit(lambda: list(islice(self._read_after(project, seq), COMMITS_PER_TRANSACTION)))
            _AHEAD.set(_Ahead(project, seq, commits))

    def _take_ahead(self, project: int) -> _Ahead | None:
        """What `look_ahead` began to read, once: a second read may see this request's own changes."""
        found = _AHEAD.get()
        _AHEAD.set(None)
        return found if found is not None and found.project == project else None

    def is_loaded(self, project: int) -> bool:
        """Whether the project's view is in memory."""
        with self._lock:
            return project in self._views

    def seq_of(self, project: int) -> int | None:
        """The last commit of the project's view as it is in memory, None where it is not."""
        with self._lock:
            view = self._views.get(project)
        return None if view is None else view.seq

    def catch_up(self, project: int) -> None:
        """Bring the project's view up to date in the background; a later call continues where this one fails."""
        with self._lock:
            if project in self._catching_up:
                return
            self._catching_up.add(project)
        _readers.submit(self._catch_up, project)

    def _catch_up(self, project: int) -> None:
        try:
            self.current(project)
        finally:
            with self._lock:
                self._catching_up.discard(project)

    def drop(self, project: int) -> None:
        """Evict a view, and give its memory back once nobody reads it."""
        with self._lock:
            if project not in self._views:
                return
            self._release(project)
        trim()

    def _usable(self, project: int) -> View:
        """The project's view from the cache, or a new one."""
        with self._lock:
            view = self._views.get(project)
        if view is None or view.is_broken or view.age > LIFETIME:
            view = self._add(self._begin(project))
        return view

    def _refresh(self, project: int, ahead: _Ahead | None) -> None:
        view = self._usable(project)
        try:
            if ahead is not None and ahead.seq == view.seq:
                view.apply(commits := ahead.commits.result())
                if len(commits) == COMMITS_PER_TRANSACTION:
                    self._follow(view)
            else:
                self._follow(view)
        except Gap:
            # The log no longer reaches back to this view's commit: restart from the snapshot.
            view = self._add(self._begin(project))
            self._follow(view)
        self._evict(project)

    def _add(self, view: View) -> View:
        """Keep a view before it follows the log: progress made when the time ends is not lost."""
        with self._lock:
            self._views[view.project] = view
        return view

    def _follow(self, view: View) -> None:
        end = time.monotonic() + FOLLOW_SECONDS
        for number, commits in enumerate(_parts(self._read_after(view.project, view.seq), CHANGES_PER_TRANSACTION)):
            if number and time.monotonic() > end:
                raise Unavailable(_TOO_MUCH, retry_after=1)
            view.apply(commits)

    def _evict(self, project: int) -> None:
        """Evict the least recently used views until the process fits; the newest always stays.

        First goes what all views can read again from the disk. On the disk, only views with changes of their own take
        room that others cannot use.
        """
        budget = self._memory if self._memory is not None else settings().view_memory
        with self._lock:
            if project in self._views:
                self._views.move_to_end(project)
            if len(self._views) == 1 or (self._measure() <= budget and not engine().is_disk_short(DISK_SHARE)):
                return
            if self._measure() > budget:
                engine().shrink()
            excess = self._measure() - budget
            for each in [each for each in self._views if each != project]:
                if excess <= 0:
                    break
                # The allocator frees memory late: subtract the view's size from the measure, instead of measuring
                # again.
                excess -= self._views[each].memory
                self._release(each)
            large = [each for each, view in self._views.items() if view.store.written > LITTLE_DISK and each != project]
            for each in large:
                if not engine().is_disk_short(DISK_SHARE):
                    break
                self._release(each)
        trim()

    def _release(self, project: int) -> None:
        """Evict a view. It is not closed, for a reader may use it: its memory is freed with its last reader."""
        del self._views[project]
        engine().collect()
