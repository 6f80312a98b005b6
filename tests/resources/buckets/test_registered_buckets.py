"""Files in buckets that an organization registered: S3's protocol and Google Cloud Storage, the same tests for both."""

from __future__ import annotations

import itertools
import json
import socket
from typing import Any

import pytest
import requests

from chalicelib.core.keys import key_forms, object_keys
from chalicelib.resources.projects import purging
from chalicelib.resources.projects.messages import PurgeProject
from chalicelib.resources.uploads import unclaimed
from chalicelib.storage.objects import placement
from tests import objects
from tests.resources.buckets.conftest import put_file
from tests.resources.media.samples import frame_shown, media_type, picture, transcode, uploaded, video
from tests.storage.gcs_server import CONFIG, GcsServer

PART = 5 * 1024 * 1024
_names = itertools.count(1)


def test_an_upload_goes_to_the_project_s_upload_bucket_and_back(api, project, settled):
    info = api.get(f"UploadInfo/{project}", filename="söme file.bin").json
    assert info["urls"][0].startswith(settled.url)
    answer = requests.put(info["urls"][0], data=b"hello", timeout=5)
    assert answer.status_code == 200
    assert answer.headers["ETag"]
    assert settled.keys() == [info["key"]]
    url = api.post(f"DownloadInfo/{project}", {"keys": [info["key"]]}).json[0]["url"]
    assert url.startswith(settled.url)
    assert requests.get(url, timeout=5).content == b"hello"
    changed = url.replace("s_me", "s_mf")
    assert requests.get(changed, timeout=5).status_code == 403


@pytest.mark.slow
def test_an_upload_that_was_not_used_is_removed_there_too(api, project, settled, move_clock):
    single, parts = (api.get(f"UploadInfo/{project}", num_parts=count, expiration=60).json for count in (1, 2))
    for url in (*single["urls"], parts["urls"][0]):
        assert requests.put(url, data=b"x" * PART, timeout=20).status_code == 200
    move_clock(7 * 86_400 + 61)
    unclaimed.sweep()
    assert settled.keys() == []
    etag = {"ETag": '"0"', "PartNumber": 1}
    body = {"key": parts["key"], "upload_id": parts["upload_id"], "parts": [etag, {**etag, "PartNumber": 2}]}
    assert api.post(f"UploadCompletion/{project}", body).status == 400


@pytest.mark.slow
def test_a_multipart_upload_ends_there_and_a_wrong_etag_is_a_clear_400(api, project, settled):
    info = api.get(f"UploadInfo/{project}", num_parts=2).json
    etags = [requests.put(url, data=b"x" * PART, timeout=20).headers["ETag"] for url in info["urls"]]
    parts = [{"ETag": etag, "PartNumber": number} for number, etag in enumerate(etags, 1)]
    body = {"key": info["key"], "upload_id": info["upload_id"], "parts": [{**parts[0], "ETag": '"0"'}, parts[1]]}
    refused = api.post(f"UploadCompletion/{project}", body)
    assert (refused.status, refused.message) == (400, "The multipart upload could not be completed.")
    body["parts"] = parts
    for _ in range(2):
        assert api.post(f"UploadCompletion/{project}", body).status == 201
    assert objects.size(info["key"]) == 2 * PART
    assert settled.keys() == [info["key"]]


@pytest.mark.slow
def test_one_file_may_go_to_a_bucket_of_its_own(api, project, media, elsewhere):
    key = put_file(api, project, media, bucket_id=elsewhere.number)
    assert elsewhere.keys() == [key]
    entry = api.get(f"Media/{media}").json["media_files"]["attachment"][0]
    assert entry["bucket_id"] == elsewhere.number
    shown = api.get(f"Media/{media}", presigned=3600).json["media_files"]["attachment"][0]["path"]
    assert shown.startswith(elsewhere.url)
    assert requests.get(shown, timeout=5).content == b"hello"


@pytest.mark.slow
def test_what_lay_in_the_old_bucket_stays_and_is_found(api, project, media, elsewhere):
    before = put_file(api, project, media)
    api.patch(f"Project/{project}", {"bucket": elsewhere.number})
    after = put_file(api, project, media)
    assert elsewhere.keys() == [after]
    assert [objects.read(key) for key in (before, after)] == [b"hello", b"hello"]


