"""A snapshot made anew from the tables is what the log comes to, whatever was lost and whoever writes meanwhile."""

from __future__ import annotations

import uuid

import pytest

from chalicelib.core.keys.object_keys import view_prefix
from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import PROJECT
from chalicelib.core.models.entities import Localization
from chalicelib.errors import Conflict, NotFound
from chalicelib.maintenance import compaction, rebuild
from chalicelib.resources.projects import purging
from chalicelib.resources.projects.messages import PurgeProject
from chalicelib.storage.dynamodb import entities, ids, records
from chalicelib.storage.dynamodb.tables import EntityRow
from chalicelib.storage.log import archive, log
from chalicelib.storage.view import views
from chalicelib.storage.view.snapshot import snapshots
from chalicelib.storage.view.snapshot.snapshot_records import current, forget, pointer
from chalicelib.storage.view.view import View
from tests import objects
from tests.storage.commits import contents


@pytest.fixture
def full(api, project) -> int:
    """A project with a history: types that change and go, things that change and go."""
    text = {"name": "word", "dtype": "string"}
    kind = api.made(f"MediaTypes/{project}", {"name": "image", "dtype": "image", "attribute_types": [text]})
    box = {"dtype": "box", "media_types": [kind], "attribute_types": [text, {"name": "place", "dtype": "geopos"}]}
    boxes = api.made(f"LocalizationTypes/{project}", {"name": "box", **box})
    gone = api.made(f"LocalizationTypes/{project}", {"name": "gone", **box})
    media = api.made(f"Medias/{project}", {"type": kind, "name": "a.jpg", "md5": "", "attributes": {"word": "reef"}})

    def spec(type_: int, place: float):
        return {"media_id": media, "type": type_, "frame": 0, "attributes": {"word": "x", "place": [place, 1.5]}}

    made = api.made(f"Localizations/{project}", [spec(boxes, float(place)) for place in range(20)])
    api.made(f"Localizations/{project}", [spec(gone, 0.0) for _ in range(3)])
    assert api.patch(f"Localization/{made[3]}", {"attributes": {"word": "y"}}).status == 200
    assert api.delete(f"Localization/{made[4]}", {"prune": 1}).status == 200
    assert api.delete(f"LocalizationType/{gone}").status == 200
    api.made(f"Sections/{project}", {"name": "s"})
    return project


def replayed(project: int) -> View:
    view = View(project)
    view.apply(log.read_after(project, 0))
    return view


def without_seq(view: View):
    return contents(view)[1:]


@pytest.mark.slow
def test_it_is_what_a_replay_of_the_log_is(full):
    expected = contents(replayed(full))
    made = rebuild.rebuild(full)
    assert contents(made) == expected
    assert contents(snapshots.begin(full)) == expected
    assert pointer(full).seq == log.last(full)


@pytest.mark.slow
def test_it_replaces_a_broken_snapshot_and_keeps_the_archive(full):
    compaction.compact(full, force=True)
    expected, history = contents(snapshots.begin(full)), list(archive.history(full))
    log.forget(full, range(1, pointer(full).seq))
    lost = [part.key for part in current(full).parts] + [f"{pointer(full).folder}/manifest.json"]
    objects.remove([view_prefix(full) + key for key in lost])
    with pytest.raises(NotFound):
        snapshots.begin(full)
    rebuild.rebuild(full)
    assert contents(snapshots.begin(full)) == expected
    assert list(archive.history(full)) == history


@pytest.mark.slow
def test_without_the_log_writers_go_on_behind_it(api, full):
    expected = without_seq(replayed(full))
    compaction.compact(full, force=True)
    last = pointer(full).seq
    log.forget(full, range(1, last + 1))
    views.drop(full)
    rebuild.rebuild(full)
    assert without_seq(snapshots.begin(full)) == expected
    api.made(f"Sections/{full}", {"name": "later"})
    assert log.last(full, fresh=True) == last + 1
    assert {each["name"] for each in api.get(f"Sections/{full}").json} == {"s", "later"}


@pytest.mark.slow
def test_without_log_and_snapshot_too(api, full):
    expected = without_seq(replayed(full))
    last = log.last(full)
    log.forget(full, range(1, last + 1))
    forget(full)
    views.drop(full)
    rebuild.rebuild(full)
    assert without_seq(snapshots.begin(full)) == expected
    assert pointer(full).seq == last, "numbers of the lost log are not given out again"


@pytest.mark.slow
def test_what_is_written_while_it_runs_is_in_it(api, full, monkeypatch):
    media = api.get(f"Medias/{full}").json[0]["id"]
    read = entities.of_project

    def slowly(project):
        """Rows of before, then a change of each sort, then the rest: newer and older rows side by side."""
        rows = list(read(project))
        yield from rows[::2]
        (box, other, *_) = [each["id"] for each in api.get(f"Localizations/{project}").json]
        api.patch(f"Localization/{box}", {"attributes": {"word": "meanwhile"}})
        api.delete(f"Localization/{other}", {"prune": 1})
        type_ = api.get(f"LocalizationTypes/{project}").json[0]["id"]
        api.made(f"Localizations/{project}", [{"media_id": media, "type": type_, "frame": 0} for _ in range(12)])
        yield from [row for row in read(project) if row[:2] not in {each[:2] for each in rows[::2]}]

    monkeypatch.setattr(entities, "of_project", slowly)
    made = rebuild.rebuild(full)
    assert contents(made) == contents(replayed(full))


@pytest.mark.slow
def test_a_creation_under_way_is_not_in_it(api, full, monkeypatch):
    some = entities.get(Kind.LOCALIZATION, api.get(f"Localizations/{full}").json[0]["id"])
    expected = contents(replayed(full))

    def dies(*_):
        raise RuntimeError

    monkeypatch.setattr(entities.Transaction, "run", dies)
    copies = [
        Localization(**{**{name: getattr(some, name) for name in some.__struct_fields__}, "id": number})
        for number in ids.reserve(Kind.LOCALIZATION, 20)
    ]
    with pytest.raises(RuntimeError):
        entities.create(Kind.LOCALIZATION, copies, user=1)
    monkeypatch.undo()
    assert contents(rebuild.rebuild(full)) == expected


@pytest.mark.slow
def test_a_compaction_that_was_faster_wins(api, full, monkeypatch):
    save = snapshots.save

    def later(view, segments, **more):
        monkeypatch.setattr(snapshots, "save", save)
        api.made(f"Sections/{full}", {"name": "t"})
        compaction.compact(full, force=True)
        return save(view, segments, **more)

    monkeypatch.setattr(snapshots, "save", later)
    with pytest.raises(Conflict):
        rebuild.rebuild(full)


@pytest.mark.slow
def test_a_purge_finds_what_the_log_has_forgotten(api, full):
    boxes = [each["id"] for each in api.get(f"Localizations/{full}").json]
    assert api.delete(f"Localization/{boxes[0]}", {"prune": 1}).status == 200
    compaction.compact(full, force=True)
    log.forget(full, range(1, pointer(full).seq))
    project = records.get(PROJECT, full)
    assert api.delete(f"Project/{full}").status == 200
    message = PurgeProject(id=str(uuid.uuid4()), project=full, organization=project.organization)
    purging.purge(message, 60)
    assert list(EntityRow.scan(EntityRow.project == full)) == []
    assert pointer(full) is None
    assert list(objects.under(view_prefix(full))) == []
    purging.purge(message, 60)
