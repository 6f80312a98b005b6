"""The pictures of organizations and projects: whose they are, and where they lie."""

from __future__ import annotations

import uuid

import pytest

from chalicelib.access.masks import EXIST, READ
from chalicelib.core.models.accounts import ORGANIZATION
from chalicelib.resources.uploads import thumbs
from chalicelib.storage.dynamodb import records
from tests import objects
from tests.resources.media.samples import picture, uploaded
from tests.service import join, new_user


class TestOrganizations:
    def test_an_upload_becomes_its_picture_and_the_next_one_replaces_it(self, api, organization):
        keys = []
        for _ in range(2):
            info = api.get(f"OrganizationUploadInfo/{organization}").json
            assert info["key"].startswith(f"{organization}/")
            assert len(info["urls"]) == 1
            objects.write(info["key"], b"picture")
            assert api.patch(f"Organization/{organization}", {"thumb": info["key"]}).status == 200
            keys.append(info["key"])
        assert objects.size(keys[0]) is None
        shown = api.get(f"Organization/{organization}").json["thumb"]
        assert shown.startswith("http")
        assert keys[1] in shown
        assert api.get(f"Organization/{organization}").json["thumb"] == shown
        listed = next(item for item in api.get("Organizations").json if item["id"] == organization)
        assert listed["thumb"] == shown

    def test_an_upload_of_several_parts_is_finished_in_a_project_of_the_organization(self, api, organization, project):
        info = api.get(f"OrganizationUploadInfo/{organization}", num_parts=2).json
        s3, place = objects.client(), {"Bucket": objects.bucket_of(info["key"]), "Key": info["key"]}
        parts = []
        for number, body in ((1, b"p" * 5 * 2**20), (2, b"q")):
            sent = s3.upload_part(**place, UploadId=info["upload_id"], PartNumber=number, Body=body)
            parts.append({"ETag": sent["ETag"], "PartNumber": number})
        spec = {"key": info["key"], "upload_id": info["upload_id"], "parts": parts}
        outsider = new_user()
        join(outsider, project, "Full Control")
        assert outsider.post(f"UploadCompletion/{project}", spec).status == 403
        other = f"{organization + 1}/{info['key'].partition('/')[2]}"
        assert api.post(f"UploadCompletion/{project}", {**spec, "key": other}).status == 403
        assert api.post(f"UploadCompletion/{project}", spec).status == 201
        assert api.patch(f"Organization/{organization}", {"thumb": info["key"]}).status == 200

    def test_only_the_organizations_own_uploads_are_taken(self, api, organization, project):
        objects.write(f"{organization}/{project}/7/film.mp4", b"of a project whose member an administrator need not be")
        objects.write(f"{organization + 1}/x", b"x")
        for key in (
            f"{organization}/{project}/7/film.mp4",
            f"{organization + 1}/x",
            f"{organization}/",
            f"{organization}/missing",
            f"/{organization}/x",
            "",
            "x",
            f"_uploads/d/{organization}/{project}/1/x",
        ):
            said = api.patch(f"Organization/{organization}", {"thumb": key})
            assert (said.status, "thumb" in said.message) == (400, True), key
        assert records.get(ORGANIZATION, organization).thumb is None

    def test_a_plain_member_gets_upload_urls_and_a_stranger_does_not(self, api, organization, stranger):
        plain = new_user()
        api.made(f"Affiliations/{organization}", {"user": plain.user.id, "permission": "Member"})
        assert plain.get(f"OrganizationUploadInfo/{organization}", num_parts=3, expiration=60).json["upload_id"]
        assert stranger.get(f"OrganizationUploadInfo/{organization}").status == 404
        assert plain.get(f"OrganizationUploadInfo/{organization}", expiration=604801).status == 400

    def test_a_new_one_has_none(self, api):
        assert api.post("Organizations", {"name": uuid.uuid4().hex, "thumb": "1/x"}).status == 400


