"""Projects of a container share memory, disk, threads and time: what one takes leaves the others their part."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from chalicelib.core.time.deadline import time_limit
from chalicelib.errors import Unavailable
from chalicelib.storage.view import cache
from chalicelib.storage.view.cache import Views
from chalicelib.storage.view.database.devices import (
    CHUNK,
    FETCHERS,
    FETCHERS_EACH,
    LONGEST_RANGE,
    Cache,
    Device,
    Extent,
)
from chalicelib.storage.view.database.documents import Pack, PackCache
from chalicelib.storage.view.database.engine import engine
from chalicelib.storage.view.database.shares import MOST_OF_PROJECT, MOST_STATEMENTS, SHARE
from chalicelib.storage.view.view import View
from tests.query.query_worlds import commit
from tests.storage.test_view import Log, box_type, boxed, found

WAIT = 60


class Stopped:
    """Statements or requests that stop where they are until they are let go on."""

    def __init__(self):
        self.at_work = threading.Semaphore(0)
        self.go = threading.Event()
        self.begun = 0
        self.lock = threading.Lock()

    def stop(self):
        with self.lock:
            self.begun += 1
        self.at_work.release()
        assert self.go.wait(WAIT)

    def wait_for(self, number):
        for _ in range(number):
            assert self.at_work.acquire(timeout=WAIT)


def remote(cache, chunks, fetch=None):
    body = os.urandom(1000) * (chunks * CHUNK // 1000 + 1)
    read = fetch or (lambda _, offset, length: body[offset : offset + length])
    return Device(cache, read, [Extent(0, chunks * CHUNK, "object", 0)], chunks * CHUNK)


def project(number=1):
    view = View(number)
    view.apply([commit(1, [box_type(n="int"), *(boxed(each, {"n": each}) for each in range(1, 20))])])
    return view


@pytest.fixture
def stopped(monkeypatch):
    """Statements of a view that stop; released at the end."""
    made = Stopped()
    yield made
    made.go.set()


def run_stopped(view, stopped, number):
    """Begin statements that stop while they hold their turn."""

    class Cursor:
        def extract_statements(self, text):
            return engine()._root.extract_statements(text)

        def execute(self, *_):
            stopped.stop()
            return self

        def fetchall(self):
            return []

        def interrupt(self): ...

        def close(self): ...

    view.store._cursors = _Endless(Cursor())
    threads = [threading.Thread(target=view.store.run, args=("SELECT 1",), daemon=True) for _ in range(number)]
    for thread in threads:
        thread.start()
    return threads


class _Endless:
    """A queue that always has the same cursor."""

    def __init__(self, cursor):
        self.cursor = cursor

    def get_nowait(self):
        return self.cursor

    def put(self, _):
        """Nothing to keep."""


def test_statements_of_one_project_leave_turns_to_the_others(stopped):
    busy, other = project(1), project(2)
    threads = run_stopped(busy, stopped, 3 * MOST_STATEMENTS)
    stopped.wait_for(MOST_OF_PROJECT)
    assert found(other, attribute=["n::7"]) == [7]
    with time_limit(0.05), pytest.raises(Unavailable):
        busy.store.run("SELECT 1")
    assert stopped.begun == MOST_OF_PROJECT < MOST_STATEMENTS
    stopped.go.set()
    for thread in threads:
        thread.join(WAIT)
    assert stopped.begun == 3 * MOST_STATEMENTS


def test_statements_of_all_projects_are_bounded(stopped):
    views = [project(number) for number in range(1, 6)]
    threads = [thread for view in views for thread in run_stopped(view, stopped, MOST_OF_PROJECT)]
    stopped.wait_for(MOST_STATEMENTS)
    with time_limit(0.05), pytest.raises(Unavailable):
        project(9).store.run("SELECT 1")
    assert stopped.begun == MOST_STATEMENTS
    stopped.go.set()
    for thread in threads:
        thread.join(WAIT)


def test_a_file_that_is_larger_than_the_disk_leaves_the_others_their_chunks():
    disk = Cache(100 * CHUNK)
    small, large = remote(disk, 20), remote(disk, 500)
    large.read(0, 100 * CHUNK)
    assert disk._fetched.number_of(large._number) == 100  # nobody else needs the room
    small.read(0, 20 * CHUNK)
    large.read(100 * CHUNK, 400 * CHUNK)
    fetched = small.fetched
    small.read(0, 20 * CHUNK)
    assert small.fetched == fetched
    assert disk._fetched.number_of(large._number) + disk._fetched.number_of(small._number) <= 100


def test_documents_of_one_project_leave_the_others_theirs():
    packs = PackCache(100_000)
    pack = Pack(b"x" * 900, [0, 900])
    for key in range(10):
        packs.put((1, key), pack)
    for key in range(1000):
        packs.put((2, key), pack)
    assert packs.get(1, range(10)).keys() == set(range(10))
    assert packs.memory <= 100_000
    packs.shrink()
    assert packs.memory == 0
    assert not packs.get(1, [1])


def test_a_file_that_nobody_reads_keeps_no_documents():
    packs = PackCache(100_000)
    pack = Pack(b"x" * 900, [0, 900])
    for owner in (1, 2):
        for key in range(10):
            packs.put((owner, key), pack)
    half = packs.memory // 2
    packs.forget(1)
    assert (packs.get(1, range(10)), len(packs.get(2, range(10)))) == ({}, 10)
    assert packs.memory == half


@pytest.mark.slow
def test_a_long_read_leaves_requests_to_the_others(stopped):
    disk = Cache(1000 * CHUNK)

    def stop(_key, _offset, length):
        stopped.stop()
        return bytes(length)

    long = remote(disk, 4 * FETCHERS * LONGEST_RANGE // CHUNK, stop)
    reader = threading.Thread(target=long.read, args=(0, long.size), daemon=True)
    reader.start()
    stopped.wait_for(FETCHERS_EACH)
    other = remote(disk, 3 * LONGEST_RANGE // CHUNK)
    assert len(other.read(0, other.size)) == other.size
    assert stopped.begun == FETCHERS_EACH < FETCHERS
    stopped.go.set()
    reader.join(WAIT)
    assert not reader.is_alive()


class TestEviction:
    def logged(self, projects):
        log = Log()
        for number in projects:
            log.append(number, [box_type(n="int"), *(boxed(each, {"n": each}) for each in range(1, 20))])
        return log

    def test_what_can_be_read_again_goes_before_views(self, monkeypatch):
        log, shrunk = self.logged(range(1, 6)), []
        views = Views(log.read_after, memory=100, measure=lambda: 101 if len(views._views) == 5 and not shrunk else 99)
        monkeypatch.setattr(type(engine()), "shrink", lambda _: shrunk.append(1))
        for number in range(1, 6):
            views.current(number)
        assert shrunk == [1]
        assert len(views._views) == 5

    def test_only_views_with_writes_of_their_own_go_for_want_of_disk(self, monkeypatch):
        log = self.logged(range(1, 5))
        views = Views(log.read_after, memory=10**12)
        for number in range(1, 5):
            views.current(number)
        monkeypatch.setattr(cache, "LITTLE_DISK", views._views[3].store.written)
        views._views[3].compress()
        monkeypatch.setattr(type(engine()), "is_disk_short", lambda *_: True)
        views.current(4)
        assert list(views._views) == [1, 2, 4]

    def test_the_memory_of_the_process_is_measured(self):
        from chalicelib.storage.view.cache import resident

        before = resident()
        taken = bytearray(os.urandom(1000)) * 50_000
        assert resident() - before > 0.8 * len(taken)


@pytest.mark.slow
def test_more_projects_take_no_more_handles_or_threads():
    log = Log()
    for number in range(1, 31):
        log.append(number, [box_type(n="int"), boxed(1, {"n": 7})])
    views = Views(log.read_after, memory=10**12)
    found(views.current(1), attribute=["n::7"])
    before, running = handles(), threads()
    for number in range(2, 31):
        found(views.current(number), attribute=["n::7"])
    assert handles() <= before + 1
    assert threads() <= running + 1  # that of deadlines may begin


def threads():
    return len(list(Path("/proc/self/task").iterdir()))


def handles():
    return len(list(Path("/proc/self/fd").iterdir()))


def test_the_memory_of_duckdb_is_reduced_by_what_views_hold():
    def limit():
        ((value,),) = (
            engine()._root.execute("SELECT value FROM duckdb_settings() WHERE name = 'memory_limit'").fetchall()
        )
        number, unit = value.split()
        return float(number) * {"MiB": 2**20, "GiB": 2**30}[unit]

    view = project()
    whole = limit()
    engine().record_vectors(view.store.name, 600_000_000)
    assert limit() < whole - 100_000_000
    view.close()
    assert limit() == whole
    assert 2 * SHARE < 1
