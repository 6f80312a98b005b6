"""The scripts of docs/guides/events.md, run as they stand, and a mirror beside racing writers."""

from __future__ import annotations

import gzip
import json
import re
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pytest
import requests

from chalicelib.core.log.commits import Note
from chalicelib.resources.events import service as events_service
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.log import log
from tests.resources.annotations.boxes import settle
from tests.service import GATEWAY

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "events.md"
SCRIPTS = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
ROUNDS = 12
"""Changes of each of the racing writers."""


class InProcess(requests.adapters.BaseAdapter):
    """Sends requests to the API in this process."""

    def send(self, request, **_):
        target = request.path_url
        reply = GATEWAY.ask(request.method, target, dict(request.headers), request.body or b"", "10.9.9.9")
        answer = requests.Response()
        answer.status_code, answer._content, answer.request, answer.url = (
            reply.status, _plain(reply), request, request.url,
        )  # fmt: skip
        answer.headers.update(reply.headers)
        return answer

    def close(self):
        """Nothing is open."""


def _plain(reply):
    return gzip.decompress(reply.body) if reply.headers.get("Content-Encoding") == "gzip" else reply.body


@pytest.fixture
def here(api, project):
    return settle(api, project)


@pytest.fixture
def run(here, monkeypatch, tmp_path, capsys):
    """Runs a script of the guide; its output."""
    monkeypatch.setattr(requests.Session, "get_adapter", lambda *_, **__: InProcess())
    monkeypatch.chdir(tmp_path)
    for name, value in (("HOST", "http://limn"), ("TOKEN", here.api.token), ("PROJECT", here.project)):
        monkeypatch.setenv(f"LIMN_{name}", str(value))

    def run(number):
        scope = {"__name__": "guide"}
        exec(SCRIPTS[number], scope)
        if "mirror" in scope:
            scope["mirror"].close()
        return capsys.readouterr().out

    return run


def comparable(value):
    """A document without nulls, which a merge drops, and without what depends on the reader."""
    if isinstance(value, dict):
        shown = {name: comparable(each) for name, each in value.items() if each is not None}
        return {name: each for name, each in shown.items() if name != "effective_permission"}
    return value


def mirrored():
    with duckdb.connect("mirror.duckdb") as mirror:
        return {
            number: comparable(json.loads(row))
            for number, row in mirror.execute("SELECT id, row FROM boxes").fetchall()
        }


@pytest.mark.slow
def test_the_mirror_of_the_guide_is_the_list_after_each_run(here, run):
    numbers = here.api.made(here.many, [here.spec(frame=frame, attributes={"count": frame}) for frame in range(5)])
    run(0)
    here.make(x=0.25)
    here.api.patch(f"Localization/{numbers[0]}", {"x": 0.5, "attributes": {"text": "a"}})
    here.api.patch(f"Localization/{numbers[1]}", {"x": 0.5, "in_place": 0})
    here.api.delete(f"Localization/{numbers[2]}")
    here.api.delete(f"Localization/{numbers[3]}", {"prune": 1})
    here.api.patch(here.many, {"attributes": {"count": 50}})
    assert run(0).startswith(f"{here.count()} localizations, up to ")
    assert mirrored() == {row["id"]: comparable(row) for row in here.listed()}
    log.expire(here.project, range(1, int(events_service.last(here.project))), 1)
    here.make()
    with duckdb.connect("mirror.duckdb") as mirror:
        mirror.execute("UPDATE feed SET after = '1'")
    run(0)
    assert mirrored() == {row["id"]: comparable(row) for row in here.listed()}


def test_the_script_that_waits_for_media_sees_each(here, run, monkeypatch):
    start = here.api.get(f"Events/{here.project}", after="now").json["next"]
    monkeypatch.setenv("LIMN_AFTER", start)
    monkeypatch.setenv("ROUNDS", "1")
    change = Transaction()
    change.add_note(here.project, None, Note(type="media.ready", kind="media", id=here.media, media=[here.media]))
    change.run()
    assert run(1) == "a.mp4 is ready\n"
    here.api.delete(f"Media/{here.media}")
    assert run(1) == f"media {here.media} is gone\n"


