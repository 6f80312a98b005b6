"""An export killed after each of its AWS calls in turn, and every message delivered again: it is made, and once."""

import pytest

from chalicelib.core.models.datasets import DATASET, EXPORT
from chalicelib.resources.exports import joining, places, planning, steps
from chalicelib.resources.exports import service as exports_service
from chalicelib.resources.exports.messages import DrawPictures, JoinExport, PlanExport, WritePart
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import records
from chalicelib.storage.dynamodb.progress import pieces
from tests import objects
from tests.faults.kills import Killer, Queue
from tests.queue_runner import deliver
from tests.resources.exports.samples import Dataset, opened

pytestmark = pytest.mark.slow

KINDS = (PlanExport, WritePart, DrawPictures, JoinExport)


def handle(message):
    match message:
        case PlanExport():
            steps.plan(message)
        case WritePart():
            steps.write(message)
        case DrawPictures():
            steps.draw(message)
        case JoinExport():
            joining.join(message, lambda: 0.0)


def contents(project, uid):
    archive = opened(project, uid)
    return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize("frames", ["none", "frames"])
@pytest.mark.parametrize("every", [pytest.param(1, marks=pytest.mark.nightly), 11])
def test_an_export_is_made_wherever_it_is_killed(api, project, monkeypatch, every, frames):
    dataset = Dataset(api, project, pictures=frames != "none")
    dataset.annotate()
    monkeypatch.setattr(planning, "LABELS_A_PART", 4)
    killer, queue = Killer(monkeypatch), Queue(monkeypatch, [steps, joining], KINDS, handle)

    def start():
        return api.made(f"Exports/{project}", {"format": "csv", "frames": frames})

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
    queue = Queue(monkeypatch, [steps, joining], KINDS, handle)
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


def test_a_killed_creation_or_deletion_leaves_all_objects_or_none(api, project, monkeypatch):
    killer, sent = Killer(monkeypatch), []
    monkeypatch.setattr(exports_service, "send", lambda _, message, delay=0: sent.append(message))

    def kill_everywhere(request):
        """Kill a request at each of its calls, deliver what it sent, and compare records and objects."""
        for number in range(1, 40):
            sent.clear()
            killer.left = number
            said = request(number)
            is_over, killer.left = killer.left is not None, None
            for message in sent:
                deliver(settings().dataset_queue_url, message, count=5)
            versions = records.list_children(DATASET, project)
            specs = {str(places.spec_key(version)) for version in versions}
            left = {str(key) for key in objects.under(f"_datasets/{project}/")}
            assert specs <= left, number
            assert bool(left) == bool(specs), (number, left)
            for version in versions:
                records.remove(DATASET, version.uid)
                steps.clean_up(version, whole=True)
            if is_over:
                assert said.status < 300
                return
        raise AssertionError("the request never ended")

    def freeze(number):
        return api.ask("POST", f"/rest/Datasets/{project}", {"name": f"v{number}"})

    def freeze_and_delete(number):
        left, killer.left = killer.left, None
        uid = freeze(1000 + number).json["id"]
        for message in sent:
            deliver(settings().dataset_queue_url, message, count=5)
        sent.clear()
        killer.left = left
        return api.ask("DELETE", f"/rest/Dataset/{uid}")

    kill_everywhere(freeze)
    kill_everywhere(freeze_and_delete)