class TestProjects:
    def upload(self, organization, project, user, name="a.png"):
        key = f"_uploads/2026-01-02/{organization}/{project}/{user}/{name}"
        objects.write(key, b"picture")
        return key

    def test_an_upload_is_copied_and_the_next_one_replaces_it(self, api, organization, project):
        for name in ("a.png", "b.png"):
            upload = self.upload(organization, project, api.user.id, name)
            said = api.patch(f"Project/{project}", {"thumb": upload})
            assert said.status == 200
            assert f"{organization}/{project}/{name}" in said.json["object"]["thumb"]
        assert objects.size(f"{organization}/{project}/a.png") is None
        assert objects.read(f"{organization}/{project}/b.png") == b"picture"
        shown = api.get(f"Project/{project}").json["thumb"]
        assert shown.startswith("http")
        assert f"X-Amz-Expires={thumbs.SECONDS}" in shown
        assert next(item for item in api.get("Projects").json if item["id"] == project)["thumb"] == shown

    @pytest.mark.slow
    def test_without_one_it_shows_that_of_its_first_media(self, api, organization, project):
        image = api.made(f"MediaTypes/{project}", {"name": "image", "dtype": "image"})
        numbers = []
        for name in ("z.jpg", "a.jpg"):
            spec = {"type": image, "name": name, "md5": "", "url": uploaded(api, project, picture(20, 20), name)}
            numbers.append(api.made(f"Medias/{project}", spec))
        assert api.get(f"Project/{project}").json["thumb"] is None
        api.drain()
        thumbnails = [api.get(f"Media/{number}").json["media_files"]["thumbnail"][0]["path"] for number in numbers]
        assert thumbnails[0] in api.get(f"Project/{project}").json["thumb"]
        (listed,) = [item for item in api.get("Projects").json if item["id"] == project]
        assert thumbnails[0] in listed["thumb"]
        assert "first_thumb" not in listed
        upload = self.upload(organization, project, api.user.id)
        said = api.patch(f"Project/{project}", {"thumb": upload})
        assert f"{organization}/{project}/a.png" in said.json["object"]["thumb"]
        assert objects.size(thumbnails[0]) is not None  # what is replaced was no picture of the project's own
        assert f"{organization}/{project}/a.png" in api.get(f"Project/{project}").json["thumb"]

    @pytest.mark.slow
    def test_it_goes_with_the_media(self, api, project):
        image = api.made(f"MediaTypes/{project}", {"name": "image", "dtype": "image"})
        spec = {"type": image, "name": "a", "md5": "", "url": uploaded(api, project, picture(20, 20), "a.jpg")}
        number = api.made(f"Medias/{project}", spec)
        api.drain()
        assert api.get(f"Project/{project}").json["thumb"]
        api.delete(f"Media/{number}")
        assert api.get(f"Project/{project}").json["thumb"] is None

    @pytest.mark.usefixtures("fine_grained")
    def test_who_may_not_see_all_media_does_not_see_it(self, api, project, colleague):
        image = api.made(f"MediaTypes/{project}", {"name": "image", "dtype": "image"})
        spec = {"type": image, "name": "a", "md5": "", "url": uploaded(api, project, picture(20, 20), "a.jpg")}
        api.made(f"Medias/{project}", spec)
        api.drain()
        assert api.get(f"Project/{project}").json["thumb"]
        api.made("RowProtections", {"project": project, "user": colleague.user.id, "permission": EXIST | READ})
        assert colleague.get(f"Project/{project}").json["thumb"] is None
        assert {item["thumb"] for item in colleague.get("Projects").json} == {None}

    def test_another_organizations_projects_or_users_upload_is_refused(self, api, organization, project):
        user = api.user.id
        for key, word in (
            (self.upload(organization + 1, project, user), "organization"),
            (self.upload(organization, project + 1, user), "project"),
            (self.upload(organization, project, user + 1), "user"),
            (f"_uploads/2026-01-02/{organization}/{project}/{user}/missing.png", "nothing was uploaded"),
            (f"{organization}/{project}/1/a.png", "upload"),
            (f"_uploads/{organization}/{project}/{user}/a.png", "upload"),
            ("", "upload"),
        ):
            said = api.patch(f"Project/{project}", {"thumb": key})
            assert said.status == 400, key
            assert word in said.message, key

    def test_a_new_one_has_none(self, api, organization):
        assert (
            api.post("Projects", {"name": uuid.uuid4().hex, "organization": organization, "thumb": "x"}).status == 400
        )


@pytest.mark.parametrize("key", ["1/a\nb", "1/" + "x" * 301, "1//a", "01/a"])
def test_a_malformed_key_is_refused(api, organization, key):
    assert api.patch(f"Organization/{organization}", {"thumb": key.replace("1", str(organization), 1)}).status == 400


class TestCounts:
    def test_files_bytes_and_seconds_are_counted(self, api, project):
        kind = api.made(f"MediaTypes/{project}", {"name": "video", "dtype": "video"})
        media = {"type": kind, "name": "a.mp4", "md5": "", "num_frames": 250, "fps": 25.0}
        api.made(f"Medias/{project}", media)
        assert api.get(f"Project/{project}").json["num_files"] == 1
        assert api.get(f"Project/{project}").json["duration"] == 10
        listed = next(item for item in api.get("Projects").json if item["id"] == project)
        assert (listed["num_files"], listed["duration"]) == (1, 10)
