"""Many people at once: who gets which task, also where requests die and leases end; and what a lease costs."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import msgspec
import pytest
from botocore.client import BaseClient

from chalicelib.core.models.personal import HIDDEN_LAYERS
from chalicelib.core.records import padded
from chalicelib.resources.tasks.schemas import TASK
from chalicelib.storage.dynamodb import records
from infra.emulator.dynamodb.metering import metering
from tests.faults.crashes import Killed
from tests.resources.tasks.test_tasks import made, member, videos

LONG_AGO = "2020-01-01T00:00:00.000Z"


@contextmanager
def deaths():
    """Yields a function that lets the present thread's request die at its call of a given number from now."""
    left, real = threading.local(), BaseClient._make_api_call

    def call(client, name, arguments):
        left.calls = getattr(left, "calls", 0) - 1
        if left.calls == 0:
            if left.is_after:
                real(client, name, arguments)
            raise Killed(name)
        return real(client, name, arguments)

    def die_at(number, *, is_after):
        left.calls, left.is_after = number, is_after

    BaseClient._make_api_call = call
    try:
        yield die_at
    finally:
        BaseClient._make_api_call = real


def end_lease(task):
    """Let the lease of a task end, as if its time had passed."""

    def ended(found):
        return msgspec.structs.replace(found, leased_until=LONG_AGO)

    records.edit(TASK, task, ended)


class Worker:
    """A person who leases tasks and hands them in, and whose every fifth request dies at one of its calls."""

    def __init__(self, person, project, die_at):
        self.person, self.project, self.die_at = person, project, die_at
        self.chance = random.Random(person.user.id)
        self.wrong = []

    def ask(self, method, path, body):
        """An answer; a request that died, or that others were faster than, is sent again."""
        while True:
            if self.chance.random() < 0.2:
                self.die_at(self.chance.randint(1, 25), is_after=self.chance.random() < 0.5)
            try:
                answer = self.person.ask(method, path, body)
            except Killed:
                continue
            finally:
                self.die_at(0, is_after=False)
            if answer.status != 409:
                return answer

    def work(self, most, layers):
        """Work until nothing waits, or hold one task after some; its id."""
        done = 0
        while (answer := self.ask("POST", f"NextTask/{self.project}", {})).status == 200:
            if done == most:
                return answer.json["id"]
            self.look(answer.json, layers)
            said = self.ask("PATCH", f"Task/{answer.json['id']}", {"state": "to review"})
            if said.status not in (200, 400, 403):  # a request that died may have handed it in already
                self.wrong.append(said.json)
            done += 1
        if answer.status != 404:
            self.wrong.append(answer.json)
        return None

    def look(self, task, layers):
        """Note a layer of another copy that queries would show."""
        hidden = records.find(HIDDEN_LAYERS, self.project, padded(self.person.user.id)).tasks[str(task["id"])]
        if hidden.versions != sorted(set(layers) - {task["version"]}):
            self.wrong.append((task["id"], hidden.versions))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("units", "count"), [(20, 8), pytest.param(1_000, 100, marks=pytest.mark.nightly, id="thousand units, 100 people")]
)
def test_each_task_is_done_once_by_people_who_race_die_and_vanish(api, project, units, count):
    """Half of the people vanish with a task, whose lease then ends; others come."""
    layers = [api.made(f"Versions/{project}", {"name": f"copy {copy}"}) for copy in range(3)]
    tasks = made(api, project, videos(api, project, units), copies=3, versions=layers)
    half = count // 2
    with deaths() as die_at, ThreadPoolExecutor(count) as pool:
        people, others = ([Worker(member(project), project, die_at) for _ in range(half)] for _ in range(2))
        left = list(pool.map(lambda one: one.work(2, layers), people))
        list(pool.map(lambda one: one.work(units // 2, layers), others))
        for task in filter(None, left):
            end_lease(task)
        helpers = [Worker(member(project), project, die_at) for _ in range(half)]
        list(pool.map(lambda one: one.work(units, layers), [*others, *helpers]))
    assert not [wrong for one in (*people, *others, *helpers) for wrong in one.wrong]
    found = api.get(f"Tasks/{project}").json
    assert sorted(task["id"] for task in found) == sorted(tasks)
    assert {task["state"] for task in found} == {"to review"}
    pairs = [(task["media_id"], task["assignee"]) for task in found]
    assert len(set(pairs)) == len(pairs) == 3 * units


class TestCalls:
    """A lease costs the same however many tasks there are (decision 208)."""

    @staticmethod
    def calls(person, path, body, method="POST"):
        with metering() as meter:
            assert person.ask(method, path, body).status == 200
        return meter.total.calls

    @pytest.mark.slow
    def test_a_lease_takes_as_many_calls_among_400_tasks_as_among_4(self, api, project):
        def used(name, units):
            made(api, project, media[:units], name=name, copies=2, versions=layers)
            person = member(project)
            lease = self.calls(person, f"NextTask/{project}", {"name": name})
            task = person.post(f"NextTask/{project}", {"name": name}).json["id"]
            return lease, self.calls(person, f"Task/{task}", {"state": "to review"}, "PATCH")

        media = videos(api, project, 200)
        layers = [api.made(f"Versions/{project}", {"name": f"copy {copy}"}) for copy in range(2)]
        used("warm", 1)
        few, many = used("few", 2), used("many", 200)
        assert (few[0] <= 20, few[1] <= 12) == (True, True), few
        assert all(more <= less + 1 for less, more in zip(few, many, strict=True)), (few, many)

    @pytest.mark.slow
    def test_one_who_has_a_copy_of_nearly_all_units_still_gets_the_last(self, api, project):
        """More units than a page has are done by the caller: the further pages are read."""
        made(api, project, videos(api, project, 130), copies=2)
        ada = member(project)
        for _ in range(130):
            task = ada.post(f"NextTask/{project}", {}).json
            assert ada.patch(f"Task/{task['id']}", {"state": "to review"}).status == 200
        assert ada.post(f"NextTask/{project}", {}).status == 404

    def test_a_set_by_its_name_is_found_among_others(self, api, project):
        media = videos(api, project, 60)
        made(api, project, media, name="many")
        (wanted,) = made(api, project, media[:1], name="wanted")
        assert member(project).post(f"NextTask/{project}", {"name": "wanted"}).json["id"] == wanted

    def test_a_reviewer_gets_no_copy_of_a_unit_of_which_they_made_one(self, api, project):
        made(api, project, videos(api, project, 1), copies=2)
        ada, grace = member(project, "Can Transfer"), member(project)
        for person in (ada, grace):
            task = person.post(f"NextTask/{project}", {}).json
            person.patch(f"Task/{task['id']}", {"state": "to review"})
        assert ada.post(f"NextTask/{project}", {"stage": "review"}).status == 404
        reviewer = member(project, "Can Transfer")
        assert reviewer.post(f"NextTask/{project}", {"stage": "review"}).status == 200
