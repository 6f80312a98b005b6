"""A presigned PUT works until it expires: what it writes for a deleted media, File or project is removed."""

from __future__ import annotations

from datetime import timedelta

import boto3
import pytest

from chalicelib.core.time import clock
from chalicelib.maintenance import upkeep
from chalicelib.resources.uploads import unclaimed
from chalicelib.settings import settings
from tests import objects
from tests.resources.media.samples import media_type

DAY = timedelta(days=1)
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def put(key):
    """PUT to a presigned URL."""
    boto3.client("s3").put_object(Bucket=settings().media_bucket, Key=key, Body=b"late")


def sweep(later):
    """Run the upkeep's sweep so much later."""
    with clock.ahead_by(later.total_seconds()):
        return unclaimed.sweep()


@pytest.fixture
def media(api, project):
    return api.made(f"Medias/{project}", {"type": media_type(project, "image"), "name": "a.jpg", "md5": ""})


def info(api, project, **query):
    said = api.get(f"UploadInfo/{project}", expiration=3600, **query)
    assert said.status == 200
    return said.json


AFTER = timedelta(hours=1) + unclaimed.KEPT + timedelta(minutes=1)


def test_an_object_that_no_file_names_is_removed_a_week_after_its_url(api, project, media):
    named, unnamed = (info(api, project, media_id=media, filename="a.jpg")["key"] for _ in range(2))
    put(named)
    put(unnamed)
    entry = {"path": named, "resolution": [48, 64], "size": 4, "mime": "image/jpeg"}
    assert api.post(f"ImageFiles/{media}", entry, role="image").status == 201
    sweep(AFTER - timedelta(hours=2))
    assert objects.size(unnamed) == 4
    sweep(AFTER)
    assert (objects.size(named), objects.size(unnamed)) == (4, None)


def test_what_is_put_after_a_project_was_purged_is_removed(api, project, media):
    kind = api.made(f"FileTypes/{project}", {"name": "f"})
    file = api.made(f"Files/{project}", {"type": kind, "name": "f", "description": ""})
    keys = [info(api, project, **query)["key"] for query in ({"media_id": media}, {"file_id": file})]
    assert api.delete(f"Project/{project}").status == 200
    api.drain()
    for key in keys:
        put(key)
    sweep(AFTER)
    assert [objects.size(key) for key in keys] == [None, None]


def test_a_deleted_file_stays_without_an_object(api, project):
    kind = api.made(f"FileTypes/{project}", {"name": "f"})
    file = api.made(f"Files/{project}", {"type": kind, "name": "f", "description": ""})
    key = info(api, project, file_id=file)["key"]
    put(key)
    assert api.patch(f"File/{file}", {"path": key}).status == 200
    assert api.delete(f"File/{file}").status == 200
    assert objects.size(key) is None
    put(key)
    sweep(AFTER)
    assert objects.size(key) is None


def test_a_multipart_upload_ends_with_its_media(api, project, media):
    said = info(api, project, media_id=media, num_parts=2)
    s3, place = boto3.client("s3"), {"Bucket": settings().media_bucket, "Key": said["key"]}
    parts = [
        {
            "ETag": s3.upload_part(**place, UploadId=said["upload_id"], PartNumber=number, Body=body)["ETag"],
            "PartNumber": number,
        }
        for number, body in ((1, b"a" * 5 * 1024 * 1024), (2, b"b"))
    ]
    assert api.delete(f"Media/{media}").status == 200
    refused = api.post(
        f"UploadCompletion/{project}", {"key": said["key"], "upload_id": said["upload_id"], "parts": parts}
    )
    assert refused.status == 400
    assert "media" in refused.message
    sweep(AFTER)
    listed = s3.list_multipart_uploads(Bucket=settings().media_bucket, Prefix=said["key"])
    assert not listed.get("Uploads")


def test_a_picture_that_no_organization_has_is_removed(api, organization):
    keys = [api.get(f"OrganizationUploadInfo/{organization}", expiration=3600).json["key"] for _ in range(2)]
    for key in keys:
        put(key)
    assert api.patch(f"Organization/{organization}", {"thumb": keys[0]}).status == 200
    sweep(AFTER)
    assert [objects.size(key) is not None for key in keys] == [True, False]


def test_the_upkeep_sweeps(api, project, media):
    key = info(api, project, media_id=media)["key"]
    put(key)
    with clock.ahead_by(AFTER.total_seconds()):
        upkeep.run(0)
    assert objects.size(key) is None
