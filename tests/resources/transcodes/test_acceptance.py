"""What an accepted transcode or image is: one request by its uid, and one object by its key."""

import uuid

import pytest

from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import ResolutionConfig
from chalicelib.core.models.jobs import JOB
from chalicelib.errors import Forbidden
from chalicelib.resources.uploads import fetching
from chalicelib.settings import override
from chalicelib.storage.dynamodb import entities, records
from tests.resources.media.samples import media_type, picture, transcode, uploaded, video


@pytest.fixture
def type_(project):
    return media_type(project, streaming_config=[ResolutionConfig(resolution=64)])


def test_a_repeated_uid_with_other_members_is_refused_by_member(api, project, type_):
    url, uid, gid = uploaded(api, project, video(10)), str(uuid.uuid4()), str(uuid.uuid4())
    assert transcode(api, project, type_, url=url, uid=uid, gid=gid).status == 201
    others = {"name": "other.mp4", "gid": str(uuid.uuid4()), "md5": "0" * 32, "section": "deep", "section_id": 9}
    others |= {"type": api.made(f"MediaTypes/{project}", {"name": "b", "dtype": "video"}), "attributes": {"a": 1}}
    for member, value in others.items():
        said = transcode(api, project, **{"type_": type_, "url": url, "uid": uid, "gid": gid, member: value})
        wrong = f"uid: '{uid}' is the uid of a transcode with another {member}; give a new one."
        assert (said.status, said.message) == (400, wrong)


def test_it_ends_though_the_store_has_another_address_by_then(api, project, type_):
    said = transcode(api, project, type_, video(10)).json
    stored = records.get(JOB, said["id"])
    with override(s3_endpoint="https://elsewhere.example.org"):
        assert fetching.open_accepted(stored.source, stored.spec.url, project).size == len(video(10))
        with pytest.raises(Forbidden):
            fetching.open_accepted("", stored.spec.url, project)
    api.drain()
    assert api.get(f"Transcode/{said['id']}").json["job"]["status"] == "succeeded"


def test_an_image_is_imported_though_the_store_has_another_address_by_then(api, project):
    image_type = api.made(f"MediaTypes/{project}", {"name": "image", "dtype": "image"})
    urls = {name: uploaded(api, project, picture(), "x.jpg") for name in ("url", "thumbnail_url")}
    number = api.made(f"Medias/{project}", {"type": image_type, "name": "a.jpg", "md5": "", **urls})
    with override(s3_endpoint="https://elsewhere.example.org"):
        api.drain()
    found = entities.get(Kind.MEDIA, number)
    assert found.import_error is None
    assert (len(found.media_files.image), len(found.media_files.thumbnail)) == (1, 1)
