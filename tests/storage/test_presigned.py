"""Cached presigned URLs: the same for a while, and for nothing but what they were signed for."""

from __future__ import annotations

import json
import time
import uuid
import zlib
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import boto3
import pytest
from botocore.credentials import Credentials, RefreshableCredentials

from chalicelib.core.keys import object_keys
from chalicelib.core.time import clock
from chalicelib.errors import Unavailable
from chalicelib.settings import override, settings
from chalicelib.storage import signing
from chalicelib.storage.dynamodb.tables import RecordRow
from chalicelib.storage.objects import objects, presigned, s3
from tests.service import new_user

DAY, WEEK = 86_400, 604_800


@pytest.fixture
def ask(project, organization, stranger):
    """The URL of an object of the project for a user, as of some seconds from now."""
    key = object_keys.authorize_project_key(f"{organization}/{project}/1/a.mp4", organization, project)

    def ask(*, later: float = 0, user: int = stranger.user.id) -> str:
        with clock.ahead_by(later):
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


def expires(url):
    return int(parse_qs(urlsplit(url).query)["X-Amz-Expires"][0])


@pytest.fixture
def signed_by(project, organization, monkeypatch):
    """URLs of all kinds for a week, as credentials or settings of a function sign them."""
    key = object_keys.authorize_project_key(f"{organization}/{project}/1/a.mp4", organization, project)
    caches = (s3._presigner, s3.own)

    def urls(credentials=None, **changed):
        with override(**changed), monkeypatch.context() as patch:
            if credentials:
                patch.setattr(boto3.Session, "get_credentials", lambda _: credentials)
            for cache in caches:
                cache.cache_clear()
            put, (upload, parts) = objects.presign_put(key, WEEK), objects.presign_parts(key, 2, WEEK)
            objects.abort(key, upload)
            return [objects.presign_get(key, WEEK), put, *parts]

    yield urls
    for cache in caches:
        cache.cache_clear()


def test_no_url_outlives_the_credentials_that_sign_it(signed_by):
    session = {"access_key": "a", "secret_key": "s", "token": "t"}
    end = datetime.now(UTC) + timedelta(seconds=5000)
    told = RefreshableCredentials(**session, expiry_time=end, refresh_using=dict, method="sts")
    assert all(4990 < expires(url) <= 5000 for url in signed_by(told))
    # Lambda tells a function no end
    assert {expires(url) for url in signed_by(Credentials(**session))} == {signing.UNTOLD}
    assert {expires(url) for url in signed_by(Credentials("a", "s"))} == {WEEK}


def test_urls_that_a_key_of_the_deployment_signs_live_as_long_as_asked(signed_by):
    key = {"aws_access_key_id": "AKIASIGNER", "aws_secret_access_key": "secret"}
    made = boto3.client("secretsmanager").create_secret(Name=uuid.uuid4().hex, SecretString=json.dumps(key))
    session = Credentials("a", "s", "t")
    for url in signed_by(session, url_signer=made["ARN"]):
        assert expires(url) == WEEK
        assert "AKIASIGNER" in url
        assert "X-Amz-Security-Token" not in url
    with pytest.raises(Unavailable, match="key that signs URLs"):
        signed_by(session, url_signer="missing")


def test_a_url_that_ends_within_the_hour_is_not_given_again(project, organization, stranger, monkeypatch):
    key = object_keys.authorize_project_key(f"{organization}/{project}/1/a.mp4", organization, project)
    monkeypatch.setattr(boto3.Session, "get_credentials", lambda _: Credentials("a", "s", "t"))
    assert expires(presigned.urls(stranger.user.id, [key], DAY)[key]) == signing.UNTOLD
    assert list(RecordRow.query(f"presigned#{stranger.user.id}")) == []
