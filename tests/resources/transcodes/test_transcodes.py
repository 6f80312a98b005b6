"""Transcodes: from an upload to what browsers stream."""

import uuid

import boto3
import pytest

from chalicelib.core.keys import object_keys
from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import PROJECT
from chalicelib.core.models.definitions import ArchiveConfig, EncodeConfig, ResolutionConfig, S3StorageConfig
from chalicelib.resources.transcodes import steps
from chalicelib.resources.transcodes.results import Workshop
from chalicelib.resources.types import archive_keys
from chalicelib.resources.uploads import fetching
from chalicelib.settings import override, settings
from chalicelib.storage.dynamodb import entities, records
from chalicelib.storage.dynamodb.progress import pieces
from chalicelib.storage.log import log
from chalicelib.video import plan
from chalicelib.video.files.source import BytesSource
from tests import objects
from tests.resources.media.samples import media_type, transcode, uploaded, video

SMALL = [ResolutionConfig(resolution=64)]


@pytest.fixture
def short_pieces():
    """Pieces of one second, so that three seconds make several."""
    with override(piece_seconds=1):
        yield


@pytest.fixture
def type_(project):
    return media_type(project, streaming_config=SMALL)


def leftovers(project, uid):
    return list(objects.under(object_keys.pieces_prefix(project, uid)))


def files_of(media):
    """The objects in a media's folder."""
    found = entities.get(Kind.MEDIA, media)
    folder = object_keys.media_prefix(records.get(PROJECT, found.project).organization, found.project, media)
    return list(objects.under(folder))


def key_of(url):
    return "_uploads/" + url.partition("/_uploads/")[2].partition("?")[0]


@pytest.mark.parametrize(
    ("data", "named"),
    [(b"PK\x03\x04" + bytes(99), "a ZIP archive"), (bytes(257) + b"ustar\x0000" + bytes(99), "a TAR archive")],
)
@pytest.mark.parametrize("number", [-1, None])
def test_an_archive_of_media_is_refused_when_it_is_sent(api, project, type_, data, named, number):
    said = transcode(api, project, number or type_, data, name="media.zip" if number else "media.tar")
    assert said.status == 400
    assert f"url: the file is {named}, which is not unpacked into media." in said.message
    assert f"POST /rest/Imports/{project}" in said.message
    assert api.get(f"MediaCount/{project}").json == 0


