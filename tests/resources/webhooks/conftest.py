from __future__ import annotations

import pytest

from chalicelib.resources.webhooks import delivery
from chalicelib.settings import override
from chalicelib.storage.dynamodb.progress import streams
from chalicelib.storage.log import wakeups
from tests.resources.webhooks import receiver as receivers
from tests.roles import RECORDER


@pytest.fixture
def receiver():
    with receivers.running() as found, override(service_origins=[found.url]):
        yield found


@pytest.fixture
def hook(api, project, receiver):
    """Registers a webhook of the project at a path of the receiver; returns its id."""

    def make(path="/ok", types=("*",), **more):
        body = {"name": path, "url": receiver.url + path, "types": list(types), **more}
        said = api.post(f"Webhooks/{project}", body)
        assert said.status == 201, said.body
        receiver.secrets[path] = said.json["secret"]
        return said.json["id"]

    return make


@pytest.fixture
def section(api, project):
    """Makes a section, which is one commit with one event; returns its id."""
    numbers = iter(range(10_000))
    return lambda: api.made(f"Sections/{project}", {"name": f"s{next(numbers)}"})


@pytest.fixture(autouse=True)
def at_once(monkeypatch, no_delays):
    """Wake-ups can be received at once, and each commit sends one."""
    monkeypatch.setattr(wakeups, "COVERED", -1.0)
    monkeypatch.setattr(wakeups, "_shunned_until", 0.0)


@pytest.fixture
def later(api):
    """What the schedule and the queues do after a time: what is to be tried again is due."""

    def run(seconds=86_400.0):
        def age(stream):
            stream.next_at = max(0.0, stream.next_at - seconds)
            stream.failing_since = stream.failing_since and stream.failing_since - seconds

        for stream in list(streams.every(delivery.WORD)):
            streams.change(delivery.WORD, stream.project, stream.reader, age)
        with RECORDER.acting("Webhook"):
            delivery.sweep()
        api.drain()

    return run
