"""Hundreds of objects at each commit, 10,000 at night: how often the store is asked, and that none is copied."""

from __future__ import annotations

import pytest

from chalicelib.resources.bucket_sources import listing
from chalicelib.storage.log import log
from chalicelib.storage.objects import objects
from tests.resources.media.samples import picture

pytestmark = pytest.mark.slow

SMALL = picture(32, 24)


def bring_in(api, project, spec, lake, count, monkeypatch, page):
    """Register a bucket with so many pictures; its source."""
    monkeypatch.setattr(objects, "PAGE", page)
    for number in range(count):
        lake.put(f"survey/{number % 7}/{number:05d}.jpg", SMALL)
    lake.calls.clear()
    number = api.made(f"BucketSources/{project}", spec)
    # as many messages as there are pages and groups of objects
    for _ in range(count // 300 + 1):
        api.drain()
    return number


def check(api, project, lake, source, count, page):
    found = api.get(f"BucketSource/{source}").json
    assert (found["status"], found["created"], found["objects"]) == ("listed", count, count)
    assert api.get(f"MediaCount/{project}").json == count
    (some,) = api.get(f"Medias/{project}", name=f"{count - 1:05d}.jpg").json
    assert some["media_files"]["thumbnail"][0]["resolution"] == [24, 32]
    assert len(lake.keys()) == count
    # a call for each page, and one read of each picture: nothing is copied or written
    assert lake.calls.pop("LIST") <= count // page + 2
    assert lake.calls == {"RANGE": count}


def test_hundreds_of_objects_become_media_with_few_calls_and_commits(api, project, spec, lake, monkeypatch):
    source = bring_in(api, project, spec, lake, 220, monkeypatch, 100)
    commits = log.last(project, fresh=True)
    check(api, project, lake, source, 220, 100)
    # pages of 100 objects: two commits of 80 and 20, and one for each 20 indexed; the types and the version before
    assert commits <= 5 + 12 + 6
    lake.calls.clear()
    assert api.patch(f"BucketSource/{source}", {"list_now": True}).status == 200
    api.drain()
    assert log.last(project, fresh=True) == commits
    assert set(lake.calls) == {"LIST"}


def test_many_that_vanish_are_noted_in_few_commits(api, project, spec, lake, monkeypatch):
    monkeypatch.setattr(listing, "FRESH", -listing.FRESH)
    source = bring_in(api, project, spec, lake, 63, monkeypatch, 30)
    for key in lake.keys():  # noqa: SIM118 a method
        if key < "survey/5":
            lake.delete(key)
    commits = log.last(project, fresh=True)
    assert api.patch(f"BucketSource/{source}", {"list_now": True}).status == 200
    api.drain()
    found = api.get(f"BucketSource/{source}").json
    assert (found["missing"], len(found["missing_media"])) == (45, 45)
    assert log.last(project, fresh=True) - commits <= 4


@pytest.mark.nightly
def test_ten_thousand_objects_become_media(api, project, spec, lake, monkeypatch):
    source = bring_in(api, project, spec, lake, 10_000, monkeypatch, 1000)
    check(api, project, lake, source, 10_000, 1000)
