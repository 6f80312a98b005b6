"""A bucket kept in step with a project: the list of the bucket is all that a later run needs."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time

import boto3
import pytest
from PIL import Image

from infra import client as limn_client
from infra.client import configuration, uploads
from infra.client.configuration import Profile
from infra.client.failures import REFUSED, USAGE
from infra.client.mirrors import bucket as buckets
from infra.client.mirrors.back import Back
from infra.client.mirrors.bucket import Bucket
from infra.client.mirrors.mirror import Mirror
from infra.emulator import aws

MIB = 1024 * 1024


def picture(width, height):
    """A picture whose file is about as large as its pixels."""
    out = io.BytesIO()
    Image.frombytes("RGB", (width, height), os.urandom(3 * width * height)).save(out, "PNG", compress_level=0)
    return out.getvalue()


@pytest.fixture
def target(service, project):
    """An empty bucket."""
    s3 = boto3.client("s3")
    name = f"mirror-{project}-{os.urandom(3).hex()}"
    s3.create_bucket(Bucket=name)
    return name


def contents(target, prefix="dive/media/"):
    """The bytes of each media's object, by its id."""
    s3 = boto3.client("s3")
    listed = s3.list_objects_v2(Bucket=target, Prefix=prefix).get("Contents", ())
    return {
        each["Key"].removeprefix(prefix): s3.get_object(Bucket=target, Key=each["Key"])["Body"].read()
        for each in listed
    }


def unfinished(target):
    return boto3.client("s3").list_multipart_uploads(Bucket=target).get("Uploads", [])


def test_a_bucket_follows_the_project(limn, signed_in, add, api, target):
    first, second = picture(4, 4), picture(5, 5)
    one, two = add("a.png", first), add("../b/ü.png", second)
    ran = limn("mirror", f"s3://{target}/dive")
    assert (ran.status, ran.out.split(";")[0]) == (0, "2 files fetched, 0 present, 0 removed"), ran.err
    held = contents(target)
    assert {name.partition("_")[2]: data for name, data in held.items()} == {"a.png": first, "_b_ü.png": second}
    rows = boto3.client("s3").get_object(Bucket=target, Key="dive/media.jsonl")["Body"].read().splitlines()
    assert {json.loads(row)["name"] for row in rows} == {"a.png", "../b/ü.png"}
    boto3.client("s3").put_object(Bucket=target, Key="dive/media/mine.txt", Body=b"mine")
    assert api.delete(f"Media/{one}").status == 200
    third = add("c.png", first)
    done = limn("--json", "mirror", f"s3://{target}/dive/").json
    assert (done["fetched"], done["present"], done["removed"], done["rows"]["media"]) == (1, 1, 1, 2)
    assert {name.partition("-")[0] for name in contents(target)} == {str(two), str(third), "mine.txt"}


def test_a_bucket_mirrors_one_project_and_says_what_is_wrong(limn, client, project, target, signed_in):
    Mirror(client, project, Bucket(f"s3://{target}")).run()
    with pytest.raises(limn_client.Failure, match="Give another prefix"):
        Mirror(client, project + 1, Bucket(f"s3://{target}")).run()
    none = limn("mirror", "s3:///dive")
    assert (none.status, "give s3://bucket/prefix" in none.err) == (USAGE, True)
    missing = limn("mirror", "s3://no-such-bucket-here/dive")
    assert (missing.status, "NoSuchBucket" in missing.err) == (REFUSED, True)


class Died(BaseException):
    """The process ends here."""


class Mortal:
    """A client of S3 that does some calls, and dies after the last, whose answer is not heard."""

    def __init__(self, s3, lives):
        self._s3, self._lives = s3, lives
        self.sent = 0

    def __getattr__(self, name):
        member = getattr(self._s3, name)
        if not callable(member) or name.startswith(("get_paginator", "exceptions")):
            return member

        def call(**given):
            answer = member(**given)
            self.sent += len(given["Body"]) if name == "upload_part" else 0
            self._lives -= 1
            if self._lives < 0:
                raise Died
            return answer

        return call


@pytest.fixture
def small_parts(monkeypatch):
    """Uploads have the smallest parts that S3 takes."""
    monkeypatch.setattr(buckets, "PART", 5 * MIB)


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
def test_a_run_that_dies_anywhere_is_continued_and_no_part_is_sent_twice(client, add, project, target, monkeypatch):
    data = picture(2400, 2000)
    media = add("a.png", data)
    sent = 0
    for lives in [0] * 8 + [100]:
        place = Bucket(f"s3://{target}/dive")
        monkeypatch.setattr(place, "_s3", Mortal(place._s3, lives))
        monkeypatch.setattr(place, "write", lambda name, lines: list(lines))
        try:
            done = Mirror(client, project, place, parallel=1).run()
        except Died:
            continue
        finally:
            sent += place._s3.sent
    assert (done.fetched + done.present, done.failed) == (1, [])
    [(name, held)] = contents(target).items()
    assert (name.startswith(f"{media}-"), held == data, sent) == (True, True, len(data))
    assert unfinished(target) == []


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
def test_an_upload_of_a_media_that_is_gone_is_ended(client, add, api, project, target, monkeypatch):
    media = add("a.png", picture(2400, 2000))
    place = Bucket(f"s3://{target}/dive")
    monkeypatch.setattr(place, "_s3", Mortal(place._s3, 3))
    with pytest.raises(Died):
        Mirror(client, project, place).run()
    assert len(unfinished(target)) == 1
    assert api.delete(f"Media/{media}").status == 200
    assert Mirror(client, project, Bucket(f"s3://{target}/dive")).run().removed == 1
    assert (unfinished(target), contents(target)) == ([], {})


