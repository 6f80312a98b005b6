"""An import killed after each of its AWS calls in turn: it is done, and nothing doubles."""

import msgspec
import pytest

from chalicelib.resources.imports import checking, creating
from chalicelib.resources.imports import service as imports_service
from chalicelib.resources.imports import steps as imports_steps
from chalicelib.resources.imports.messages import CheckImport, RunImportPart
from chalicelib.resources.imports.schemas import IMPORT
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import records
from tests import objects, roles
from tests.faults.kills import Killer, Queue
from tests.queue_runner import deliver
from tests.resources.imports.archives import uploaded, zipped
from tests.resources.media.samples import picture

pytestmark = pytest.mark.slow

KINDS = (CheckImport, RunImportPart)
BOXES = [{"id": n, "image_id": 1, "category_id": 1, "bbox": [n, 1, 2, 3], "track_id": n // 4} for n in range(1, 13)]
FILES = {
    "a.json": {
        "categories": [{"id": 1, "name": "Box"}],
        "images": [{"id": 1, "file_name": "a.png", "width": 64, "height": 48}],
        "annotations": BOXES,
    },
    "a.png": picture(64, 48, "PNG"),
}
BODY = {"format": "coco", "create_types": True}
"""Of an import into a project without types."""


def handle(message):
    if isinstance(message, CheckImport):
        imports_steps.check(message.uid)
    else:
        imports_steps.run_part(message.uid, message.part)


def tallies(uid):
    """The counts of an import."""
    report = records.get(IMPORT, uid).report
    return report.media, report.localizations, report.states, report.types


def seen(api, project):
    """All that the import created, by name and place, without ids and times."""
    media = {each["id"]: each["name"] for each in api.get(f"Medias/{project}").json}
    boxes = {each["id"]: each for each in api.get(f"Localizations/{project}", show_all_marks=1).json}
    states = api.get(f"States/{project}", show_all_marks=1).json
    types = [api.get(f"{word}Types/{project}").json for word in ("Media", "Localization", "State")]
    return (
        sorted(media.values()),
        sorted((media[each["media"]], each["elemental_id"], each["x"], each["mark"]) for each in boxes.values()),
        sorted((each["elemental_id"], [boxes[number]["x"] for number in each["localizations"]]) for each in states),
        [[each["name"] for each in found] for found in types],
    )


@pytest.mark.parametrize("every", [pytest.param(1, marks=pytest.mark.nightly), 25])
def test_an_import_is_done_once_wherever_it_is_killed(api, organization, monkeypatch, every):
    monkeypatch.setattr(checking, "PART", 5)
    monkeypatch.setattr(creating, "ANNOTATIONS_PER_COMMIT", 3)
    killer, queue = Killer(monkeypatch), Queue(monkeypatch, [imports_service, imports_steps], KINDS, handle)

    def world(number):
        project = api.made("Projects", {"name": f"killed at {number}", "organization": organization})
        key = uploaded(api, project, zipped(FILES))
        return project, api.post(f"Imports/{project}", BODY | {"key": key}).json["uid"]

    def finish(project, uid):
        killed = queue.run()
        killer.left = None
        assert records.get(IMPORT, uid).status == "succeeded"
        assert list(objects.under(f"_pieces/{project}/")) == []
        return killed

    project, uid = world(0)
    before = killer.calls
    assert queue.run() == 0
    calls = killer.calls - before
    finish(project, uid)
    wanted = seen(api, project)
    report = tallies(uid)
    assert (len(wanted[0]), len(wanted[1]), len(wanted[2])) == (1, 12, 4)
    assert calls > 60
    for number in range(1 + every // 2, calls + 1, every):
        project, uid = world(number)
        killer.left = number
        assert finish(project, uid) == 1 or number > calls - 10, number
        assert seen(api, project) == wanted, number
        assert tallies(uid) == report, number


def test_every_message_twice_and_late_ones_change_nothing(api, project, monkeypatch):
    monkeypatch.setattr(checking, "PART", 5)
    queue = Queue(monkeypatch, [imports_service, imports_steps], KINDS, handle)
    key = uploaded(api, project, zipped(FILES))
    uid = api.post(f"Imports/{project}", BODY | {"key": key}).json["uid"]
    messages = [CheckImport(uid=uid), *(RunImportPart(uid=uid, part=part) for part in (0, 0, 1, 0, 1, 3, 2, 2))]
    for message in messages:
        handle(message)
    queue.run()
    wanted = seen(api, project)
    assert len(wanted[1]) == 12
    for message in messages:
        handle(message)
    queue.run()
    assert seen(api, project) == wanted


@pytest.fixture
def checked(api, project, monkeypatch):
    """Imports whose parts are stored, and the messages that are sent then."""
    sent = []
    for module in (imports_service, imports_steps):
        monkeypatch.setattr(module, "send", lambda _, message, delay=0: sent.append(message))

    def make():
        key = uploaded(api, project, zipped(FILES))
        uid = api.post(f"Imports/{project}", BODY | {"key": key}).json["uid"]
        imports_steps.check(uid)
        assert left_in(project, uid) != []
        sent.clear()
        return uid

    return make, sent


def left_in(project, uid):
    return [str(key) for key in objects.under(f"_pieces/{project}/{uid}/")]


def test_a_cancellation_killed_anywhere_leaves_no_parts(api, project, monkeypatch, checked):
    make, sent = checked
    monkeypatch.setattr(imports_service, "MOST_AT_WORK", 100)
    killer = Killer(monkeypatch)
    for number in range(1, 40):
        uid = make()
        killer.left = number
        said = api.ask("DELETE", f"/rest/Import/{uid}")
        is_over, killer.left = killer.left is not None, None
        for message in sent:
            deliver(settings().dataset_queue_url, message, count=5)
        assert bool(left_in(project, uid)) == (records.maybe(IMPORT, uid) is not None), number
        if is_over:
            assert said.status == 200
            return
    raise AssertionError("the request never ended")


@pytest.mark.parametrize("ends", ["the check", "a part"])
def test_one_that_is_cancelled_while_it_works_leaves_no_parts(api, project, monkeypatch, checked, ends):
    make, _ = checked
    uid = make()
    cancelled = records.get(IMPORT, uid)

    def cancel(*_, **__):
        with roles.RECORDER.acting("APIHandler"):
            imports_service.cancel(cancelled)
        objects.write(f"_pieces/{project}/{uid}/labels-000009.json", b"[]")  # what it was about to write

    if ends == "a part":
        monkeypatch.setattr(creating, "create", cancel)
        message = RunImportPart(uid=uid, part=0, project=project)
    else:
        records.edit(IMPORT, uid, lambda current: msgspec.structs.replace(current, status="pending"))
        monkeypatch.setattr(checking.Check, "run", cancel)
        message = CheckImport(uid=uid, project=project)
    deliver(settings().dataset_queue_url, message, count=5)
    assert left_in(project, uid) == []
