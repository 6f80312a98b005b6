"""A listing killed after each of its AWS calls in turn, each message delivered again: each object has one media."""

import pytest

from chalicelib.core.kinds import Kind
from chalicelib.resources.bucket_sources import indexing, listing
from chalicelib.resources.bucket_sources import service as bucket_sources_service
from chalicelib.resources.bucket_sources.messages import IndexObjects, ListObjects, LookAtObjects
from chalicelib.resources.bucket_sources.schemas import BUCKET_SOURCE
from chalicelib.storage.dynamodb import entities, records
from chalicelib.storage.objects import objects
from tests.faults.kills import Killer, Queue
from tests.resources.bucket_sources.conftest import front, lake, register  # noqa: F401 fixtures
from tests.resources.media.samples import media_type, picture, video

pytestmark = pytest.mark.slow

KINDS = (ListObjects, LookAtObjects, IndexObjects)
FILM = video(10)


def handle(message):
    match message:
        case ListObjects():
            listing.list_page(message)
        case LookAtObjects():
            listing.look_at(message)
        case IndexObjects():
            indexing.index(message, lambda: 0.0)


@pytest.mark.parametrize("every", [pytest.param(1, marks=pytest.mark.nightly), 15])
def test_a_source_is_listed_wherever_it_is_killed(api, organization, lake, monkeypatch, every):  # noqa: F811
    monkeypatch.setattr(objects, "PAGE", 2)
    lake.put("survey/a.mp4", FILM)
    for name in "bcd":
        lake.put(f"survey/{name}.jpg", picture(16, 16))
    killer, queue = Killer(monkeypatch), Queue(monkeypatch, [listing, indexing, bucket_sources_service], KINDS, handle)
    number, calls = 0, 1
    while number <= calls:
        killer.left = None
        project = api.made("Projects", {"name": f"killed at {number}", "organization": organization})
        types = [
            {"extension": "mp4", "type": media_type(project)},
            {"extension": "jpg", "type": media_type(project, "image")},
        ]
        spec = {"name": "Survey", "bucket": lake.number, "prefix": "survey/", "media_types": types}
        source = api.made(f"BucketSources/{project}", spec)
        before = killer.calls
        killer.left = number or None
        killed = queue.run()
        killer.left = None
        calls = calls if number else killer.calls - before
        assert killed == bool(number) or number > calls - 10, number
        found = api.get(f"Medias/{project}").json
        assert sorted(each["name"] for each in found) == ["a.mp4", "b.jpg", "c.jpg", "d.jpg"], number
        assert all(each["media_files"].get("thumbnail") for each in found), number
        assert len(entities.many(Kind.MEDIA, [each["id"] for each in found])) == 4
        record = records.get(BUCKET_SOURCE, source)
        assert (record.status, record.objects) == ("listed", 4), number
        event = LookAtObjects(bucket=lake.name, names=["survey/e.jpg"], event=str(number))
        lake.put("survey/e.jpg", picture(16, 16))
        queue.take(event)
        killer.left = number or None
        assert queue.run() <= 1
        killer.left = None
        found = api.get(f"Medias/{project}", name="e.jpg").json
        assert [bool(each["media_files"].get("thumbnail")) for each in found] == [True], number
        lake.delete("survey/e.jpg")
        number += every
    assert calls > 20
