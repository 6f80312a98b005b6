"""Bulk changes of thousands in one request: within the gateway's time, and with nothing left to the queue."""

from __future__ import annotations

import time

import pytest

from chalicelib.storage.log import intents
from tests.resources.annotations.boxes import settle

pytestmark = pytest.mark.slow

GATEWAY_SECONDS = 29


@pytest.mark.parametrize("rows", [pytest.param(1_500), pytest.param(20_000, marks=pytest.mark.nightly)])
def test_all_are_changed_moved_and_deleted_in_one_request_each(api, project, rows):
    here = settle(api, project)
    for start in range(0, rows, 500):
        api.made(here.many, [here.spec(frame=start + frame) for frame in range(500)])
    layer = here.version()

    def timed(method, body):
        began = time.monotonic()
        said = api.ask(method, here.many, body, count=rows)
        assert said.status == 200, said.body
        assert time.monotonic() - began < GATEWAY_SECONDS

    timed("PATCH", {"attributes": {"count": 7}})
    assert here.count(attribute="count::7") == rows
    timed("PATCH", {"new_version": layer})
    assert here.count(version=layer) == rows
    timed("DELETE", {})
    assert here.count() == 0
    assert here.count(show_deleted=1) == rows


@pytest.mark.usefixtures("no_delays")
@pytest.mark.parametrize("rows", [pytest.param(1_000), pytest.param(20_000, marks=pytest.mark.nightly)])
def test_killed_in_the_middle_an_edit_and_a_deletion_of_all_are_finished_by_the_queue(api, project, rows, monkeypatch):
    here = settle(api, project)
    for start in range(0, rows, 500):
        api.made(here.many, [here.spec(frame=start + frame) for frame in range(500)])
    real = intents.Progress.advance

    def killed(progress, count, *, committed):
        real(progress, count, committed=committed)
        if progress.done > rows // 2:
            raise RuntimeError("killed")

    def halfway(method, body):
        with monkeypatch.context() as patch:
            patch.setattr(intents.Progress, "advance", killed)
            assert api.ask(method, here.many, body, count=rows).status == 500

    halfway("PATCH", {"attributes": {"count": 7, "text": "7"}})
    assert rows // 2 < here.count(attribute="count::7") < rows
    assert here.count(attribute="count::7") == here.count(attribute="text::7")
    timed(api.drain)
    assert here.count(attribute=["count::7", "text::7"]) == rows
    halfway("DELETE", {})
    assert 0 < here.count() < rows // 2
    timed(api.drain)
    assert here.count() == 0
    assert here.count(show_deleted=1) == rows


def timed(do):
    """Do something within the gateway's time."""
    began = time.monotonic()
    do()
    assert time.monotonic() - began < GATEWAY_SECONDS
