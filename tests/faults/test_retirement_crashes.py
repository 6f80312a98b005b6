"""The deletion of a type or version killed after each of its AWS calls in turn, in the request and in the queue."""

from __future__ import annotations

from functools import partial

import pytest

from chalicelib.core.kinds import Kind
from chalicelib.queues import decode, encode
from chalicelib.resources.types import retirement
from chalicelib.resources.types.messages import DeleteRetired
from chalicelib.storage.dynamodb import retired
from chalicelib.storage.log import intents, log
from chalicelib.storage.objects import owners
from chalicelib.storage.view import views
from tests import objects
from tests.faults.kills import Killed, Killer
from tests.faults.picture import commits_after
from tests.resources.annotations.boxes import EVERYTHING, settle

pytestmark = pytest.mark.slow

ROWS = 4
A_COMMIT = 2
MOST_CALLS = 120
WORDS = ("MediaType", "LocalizationType", "Version")


class Queue:
    """What was sent is delivered until its handler returns, and then once more, as SQS may."""

    def __init__(self, monkeypatch):
        self.waiting = []
        monkeypatch.setattr(retirement, "send", lambda _url, message, delay=0: self.take(message, delay))

    def take(self, message, _delay):
        self.waiting.append(decode(encode(message), (DeleteRetired,)))

    def run(self, seconds=60.0, after=lambda: None):
        """Deliver until nothing waits, looking after each; how often a handler was killed."""
        killed, again = 0, set()
        while self.waiting:
            message = self.waiting.pop(0)
            try:
                retirement.delete_entities(message, seconds)
            except Killed:
                killed += 1
                self.waiting.append(message)
            else:
                if message.id not in again:
                    again.add(message.id)
                    self.waiting.append(message)
            after()
        return killed


@pytest.fixture
def queue(monkeypatch):
    monkeypatch.setattr(retirement, "ROWS_PER_COMMIT", A_COMMIT)
    return Queue(monkeypatch)


@pytest.fixture
def here(api, project):
    return settle(api, project)


class Doomed:
    """A definition with boxes of it."""

    def __init__(self, here, word):
        self.here, self.word = here, word
        api, project = here.api, here.project
        more = {}
        if word == "Version":
            self.number = more["version"] = here.version()
        elif word == "MediaType":
            self.number = api.made(f"MediaTypes/{project}", {"name": "doomed", "dtype": "video"})
            spec = {"name": "on it", "dtype": "box", "media_types": [self.number]}
            more["type"] = api.made(f"LocalizationTypes/{project}", spec)
            more["media_id"] = api.made(f"Medias/{project}", {"type": self.number, "name": "b.mp4", "md5": ""})
        else:
            spec = {"name": "doomed", "dtype": "box", "media_types": [here.media_type]}
            self.number = more["type"] = api.made(f"LocalizationTypes/{project}", spec)
        self.boxes = api.made(here.many, [here.spec(frame=frame, **more) for frame in range(ROWS)])
        self.commits = log.last(project, fresh=True)

    def ask(self):
        return self.here.api.delete(f"{self.word}/{self.number}").status

    def there(self):
        """Whether all of it is there, or nothing: never a part, for any reader."""
        api = self.here.api
        defined = api.get(f"{self.word}/{self.number}").status == 200
        listed = [each["id"] for each in self.here.listed(**EVERYTHING, after=self.boxes[0] - 1)]
        by_id = {api.get(f"Localization/{box}").status for box in self.boxes}
        assert (set(listed) & set(self.boxes), by_id) == ((set(self.boxes), {200}) if defined else (set(), {404}))
        return defined

    def outcome(self):
        """The rows that are buried, and how often the change log tells of each."""
        rows = owners.get_owners(Kind.LOCALIZATION, self.boxes)
        told = [
            len(self.here.api.get(f"ChangeLog/{self.here.project}", entity_id=box, entity_type="localization").json)
            for box in self.boxes
        ]
        return [is_deleted for _, is_deleted in rows.values()], told

    def commits_since(self):
        return commits_after(self.here.project, self.commits)

    def check_settled(self):
        project = self.here.project
        assert retired.current(project).entries == ()
        left = list(objects.under(f"projects/{project}/{intents.FOLDER}/"))
        assert left == []


@pytest.mark.parametrize("every", [pytest.param(1, marks=pytest.mark.nightly), 2])
@pytest.mark.parametrize("word", WORDS)
def test_a_request_killed_anywhere_has_deleted_all_of_it_or_nothing(here, queue, word, every, monkeypatch):
    killer = Killer(monkeypatch)
    before = after = 0
    for call in range(every, MOST_CALLS, every):
        doomed = Doomed(here, word)
        killer.left = call
        said = doomed.ask()
        if killer.left is not None:
            killer.left = None
            assert said == 200
            break
        assert said == 500
        if doomed.there():
            before += 1
            queue.run()
            assert doomed.there()
            doomed.check_settled()
            assert doomed.commits_since() == 0
            assert doomed.ask() == 200
        else:
            after += 1
        queue.run()
        assert not doomed.there()
        doomed.check_settled()
        assert doomed.outcome()[0] == [True] * ROWS
    else:
        raise AssertionError("it never got through")
    assert before >= 3 // every
    assert after or every > 1


@pytest.mark.parametrize(
    ("word", "every"),
    [
        ("LocalizationType", 5),
        pytest.param("LocalizationType", 1, marks=pytest.mark.nightly),
        pytest.param("MediaType", 1, marks=pytest.mark.nightly),
    ],
)
def test_a_burial_killed_anywhere_and_delivered_again_is_done_once(here, queue, word, every, monkeypatch):
    doomed = Doomed(here, word)
    assert doomed.ask() == 200
    queue.run()
    wanted, commits = doomed.outcome(), doomed.commits_since()
    assert wanted[0] == [True] * ROWS
    assert commits >= 1 + ROWS // A_COMMIT
    killer = Killer(monkeypatch)
    for call in range(every, MOST_CALLS, every):
        doomed = Doomed(here, word)
        assert doomed.ask() == 200
        killer.left = call
        killed = queue.run(after=partial(unhurt, killer, doomed))
        if not killed:
            break
        doomed.check_settled()
        assert doomed.outcome() == wanted, call
        assert doomed.commits_since() == commits, call
    else:
        raise AssertionError("it never got through")
    assert call > 5


def unhurt(killer, doomed):
    """nothing is visible between two deliveries; looking is not what is killed."""
    left, killer.left = killer.left, None
    assert not doomed.there()
    killer.left = left


def test_a_burial_without_time_goes_on_part_by_part(here, queue):
    doomed = Doomed(here, "LocalizationType")
    assert doomed.ask() == 200
    deliveries = []
    queue.run(seconds=-1.0, after=lambda: deliveries.append(sum(doomed.outcome()[0])))
    assert deliveries[:2] == [2, 4]
    views.drop(here.project)
    assert not doomed.there()
    doomed.check_settled()
