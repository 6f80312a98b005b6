"""An event of a bucket is heard by those who listed that bucket, not by those who registered its name."""

from __future__ import annotations

import msgspec
import pytest

from chalicelib.core.models.integrations import BUCKET
from chalicelib.resources.bucket_sources import listing
from chalicelib.resources.bucket_sources.messages import LookAtObjects
from chalicelib.resources.bucket_sources.schemas import BUCKET_SOURCE
from chalicelib.resources.bucket_sources.service import hears, store_of
from chalicelib.storage.dynamodb import records
from chalicelib.storage.objects import objects

SECRET = "survey/secret name.jpg"


@pytest.fixture
def asked(monkeypatch):
    """The names that a look asks a store for."""
    names: list[str] = []
    monkeypatch.setattr(objects, "find_listed", lambda _prefix, name: names.append(name))
    return names


def listed(api, project, spec) -> int:
    number = api.made(f"BucketSources/{project}", spec)
    api.drain()
    assert api.get(f"BucketSource/{number}").json["status"] == "listed"
    return number


def tell(lake) -> None:
    listing.look_at(LookAtObjects(bucket=lake.name, names=[SECRET], event="1"))


def test_who_listed_the_bucket_hears_its_events(api, project, spec, lake, asked):
    listed(api, project, spec)
    tell(lake)
    assert asked == [SECRET]


def test_who_only_registered_its_name_does_not(api, project, spec, lake, asked):
    api.made(f"BucketSources/{project}", spec)  # no listing has ended
    tell(lake)
    assert asked == []


@pytest.mark.parametrize(
    "change",
    [
        {"endpoint_url": "https://store.attacker.example"},
        {"endpoint_url": "https://abc.execute-api.us-east-1.amazonaws.com"},
        {"endpoint_url": "https://s3.amazonaws.com.attacker.example"},
        {"name": "of-somebody-else"},
        {"store_type": "S3BASIC"},
    ],
)
def test_a_registration_that_was_changed_since_does_not(api, project, spec, lake, asked, change):
    listed(api, project, spec)
    records.edit(BUCKET, lake.number, lambda row: msgspec.structs.replace(row, **change))
    tell(lake)
    assert asked == []


@pytest.mark.parametrize(
    ("url", "is_heard"),
    [
        ("https://s3.amazonaws.com", True),
        ("https://s3.eu-west-1.amazonaws.com", True),
        ("https://store.attacker.example", False),
        ("https://abc.execute-api.us-east-1.amazonaws.com", False),
        ("https://s3.eu-west-1.amazonaws.com.attacker.example", False),
        ("http://s3.amazonaws.com", False),
    ],
)
def test_only_stores_that_send_events_are_heard_though_they_were_listed(api, project, spec, lake, url, is_heard):
    source = records.get(BUCKET_SOURCE, listed(api, project, spec))
    bucket = records.edit(BUCKET, lake.number, lambda row: msgspec.structs.replace(row, endpoint_url=url))
    assert hears(msgspec.structs.replace(source, listed_store=store_of(bucket)), lake.name) is is_heard
