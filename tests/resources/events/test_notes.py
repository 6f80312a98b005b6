"""Events of work that the service does: each is a commit of its own, or part of the commit of its result."""

import pytest

from chalicelib.resources.jobs import status_sync
from chalicelib.resources.jobs.runs import RUN
from chalicelib.storage.dynamodb import records
from tests.resources.jobs.test_jobs import launched
from tests.resources.media.samples import picture, uploaded
from tests.service import new_user


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
    assert ended["data"]["media"] == [1, 2, 3]


def test_a_new_member_is_an_event(api, project, events):
    other = new_user()
    number = api.made(f"Memberships/{project}", {"user": other.user.id, "permission": "Can Edit"})
    (added,) = events("member")
    assert (added["type"], added["subject"]) == ("limn.member.added", f"membership/{number}")
    assert added["data"] == {"ids": [number], "user": other.user.id, "permission": "Can Edit"}
    assert added["user"] == api.user.id
