"""Background work of the local stack lets requests go first, and comes to an end all the same."""

from __future__ import annotations

import sys
import threading
import time

import pytest

from chalicelib.core.time.background import end_turn, giving_way, make_way
from chalicelib.maintenance import compaction
from chalicelib.settings import override
from chalicelib.storage.view import apply_log
from infra.local.background import traffic
from infra.local.background.schedule import Schedule, Timer
from infra.local.background.traffic import Traffic


def test_only_background_work_makes_way():
    calls = []
    make_way()
    with giving_way(lambda: calls.append("waited")):
        make_way()
    make_way()
    assert calls == ["waited"]


def test_it_waits_for_the_last_running_request(monkeypatch):
    monkeypatch.setattr(traffic, "LONGEST_WAY", 60.0)
    roads, done = Traffic(), threading.Event()
    roads.wait_for_requests()

    def wait():
        roads.wait_for_requests()
        done.set()

    with roads.passing(writes=False):
        with roads.passing(writes=False):
            thread = threading.Thread(target=wait)
            thread.start()
        assert not done.is_set()
    thread.join(50)
    assert done.is_set()


def test_requests_without_end_do_not_stop_it(monkeypatch):
    monkeypatch.setattr(traffic, "LONGEST_WAY", 0.001)
    roads = Traffic()
    with roads.passing(writes=True):
        roads.wait_for_requests()


def test_long_work_waits_until_writes_pause_or_its_patience_ends(monkeypatch):
    roads, stopping = Traffic(), threading.Event()
    assert not roads.wait_until_quiet(stopping)
    with roads.passing(writes=False):
        pass
    assert not roads.wait_until_quiet(stopping)
    with roads.passing(writes=True):
        pass
    monkeypatch.setattr(traffic, "QUIET_SECONDS", 3600.0)
    monkeypatch.setattr(traffic, "PATIENCE_SECONDS", 0.0)
    assert not roads.wait_until_quiet(stopping)
    monkeypatch.setattr(traffic, "PATIENCE_SECONDS", 3600.0)
    stopping.set()
    assert roads.wait_until_quiet(stopping)


def test_a_schedule_that_waits_for_a_pause_can_be_stopped(monkeypatch):
    monkeypatch.setattr(traffic, "QUIET_SECONDS", 3600.0)
    roads, calls = Traffic(), []
    with roads.passing(writes=True):
        pass
    schedule = Schedule(
        Timer(name="x", handler=lambda *_: calls.append(time.time()), every=0.001, waits=True), traffic=roads
    )
    schedule.start()
    assert schedule.stop(60)
    assert not calls


@pytest.mark.slow
def test_a_compaction_makes_way_between_commits_and_pieces_of_rows(api, project, monkeypatch):
    monkeypatch.setattr(apply_log, "_ROWS_A_PIECE", 10)
    kind = api.made(f"MediaTypes/{project}", {"name": "image", "dtype": "image"})
    box = api.made(f"LocalizationTypes/{project}", {"name": "box", "dtype": "box", "media_types": [kind]})
    media = api.made(f"Medias/{project}", {"type": kind, "name": "a.jpg", "md5": ""})
    api.made(f"Localizations/{project}", [{"media_id": media, "type": box, "frame": 0} for _ in range(70)])
    calls = []
    with giving_way(lambda: calls.append(1)):
        assert compaction.compact(project, force=True)
    assert len(calls) >= 70 / 10 + 4  # pieces of rows, and commits


class Turns:
    """Requests that write, with the processor time that a test gives them."""

    def __init__(self, monkeypatch):
        self.worked, self.pauses = 0.0, []
        self.roads = Traffic()
        monkeypatch.setattr(time, "thread_time", lambda: self.worked)
        monkeypatch.setattr(self.roads._condition, "wait_for", lambda _, pause: self.pauses.append(pause))

    def work(self, seconds):
        self.worked += seconds
        end_turn()


def test_a_request_that_has_worked_for_long_pauses_while_short_ones_run(monkeypatch):
    turns = Turns(monkeypatch)
    end_turn()
    with turns.roads.passing(writes=True):
        turns.work(0.01)
        turns.work(0.02)
        assert turns.pauses == []  # no other request runs
        with turns.roads.passing(writes=False):
            turns.work(0.02)
            assert turns.pauses == []
        turns.roads._short += 1  # a request of another thread
        turns.work(0.01)
        assert turns.pauses == [pytest.approx(traffic.PAUSES * 0.01)]
        turns.work(60.0)
        assert turns.pauses[1:] == [traffic.LONGEST_PAUSE]


def test_the_pauses_of_a_request_end(monkeypatch):
    turns = Turns(monkeypatch)
    monkeypatch.setattr(traffic, "LONGEST_PAUSES", 0.0)
    turns.roads._short = 1
    with turns.roads.passing(writes=True):
        turns.work(60.0)
    assert turns.pauses == []


def test_the_interpreter_changes_threads_sooner_while_a_long_request_runs(monkeypatch):
    turns, given = Turns(monkeypatch), sys.getswitchinterval()
    try:
        with turns.roads.passing(writes=True):
            turns.work(0.01)
            assert sys.getswitchinterval() == given
            turns.work(0.02)
            assert sys.getswitchinterval() == pytest.approx(traffic.SHORT_SWITCH)
        assert sys.getswitchinterval() == pytest.approx(traffic.SWITCH)
    finally:
        sys.setswitchinterval(given)


def test_a_bulk_creation_ends_its_turn_before_each_batch(api, project, monkeypatch):
    kind = api.made(f"MediaTypes/{project}", {"name": "image", "dtype": "image"})
    box = api.made(f"LocalizationTypes/{project}", {"name": "box", "dtype": "box", "media_types": [kind]})
    media = api.made(f"Medias/{project}", {"type": kind, "name": "a.jpg", "md5": ""})
    calls = []
    monkeypatch.setattr(Traffic, "_end_turn", lambda *_: calls.append(1))
    with override(calls_wait=False):
        api.made(f"Localizations/{project}", [{"media_id": media, "type": box, "frame": 0} for _ in range(100)])
    assert len(calls) == 5  # four batches of 25, and the transaction that makes them visible