@dataclass
class Race:
    """Writers and readers of one project.

    Attributes:
        over: whether the writers have ended.
        mistakes: what a reader found that cannot be.
        results: of each list that was followed to the end, the rows and the position.
    """

    here: Any
    limit: int
    over: threading.Event = field(default_factory=threading.Event)
    mistakes: list[str] = field(default_factory=list)
    results: list[tuple[dict[int, Any], str]] = field(default_factory=list)

    def write(self, own):
        """Create, change, mark and delete."""
        here = self.here
        for turn in range(ROUNDS):
            made = here.api.made(here.many, [here.spec(frame=turn) for _ in range(1 + turn % 12)])
            here.api.patch(f"Localization/{own[turn % len(own)]}", {"attributes": {"count": turn}})
            here.api.patch(f"Localization/{made[0]}", {"x": 0.5, "in_place": turn % 2})
            if turn % 3 == 0:
                here.api.delete(here.many, {"ids": made, "prune": turn % 2})

    def read(self):
        """List, and follow to the end, until the writers have ended."""
        while not self.over.is_set():
            said = self.here.api.get(self.here.many)
            rows = {row["id"]: row for row in said.json}
            self.results.append((rows, self.follow(rows, said.headers["Limn-Commit"])))

    def follow(self, rows, after):
        """Apply the events after a position; returns the last position."""
        seen, is_done = set(), False
        while not is_done:
            is_over = self.over.is_set()
            query = {"after": after, "limit": self.limit, "kinds": "localization"}
            page = self.here.api.get(f"Events/{self.here.project}", **query).json
            for event in page["events"]:
                if event["id"] in seen:
                    self.mistakes.append(f"{event['id']} came twice")
                seen.add(event["id"])
                for change in event["data"]["changes"]:
                    _apply(rows, event["type"], change, self.mistakes)
            after, is_done = page["next"], is_over and not page["behind"]
            if not page["behind"]:
                self.over.wait(0.05)  # readers that ask without a pause slow the writers down
        return after


@pytest.mark.slow
@pytest.mark.parametrize("limit", [3, 500])
def test_a_list_and_the_feed_after_it_miss_and_double_nothing_beside_racing_writers(here, limit):
    first = here.api.made(here.many, [here.spec(frame=frame) for frame in range(20)])
    race = Race(here, limit)
    readers = [threading.Thread(target=race.read) for _ in range(2)]
    writers = [threading.Thread(target=race.write, args=(first[number::3],)) for number in range(3)]
    for thread in [*readers, *writers]:
        thread.start()
    for thread in writers:
        thread.join()
    race.over.set()
    for thread in readers:
        thread.join()
    assert race.mistakes == []
    expected = {row["id"]: row for row in here.listed()}
    assert race.results
    for rows, after in race.results:
        assert after == events_service.last(here.project)
        assert rows == expected


def _apply(rows, type_, change, mistakes):
    """Apply a change strictly: what was created is new, what was changed or deleted is there."""
    number, new = change["id"], change["new"]
    action = type_.rpartition(".")[2]
    if action == "created" and number in rows:
        mistakes.append(f"{number} was created twice")
    if action == "deleted" or not change["latest"]:
        if rows.pop(number, None) is None and action == "deleted":
            mistakes.append(f"{number} was deleted and was not there")
        return
    if action == "updated" and number not in rows and "elemental_id" not in new:
        mistakes.append(f"{number} was changed and was not there")
        return
    row = rows.get(number, {"effective_permission": 0})
    rows[number] = {**row, **new, "attributes": {**row.get("attributes", {}), **new.get("attributes", {})}}
