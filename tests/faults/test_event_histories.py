"""Eight writers and a sender of webhooks that die at any of their calls: the feed has every change once, in order, and
the receiver gets every event at least once, in order; neither has one that did not happen."""

from __future__ import annotations

import random
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import pytest
from botocore.client import BaseClient

from chalicelib.resources.events import service as events_service
from chalicelib.resources.webhooks import delivery
from tests.faults.crashes import Killed
from tests.faults.test_webhook_crashes import end_leases, is_in_order, often
from tests.resources.annotations.boxes import settle
from tests.resources.events.test_guide import _apply
from tests.resources.webhooks.conftest import hook, receiver

__all__ = ["hook", "often", "receiver"]
WRITERS = 8
CHANCE = 0.01
"""That a call of AWS kills what makes it, before AWS did it; as often after it."""


class Death:
    """Kills what makes a call, now and then, before or after AWS did it; what others do goes on."""

    def __init__(self, seed):
        self._dice, self._lock = random.Random(f"{seed} death"), threading.Lock()
        self.count = 0

    def on_call(self, call):
        with self._lock:
            number = self._dice.random()
            self.count += number < 2 * CHANCE
        if number < CHANCE:
            raise Killed
        answer = call()
        if number < 2 * CHANCE:
            raise Killed
        return answer

    @contextmanager
    def listening(self):
        real = BaseClient._make_api_call
        BaseClient._make_api_call = lambda *given: self.on_call(lambda: real(*given))
        try:
            yield self
        finally:
            BaseClient._make_api_call = real


@dataclass
class History:
    """What the writers did.

    Attributes:
        answers: what the receiver answers, by path.
        acknowledged: pairs (action, id) that a writer got a 2xx for.
        failures: answers that no death explains.
    """

    here: object
    seed: int
    rounds: int
    answers: dict
    acknowledged: list = field(default_factory=list)
    failures: list = field(default_factory=list)

    def request(self, action, ask, path, body, numbers=None):
        """A request that may die; notes what was acknowledged. The answer, None for a death or a refusal."""
        try:
            said = ask(path, body)
        except Killed:
            return None
        if said.status >= 400:
            if said.status not in (404, 409, 410, 503):
                self.failures.append(f"{action} {said.status} {said.body}")
            return None
        self.acknowledged += [(action, number) for number in numbers or said.json["id"]]
        return said

    def write(self, number):
        """Create boxes, change one, delete one, and mostly restore it."""
        here, api, dice = self.here, self.here.api, random.Random(f"{self.seed} {number}")
        mine = []
        for turn in range(self.rounds):
            specs = [here.spec(frame=turn) for _ in range(dice.choice([1, 3, 9]))]
            said = self.request("created", api.post, here.many, specs)
            mine += said.json["id"] if said else []
            if not mine:
                continue
            box = dice.choice(mine)
            self.request("updated", api.patch, f"Localization/{box}", {"x": dice.random() / 2}, [box])
            gone = mine.pop(dice.randrange(len(mine)))
            said = self.request("deleted", api.delete, f"Localization/{gone}", {"prune": 1}, [gone])
            if said and dice.random() < 0.7 and (change := self.find_last_change(gone)):
                said = self.request("restored", api.post, f"Restore/{here.project}", {"changes": [change]}, [gone])
                mine += [gone] if said else []

    def find_last_change(self, number):
        with suppress(Killed):
            return self.here.api.get(f"History/{self.here.project}/localization/{number}").json[-1]["change"]
        return None

    def send(self, over):
        """Send webhooks until the writers have ended, dying now and then; now and then the receiver fails."""
        dice = random.Random(f"{self.seed} sender")
        while not over.is_set():
            self.answers["/ok"] = dice.choice([200, 200, 500])
            with suppress(Killed):
                self.here.api.drain()
                delivery.sweep()
                end_leases()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "rounds"), [(1, 3), *(pytest.param(seed, 12, marks=pytest.mark.nightly) for seed in range(2, 6))]
)
def test_every_change_is_delivered_in_order_and_none_is_invented(api, project, receiver, hook, seed, rounds):
    here = settle(api, project)
    hook(types=["limn.localization.*"])
    start = events_service.last(project)
    history = History(here, seed, rounds, receiver.answers)
    over = threading.Event()
    sender = threading.Thread(target=history.send, args=(over,))
    writers = [threading.Thread(target=history.write, args=(number,)) for number in range(WRITERS)]
    death = Death(seed)
    with death.listening():
        for thread in [sender, *writers]:
            thread.start()
        for thread in writers:
            thread.join()
        over.set()
        sender.join()
    assert history.failures == []
    assert death.count > WRITERS
    receiver.answers["/ok"] = 200
    for _ in range(3):
        end_leases()
        delivery.sweep()
        api.drain()
    events = feed(project, start)
    mistakes, rows, happened = [], {}, set()
    for event in events:
        for change in event.changes:
            happened.add((event.name.partition(".")[2], change["id"]))
            _apply(rows, event.type, change, mistakes)
    assert mistakes == []
    assert rows == {row["id"]: row for row in here.listed()}
    assert set(history.acknowledged) <= happened
    assert [event.commit for event in events] == sorted(event.commit for event in events)
    wanted = [event.id for event in events]
    assert set(receiver.ids) == set(wanted)
    assert is_in_order(receiver.ids, wanted)


def feed(project, start):
    """All events of localizations after a position, page by page."""
    found, after = [], start
    while True:
        page = events_service.read(project, after=after, limit=7, kinds=frozenset({"localization"}))
        found += page.events
        after = page.next
        if not page.behind:
            return found
