"""Imports, exports and events from the command line."""

from __future__ import annotations

import contextlib
import io
import json
import time
import zipfile
from types import SimpleNamespace

import pytest

from infra.client import failures
from infra.client.cli import datasets, sessions
from infra.client.failures import Failure
from tests.resources.imports.conftest import make_types
from tests.resources.imports.test_imports import COCO


@pytest.fixture
def dive(api, signed_in, monkeypatch):
    """A project with types and an image; queues are worked off whenever a command waits."""
    types = make_types(api, signed_in)
    body = {"type": types["image"], "name": "reef.png", "md5": "", "width": 640, "height": 480}

    def work(_):
        with contextlib.redirect_stdout(io.StringIO()):  # the functions log there
            api.drain()

    monkeypatch.setattr(sessions, "time", SimpleNamespace(sleep=work, monotonic=time.monotonic))
    return api.made(f"Medias/{signed_in}", body)


@pytest.mark.slow
def test_a_folder_is_imported_and_refused_rows_are_shown(limn, dive, api, signed_in, tmp_path):
    folder = tmp_path / "coco"
    folder.mkdir()
    (folder / "a.json").write_text(json.dumps(COCO))
    words = ("import", folder, "--format", "coco", "--class-attribute", "Species")
    dry = limn(*words, "--dry-run")
    assert (dry.status, api.get(f"Localizations/{signed_in}").json) == (failures.INCOMPLETE, [])
    assert "2 new, 0 present, 2 refused" in dry.out
    assert "a.json annotations[3]: it reaches beyond the picture" in dry.out
    assert limn(*words).status == failures.INCOMPLETE
    again = limn("--json", *words)
    assert again.json["report"]["localizations"]["present"] == 2
    assert "attributes of 'Box' (box): Label (string)" in limn(
        "import", folder, "--format", "coco", "--class-attribute", "Label", "--create-types", "--dry-run"
    ).out  # fmt: skip
    assert len(api.get(f"Localizations/{signed_in}").json) == 2


@pytest.mark.slow
def test_types_that_are_created_are_shown(limn, dive, tmp_path):
    place = tmp_path / "a.jsonl"
    place.write_text(
        '{"media": "reef.png", "kind": "dot", "x": 0.5, "y": 0.5, "type": "Spot", "attributes": {"Size": 2}}'
    )
    ran = limn("import", place, "--create-types")
    assert (ran.status, "new type 'Spot' (dot): Size (int)" in ran.out) == (0, True)


@pytest.mark.slow
def test_further_members_come_from_a_file(limn, dive, tmp_path):
    place, options = tmp_path / "a.json", tmp_path / "options.json"
    place.write_text(json.dumps({**COCO, "annotations": COCO["annotations"][:2]}))
    options.write_text(json.dumps({"classes": {"Cod": {"skip": True}}}))
    ran = limn("--json", "import", place, "--options", options)
    assert (ran.status, ran.json["report"]["localizations"]["skipped"]) == (0, 1)
    options.write_text("[]")
    assert limn("import", place, "--options", options).status == failures.USAGE


def test_an_archive_that_cannot_be_read_says_why(limn, dive, tmp_path):
    place = tmp_path / "a.json"
    place.write_text("{")
    ran = limn("import", place)
    assert (ran.status, "cut off" in ran.err) == (failures.INCOMPLETE, True)


@pytest.mark.slow
def test_an_export_is_downloaded_whole(limn, dive, api, signed_in, tmp_path):
    place, target = tmp_path / "a.json", tmp_path / "out.zip"
    place.write_text(json.dumps(COCO))
    limn("import", place, "--class-attribute", "Species")
    ran = limn("--json", "export", "--format", "csv", "-o", target)
    assert ran.status == 0, ran.err
    with zipfile.ZipFile(target) as archive:
        assert len(archive.read("localizations.csv").splitlines()) == 3
    assert list(tmp_path.glob(".*")) == []


def test_events_are_written_once_and_continue_from_a_state_file(limn, dive, api, signed_in, tmp_path):
    state = tmp_path / "position"
    words = ("--json", "events", "--state", state, "--kinds", "media")
    first = [json.loads(line) for line in limn(*words).out.splitlines()]
    assert [each["type"] for each in first] == ["limn.media.created"]
    assert limn(*words).out == ""
    assert api.delete(f"Media/{dive}").status == 200
    assert [json.loads(line)["type"] for line in limn(*words).out.splitlines()] == ["limn.media.deleted"]


class Restarting:
    """A service that is away after its first page, then fails, then answers again."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    def get_event_list(self, project, **query):
        self.asked.append(query["after"])
        if isinstance(answer := self.answers.pop(0), Failure):
            raise answer
        return {"events": [], "behind": False, "next": answer}


def test_a_follower_lives_through_a_restart_and_continues_where_it_was(monkeypatch):
    monkeypatch.setattr(datasets, "PAUSE", 0.0)
    away, starting = Failure("away", failures.NO_CONNECTION), Failure("503", failures.SERVICE_ERROR)
    service = Restarting("5", away, starting, "7", Failure("no", failures.NOT_PERMITTED))
    pages = datasets.events(service, 1, "4", None, follow=True)
    assert [next(pages)["next"], next(pages)["next"]] == ["5", "7"]
    assert service.asked == ["4", "5", "5", "5"]
    with pytest.raises(Failure, match="no"):
        next(pages)


def test_a_follower_whose_first_request_fails_ends():
    with pytest.raises(Failure, match="away"):
        next(datasets.events(Restarting(Failure("away", failures.NO_CONNECTION)), 1, "", None, follow=True))


@pytest.mark.slow
def test_two_versions_of_a_dataset_are_compared(limn, dive, api, signed_in):
    def frozen(name):
        uid = api.post(f"Datasets/{signed_in}", {"name": name}).json["uid"]
        api.drain()
        return uid

    first, same = frozen("v1"), frozen("v2")
    alike = limn("diff", first, same)
    assert (alike.status, "media:         0 added, 0 changed, 0 removed" in alike.out) == (0, True)
    [media] = [each["id"] for each in api.get(f"Medias/{signed_in}").json][:1]
    api.patch(f"Media/{media}", {"name": "renamed.png"})
    differing = limn("--json", "diff", first, frozen("v3"))
    assert (differing.status, differing.json["media"]["changed"]) == (failures.INCOMPLETE, 1)
