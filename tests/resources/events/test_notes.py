"""Events of work that the service does: each is a commit of its own, or part of the commit of its result."""

import json

import pytest

from chalicelib.resources.jobs import status_sync
from chalicelib.resources.jobs.runs import RUN
from chalicelib.storage.dynamodb import records
from tests import objects
from tests.resources.imports.archives import imported
from tests.resources.jobs.test_jobs import launched
from tests.resources.media.samples import media_type, picture, uploaded
from tests.service import join, new_user


@pytest.fixture
def events(api, project):
    """The events after the beginning of the test, of some types."""
    start = api.get(f"Events/{project}", after="now").json["next"]

    def found(*kinds):
        said = api.get(f"Events/{project}", after=start, kinds=",".join(kinds))
        assert said.json["behind"] == 0
        return said.json["events"]

    return found


@pytest.fixture
def image(api, project):
    return api.made(f"MediaTypes/{project}", {"name": "image", "dtype": "image"})


def made(api, project, type_, data):
    url = uploaded(api, project, data, "a.jpg")
    return api.made(f"Medias/{project}", {"type": type_, "name": "a.jpg", "md5": "", "url": url})


@pytest.mark.slow
def test_an_imported_image_is_ready_in_the_commit_of_its_files(api, project, image, events):
    media = made(api, project, image, picture(20, 20))
    assert events("media.ready") == []
    api.drain()
    created, updated, ready = events("media")
    assert (ready["type"], ready["subject"], ready["data"]["ids"]) == ("limn.media.ready", f"media/{media}", [media])
    assert (created["type"], updated["type"]) == ("limn.media.created", "limn.media.updated")
    assert updated["commit"] == ready["commit"]
    assert updated["data"]["changes"][0]["old"]["media_files"] == {}
    assert updated["data"]["changes"][0]["new"]["media_files"]["image"]


def test_an_import_that_fails_says_why(api, project, image, events):
    media = made(api, project, image, b"no image")
    api.drain()
    (failed,) = events("transcode")
    assert failed["type"] == "limn.transcode.failed"
    assert failed["data"]["media"] == media
    assert failed["data"]["message"]
    assert events("media.ready") == []


def test_the_end_of_a_job_is_one_event(api, project, algorithm, events):
    said = launched(api, project, algorithm)
    uid = said["uid"][0]
    run = records.get(RUN, uid)
    assert events("job") == []
    for _ in range(2):
        status_sync._store_status(run, status_sync.RunStatus(phase="Succeeded", message=None, nodes=run.nodes))
    (ended,) = events("job")
    assert (ended["type"], ended["subject"]) == ("limn.job.ended", f"job/{uid}")
    assert ended["data"]["status"] == "Succeeded"
    assert ended["data"]["media"] == run.media_ids


def test_a_member_who_comes_changes_and_goes_is_an_event_each(api, project, events):
    other = new_user()
    number = api.made(f"Memberships/{project}", {"user": other.user.id, "permission": "Can Edit"})
    (added,) = events("member")
    assert (added["type"], added["subject"]) == ("limn.member.added", f"membership/{number}")
    assert added["data"] == {"ids": [number], "user": other.user.id, "permission": "Can Edit"}
    assert added["user"] == api.user.id
    assert api.patch(f"Membership/{number}", {"permission": "View Only"}).status == 200
    assert api.delete(f"Membership/{number}").status == 200
    _, updated, removed = events("member")
    assert updated["data"] == {
        "ids": [number], "user": other.user.id, "permission": "View Only",
        "old": {"permission": "Can Edit"}, "new": {"permission": "View Only"},
    }  # fmt: skip
    assert (removed["type"], removed["data"]["permission"]) == ("limn.member.removed", "View Only")


def test_a_media_whose_files_a_client_adds_is_ready_with_the_first_to_show(api, project, organization, events):
    media = api.made(f"Medias/{project}", {"type": media_type(project), "name": "a.mp4", "md5": ""})

    def add(word, role, name, **more):
        entry = {"path": f"{organization}/{project}/{media}/{name}", "resolution": [1, 2], **more}
        assert api.post(f"{word}Files/{media}", entry, role=role).status == 201
        return [event["data"]["ids"] for event in events("media.ready")]

    segments = f"{organization}/{project}/{media}/s.json"
    assert add("Image", "thumbnail", "t.jpg") == []
    assert add("Video", "archival", "a.mov", codec="prores") == []
    assert add("Video", "streaming", "720.mp4", codec="h264", segment_info=segments) == [[media]]
    assert add("Video", "streaming", "360.mp4", codec="h264", segment_info=segments) == [[media]]
    *_, updated, ready, _ = events("media")
    assert (updated["commit"], updated["type"], ready["type"]) == (
        ready["commit"], "limn.media.updated", "limn.media.ready",
    )  # fmt: skip