class TestTranscode:
    @pytest.mark.slow
    def test_a_real_video_is_streamed_at_four_heights_with_all_that_belongs_to_it(self, api, project):
        said = transcode(api, project, media_type(project))
        assert said.status == 201
        api.drain()
        job = api.get(f"Transcode/{said.json['id']}").json["job"]
        assert (job["status"], job["message"]) == ("succeeded", None)
        media = api.get(f"Media/{said.json['media_id']}").json
        files = media["media_files"]
        assert [entry["resolution"][0] for entry in files["streaming"]] == [144, 360, 480, 720]
        assert (media["fps"], media["num_frames"], media["width"], media["height"]) == (25.0, 132, 1280, 720)
        assert files["audio"][0]["codec"] == "aac"
        assert len(files["thumbnail"]) == len(files["thumbnail_gif"]) == 1
        for role in ("streaming", "audio", "thumbnail", "thumbnail_gif"):
            assert all(entry["size"] == objects.size(entry["path"]) for entry in files[role])
        assert media["attributes"]["_tator_import_workflow"] == [said.json["id"]]
        assert leftovers(project, said.json["id"]) == []

    @pytest.mark.slow
    @pytest.mark.usefixtures("short_pieces")
    def test_the_smallest_rendition_is_shown_before_all_that_takes_long(self, api, project, monkeypatch):
        monkeypatch.setattr(plan, "LONG_WORK", 0)
        shown, real = [], steps._show

        def show(job, *more):
            real(job, *more)
            media = entities.get(Kind.MEDIA, job.media)
            files = media.media_files
            heights = [entry.resolution[0] for entry in files.streaming or []]
            about = (media.num_frames, media.fps, media.width)
            shown.append((*about, heights, bool(files.thumbnail), bool(files.audio), bool(files.thumbnail_gif)))

        monkeypatch.setattr(steps, "_show", show)
        ladder = [ResolutionConfig(resolution=height, preset="ultrafast") for height in (64, 48, 32)]
        said = transcode(api, project, media_type(project, streaming_config=ladder), video(75, sound=True)).json
        api.drain()
        assert api.get(f"Transcode/{said['id']}").json["job"]["status"] == "succeeded"
        about = (75, 25.0, 96)
        assert shown == [
            (*about, [], True, False, False),
            (*about, [32], True, True, False),
            (*about, [32], True, True, True),
            (*about, [32, 48, 64], True, True, True),
        ]
        assert leftovers(project, said["id"]) == []
        assert pieces.count(said["id"]) == 0

    @pytest.mark.parametrize("name", ["clip.mxf", "clip.3gp"])
    def test_a_video_that_a_client_sends_as_an_image_is_transcoded(self, api, project, type_, name):
        url = uploaded(api, project, video(10), name)
        spec = {"type": type_, "name": name, "md5": "", "url": url, "uid": str(uuid.uuid1()), "gid": str(uuid.uuid1())}
        said = api.post(f"Medias/{project}", spec)
        assert said.status == 201, said.body
        (job,) = said.json["object"]["attributes"]["_tator_import_workflow"]
        api.drain()
        assert api.get(f"Transcode/{job}").json["job"]["status"] == "succeeded"
        assert api.get(f"Media/{said.json['id']}").json["num_frames"] == 10
        missing = api.post(f"Medias/{project}", {**spec, "url": url.partition("?")[0] + "x"})
        assert missing.status in (400, 403)

    def test_the_answer_serves_clients_of_every_version(self, api, project, type_):
        said = transcode(api, project, type_, video(10)).json
        assert said["object"]["spec"]["media_id"] == said["media_id"]
        assert said["id"] == said["uid"] == said["object"]["job"]["id"]
        spec = {"type": type_, "gid": str(uuid.uuid4()), "uid": str(uuid.uuid4()), "name": "b.mp4"}
        spec["url"] = uploaded(api, project, video(10))
        older = api.post(f"Transcode/{project}", spec)
        assert (older.status, older.json["uid"]) == (201, spec["uid"])

    @pytest.mark.slow
    def test_several_pieces_make_one_video_in_two_commits_and_one_of_its_end(self, api, project, type_, short_pieces):
        said = transcode(api, project, type_, video(75)).json
        before = log.last(project, fresh=True)
        api.drain()
        shown = api.get(f"Transcode/{said['id']}").json["job"]
        assert (shown["status"], shown["pieces"], shown["done"]) == ("succeeded", 4, 4)
        assert log.last(project, fresh=True) == before + 3
        assert api.get(f"Media/{said['media_id']}").json["num_frames"] == 75

    @pytest.mark.slow
    def test_archival_copies_are_the_original_or_encoded(self, api, project):
        configs = [ArchiveConfig(encode=EncodeConfig(vcodec="copy")), ArchiveConfig(encode=EncodeConfig(vcodec="h264"))]
        data = video(30)
        said = transcode(api, project, media_type(project, streaming_config=SMALL, archive_config=configs), data).json
        api.drain()
        archival = api.get(f"Media/{said['media_id']}").json["media_files"]["archival"]
        sizes = [objects.size(entry["path"]) for entry in archival]
        assert [entry["size"] for entry in archival] == sizes
        assert len(data) in sizes
        assert len(sizes) == 2

    def test_the_original_of_an_allowed_server_is_copied_too(self, api, project, monkeypatch):
        class Elsewhere(BytesSource):
            etag = "1"

        data = video(30)
        monkeypatch.setattr(fetching, "open_source", lambda *_: Elsewhere(data))
        monkeypatch.setattr(fetching, "check_origin", lambda *_: None)
        configs = [ArchiveConfig(encode=EncodeConfig(vcodec="copy"))]
        type_ = media_type(project, streaming_config=SMALL, archive_config=configs)
        said = transcode(api, project, type_, url="https://files.example.org/a.mp4").json
        api.drain()
        (archival,) = api.get(f"Media/{said['media_id']}").json["media_files"]["archival"]
        assert objects.read(archival["path"]) == data

    @pytest.mark.slow
    def test_archival_copies_for_a_bucket_of_the_user_s_own_go_there_and_leave_no_record(self, api, project):
        theirs = f"theirs-{uuid.uuid4().hex[:12]}"
        boto3.client("s3").create_bucket(Bucket=theirs)
        place = S3StorageConfig(aws_access_key="AKIATHEIRS", aws_secret_access_key="x" * 40, bucket_name=theirs)
        configs = [
            ArchiveConfig(encode=EncodeConfig(vcodec="copy"), s3_storage=place),
            ArchiveConfig(encode=EncodeConfig(vcodec="h264"), s3_storage=place),
        ]
        data = video(30)
        type_ = media_type(project, streaming_config=SMALL, archive_config=archive_keys.seal(configs))
        for _ in range(2):
            said = transcode(api, project, type_, data).json
            api.drain()
            job = api.get(f"Transcode/{said['id']}").json["job"]
            assert (job["status"], job["message"]) == ("succeeded", None)
            assert "archival" not in (api.get(f"Media/{said['media_id']}").json["media_files"] or {})
        found = [
            each["Key"].rpartition("/")[2] for each in boto3.client("s3").list_objects_v2(Bucket=theirs)["Contents"]
        ]
        assert sorted(set(found)) == ["archival_0.mp4", "archival_1.mp4"]
        key = f"{said['media_id']}/archival_0.mp4"
        listed = boto3.client("s3").list_objects_v2(Bucket=theirs)["Contents"]
        assert [each["Size"] for each in listed if each["Key"].endswith(key)] == [len(data)]

    def test_a_bucket_of_the_user_s_own_that_refuses_fails_the_job_by_name(self, api, project):
        place = S3StorageConfig(aws_access_key="A", aws_secret_access_key="b", bucket_name="there-is-no-such-bucket")
        configs = archive_keys.seal([ArchiveConfig(encode=EncodeConfig(vcodec="copy"), s3_storage=place)])
        said = transcode(api, project, media_type(project, streaming_config=SMALL, archive_config=configs), video(10))
        api.drain()
        job = api.get(f"Transcode/{said.json['id']}").json["job"]
        assert job["status"] == "failed"
        assert "'there-is-no-such-bucket' does not take the archival copy: NoSuchBucket." in job["message"]
        assert leftovers(project, said.json["id"]) == []

    @pytest.mark.slow
    def test_running_again_on_a_complete_media_adds_nothing(self, api, project, type_):
        data = video(30)
        first = transcode(api, project, type_, data).json
        api.drain()
        before = api.get(f"Media/{first['media_id']}").json
        again = transcode(api, project, type_, data, media_id=first["media_id"]).json
        api.drain()
        assert api.get(f"Transcode/{again['id']}").json["job"]["status"] == "succeeded"
        after = api.get(f"Media/{first['media_id']}").json
        assert after["media_files"] == before["media_files"]
        assert after["attributes"]["_tator_import_workflow"] == [first["id"], again["id"]]

    def test_a_lost_answer_may_be_asked_for_again(self, api, project, type_):
        url, uid, gid = uploaded(api, project, video(10)), str(uuid.uuid4()), str(uuid.uuid4())
        said = [transcode(api, project, type_, url=url, uid=uid, gid=gid).json for _ in range(2)]
        assert said[0]["media_id"] == said[1]["media_id"]
        api.drain()
        assert api.get(f"MediaCount/{project}").json == 1
        assert transcode(api, project, type_, video(10), uid=uid, name="other.mp4").status == 400

    @pytest.mark.parametrize("data", [b"this is text", b"", b"\0" * 5000, video(30)[:400]])
    def test_what_is_no_video_ends_as_a_failed_job_with_its_reason(self, api, project, type_, data):
        said = transcode(api, project, type_, data).json
        api.drain()
        job = api.get(f"Transcode/{said['id']}").json["job"]
        assert job["status"] == "failed"
        assert len(job["message"]) > 10
        assert job["stop_time"]
        assert api.get(f"Media/{said['media_id']}").json["import_error"] == job["message"]
        assert api.get(f"Medias/{project}", fields="import_error").json == [{"import_error": job["message"]}]
        assert objects.size(key_of(said["object"]["spec"]["url"])) == len(data)
        assert leftovers(project, said["id"]) == []

    @pytest.mark.parametrize(
        "change", [{"gid": "a"}, {"uid": "a/b"}, {"name": None}, {"type": 99_999}, {"size": -1}, {"section_id": 99_999}]
    )
    def test_what_breaks_a_rule_is_refused(self, api, project, type_, change):
        assert transcode(api, project, type_, **{"url": uploaded(api, project, b"x"), **change}).status == 400
        assert api.get(f"MediaCount/{project}").json == 0

    def test_an_image_type_is_refused(self, api, project):
        assert transcode(api, project, media_type(project, "image"), b"x").status == 400

    def test_urls_from_elsewhere_and_missing_objects(self, api, project, type_):
        said = api.post(f"Transcodes/{project}", {"type": type_, "url": "https://example.com/a.mp4"})
        assert (said.status, "not from an allowed origin" in said.message) == (403, True)
        url = uploaded(api, project, b"x")
        boto3.client("s3").delete_object(Bucket=settings().upload_bucket, Key=key_of(url))
        assert transcode(api, project, type_, url=url, size=1).status == 400

    def test_a_media_that_does_not_exist_is_404_and_one_from_elsewhere_400(self, api, project, organization, type_):
        assert transcode(api, project, type_, b"x", media_id=9_999_999).status == 404
        other = api.made("Projects", {"name": "other", "organization": organization})
        media = api.made(f"Medias/{other}", {"type": media_type(other), "name": "a", "md5": ""})
        assert transcode(api, project, type_, b"x", media_id=media).status == 400

    def test_a_mail_tells_of_success_and_of_failure(self, api, project, type_):
        spec = {"recipients": [api.user.email], "subject": "Done", "text": "It is there."}
        transcode(api, project, type_, video(10), email_spec=spec)
        transcode(api, project, type_, b"text", email_spec=spec)
        before = len(sent())
        api.drain()
        subjects = sorted(mail["Subject"] for mail in sent()[before:])
        assert subjects == ["Done", "Failed: Done"]

    def test_editors_may_not(self, member, api, project, type_):
        url = uploaded(api, project, b"x")
        assert transcode(member("Can Edit"), project, type_, url=url).status == 403