@pytest.fixture
def boxes(add, api, project):
    """Three boxes on one picture; their ids, and the specification of another."""
    media = add("a.png", picture(4, 4))
    box = api.made(f"LocalizationTypes/{project}", {"name": "Box", "dtype": "box", "media_types": [add.type]})
    spec = {"type": box, "media_id": media, "frame": 0, "x": 0.5, "y": 0.25, "width": 0.25, "height": 0.25}
    return api.made(f"Localizations/{project}", [spec] * 3), spec


def edit(target, spec):
    """Change the first row of a bucket, drop the last, and add one, as a program does; a new picture beside."""
    s3, place = boto3.client("s3"), {"Bucket": target, "Key": "dive/localizations.jsonl"}
    rows = [json.loads(line) for line in s3.get_object(**place)["Body"].read().splitlines()]
    rows = [{**rows[0], "x": 0.125}, rows[1], {**spec, "y": 0.5}]
    s3.put_object(**place, Body="".join(json.dumps(row) + "\n" for row in rows).encode())
    s3.put_object(Bucket=target, Key="dive/media/12_new.png", Body=picture(6, 6))


@pytest.mark.slow
def test_changes_in_a_bucket_are_told_and_then_sent(limn, signed_in, api, boxes, target, config):
    ids, spec = boxes
    address = f"s3://{target}/dive"
    assert "Run this first: limn mirror" in limn("mirror", address, "--back").err
    assert limn("mirror", address).status == 0
    assert limn("mirror", address, "--back", "--delete").out == "would be sent: 0 new files\n"
    edit(target, spec)
    told = "1 new files, 1 localizations created, 1 localizations updated, 1 localizations deleted"
    assert limn("mirror", address, "--back", "--delete").out == f"would be sent: {told}\n"
    assert "localizations.jsonl was changed. Send it by --back --apply" in limn("mirror", address).err
    sent = limn("mirror", address, "--back", "--apply", "--delete")
    assert (sent.status, sent.out.splitlines()[0]) == (0, f"sent: {told}"), sent.err
    now = {row["id"]: row for row in api.get(f"Localizations/{signed_in}").json}
    assert (len(now), now[ids[0]]["x"], ids[2] in now) == (3, 0.125, False)
    api.drain()
    [media] = api.get(f"Medias/{signed_in}", name="12_new.png").json
    assert limn("mirror", address).status == 0
    assert limn("mirror", address, "--back", "--delete").out == "would be sent: 0 new files\n"
    ours = {name: len(data) for name, data in contents(target).items() if name.startswith(f"{media['id']}-")}
    assert list(ours.values()) == [len(picture(6, 6))]
    assert not list((config.parent / "mirrors").iterdir())


@pytest.mark.slow
def test_a_way_back_from_a_bucket_that_dies_goes_on_and_sends_nothing_twice(
    client, api, project, boxes, target, config, monkeypatch
):
    ids, spec = boxes
    Mirror(client, project, Bucket(f"s3://{target}/dive")).run()
    edit(target, spec)
    for lives in range(40):
        place, journal = Bucket(f"s3://{target}/dive"), uploads.Journal()
        monkeypatch.setattr(place, "_s3", Mortal(place._s3, lives))
        try:
            done = Back(client, project, place, journal, parallel=1).run(apply=True, delete=True)
            break
        except Died:
            continue
        finally:
            journal.close()
    assert (lives > 3, done.refused) == (True, [])
    assert len(api.get(f"Medias/{project}", name="12_new.png").json) == 1
    now = {row["id"]: row for row in api.get(f"Localizations/{project}").json}
    assert (len(now), now[ids[0]]["x"], ids[2] in now) == (3, 0.125, False)
    api.drain()
    Mirror(client, project, Bucket(f"s3://{target}/dive"))._place.accept(["localizations.jsonl"])
    Mirror(client, project, Bucket(f"s3://{target}/dive")).run()
    assert len(contents(target)) == 2


@pytest.mark.slow
def test_a_mirror_that_is_killed_continues_and_ends_equal(service, add, api, project, target, config):
    wanted = {}
    for number in range(8):
        data = picture(400 + number, 300)
        wanted[str(add(f"{number}.png", data))] = data
    configuration.write(configuration.Configuration("default", {"default": Profile(service, api.token, project)}))
    [(access, secret)] = aws.signing_keys().items()
    keys = {"AWS_ACCESS_KEY_ID": access, "AWS_SECRET_ACCESS_KEY": secret, "AWS_DEFAULT_REGION": "us-east-1"}
    environment = {**os.environ, **keys, "AWS_ENDPOINT_URL_S3": os.environ["LIMN_S3_ENDPOINT"]}
    words = [sys.executable, "-m", "infra.client", "mirror", f"s3://{target}/dive", "--parallel", "1"]
    environment["LIMN_CONFIG"] = str(config)
    for seconds in (0.8, 1.1, 1.4, None):
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
        if seconds:
            time.sleep(seconds)
            process.send_signal(signal.SIGKILL)
        said, _ = process.communicate(timeout=120)
        held = {name.partition("-")[0]: data for name, data in contents(target).items()}
        assert all(data == wanted[media] for media, data in held.items())  # what is there is whole
    assert (process.returncode, held) == (0, wanted), said
