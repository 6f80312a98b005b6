"""No secret leaves the service: not in an answer, not in an error, not in a log line, not in a stored row.

Every kind of secret is planted with a word that occurs nowhere else. Then every operation is asked, by its owner, with
what it needs and with the secret itself where it does not belong, and everything that was said, logged and stored is
searched. What may show is named here: the token and certificate of a job cluster, to its administrators.
"""

from __future__ import annotations

import json
import logging
import re
import uuid
import zlib

import boto3
import msgspec
import pytest

from chalicelib.api.catalogue import OPERATIONS
from chalicelib.core.models.integrations import JOB_CLUSTER
from chalicelib.resources.accounts.invitations import INVITATION
from chalicelib.settings import settings
from chalicelib.storage import sealing
from chalicelib.storage.dynamodb import records
from infra.emulator import aws
from infra.local.http import outbox
from tests.contract.examples import body_of, query_of
from tests.contract.world import build
from tests.service import Api

MARK = "planted"
ORDER = ("GET", "PUT", "PATCH", "POST", "DELETE")
SHOWS_CLUSTERS = ("GetJobCluster", "GetJobClusterList")


def planted(name: str) -> str:
    return f"{MARK}-{name}-{uuid.uuid4().hex}"


@pytest.fixture(scope="module")
def place():
    return plant()


def plant():
    """A world with a secret of every kind in it."""
    world = build()
    names = (
        "password", "wrong", "bucket", "gcs", "config", "cluster", "cert", "header", "new", "word", "archive"
    )  # fmt: skip
    secrets = {name: planted(name) for name in names}
    owner, organization = world.owner, world.things["organization"]
    name = f"keeper-{uuid.uuid4().hex[:8]}"
    spec = {"username": name, "first_name": "K", "last_name": "K", "email": f"{name}@example.org"}
    owner.made("Users", {**spec, "password": secrets["password"]})
    credentials = {"username": name, "password": secrets["password"]}
    secrets["token"] = Api(None).post("Token", credentials).json["token"]
    for _ in range(2):
        assert Api(None).post("Token", {**credentials, "password": secrets["wrong"]}).status == 400
    assert Api(None).post("PasswordReset", {"email": spec["email"]}).status == 201
    owner.drain()
    mail = next(mail for mail in reversed(outbox.sent(aws.REGION)) if spec["email"] in mail["to"])
    secrets["reset"] = re.search(r"reset_token=([0-9a-f-]+)", mail["text"])[1]
    invited = {"email": f"invited-{spec['email']}", "permission": "Admin"}
    made = owner.post(f"Invitations/{organization}", invited).json
    world.things["invitation"] = made["id"]
    secrets["invitation"] = made["message"].rpartition("registration_token=")[2]
    flat = {"name": "b", "access_key": "AK", "endpoint_url": "https://s3.example.org", "region": "eu"}
    world.things["bucket"] = owner.made(f"Buckets/{organization}", {**flat, "secret_key": secrets["bucket"]})
    s3 = {"endpoint_url": "https://s3.example.org", "region_name": "eu", "aws_access_key_id": "AK"}
    config = {**s3, "aws_secret_access_key": secrets["config"]}
    owner.made(f"Buckets/{organization}", {"name": "c", "store_type": "MINIO", "config": config})
    cluster = {
        "name": planted("name")[:40],
        "host": "h",
        "port": 1,
        "token": secrets["cluster"],
        "cert": secrets["cert"],
    }
    # the world's own has no secrets to open
    records.remove(JOB_CLUSTER, world.things["jobcluster"])
    world.things["jobcluster"] = owner.made(f"JobClusters/{organization}", cluster)
    archive = {"aws_access_key": "AK", "aws_secret_access_key": secrets["archive"], "bucket_name": "mine"}
    copies = [{"encode": {"vcodec": "copy"}, "s3_storage": archive}]
    owner.made(f"MediaTypes/{world.things['project']}", {"name": "m", "dtype": "video", "archive_config": copies})
    said = owner.patch(f"MediaType/{world.things['media_type']}", {"archive_config": copies})
    assert said.status == 200, said.body
    template = {"name": "t", "url": f"{settings().public_url}/t.yaml"}
    headers = [{"name": "Authorization", "value": secrets["header"]}]
    said = owner.patch(f"HostedTemplate/{world.things['hostedtemplate']}", {"headers": headers})
    assert said.status == 200, (said.body, template)
    return world, secrets


def found(text: str, secrets: dict[str, str]) -> list[str]:
    return [name for name, secret in secrets.items() if secret in text]


def stored() -> str:
    """All rows of all tables, compressed documents opened."""
    client, place = boto3.client("dynamodb"), settings()
    tables = (place.records_table, place.entities_table, place.log_table, place.counters_table, place.idempotency_table)
    texts = []
    for table in tables:
        for page in client.get_paginator("scan").paginate(TableName=table):
            for row in page["Items"]:
                for value in row.values():
                    data = value.get("B")
                    if data is not None and data[:1] == b"x":
                        data = zlib.decompress(data)
                    texts.append(repr(data if data is not None else value))
    return "\n".join(texts)


