"""A registered bucket in a store that checks signatures, and what others put into it."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import boto3
import pytest

from chalicelib.settings import override, settings
from chalicelib.storage.objects import objects, placement
from infra.emulator.s3 import front as s3_front
from infra.emulator.s3.front import S3Front
from tests.resources.media.samples import media_type

ACCESS, SECRET = "AKOTHERS", "secret-of-others"
_names = itertools.count(1)


@dataclass
class Lake:
    """A bucket of the organization, and the calls that its store got."""

    name: str
    number: int
    calls: Counter[str] = field(default_factory=Counter)

    def put(self, key: str, body: bytes) -> None:
        objects.client().put_object(Bucket=self.name, Key=key, Body=body)

    def delete(self, key: str) -> None:
        objects.client().delete_object(Bucket=self.name, Key=key)

    def keys(self) -> list[str]:
        pages = boto3.client("s3").get_paginator("list_objects_v2").paginate(Bucket=self.name)
        return [found["Key"] for page in pages for found in page.get("Contents", [])]


@pytest.fixture(scope="module")
def front():
    server = S3Front({ACCESS: SECRET})
    server.start()
    yield server
    server.stop()


@pytest.fixture
def register(front):
    """Register a new bucket with an organization."""

    def make(api: Any, organization: int) -> Lake:
        name = f"lake-{organization}-{next(_names)}"
        boto3.client("s3").create_bucket(Bucket=name)
        config = {"endpoint_url": front.url, "region_name": "us-east-1"}
        config |= {"aws_access_key_id": ACCESS, "aws_secret_access_key": SECRET}
        spec = {"name": name, "store_type": "MINIO", "config": config}
        return Lake(name, api.made(f"Buckets/{organization}", spec))

    with override(store_origins=[front.url]):
        placement._open.cache_clear()
        yield make
    placement._open.cache_clear()
    assert settings().source_queue_url


@pytest.fixture
def lake(api, organization, register, monkeypatch):
    found = register(api, organization)
    serve = s3_front._Handler._serve

    def counted(self: Any) -> None:
        if f"/{found.name}" in self.path:
            copies = "x-amz-copy-source" in {name.lower() for name in self.headers}
            kind = "LIST" if "list-type" in self.path else "RANGE" if self.headers.get("Range") else self.command
            found.calls["COPY" if copies else kind] += 1
        serve(self)

    monkeypatch.setattr(s3_front._Handler, "_serve", counted)
    return found


@pytest.fixture
def types(project):
    """A media type of videos and one of images."""
    return media_type(project, "video"), media_type(project, "image")


@pytest.fixture
def spec(lake, types):
    video, image = types
    return {
        "name": "Survey",
        "bucket": lake.number,
        "prefix": "survey/",
        "media_types": [
            {"extension": "mp4", "type": video},
            {"extension": "jpg", "type": image},
            {"extension": "png", "type": image},
        ],
    }
