"""The sender of webhooks, killed at its AWS calls: each event arrives at least once, in order, and none is invented."""

from __future__ import annotations

from contextlib import suppress

import pytest

from chalicelib.resources.events import service as events_service
from chalicelib.resources.webhooks import advance, delivery
from chalicelib.storage.dynamodb.progress import streams
from chalicelib.storage.log import wakeups
from tests.faults.crashes import MODES, Killed, KilledReading, crasher
from tests.faults.rewind import restart
from tests.resources.webhooks.conftest import hook, receiver, section

__all__ = ["hook", "receiver", "section"]
SAMPLE = 9
MOST_CALLS = 80


@pytest.fixture(autouse=True)
def often(monkeypatch, no_delays):
    monkeypatch.setattr(wakeups, "COVERED", -1.0)
    monkeypatch.setattr(advance, "SAVE_EVERY", 2)


def end_leases():
    """Time passes: what a process that died held is free, and what waits is due."""

    def free(stream):
        stream.lease, stream.lease_until, stream.next_at = "", 0.0, 0.0

    for stream in list(streams.every(delivery.WORD)):
        streams.change(delivery.WORD, stream.project, stream.reader, free)


def is_in_order(got, wanted):
    """Whether events came in order, with repetitions that begin again further back."""
    places = [wanted.index(each) for each in got]
    return all(later <= before + 1 for before, later in zip([-1, *places], places, strict=False))


def sweep(api, project, receiver, section, chosen):
    tried, wrong = 0, []
    with crasher() as hook_:
        for mode in MODES:
            for number in range(1, MOST_CALLS):
                if not chosen(number):
                    continue
                start = events_service.last(project)
                receiver.ids.clear()
                for _ in range(3):
                    section()
                receiver.answers["/ok"] = 200
                hook_.arm(number, mode)
                with suppress(Killed, KilledReading):
                    api.drain()
                fired = hook_.fired
                hook_.revive()
                restart()
                for _ in range(2):
                    end_leases()
                    delivery.sweep()
                    api.drain()
                wanted = [event.id for event in events_service.read(project, after=start).events]
                if set(receiver.ids) != set(wanted) or not is_in_order(receiver.ids, wanted):
                    wrong.append(f"{mode} call {number} {fired}: {receiver.ids} of {wanted}")
                if not fired:
                    break
                tried += 1
    return tried, wrong


@pytest.mark.slow
def test_a_sample_of_crashes_loses_no_event(api, project, receiver, hook, section):
    hook()
    tried, wrong = sweep(api, project, receiver, section, lambda number: number % SAMPLE == 0)
    assert not wrong, "\n".join(wrong)
    assert tried > 4


@pytest.mark.nightly
def test_no_crash_loses_an_event(api, project, receiver, hook, section):
    hook()
    hook("/second", ["limn.version.*"])
    tried, wrong = sweep(api, project, receiver, section, lambda _: True)
    assert not wrong, "\n".join(wrong)
    assert tried > 40
