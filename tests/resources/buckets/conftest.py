"""Buckets in stores that are not the deployment's: S3's protocol and Google Cloud Storage."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from typing import Any

import boto3
import pytest
import requests

from chalicelib.settings import override, settings
from chalicelib.storage.objects import placement
from infra.emulator.s3.front import S3Front
from tests import objects
from tests.resources.media.samples import media_type
from tests.storage.gcs_server import CONFIG, GcsServer

ACCESS, SECRET = "AKALTERNATE", "alternate-secret-key"
PART = 5 * 1024 * 1024
_names = itertools.count(1)


@dataclass
class Elsewhere:
    """A store that is not the deployment's, and a bucket in it that the organization registered."""

    url: str
    number: int
    name: str
    server: Any

    def keys(self) -> list[str]:
        """What lies in it."""
        if isinstance(self.server, GcsServer):
            return sorted(self.server.objects[self.name])
        return [found["Key"] for found in boto3.client("s3").list_objects_v2(Bucket=self.name).get("Contents", [])]


@pytest.fixture(scope="module")
def front():
    """A store that speaks S3's protocol and checks its signatures, with credentials of its own."""
    server = S3Front({ACCESS: SECRET})
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def google():
    server = GcsServer()
    yield server
    server.stop()


@pytest.fixture
def allowed(front, google):
    """The operator allows both: they are on this machine."""
    with override(store_origins=[front.url, google.url], gcs_endpoint=google.url):
        placement._open.cache_clear()
        yield


def s3_spec(front, name):
    config = {
        "endpoint_url": front.url,
        "region_name": "us-east-1",
        "aws_access_key_id": ACCESS,
        "aws_secret_access_key": SECRET,
    }
    return {"name": name, "store_type": "MINIO", "config": config}


@pytest.fixture(params=["s3", "gcs"])
def elsewhere(request, api, organization, front, google, allowed):
    name = f"elsewhere-{organization}-{next(_names)}"
    if request.param == "s3":
        boto3.client("s3").create_bucket(Bucket=name)
        number = api.made(f"Buckets/{organization}", s3_spec(front, name))
        return Elsewhere(front.url, number, name, front)
    google.objects[name] = {}
    number = api.made(f"Buckets/{organization}", {"name": name, "gcs_key_info": json.dumps(CONFIG)})
    return Elsewhere(google.url, number, name, google)


@pytest.fixture
def settled(api, project, elsewhere):
    """The project keeps everything elsewhere."""
    said = api.patch(f"Project/{project}", {"bucket": elsewhere.number, "upload_bucket": elsewhere.number})
    assert said.status == 200, said.body
    return elsewhere


@pytest.fixture
def media(api, project):
    return api.made(f"Medias/{project}", {"type": media_type(project), "name": "a.mp4", "md5": ""})


def put_file(api, project, media, **query):
    """A file uploaded as a client does it, and made an attachment of a media; its key."""
    info = api.get(f"UploadInfo/{project}", media_id=media, filename="a.bin", **query).json
    assert requests.put(info["urls"][0], data=b"hello", timeout=5).status_code == 200
    said = api.post(f"AuxiliaryFiles/{media}", {"path": info["key"]}, role="attachment", **query)
    assert said.status == 201, said.body
    return info["key"]


@pytest.fixture(autouse=True)
def own_store(monkeypatch):
    """The deployment's own S3 on loopback too, so that clients can put to it."""
    from infra.emulator import aws

    server = S3Front(aws.signing_keys())
    server.start()
    monkeypatch.setenv("LIMN_S3_ENDPOINT", server.url)
    caches = (settings, objects.s3._presigner, objects.s3.own)
    for cache in caches:
        cache.cache_clear()
    yield
    monkeypatch.undo()
    for cache in caches:
        cache.cache_clear()
    server.stop()
