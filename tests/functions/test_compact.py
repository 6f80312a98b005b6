"""The compaction function on its schedule."""

from __future__ import annotations

import threading

import pytest

from chalicelib.maintenance import compaction
from chalicelib.storage.view.snapshot.snapshot_records import pointer
from functions import compact
from infra.local.background.schedule import Schedule, Timer, run


@pytest.mark.slow
def test_it_compacts_what_has_grown(api, project, monkeypatch):
    monkeypatch.setattr(compaction, "ENOUGH_CHANGES", 60)
    kind = api.made(f"MediaTypes/{project}", {"name": "image", "dtype": "image"})
    box = api.made(f"LocalizationTypes/{project}", {"name": "box", "dtype": "box", "media_types": [kind]})
    media = api.made(f"Medias/{project}", {"type": kind, "name": "a.jpg", "md5": ""})
    made = api.made(f"Localizations/{project}", [{"media_id": media, "type": box, "frame": 0} for _ in range(70)])
    run(Timer(name="compact", handler=compact.handler, every=1.0), "us-east-1")
    assert pointer(project)
    from chalicelib.storage.view import views

    views.drop(project)
    assert [each["id"] for each in api.get(f"Localizations/{project}").json] == sorted(made)


def test_without_time_it_begins_nothing(project, monkeypatch):
    monkeypatch.setattr(compaction.log, "growth", lambda: {project: 10**9})
    run(Timer(name="compact", handler=compact.handler, every=1.0, timeout=compact.SPARE - 1), "us-east-1")
    assert pointer(project) is None


def test_a_schedule_goes_on_after_a_failure_until_it_is_stopped():
    calls = []
    third = threading.Event()

    def handler(event, context):
        calls.append((event["detail-type"], context.get_remaining_time_in_millis() > 0))
        if len(calls) == 3:
            third.set()
        raise SystemExit

    schedule = Schedule(Timer(name="x", handler=handler, every=0.001))
    schedule.start()
    assert third.wait(30)
    assert schedule.stop(30)
    assert set(calls) == {("Scheduled Event", True)}


@pytest.mark.parametrize("seconds", [0.0, None])
def test_a_schedule_that_waits_stops_at_once(seconds):
    schedule = Schedule(Timer(name="x", handler=lambda *_: None, every=3600.0))
    schedule.start()
    schedule.stop(seconds)
    assert schedule.stop(30)