def test_a_clone_shares_the_file_until_the_last_owner_goes(api, project, organization, media, settled):
    key = put_file(api, project, media)
    other = api.made("Projects", {"name": f"clones {next(_names)}", "organization": organization})
    body = {"dest_project": other, "dest_type": media_type(other)}
    (clone,) = api.post(f"CloneMedia/{project}", body, media_id=media).json["id"]
    shown = api.get(f"Media/{clone}", presigned=3600).json["media_files"]["attachment"][0]["path"]
    assert requests.get(shown, timeout=5).content == b"hello"
    assert api.delete(f"AuxiliaryFile/{media}", index=0, role="attachment").status == 200
    assert settled.keys() == [key]
    assert api.delete(f"AuxiliaryFile/{clone}", index=0, role="attachment").status == 200
    assert settled.keys() == []


def test_a_purged_project_leaves_nothing_there(api, project, organization, media, settled):
    put_file(api, project, media)
    lost = api.get(f"UploadInfo/{project}", media_id=media, filename="never registered").json["urls"][0]
    requests.put(lost, data=b"x", timeout=5)
    assert len(settled.keys()) == 2
    assert api.delete(f"Project/{project}").status == 200
    purging.purge(PurgeProject(id="purge", project=project, organization=organization, round=purging.ROUNDS), 60)
    assert settled.keys() == []
    assert placement.recorded_buckets(project) == []


@pytest.mark.slow
def test_a_transcode_reads_from_there_and_writes_there(api, project, settled):
    said = transcode(api, project, media_type(project), video())
    assert said.status == 201, said.body
    api.drain()
    found = api.get(f"Transcode/{said.json['id']}").json
    assert (found["job"]["status"], found["job"]["message"]) == ("succeeded", None)
    number = found["spec"]["media_id"]
    files = api.get(f"Media/{number}").json["media_files"]
    named = [entry["path"] for role in ("streaming", "thumbnail", "thumbnail_gif") for entry in files[role]]
    assert set(named) <= set(settled.keys())
    assert all(key_forms.bucket_of(key) == settled.number for key in named)
    under = f"/{project}/{number}/"
    assert [key for key in objects.under("") if under in key] == []
    for frame in (0, 37, 74):
        assert frame_shown(api.get(f"GetFrame/{number}", frames=frame).body) == frame


@pytest.mark.slow
def test_pieces_larger_than_a_part_are_joined_there(api, project, media, settled):
    prefix = object_keys.pieces_prefix(project, "j")
    pieces = [PART + 1, 10, 2 * PART, 3]
    for index, size in enumerate(pieces):
        objects.write(f"{prefix}{index}", bytes([index]) * size)
    key = api.get(f"UploadInfo/{project}", media_id=media).json["key"]
    objects.join(key, [f"{prefix}{index}" for index in range(len(pieces))], "video/mp4")
    assert objects.read(key) == b"".join(bytes([index]) * size for index, size in enumerate(pieces))
    assert settled.keys() == [key]


@pytest.mark.slow
def test_an_image_is_imported_there(api, project, settled):
    url = uploaded(api, project, picture(), "a.jpg")
    assert url.startswith(settled.url)
    made = api.made(f"Medias/{project}", {"type": media_type(project, "image"), "name": "a.jpg", "md5": "", "url": url})
    api.drain()
    files = api.get(f"Media/{made}").json["media_files"]
    assert {files[role][0]["path"] for role in ("image", "thumbnail")} <= set(settled.keys())
    assert api.get(f"GetFrame/{made}").status == 200


def test_a_bucket_that_holds_files_is_kept(api, project, media, settled):
    put_file(api, project, media)
    assert api.patch(f"Project/{project}", {"bucket": None, "upload_bucket": None}).status in (200, 400)
    refused = api.delete(f"Bucket/{settled.number}")
    assert refused.status == 400
    assert str(project) in refused.message


@pytest.mark.slow
def test_new_keys_are_taken_up(api, project, media, elsewhere):
    key = put_file(api, project, media, bucket_id=elsewhere.number)
    change = {"access_key": "WRONG", "secret_key": "wrong"}
    if isinstance(elsewhere.server, GcsServer):
        change = {"gcs_key_info": json.dumps({**CONFIG, "client_email": "nobody@example.org"})}
    assert api.patch(f"Bucket/{elsewhere.number}", change).status == 200
    placement._open.cache_clear()
    url = api.post(f"DownloadInfo/{project}", {"keys": [key]}, expiration=60).json[0]["url"]
    assert requests.get(url, timeout=5).status_code == 403


