"""Many threads over HTTP: their recorded history is one that a single copy of the data could have given."""

from __future__ import annotations

import http.client
import itertools
import json
import threading
from collections import Counter
from functools import partial

import pytest

from infra.local.http.gateway import Server
from tests.faults import figures
from tests.faults.histories import Event, History, check
from tests.service import GATEWAY

SIZE = 12
CREATORS, SETTERS, READERS = 2, 3, 3
SECONDS = 4
MANY_SECONDS = 12
"""Longer ones come to lists that are too long for one answer."""
HISTORIES = 10


@pytest.fixture
def connect(api):
    """Opens clients of the API, each with a connection of its own."""
    server = Server(GATEWAY, "127.0.0.1", 0)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    connections = []

    def client():
        connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=60)
        connections.append(connection)
        headers = {"Authorization": f"Token {api.token}", "Content-Type": "application/json"}

        def ask(method, path, body=None):
            connection.request(method, f"/rest/{path}", json.dumps(body) if body is not None else None, headers)
            answer = connection.getresponse()
            text = answer.read()
            assert answer.status in (200, 201), (method, path, answer.status, text[:300])
            return json.loads(text)

        return ask

    yield client
    for connection in connections:
        connection.close()
    server.shutdown()
    thread.join()
    server.server_close()


def history_of(api, project, connect, seconds):
    """What creators, setters and readers of one project did for so long."""
    kind = api.made(f"MediaTypes/{project}", {"name": "v", "dtype": "video"})
    writers = [f"w{number}" for number in range(SETTERS)]
    attributes = [{"name": name, "dtype": "int", "default": 0} for name in writers]
    attributes.append({"name": "batch", "dtype": "string", "default": ""})
    spec = {"name": "b", "dtype": "box", "media_types": [kind], "attribute_types": attributes}
    box = api.made(f"LocalizationTypes/{project}", spec)
    media = api.made(f"Medias/{project}", {"type": kind, "name": "a", "md5": ""})
    shared = api.made(f"Localizations/{project}", [{"media_id": media, "type": box, "frame": 0}])[0]
    history, names = History(), itertools.count(1)

    def creator(ask):
        name = f"batch {next(names)}"
        boxes = [{"media_id": media, "type": box, "frame": 1, "attributes": {"batch": name}}] * SIZE
        history.record("creator", "create", lambda: ask("POST", f"Localizations/{project}", boxes), name)

    def setter(ask, who, numbers):
        number = next(numbers)
        body = {"attributes": {who: number}}
        history.record(who, "set", lambda: ask("PATCH", f"Localization/{shared}", body), number)

    def reader(ask, who):
        def look():
            things = ask("GET", f"Localizations/{project}")
            batches = Counter(each["attributes"]["batch"] for each in things if each["id"] != shared)
            numbers = next(each["attributes"] for each in things if each["id"] == shared)
            return batches, {name: numbers[name] for name in writers}

        history.record(who, "read", look)

    workers = [partial(creator, connect()) for _ in range(CREATORS)]
    workers += [partial(setter, connect(), who, itertools.count(1)) for who in writers]
    workers += [partial(reader, connect(), f"r{number}") for number in range(READERS)]
    history.run(workers, seconds)
    reader(connect(), "last")
    return history.events


@pytest.mark.slow
def test_a_history_has_no_lost_update_and_no_torn_create(api, project, connect):
    events = history_of(api, project, connect, SECONDS)
    assert {event.verb for event in events} == {"create", "set", "read"}
    assert check(events, SIZE) == []


@pytest.mark.nightly
@pytest.mark.parametrize("turn", range(HISTORIES))
def test_a_long_history_has_no_lost_update_and_no_torn_create(api, project, connect, turn):
    events = history_of(api, project, connect, MANY_SECONDS)
    assert check(events, SIZE) == []
    figures.note("histories checked", "eight threads on one project", 1)
    figures.note("requests in histories checked", "eight threads on one project", len(events))


def read(who, began, batches, numbers=None):
    return Event(who, "read", (Counter(batches), numbers or {}), began, began + 1)


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ([read("r", 0, {"a": 3})], "3 of 12 of a"),
        ([Event("c", "create", "a", 0, 1), read("r", 2, {})], "acknowledged and not seen"),
        ([Event("c", "create", "a", 5, 6), read("r", 2, {"a": 12})], "before it was begun"),
        ([Event("w", "set", 3, 0, 1), read("r", 2, {}, {"w": 2})], "w: 2 is not in 3"),
        ([Event("w", "set", 3, 0, 1), read("r", 2, {}, {"w": 9})], "w: 9 is not in"),
        ([read("r", 0, {"a": 12}), read("r", 2, {})], "a vanished for r"),
        ([read("r", 0, {}, {"w": 2}), read("r", 2, {}, {"w": 1})], "w went back for r"),
    ],
)
def test_the_checker_sees_what_is_wrong(events, told):
    assert any(told in each for each in check(events, SIZE))