class TestRetry:
    def test_a_failed_one_is_tried_again_into_its_media_under_a_new_uid(self, api, project, type_):
        failed = transcode(api, project, type_, b"no video").json
        api.drain()
        assert api.get(f"Transcode/{failed['id']}").json["job"]["status"] == "failed"
        url = uploaded(api, project, video(10))
        assert transcode(api, project, type_, url=url, uid=failed["id"]).status == 400
        again = transcode(api, project, type_, url=url, media_id=failed["media_id"]).json
        assert again["media_id"] == failed["media_id"]
        api.drain()
        assert api.get(f"Transcode/{again['id']}").json["job"]["status"] == "succeeded"
        found = api.get(f"Media/{failed['media_id']}").json
        assert (found["num_frames"], found["import_error"]) == (10, None)
        assert api.get(f"MediaCount/{project}").json == 1


class TestTranscodeList:
    def test_by_group_by_media_and_all(self, api, project, type_):
        gid = str(uuid.uuid4())
        said = [transcode(api, project, type_, video(10), gid=gid, name=f"{n}.mp4").json for n in range(2)]
        other = transcode(api, project, type_, video(10)).json
        assert [one["job"]["id"] for one in api.get(f"Transcodes/{project}", gid=gid).json] == [s["id"] for s in said]
        assert len(api.get(f"Transcodes/{project}").json) == 3
        found = api.put(f"Transcodes/{project}", {"ids": [other["media_id"]]}).json
        assert [one["job"]["id"] for one in found] == [other["id"]]

    def test_a_group_of_another_project_is_refused(self, api, project, organization, type_):
        other = api.made("Projects", {"name": "other", "organization": organization})
        gid = str(uuid.uuid4())
        transcode(api, project, type_, video(10), gid=gid)
        assert api.get(f"Transcodes/{other}", gid=gid).status == 400
        assert api.delete(f"Transcodes/{other}", gid=gid).status == 400

    def test_viewers_may_look_but_not_cancel(self, api, member, project, type_):
        uid = transcode(api, project, type_, video(10)).json["id"]
        viewer = member("View Only")
        assert viewer.get(f"Transcode/{uid}").status == 200
        assert viewer.delete(f"Transcode/{uid}").status == 403


