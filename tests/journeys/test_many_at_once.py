"""Several clients on one project, over HTTP, as they meet in practice."""

from __future__ import annotations

import http.client
import json
import threading
from urllib.parse import urlencode, urlsplit

import pytest
import tator

from tests.watching import Watch

pytestmark = pytest.mark.slow

WRITERS = [f"w{number}" for number in range(8)]


@pytest.fixture
def place(shared_stack):
    return shared_stack.place


@pytest.fixture
def connect(place):
    """Opens connections, which are closed at the end."""
    made: list[Client] = []

    def open_one() -> Client:
        made.append(Client(place))
        return made[-1]

    yield open_one
    for client in made:
        client.close()


class Client:
    """Somebody with a connection that stays open."""

    def __init__(self, place):
        self._connection = http.client.HTTPConnection(urlsplit(place["url"]).netloc, timeout=60)
        self._headers = {"Authorization": f"Token {place['token']}", "Content-Type": "application/json"}

    def ask(self, method: str, path: str, body=None, **query):
        target = f"/rest/{path}?{urlencode(query)}" if query else f"/rest/{path}"
        self._connection.request(method, target, json.dumps(body) if body is not None else None, self._headers)
        answer = self._connection.getresponse()
        text = answer.read()
        assert answer.status in (200, 201), (method, path, answer.status, text[:500])
        return json.loads(text)

    def close(self) -> None:
        self._connection.close()

    def made(self, path: str, body):
        return self.ask("POST", path, body)["id"]


class Reef:
    """A project with a media and a type of boxes."""

    def __init__(self, client: Client, name: str):
        organization = client.made("Organizations", {"name": name})
        self.project = client.made("Projects", {"name": name, "organization": organization})
        kind = client.made(f"MediaTypes/{self.project}", {"name": "image", "dtype": "image"})
        attributes = [{"name": "who", "dtype": "string"}, {"name": "n", "dtype": "int"}]
        box = {"name": "box", "dtype": "box", "media_types": [kind], "attribute_types": attributes}
        self.type = client.made(f"LocalizationTypes/{self.project}", box)
        self.media = client.made(f"Medias/{self.project}", {"type": kind, "name": "a.jpg", "md5": ""})

    def box(self, who: str, n: int):
        shape = {"x": 0.1, "y": 0.1, "width": 0.1, "height": 0.1, "frame": 0}
        return {"media_id": self.media, "type": self.type, **shape, "attributes": {"who": who, "n": n}}


@pytest.mark.parametrize(
    ("rounds", "seconds"), [(5, 0.0), pytest.param(0, 60.0, marks=pytest.mark.nightly)], ids=["short", "a minute"]
)
def test_every_reader_sees_every_acknowledged_write_at_once_and_in_order(connect, rounds, seconds):
    first = connect()
    reef = Reef(first, f"watched {rounds}")
    markers = dict(
        zip(
            WRITERS,
            first.made(f"Localizations/{reef.project}", [reef.box(f"={who}", 0) for who in WRITERS]),
            strict=True,
        )
    )
    clients = {who: connect() for who in WRITERS}
    boxes: dict[tuple[str, int], int] = {}

    def write(who: str, verb: str, n: int) -> None:
        client = clients[who]
        if verb == "make":
            (boxes[who, n],) = client.made(f"Localizations/{reef.project}", [reef.box(who, n)])
        elif verb == "mark":
            client.ask("PATCH", f"Localization/{markers[who]}", {"attributes": {"n": n}, "in_place": 1})
        else:
            client.ask("DELETE", f"Localization/{boxes[who, n]}", {"prune": 1})

    def reader():
        client = connect()

        def take():
            found = client.ask("GET", f"Localizations/{reef.project}")
            assert [each["id"] for each in found] == sorted({each["id"] for each in found})
            seen = {who: (0, set()) for who in WRITERS}
            for attributes in (each["attributes"] for each in found):
                who = attributes["who"].removeprefix("=")
                marker, mine = seen[who]
                if who != attributes["who"]:
                    seen[who] = (attributes["n"], mine)
                else:
                    assert attributes["n"] not in mine
                    seen[who] = (marker, mine | {attributes["n"]})
            return seen

        return take

    watch = Watch(WRITERS)
    watch.run(write, [reader() for _ in range(8)], rounds=rounds, seconds=seconds)
    assert len(watch.pictures) > 8


@pytest.mark.parametrize(("rows", "page_size"), [(1_211, 50), pytest.param(11_111, 500, marks=pytest.mark.nightly)])
def test_the_paginator_walks_all_rows_once_while_others_come_and_go(place, connect, rows, page_size):
    client = connect()
    reef = Reef(client, f"paged {rows}")
    kept: list[int] = []
    while len(kept) < rows:
        count = min(500, rows - len(kept))
        kept += client.made(f"Localizations/{reef.project}", [reef.box("kept", n) for n in range(count)])
    doomed = [number for place_, number in enumerate(kept) if place_ % 97 == 0]
    stop = threading.Event()
    failures: list[BaseException] = []

    def disturb() -> None:
        try:
            other = connect()
            for turn, number in enumerate(doomed):
                # from both ends, so that rows go before and behind the page that is read
                other.ask("DELETE", f"Localization/{number if turn % 2 else doomed[-1 - turn]}", {"prune": 1})
                made = other.made(f"Localizations/{reef.project}", [reef.box("new", turn) for _ in range(3)])
                other.ask("DELETE", f"Localization/{made[1]}", {"prune": 1})
                if stop.is_set() or turn >= len(doomed) // 2:
                    break
        except BaseException as failure:  # noqa: BLE001 the test raises it
            failures.append(failure)

    api = tator.get_api(place["url"], place["token"])
    pages = tator.util.get_paginator(api, "get_localization_list", page_size).paginate(project=reef.project)
    other = threading.Thread(target=disturb)
    other.start()
    seen: list[int] = []
    for page in pages:
        seen += [each.id for each in page]
    stop.set()
    other.join()
    api.session.close()
    assert failures == []
    assert seen == sorted(set(seen))
    assert set(kept) - set(doomed) <= set(seen)
    assert len(seen) >= rows - len(doomed)
