"""A client of resumable uploads that says exactly what a test wants, and what an upload left in the stores."""

from __future__ import annotations

import base64

import boto3

from chalicelib.settings import settings
from chalicelib.storage.objects import tus_uploads as rows
from tests import objects
from tests.service import Api

VERSION = {"Tus-Resumable": "1.0.0"}
BYTES = {**VERSION, "Content-Type": "application/offset+octet-stream"}
MIB = 1024 * 1024


def pairs(**metadata):
    return ",".join(f"{name} {base64.b64encode(str(value).encode()).decode()}" for name, value in metadata.items())


def asked(who, method, path, body=None, **headers):
    """Ask with exactly these headers; `_` stands for `-`."""
    named = {name.replace("_", "-"): str(value) for name, value in headers.items()}
    return Api(who.user, who.token, named).ask(method, path, raw=body)


def begun(who, project, length, body=None, **metadata):
    said = asked(
        who, "POST", "/files/", body, **BYTES, Upload_Length=length, Upload_Metadata=pairs(project=project, **metadata)
    )
    assert said.status == 201, said.body
    return said.headers["Location"].removeprefix(settings().public_url)


def sent(who, path, offset, body, **more):
    return asked(who, "PATCH", path, body, **BYTES, Upload_Offset=offset, **more)


def offset(who, path):
    said = asked(who, "HEAD", path, **VERSION)
    assert said.status == 200
    return int(said.headers["Upload-Offset"])


def upload_of(path):
    return rows.get(path.rpartition("/")[2])


def left_of(path):
    """The chunks that an upload still has in the store."""
    return list(objects.under(f"_uploads/chunks/{upload_of(path).id}/"))


def multiparts(key):
    listed = boto3.client("s3").list_multipart_uploads(Bucket=settings().upload_bucket, Prefix=key)
    return listed.get("Uploads", [])
