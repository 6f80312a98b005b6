"""Uploads and downloads through presigned URLs."""

import re

import boto3
import pytest

from chalicelib.settings import settings
from tests.resources.media.samples import media_type

# moto leaves the spooled files of uploads to the garbage collector
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

KEY = re.compile(r"_uploads/\d{4}-\d\d-\d\d/(\d+)/(\d+)/(\d+)/(.+)")


class TestGetUploadInfo:
    def test_those_who_may_only_edit_are_refused(self, member, project):
        assert member("Can Edit").get(f"UploadInfo/{project}").status == 403
        assert member("Can Transfer").get(f"UploadInfo/{project}").status == 200

    def test_a_single_part_needs_no_completion(self, api, project, organization):
        said = api.get(f"UploadInfo/{project}", filename="my clip.mp4").json
        found = KEY.fullmatch(said["key"])
        assert [int(number) for number in found.groups()[:3]] == [organization, project, api.user.id]
        assert re.fullmatch(r"my clip_[A-Za-z]{10}\.mp4", found[4])
        assert len(said["urls"]) == 1
        assert said["upload_id"] == ""

    def test_no_name_takes_the_upload_out_of_its_folder(self, api, project):
        key = api.get(f"UploadInfo/{project}", filename="../../1/1/x.mp4").json["key"]
        assert len(key.split("/")) == 6
        assert ".." not in key

    def test_a_media_s_file_lies_under_it(self, api, project, organization):
        media = api.made(f"Medias/{project}", {"type": media_type(project), "name": "a.mp4", "md5": ""})
        key = api.get(f"UploadInfo/{project}", media_id=media, filename="720.mp4").json["key"]
        assert key.startswith(f"{organization}/{project}/{media}/720_")

    @pytest.mark.parametrize(
        "query", [{"media_id": 1, "file_id": 1}, {"media_id": 999_999}, {"file_id": 999_999}, {"bucket_id": 1}]
    )
    def test_what_does_not_belong_together_or_here_is_refused(self, api, project, query):
        assert api.get(f"UploadInfo/{project}", **query).status == 400

    @pytest.mark.parametrize("query", [{"num_parts": 0}, {"num_parts": 10_001}, {"expiration": 0}])
    def test_bounds_hold(self, api, project, query):
        assert api.get(f"UploadInfo/{project}", **query).status == 400


class TestCompleteUpload:
    def upload(self, api, project):
        info = api.get(f"UploadInfo/{project}", num_parts=2, filename="a.bin").json
        s3, place = boto3.client("s3"), {"Bucket": settings().upload_bucket, "Key": info["key"]}
        parts = []
        for number, body in ((2, b"end"), (1, b"a" * 5 * 1024 * 1024)):
            sent = s3.upload_part(**place, UploadId=info["upload_id"], PartNumber=number, Body=body)
            parts.append({"ETag": sent["ETag"], "PartNumber": number})
        return {"key": info["key"], "upload_id": info["upload_id"], "parts": parts, "bucket_id": None}

    @pytest.mark.parametrize("turn", [False, True])
    def test_parts_become_one_object_in_whatever_order_they_came_and_are_named(self, api, project, turn):
        spec = self.upload(api, project)
        spec["parts"] = sorted(spec["parts"], key=lambda part: part["PartNumber"], reverse=turn)
        assert api.post(f"UploadCompletion/{project}", spec).status == 201
        found = boto3.client("s3").get_object(Bucket=settings().upload_bucket, Key=spec["key"])
        body = found["Body"].read()
        assert (len(body), body[-4:]) == (5 * 1024 * 1024 + 3, b"aend")

    def test_completing_again_is_no_error_for_the_first_answer_may_be_lost(self, api, project):
        spec = self.upload(api, project)
        assert [api.post(f"UploadCompletion/{project}", spec).status for _ in range(2)] == [201, 201]

    def test_a_wrong_etag_is_a_clear_400(self, api, project):
        spec = self.upload(api, project)
        spec["parts"][0]["ETag"] = '"0123456789abcdef0123456789abcdef"'
        said = api.post(f"UploadCompletion/{project}", spec)
        assert said.status == 400
        assert "multipart upload" in said.message

    def test_an_upload_that_nobody_began_is_a_clear_400_too(self, api, project):
        spec = {**self.upload(api, project), "upload_id": "nobody's"}
        said = api.post(f"UploadCompletion/{project}", spec)
        assert said.status == 400
        assert "NoSuchUpload" in said.json["details"]

    def test_one_part_is_too_few(self, api, project):
        spec = self.upload(api, project)
        assert api.post(f"UploadCompletion/{project}", {**spec, "parts": spec["parts"][:1]}).status == 400

    def test_a_key_of_another_project_is_forbidden(self, api, project):
        spec = self.upload(api, project)
        spec["key"] = re.sub(rf"/{project}/", "/999999/", spec["key"], count=1)
        spec["key"] = "/".join([*spec["key"].split("/")[:3], "999999", *spec["key"].split("/")[4:]])
        assert api.post(f"UploadCompletion/{project}", spec).status == 403


class TestGetDownloadInfo:
    def test_urls_come_in_the_order_and_number_of_the_keys(self, api, project, organization):
        keys = [f"{organization}/{project}/1/b.mp4", f"{organization}/{project}/1/a.mp4"] * 2
        said = api.post(f"DownloadInfo/{project}", {"keys": keys})
        assert said.status == 201
        assert [item["key"] for item in said.json] == keys
        assert all(item["key"] in item["url"] for item in said.json)

    def test_the_same_user_gets_the_same_url_again(self, api, project, organization, member):
        body = {"keys": [f"{organization}/{project}/1/a.mp4"]}
        first = api.post(f"DownloadInfo/{project}", body, expiration=7200).json
        assert api.post(f"DownloadInfo/{project}", body, expiration=86_400).json == first
        assert "X-Amz-Expires=7200" in first[0]["url"]
        other = member("Can Transfer").post(f"DownloadInfo/{project}", body, expiration=86_400).json
        assert "X-Amz-Expires=86400" in other[0]["url"]

    def test_a_short_url_is_short_though_a_longer_one_is_kept(self, api, project, organization):
        body = {"keys": [f"{organization}/{project}/5/a.mp4"]}
        for seconds, signed in ((86_400, 86_400), (1, 1), (86_400, 86_400)):
            (found,) = api.post(f"DownloadInfo/{project}", body, expiration=seconds).json
            assert f"X-Amz-Expires={signed}&" in found["url"]

    def test_a_short_url_is_not_kept(self, api, project, organization):
        body = {"keys": [f"{organization}/{project}/1/a.mp4"]}
        api.post(f"DownloadInfo/{project}", body, expiration=60)
        assert "X-Amz-Expires=600" in api.post(f"DownloadInfo/{project}", body, expiration=600).json[0]["url"]

    @pytest.mark.parametrize(
        ("key", "status"),
        [("1/999999/1/a", 403), ("_uploads/2026-01-01/1/999999/1/a", 403), ("a", 400), ("1/x/1/a", 400), ("", 400)],
    )
    def test_keys_of_others_and_malformed_ones(self, api, project, key, status):
        assert api.post(f"DownloadInfo/{project}", {"keys": [key]}).status == status

    def test_viewers_may_not(self, member, project):
        assert member("Can Edit").post(f"DownloadInfo/{project}", {"keys": []}).status == 403