def test_no_operation_tells_or_logs_a_secret(caplog, capfd):
    world, secrets = plant()  # of its own, for in the end everything in it is deleted
    told, good = [], 0
    with caplog.at_level(logging.INFO):
        for operation in sorted(OPERATIONS, key=lambda operation: ORDER.index(operation.method)):
            path = world.path(operation)
            allowed = {"cluster", "cert"} if operation.id in SHOWS_CLUSTERS else set()
            for body in (body_of(operation), *misplaced(operation, secrets)):
                said = world.owner.ask(operation.method, path, body, **query_of(operation))
                good += operation.method == "GET" and said.status in (200, 301, 302)
                assert said.status != 500, (operation.id, body)
                text = said.body.decode(errors="replace") + str(said.headers)
                told += [(operation.id, name) for name in found(text, secrets) if name not in allowed]
    assert told == []
    assert good > sum(operation.method == "GET" for operation in OPERATIONS) * 0.6
    captured = capfd.readouterr()
    logged = caplog.text + "".join(str(vars(record)) for record in caplog.records) + captured.out + captured.err
    assert found(logged, secrets) == []
    assert found(stored(), secrets) == []


def misplaced(operation, secrets):
    """Bodies that hold secrets where they do not belong, so that they are refused."""
    if operation.id in ("CreateBucket", "UpdateBucket"):
        key = json.dumps({"private_key": secrets["gcs"]})
        yield {"name": 7, "secret_key": secrets["bucket"]}
        yield {"name": "b", "secret_key": [secrets["bucket"]]}
        yield {"name": "b", "config": secrets["config"]}
        yield {"name": "b", "store_type": "GCP", "gcs_key_info": key}
        yield {"name": "b", "gcs_key_info": secrets["gcs"]}
        yield {
            "name": "b",
            "store_type": "OCI",
            "config": {"boto3_config": {"aws_secret_access_key": secrets["config"]}},
        }
        yield {"name": "b", "secret_key": secrets["bucket"], "config": {"aws_secret_access_key": secrets["config"]}}
    if operation.id in ("CreateMediaType", "UpdateMediaType"):
        storage = {"aws_access_key": 7, "aws_secret_access_key": secrets["archive"], "bucket_name": "mine"}
        for bad in (storage, {**storage, "aws_secret_access_key": [secrets["archive"]]}, secrets["archive"]):
            yield {"name": "m", "dtype": "video", "archive_config": [{"encode": {}, "s3_storage": bad}]}
    if operation.id in ("CreateJobCluster", "UpdateJobCluster"):
        yield {"name": "c", "host": "h", "port": "x", "token": secrets["cluster"], "cert": secrets["cert"]}
        yield {"name": "c", "host": "h", "port": 1, "token": {"x": secrets["cluster"]}, "cert": secrets["cert"]}
    if operation.id in ("CreateHostedTemplate", "UpdateHostedTemplate"):
        yield {"name": "t", "url": "https://evil.example/", "headers": [{"name": "A", "value": secrets["header"]}]}
        yield {"name": "t", "url": "https://evil.example/", "headers": secrets["header"]}
    if operation.id == "CreateObtainAuthToken":
        yield {"username": "nobody", "password": secrets["wrong"]}
        yield {"username": "nobody", "password": [secrets["wrong"]]}
        yield {"username": 7, "password": secrets["wrong"]}
    if operation.id in ("CreateUser", "UpdateUser"):
        user = {"username": "x", "first_name": "x", "last_name": "x", "email": "nonsense"}
        yield {**user, "password": secrets["new"]}
        yield {"password": secrets["new"], "reset_token": secrets["word"]}
        yield {"password": secrets["new"], "reset_token": [secrets["word"]]}
        yield {**user, "password": secrets["new"], "registration_token": secrets["word"]}
    if operation.id == "AcceptInvitation":
        yield {"registration_token": secrets["word"]}


def test_a_bad_token_is_not_repeated(place):
    _, secrets = place
    for header in (f"Token {secrets['token']}x", f"Basic {secrets['token']}", f"Token {secrets['token']} x"):
        said = Api(None, headers={"Authorization": header}).get("Projects")
        assert said.status == 401
        assert secrets["token"] not in said.body.decode() + str(said.headers)


def test_a_key_service_that_is_away_repeats_nothing(place, monkeypatch, caplog):
    world, secrets = place

    class Away:
        def encrypt(self, **given):
            from botocore.exceptions import ClientError

            raise ClientError({"Error": {"Code": "KMSInternalException", "Message": str(given)}}, "Encrypt")

    monkeypatch.setattr(sealing, "client", Away)
    body = {"name": "x", "host": "h", "port": 1, "token": secrets["cluster"], "cert": secrets["cert"]}
    said = world.owner.post(f"JobClusters/{world.things['organization']}", body)
    assert said.status == 503
    assert found(said.body.decode() + caplog.text, secrets) == []


def test_who_does_not_administer_sees_no_cluster(place):
    world, secrets = place
    for who in (world.organization_member, world.stranger, *world.members.values()):
        for path in (f"JobClusters/{world.things['organization']}", f"JobCluster/{world.things['jobcluster']}"):
            said = who.get(path)
            assert said.status in (403, 404)
            assert found(said.body.decode(), secrets) == []


def test_the_search_would_find_what_is_there(place):
    world, secrets = place
    email = f"{planted('mail')}@example.org"
    said = world.owner.post(f"Invitations/{world.things['organization']}", {"email": email, "permission": "Member"})
    assert found(f"... {secrets['bucket']} ...", secrets) == ["bucket"]
    assert msgspec.json.encode(records.get(INVITATION, said.json["id"])).decode().count(email)
    assert email in stored()