def test_a_media_is_ready_with_the_first_video_that_is_moved_to_it(api, project, events):
    media = api.made(f"Medias/{project}", {"type": media_type(project), "name": "a.mp4", "md5": ""})
    path, segments = (uploaded(api, project, data, name) for data, name in ((b"video", "v.mp4"), (b"{}", "v.json")))
    entry = {"path": path, "segment_info": segments, "codec": "h264", "resolution": [1, 2]}
    assert api.post(f"MoveVideo/{media}", {"media_files": {"streaming": [entry]}}).status == 201
    assert [event["data"]["ids"] for event in events("media.ready")] == [[media]]


def test_a_video_that_is_only_referred_to_and_a_clone_are_ready_at_once(api, project, events):
    type_ = media_type(project)
    media = api.made(f"Medias/{project}", {"type": type_, "name": "a.mp4", "md5": ""})
    entry = {"path": "https://example.com/a.mp4", "codec": "h264", "resolution": [1, 2], "reference_only": 1}
    assert api.patch(f"Media/{media}", {"media_files": {"streaming": [entry]}}).status == 200
    (copy,) = api.made(f"CloneMedia/{project}", {"dest_project": project, "dest_type": type_}, media_id=media)
    assert [event["data"]["ids"] for event in events("media.ready")] == [[media], [copy]]


def test_the_end_of_an_export_is_an_event_for_its_maker_alone(api, project, events):
    other = new_user()
    join(other, project, "Full Control")
    uid = api.made(f"Exports/{project}", {"format": "csv"})
    failed = api.made(f"Exports/{project}", {"format": "csv", "name": "mine"})
    objects.remove([f"_exports/{project}/{failed}/spec.json"])
    assert events("export") == []
    api.drain()
    found = {event["data"]["ids"][0]: event for event in events("export.done")}
    assert found.keys() == {uid, failed}
    assert found[uid]["subject"] == f"export/{uid}"
    assert found[uid]["data"] | {"name": ""} == {
        "ids": [uid], "status": "succeeded", "name": "", "message": "", "format": "csv",
        "seq": api.get(f"Export/{uid}").json["seq"],
    }  # fmt: skip
    assert (found[failed]["data"]["status"], found[failed]["data"]["name"]) == ("failed", "mine")
    assert found[failed]["data"]["message"]
    assert other.get(f"Events/{project}", kinds="export").json["events"] == []


def test_the_end_of_a_version_is_an_event_for_the_project(api, project, events):
    other = new_user()
    join(other, project, "View Only")
    uid = api.made(f"Datasets/{project}", {"name": "2026"})
    api.drain()
    (done,) = events("dataset")
    assert (done["type"], done["data"]["ids"], done["data"]["name"]) == ("limn.dataset.done", [uid], "2026")
    assert len(other.get(f"Events/{project}", kinds="dataset").json["events"]) == 1


def test_the_end_of_an_import_is_an_event_also_of_one_that_failed_or_was_dry(api, project, image, events):
    media = api.made(f"Medias/{project}", {"type": image, "name": "a.jpg", "md5": "", "width": 8, "height": 8})
    api.made(f"LocalizationTypes/{project}", {"name": "Box", "dtype": "box", "media_types": [image]})
    row = {"media": "a.jpg", "frame": 0, "x": 0.1, "y": 0.1, "width": 0.2, "height": 0.2, "id": media}
    files = {"localizations.jsonl": json.dumps(row)}
    for dry_run in (True, False):
        imported(api, project, files, "jsonl", dry_run=dry_run, name="reef")
        *_, done = events("import")
        counts = {"media": 1, "localizations": 1, "states": 0}
        assert done["data"].items() >= {"status": "succeeded", "dry_run": dry_run, "name": "reef", **counts}.items()
    imported(api, project, b"no zip", "coco")
    *_, done = events("import.done")
    assert done["data"]["status"] == "failed"
    assert done["data"]["message"]
    assert len(events("import")) == 3
