"""What becomes of media whose files lie in a registered bucket: the archive, clips, temporary files, mail."""

from datetime import timedelta

import boto3
import pytest
import requests

from chalicelib.core.kinds import Kind
from chalicelib.resources.clips import service as clips_service
from chalicelib.resources.media.files import archiving
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import entities
from tests import objects
from tests.resources.buckets.conftest import put_file
from tests.resources.clips.test_clips import frames_in
from tests.resources.email.test_mail import mails
from tests.resources.media.samples import media_type, picture, transcode, uploaded, video
from tests.storage.gcs_server import GcsServer


@pytest.fixture
def film(api, project, settled):
    """A transcoded media; its id."""
    said = transcode(api, project, media_type(project), video())
    api.drain()
    return said.json["media_id"]


def class_of(store, key):
    if isinstance(store.server, GcsServer):
        return store.server.classes.get((store.name, key), "STANDARD")
    return boto3.client("s3").head_object(Bucket=store.name, Key=key).get("StorageClass", "STANDARD")


def state(api, number):
    return api.get(f"Media/{number}").json["archive_state"]


class TestArchive:
    @pytest.fixture(autouse=True)
    def at_once(self, monkeypatch):
        monkeypatch.setattr(archiving, "PATIENCE", timedelta(seconds=-1))

    @pytest.fixture
    def cold(self, api, settled):
        """The class that archived files get there: the store's own archive; MinIO has none, so there AWS stands in."""
        if isinstance(settled.server, GcsServer):
            return "COLDLINE"
        config = {
            "endpoint_url": settled.url,
            "region_name": "us-east-1",
            "aws_access_key_id": "AKALTERNATE",
            "aws_secret_access_key": "alternate-secret-key",
        }
        said = api.patch(f"Bucket/{settled.number}", {"store_type": "AWS", "config": config})
        assert said.status == 200, said.body
        objects.placement._open.cache_clear()
        return "DEEP_ARCHIVE"

    @pytest.mark.slow
    def test_large_files_take_the_class_of_their_bucket_and_come_back(self, api, project, settled, cold):
        url = uploaded(api, project, picture(), "a.jpg")
        spec = {"type": media_type(project, "image"), "name": "a.jpg", "md5": "", "url": url}
        number = api.made(f"Medias/{project}", spec)
        api.drain()
        files = api.get(f"Media/{number}").json["media_files"]
        image, thumbnail = files["image"][0]["path"], files["thumbnail"][0]["path"]
        assert api.patch(f"Media/{number}", {"archive_state": "to_archive"}).status == 200
        assert archiving.advance([number]) == []
        assert (state(api, number), class_of(settled, image), class_of(settled, thumbnail)) == (
            "archived", cold, "STANDARD",
        )  # fmt: skip
        assert api.patch(f"Media/{number}", {"archive_state": "to_live"}).status == 200
        waiting = archiving.advance([number])
        if cold == "DEEP_ARCHIVE":
            # S3 was asked to bring it out, which takes it a while; then it is looked at again
            assert waiting == [number]
            assert state(api, number) == "to_live"
            assert boto3.client("s3").head_object(Bucket=settled.name, Key=image)["Restore"]
            assert archiving.advance([number]) == []
        else:
            assert waiting == []
        assert (state(api, number), class_of(settled, image)) == ("live", "STANDARD")
        assert api.get(f"GetFrame/{number}").status == 200

    def test_a_bucket_without_an_archive_keeps_them_as_they_are(self, api, project, settled, media):
        if isinstance(settled.server, GcsServer):
            assert api.patch(f"Bucket/{settled.number}", {"archive_sc": "STANDARD"}).status == 200
            objects.placement._open.cache_clear()
        key = put_file(api, project, media)
        for wish, then in (("to_archive", "archived"), ("to_live", "live")):
            assert api.patch(f"Media/{media}", {"archive_state": wish}).status == 200
            assert archiving.advance([media]) == []
            assert (state(api, media), class_of(settled, key)) == (then, "STANDARD")


@pytest.mark.slow
@pytest.mark.parametrize("reencode", [False, True], ids=["copied", "encoded"])
def test_a_clip_is_cut_from_there(api, film, reencode):
    file = clips_service.order(entities.get(Kind.MEDIA, film), api.user.id, ["10:20"], None, reencode=reencode)
    api.drain()
    made = clips_service.wait(file.id)
    shown = api.get(made.file.path.removeprefix(settings().public_url))
    data = requests.get(shown.headers["Location"], timeout=5).content
    assert frames_in(data) == (11 if reencode else 25)


def test_a_temporary_file_is_a_copy_of_what_lies_there(api, project, settled):
    url = uploaded(api, project, b"a,b\n", "r.csv")
    assert url.startswith(settled.url)
    number = api.made(f"TemporaryFiles/{project}", {"url": url, "name": "r.csv", "lookup": "r"})
    path = api.get(f"TemporaryFile/{number}").json["path"]
    shown = api.get(path.removeprefix(settings().public_url))
    assert requests.get(shown.headers["Location"], timeout=5).content == b"a,b\n"


@pytest.mark.slow
def test_a_mail_takes_along_what_lies_there(api, project, media, settled):
    key = put_file(api, project, media)
    subject = f"From bucket {settled.number}"
    attachments = [{"key": key, "name": "a.bin"}]
    spec = {"recipients": [api.user.email], "subject": subject, "text": "Text", "attachments": attachments}
    assert api.post(f"Email/{project}", spec).status == 201
    api.drain()
    (mail,) = mails(subject)
    (attachment,) = mail.iter_attachments()
    assert attachment.get_payload(decode=True) == b"hello"


@pytest.mark.parametrize("role", ["bucket", "upload_bucket", "backup_bucket"])
def test_the_deletion_of_a_bucket_clears_it_from_its_projects(api, project, elsewhere, role):
    assert api.patch(f"Project/{project}", {role: elsewhere.number}).status == 200
    assert api.get(f"Project/{project}").json[role] == elsewhere.number
    assert api.delete(f"Bucket/{elsewhere.number}").status == 200
    assert api.get(f"Bucket/{elsewhere.number}").status == 404
    assert api.get(f"Project/{project}").json[role] is None
