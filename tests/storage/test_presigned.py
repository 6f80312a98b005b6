"""Cached presigned URLs: the same for a while, and for nothing but what they were signed for."""

from __future__ import annotations

import time
import zlib

import pytest

from chalicelib.core.keys import object_keys
from chalicelib.settings import override, settings
from chalicelib.storage.dynamodb.tables import RecordRow
from chalicelib.storage.objects import presigned
from tests.service import new_user

DAY = 86_400


@pytest.fixture
def ask(project, organization, stranger):
    """The URL of an object of the project for a user, as of some seconds from now."""
    key = object_keys.authorize_project_key(f"{organization}/{project}/1/a.mp4", organization, project)

    def ask(*, later: float = 0, user: int = stranger.user.id) -> str:
        now = time.time
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(presigned.time, "time", lambda: now() + later)
            return presigned.urls(user, [key], DAY)[key]

    ask()
    time.sleep(1.05)  # URLs that are signed in one second are equal
    return ask


@pytest.mark.slow
def test_a_url_is_the_same_for_an_hour(ask):
    first = ask()
    assert ask(later=presigned.SHARED_SECONDS - 100) == first
    assert ask(later=presigned.SHARED_SECONDS + 100) != first


@pytest.mark.slow
def test_a_url_that_was_signed_by_a_clock_ahead_is_signed_again(ask):
    ahead = ask(later=DAY)
    assert ask(later=DAY + 10) == ahead
    time.sleep(1.05)
    assert ask() != ahead


def test_a_url_of_another_address_of_the_store_is_signed_again(project, organization, stranger):
    key = object_keys.authorize_project_key(f"{organization}/{project}/1/a.mp4", organization, project)
    presigned.urls(stranger.user.id, [key], DAY)
    kept = presigned._read(stranger.user.id, [presigned._row_of(key)])
    [one] = kept[presigned._row_of(key)].values()
    assert one.is_good(time.time())
    with override(s3_endpoint="http://127.0.0.1:9001"):
        assert not one.is_good(time.time())
    assert one.store == settings().s3_endpoint


def test_a_new_membership_has_no_urls_of_an_earlier_one(api, project, organization):
    member = new_user()
    body = {"keys": [f"{organization}/{project}/1/a.mp4"]}
    for _ in range(2):
        api.made(f"Memberships/{project}", {"user": member.user.id, "permission": "Can Transfer"})
        assert list(RecordRow.query(f"presigned#{member.user.id}")) == []
        assert member.post(f"DownloadInfo/{project}", body).status == 201
        assert len(list(RecordRow.query(f"presigned#{member.user.id}"))) == 1
        [found] = [each for each in api.get(f"Memberships/{project}").json if each["user"] == member.user.id]
        assert api.delete(f"Membership/{found['id']}").status == 200


def test_urls_that_an_earlier_release_cached_are_signed_again(project, organization, stranger):
    key = object_keys.authorize_project_key(f"{organization}/{project}/1/a.mp4", organization, project)
    doc = zlib.compress(b'{"%s": ["https://old.example.org", 9e9]}' % key.path.encode())
    RecordRow(f"presigned#{stranger.user.id}", presigned._row_of(key), doc=doc, expires=int(time.time()) + DAY).save()
    assert "old.example.org" not in presigned.urls(stranger.user.id, [key], DAY)[key]