class TestCancel:
    @pytest.mark.slow
    def test_a_cancelled_one_is_gone_at_once_and_its_media_stays(self, api, project, type_):
        said = [transcode(api, project, type_, video(10)).json for _ in range(2)]
        assert api.delete(f"Transcode/{said[0]['id']}").status == 200
        assert api.get(f"Transcode/{said[0]['id']}").status == 404
        assert len(api.get(f"Transcodes/{project}").json) == 1
        api.drain()
        assert api.get(f"Media/{said[0]['media_id']}").json["media_files"] is None
        assert api.get(f"Media/{said[1]['media_id']}").json["num_frames"] == 10
        assert leftovers(project, said[0]["id"]) == []

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("owner", "name"), [(pieces, "finish"), (Workshop, "_thumbnail"), (Workshop, "make"), (records, "guard")]
    )
    @pytest.mark.parametrize("when", ["before", "after"])
    def test_one_cancelled_amid_its_work_shows_and_leaves_nothing(self, api, project, type_, owner, name, when):
        said = transcode(api, project, type_, video(10)).json
        real, done = getattr(owner, name), []

        def cancelling(*given, **named):
            if when == "before" and not done:
                done.append(api.delete(f"Transcode/{said['id']}").status)
            answer = real(*given, **named)
            if when == "after" and not done:
                done.append(api.delete(f"Transcode/{said['id']}").status)
            return answer

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(owner, name, cancelling)
            api.drain()
        assert done == [200]
        assert api.get(f"Transcode/{said['id']}").status == 404
        assert api.get(f"Media/{said['media_id']}").json["media_files"] is None
        assert leftovers(project, said["id"]) == []
        assert files_of(said["media_id"]) == []

    @pytest.mark.slow
    def test_one_that_failed_at_its_end_leaves_nothing_of_what_was_ready(self, api, project):
        place = S3StorageConfig(aws_access_key="A", aws_secret_access_key="b", bucket_name="there-is-no-such-bucket")
        configs = archive_keys.seal([ArchiveConfig(encode=EncodeConfig(vcodec="copy"), s3_storage=place)])
        said = transcode(api, project, media_type(project, streaming_config=SMALL, archive_config=configs), video(10))
        api.drain()
        assert api.get(f"Transcode/{said.json['id']}").json["job"]["status"] == "failed"
        assert files_of(said.json["media_id"]) == []

    def test_all_of_a_group(self, api, project, type_):
        gid = str(uuid.uuid4())
        for _ in range(2):
            transcode(api, project, type_, video(10), gid=gid)
        assert "2" in api.delete(f"Transcodes/{project}", gid=gid).message
        assert api.get(f"Transcodes/{project}").json == []

    def test_an_unknown_one_is_404(self, api):
        assert api.get(f"Transcode/{uuid.uuid4()}").status == 404


def sent():
    """The mails that went out, oldest first."""
    from email import message_from_string
    from email.policy import default

    from moto.core import DEFAULT_ACCOUNT_ID
    from moto.ses.models import ses_backends

    backend = ses_backends[DEFAULT_ACCOUNT_ID]["us-east-1"]
    raws = [getattr(message, "raw_data", "") for message in backend.sent_messages]
    return [message_from_string(raw if isinstance(raw, str) else raw.decode(), policy=default) for raw in raws]
