"""An export killed after each of its AWS calls in turn, and every message delivered again: it is made, and once."""

import pytest

from chalicelib.core.datasets import EXPORT
from chalicelib.queues import decode
from chalicelib.resources.exports import joining, planning, steps
from chalicelib.resources.exports.messages import JoinExport, PlanExport, WritePart
from chalicelib.storage.dynamodb import pieces, records
from tests import objects
from tests.faults.test_transcode_crashes import Killed, Killer
from tests.resources.exports.samples import Dataset, opened

KINDS = (PlanExport, WritePart, JoinExport)
MOST_DELIVERIES = 400


class Queue:
    """What is sent is delivered until its handler returns."""

    def __init__(self, monkeypatch):
        self.waiting = []
        for module in (steps, joining):
            monkeypatch.setattr(module, "send", lambda _, message: self.take(message))
        monkeypatch.setattr(steps, "send_many", lambda _, messages: [self.take(each) for each in messages])

    def take(self, message):
        from chalicelib.queues import encode

        self.waiting.append(decode(encode(message), KINDS))

    def run(self):
        """Deliver until nothing waits; how often a handler was killed."""
        killed = 0
        for _ in range(MOST_DELIVERIES):
            if not self.waiting:
                return killed
            message = self.waiting.pop(0)
            try:
                handle(message)
            except Killed:
                killed += 1
                self.waiting.append(message)
        raise AssertionError("the queue never became empty")


def handle(message):
    match message:
        case PlanExport():
            steps.plan(message)
        case WritePart():
            steps.write(message)
        case JoinExport():
            joining.join(message, lambda: 0.0)


def contents(project, uid):
    archive = opened(project, uid)
    return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize("every", [pytest.param(1, marks=pytest.mark.nightly), 5])
def test_an_export_is_made_wherever_it_is_killed(api, project, monkeypatch, every):
    dataset = Dataset(api, project, pictures=False)
    dataset.annotate()
    monkeypatch.setattr(planning, "LABELS_A_PART", 4)
    killer, queue = Killer(monkeypatch), Queue(monkeypatch)

    def start():
        return api.made(f"Exports/{project}", {"format": "csv"})

    def finish(uid):
        queue.waiting = [PlanExport(uid=uid)]
        return queue.run()

    first = start()
    before = killer.calls
    finish(first)
    calls = killer.calls - before
    wanted = contents(project, first)
    assert calls > 30
    for number in range(every, calls + 1, every):
        uid = start()
        killer.left = number
        killed = finish(uid)
        killer.left = None
        assert killed == 1 or number > calls - 10, number
        assert contents(project, uid) == wanted, number
        assert records.get(EXPORT, uid).status == "succeeded"
        assert pieces.results(uid) == {}
        left = [str(key).rpartition("/")[2] for key in objects.under(f"_exports/{project}/{uid}/")]
        assert left == ["archive.zip", "plan.json", "spec.json"], number
        api.delete(f"Export/{uid}")


def test_every_message_twice_and_out_of_order_changes_nothing(api, project, monkeypatch):
    dataset = Dataset(api, project, pictures=False)
    dataset.annotate()
    monkeypatch.setattr(planning, "LABELS_A_PART", 4)
    queue = Queue(monkeypatch)
    uid = api.made(f"Exports/{project}", {"format": "csv"})
    steps.plan(PlanExport(uid=uid))
    steps.plan(PlanExport(uid=uid))
    seen = list(queue.waiting)
    assert len(seen) == 4
    queue.waiting = seen[::-1] * 2
    queue.run()
    wanted = contents(project, uid)
    for message in [*seen, JoinExport(uid=uid)]:
        handle(message)
    queue.run()
    assert contents(project, uid) == wanted