class TestRefusals:
    def test_a_bucket_of_nobody_or_of_others(self, api, project, media):
        theirs = api.made("Organizations", {"name": f"theirs {next(_names)}"})
        spec = {
            "name": "b",
            "access_key": "A",
            "secret_key": "S",
            "endpoint_url": "https://s3.example.org",
            "region": "e",
        }
        for number in (10**9, api.made(f"Buckets/{theirs}", spec)):
            said = api.get(f"UploadInfo/{project}", media_id=media, bucket_id=number)
            assert (said.status, said.message.partition(":")[0]) == (400, "bucket_id")
            key = f"{api.get(f'Project/{project}').json['organization']}/{project}/{media}/a@{number}.bin"
            assert api.post(f"AuxiliaryFiles/{media}", {"path": key}).status == 400
            url = api.post(f"DownloadInfo/{project}", {"keys": [key]}).json[0]["url"]
            assert "example.org" not in url

    def test_a_file_is_not_in_a_bucket_its_key_was_not_made_for(self, api, project, organization, media, elsewhere):
        body = {"path": f"{organization}/{project}/{media}/a.bin", "bucket_id": elsewhere.number}
        said = api.post(f"AuxiliaryFiles/{media}", body)
        assert said.status == 400
        assert said.message.startswith("bucket_id:")

    def test_no_file_name_takes_an_upload_to_a_bucket(self, api, project):
        for name in ("a@12.mp4", "a@12", "a.@12", "@12", "a.b@12"):
            key = api.get(f"UploadInfo/{project}", filename=name).json["key"]
            assert key_forms.bucket_of(key) is None, key

    def test_a_store_of_a_kind_we_do_not_talk_to(self, api, project, organization):
        spec = {"name": "b", "store_type": "AZURE", "config": {"connection_string": "x"}}
        number = api.made(f"Buckets/{organization}", spec)
        said = api.patch(f"Project/{project}", {"bucket": number})
        assert said.status == 400
        assert "AZURE" in said.message


class TestEndpoints:
    """An administrator of an organization is no operator: no endpoint may be a way inside."""

    def spec(self, url, **more):
        return {"name": "b", "access_key": "A", "secret_key": "S", "endpoint_url": url, "region": "us-east-1", **more}

    @pytest.mark.parametrize(
        "url",
        [
            "http://s3.example.org",
            "http://127.0.0.1:9000",
            "http://169.254.169.254",
            "ftp://s3.example.org",
            "https://user@s3.example.org",
            "https://s3.example.org:99999",
            "s3.example.org",
            "https://",
            "file:///etc/passwd",
        ],
    )
    def test_what_is_not_plain_https_is_refused(self, api, organization, url):
        assert api.post(f"Buckets/{organization}", self.spec(url)).status == 400

    @pytest.mark.parametrize(
        "more",
        [
            {"external_host": "evil.example/x"},
            {"external_host": "user@host"},
            {"region": "no region/"},
            {"name": "a b"},
            {"name": "../x"},
        ],
    )
    def test_what_no_url_can_be_signed_with_is_refused(self, api, organization, more):
        assert api.post(f"Buckets/{organization}", self.spec("https://s3.example.org", **more)).status == 400

    @pytest.mark.parametrize("number", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1"])
    def test_a_name_that_stands_for_an_address_inside_is_never_connected_to(
        self, api, project, organization, media, monkeypatch, hosts, number
    ):
        bucket = api.made(f"Buckets/{organization}", self.spec("https://s3.example.org"))
        api.patch(f"Project/{project}", {"bucket": bucket})
        tried: list[Any] = []
        hosts["s3.example.org"] = number
        monkeypatch.setattr(socket.socket, "connect", lambda _, address: tried.append(address))
        said = api.get(f"UploadInfo/{project}", media_id=media, num_parts=2)
        assert said.status == 403
        assert "not from an allowed origin" in said.message
        assert tried == []

    def test_clients_see_the_external_host(self, api, project, organization, media):
        spec = self.spec("https://s3.example.org", external_host="files.example.com:8443")
        api.patch(f"Project/{project}", {"bucket": api.made(f"Buckets/{organization}", spec)})
        url = api.get(f"UploadInfo/{project}", media_id=media).json["urls"][0]
        assert url.startswith("https://files.example.com:8443/b/")
