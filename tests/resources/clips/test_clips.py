"""Clips, and the temporary files they and others become."""

import io
import time
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import boto3
import msgspec
import pytest

from chalicelib.access.masks import EXIST, READ
from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import MEMBERSHIP
from chalicelib.core.models.definitions import ResolutionConfig
from chalicelib.core.records import padded
from chalicelib.core.resource import timestamp
from chalicelib.resources.clips import service as clips_service
from chalicelib.resources.temporary_files.schemas import TEMPORARY_FILE
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import entities, records
from chalicelib.storage.objects import objects
from chalicelib.video.encoding import clip
from tests.queue_runner import draining
from tests.resources.media.samples import media_type, transcode, uploaded, video
from tests.service import join, new_sibling, new_user


@pytest.fixture(scope="module")
def owner():
    return new_user(is_staff=True)


@pytest.fixture(scope="module")
def place(owner):
    """The project of the video."""
    organization = owner.made("Organizations", {"name": "clips"})
    return owner.made("Projects", {"name": "clips", "organization": organization})


@pytest.fixture(scope="module")
def media(owner, place):
    """A video of 132 frames; no test changes it."""
    said = transcode(owner, place, media_type(place, streaming_config=[ResolutionConfig(resolution=64)])).json
    owner.drain()
    return said["media_id"]


@pytest.fixture
def cutting():
    """The clip function at work beside the request that waits for it."""
    with draining():
        yield


def frames_in(data):
    import av

    with av.open(io.BytesIO(data)) as container:
        return sum(1 for _ in container.decode(video=0))


def read(api, path):
    """What a temporary file's path leads to."""
    said = api.get(path.removeprefix(settings().public_url))
    assert said.status == 302
    key = said.headers["Location"].partition("?")[0].partition(settings().media_bucket + "/")[2]
    return boto3.client("s3").get_object(Bucket=settings().media_bucket, Key=key)["Body"].read()


@pytest.fixture
def calls(monkeypatch):
    """What is read of the object store, as (key, offset, length)."""
    read = []
    ranged = objects.read_range

    def noting(key, offset, length, **more):
        read.append((key, offset, length))
        return ranged(key, offset, length, **more)

    monkeypatch.setattr(objects, "read_range", noting)
    return read


@pytest.mark.slow
@pytest.mark.parametrize("ranges", ["0:131", "0:10,20:60,70:131"])
def test_a_clip_of_neighbouring_fragments_is_one_read_of_the_store(owner, media, calls, ranges):
    owner.get(f"GetClip/{media}", frame_ranges="0:0")
    calls.clear()
    said = owner.get(f"GetClip/{media}", frame_ranges=ranges)
    assert said.status == 200
    assert frames_in(read(owner, said.json["file"]["path"])) == 132
    assert len(calls) == 1


def test_a_long_clip_is_read_in_parts_of_some_megabytes(owner, media, calls, monkeypatch):
    monkeypatch.setattr(clip, "LARGEST_READ", 20_000)
    said = owner.get(f"GetClip/{media}", frame_ranges="0:131")
    assert frames_in(read(owner, said.json["file"]["path"])) == 132
    assert len(calls) > 2


class TestLongClips:
    """Clips that the clip function cuts while the request waits."""

    @pytest.mark.parametrize("reencode", [0, 1])
    def test_they_hold_the_same(self, owner, media, cutting, monkeypatch, reencode):
        monkeypatch.setattr(clips_service, "LARGEST_COPIED", 0)
        monkeypatch.setattr(clips_service, "LARGEST_ENCODED", 0)
        said = owner.get(f"GetClip/{media}", frame_ranges="30:60", reencode=reencode)
        assert (said.json["segment_start_frames"], said.json["segment_end_frames"]) == (
            ([30], [60]) if reencode else ([25, 50], [49, 74])
        )
        assert frames_in(read(owner, said.json["file"]["path"])) == (31 if reencode else 50)


@pytest.mark.parametrize(("loss", "status"), [("token", 401), ("membership", 404), (None, 200)])
def test_who_loses_access_while_a_clip_is_cut_gets_none(owner, place, media, monkeypatch, loss, status):
    reader = new_user()
    join(reader, place, "View Only")
    monkeypatch.setattr(clips_service, "LARGEST_COPIED", 0)

    def lose(_):
        if loss == "token":
            assert reader.delete("Token", id=reader.get("Token").json[0]["id"]).status == 200
        elif loss:
            membership = records.find(MEMBERSHIP, place, padded(reader.user.id))
            assert owner.delete(f"Membership/{membership.id}").status == 200
        owner.drain()

    monkeypatch.setattr(clips_service, "time", SimpleNamespace(monotonic=time.monotonic, sleep=lose))
    assert reader.get(f"GetClip/{media}", frame_ranges="0:3").status == status


def test_a_clip_that_a_request_cuts_itself_is_as_open_as_its_media(owner, place, media, fine_grained):
    clips = [owner.get(f"GetClip/{media}", frame_ranges="0:3", reencode=again).json["file"] for again in (0, 1)]
    guest = new_user()
    join(guest, new_sibling(owner, place), "View Only")
    owner.made("RowProtections", {"project": place, "user": guest.user.id, "permission": EXIST | READ})
    assert guest.get(f"Media/{media}").status == 404
    seen = {file["id"] for file in guest.get(f"TemporaryFiles/{place}").json}
    assert seen.isdisjoint(file["id"] for file in clips)
    for file in clips:
        assert guest.get(f"TemporaryFile/{file['id']}").status == 404
        assert guest.delete(f"TemporaryFile/{file['id']}").status == 404
        assert guest.ask("GET", f"/media/{place}/{file['path'].rpartition('/')[2]}").status == 404


class TestGetClip:
    def test_whole_fragments_are_copied_and_told(self, owner, media):
        said = owner.get(f"GetClip/{media}", frame_ranges="30:60")
        assert said.status == 200
        assert (said.json["segment_start_frames"], said.json["segment_end_frames"]) == ([25, 50], [49, 74])
        assert frames_in(read(owner, said.json["file"]["path"])) == 50

    def test_several_ranges_by_the_older_name(self, owner, media):
        said = owner.get(f"GetClip/{media}", frameRanges="0:1,100:101")
        assert said.json["segment_start_frames"] == [0, 100]

    def test_encoded_anew_it_is_exact(self, owner, media):
        said = owner.get(f"GetClip/{media}", frame_ranges="30:60", reencode=1)
        assert (said.json["segment_start_frames"], said.json["segment_end_frames"]) == ([30], [60])
        assert frames_in(read(owner, said.json["file"]["path"])) == 31

    def test_viewers_may_and_it_lives_for_a_day(self, media, place):
        viewer = new_user()
        join(viewer, place, "View Only")
        file = viewer.get(f"GetClip/{media}", frame_ranges="0:0").json["file"]
        assert file["user"] == viewer.user.id
        alive = datetime.fromisoformat(file["eol_datetime"]) - datetime.fromisoformat(file["created_datetime"])
        assert alive == timedelta(hours=24)
        assert set(file) == {
            "id", "project", "user", "name", "path", "lookup", "created_datetime", "eol_datetime",
        }  # fmt: skip

    def test_ranges_are_needed_and_must_lie_in_the_video(self, owner, media):
        assert owner.get(f"GetClip/{media}").status == 400
        for ranges in ("", "5", "5:", "9:5", "0:999999", "a:b", "-1:5"):
            assert owner.get(f"GetClip/{media}", frame_ranges=ranges).status == 400, ranges

    def test_a_media_without_streaming_files_is_refused(self, api, project):
        media = api.made(f"Medias/{project}", {"type": media_type(project), "name": "a.mp4", "md5": ""})
        assert api.get(f"GetClip/{media}", frame_ranges="0:0").status == 400


def test_a_long_clip_that_is_not_cut_in_time_says_so(owner, media, monkeypatch):
    monkeypatch.setattr(clips_service, "PATIENCE", 0.2)
    monkeypatch.setattr(clips_service, "LARGEST_COPIED", 0)
    said = owner.get(f"GetClip/{media}", frame_ranges="0:0")
    assert said.status == 503
    owner.drain()


def test_a_request_encodes_itself_only_what_it_has_the_time_for(owner, media, monkeypatch):
    monkeypatch.setattr(clips_service, "PATIENCE", 0.2)
    height, width = owner.get(f"Media/{media}").json["media_files"]["streaming"][0]["resolution"]
    monkeypatch.setattr(clips_service, "SOON_ENCODED", height * width * 10)
    assert owner.get(f"GetClip/{media}", frame_ranges="0:9", reencode=1).status == 200
    said = owner.get(f"GetClip/{media}", frame_ranges="0:10", reencode=1)
    assert (said.status, "will be temporary file" in said.message) == (503, True)
    owner.drain()


def test_a_clip_whose_video_is_gone_fails_with_a_reason(owner, media):
    s3 = boto3.client("s3")
    path = owner.get(f"Media/{media}").json["media_files"]["streaming"][0]["path"]
    file = clips_service.order(entities.get(Kind.MEDIA, media), owner.user.id, ["0:0"], None, reencode=False)
    kept = s3.get_object(Bucket=settings().media_bucket, Key=path)["Body"].read()
    s3.delete_object(Bucket=settings().media_bucket, Key=path)
    owner.drain()
    s3.put_object(Bucket=settings().media_bucket, Key=path, Body=kept)
    assert records.get(TEMPORARY_FILE, file.id).status == "failed"


class TestTemporaryFiles:
    def create(self, api, project, **more):
        spec = {"url": uploaded(api, project, b"a,b\n", "r.csv"), "name": "r.csv", "lookup": "r", **more}
        return api.post(f"TemporaryFiles/{project}", spec)

    def test_an_upload_becomes_a_file_that_the_token_opens(self, api, member, project, stranger):
        said = self.create(api, project)
        assert said.status == 201
        file = member("View Only").get(f"TemporaryFile/{said.json['id']}").json
        assert file["path"].startswith(f"{settings().public_url}/media/{project}/")
        assert read(api, file["path"]) == b"a,b\n"
        assert stranger.get(file["path"].removeprefix(settings().public_url)).status == 404

    def test_deleted_it_is_gone(self, api, project):
        number = self.create(api, project).json["id"]
        file = api.get(f"TemporaryFile/{number}").json
        assert api.delete(f"TemporaryFile/{number}").status == 200
        assert api.get(f"TemporaryFile/{number}").status == 404
        assert api.get(file["path"].removeprefix(settings().public_url)).status == 404

    def test_lists_and_their_deletion(self, api, project):
        numbers = [self.create(api, project).json["id"] for _ in range(2)]
        past = timestamp(datetime.now(UTC) - timedelta(hours=1))
        records.edit(TEMPORARY_FILE, numbers[0], lambda file: msgspec.structs.replace(file, eol_datetime=past))
        assert [file["id"] for file in api.get(f"TemporaryFiles/{project}").json] == numbers[1:]
        assert [file["id"] for file in api.get(f"TemporaryFiles/{project}", expired=1).json] == numbers[:1]
        assert api.get(f"TemporaryFile/{numbers[0]}").status == 404
        assert "1" in api.delete(f"TemporaryFiles/{project}", expired=1).message
        assert api.delete(f"TemporaryFiles/{project}").status == 200
        assert api.get(f"TemporaryFiles/{project}").json == []

    @pytest.mark.parametrize("more", [{"hours": 0}, {"hours": 25}, {"lookup": None}, {"name": "x" * 129}])
    def test_what_breaks_a_rule_is_refused(self, api, project, more):
        assert self.create(api, project, **more).status == 400

    def test_other_origins_are_forbidden_first(self, api, project):
        said = api.post(f"TemporaryFiles/{project}", {"url": "https://example.com/x"})
        assert (said.status, "not from an allowed origin" in said.message) == (403, True)

    def test_viewers_may_not_make_or_delete(self, api, member, project):
        number = self.create(api, project).json["id"]
        viewer = member("View Only")
        assert viewer.delete(f"TemporaryFile/{number}").status == 403
        assert viewer.post(f"TemporaryFiles/{project}", {"url": "https://e.org"}).status == 403


def test_videos_of_the_tests_are_as_long_as_they_say():
    assert frames_in(video(12)) == 12


def test_a_clip_that_its_function_could_not_encode_is_refused_with_what_can(owner, media, monkeypatch):
    monkeypatch.setattr(clips_service, "MOST_ENCODED", 64 * 96 * 10)
    said = owner.get(f"GetClip/{media}", frame_ranges=["0:19"], reencode=1)
    assert said.status == 400
    assert "20 frames" in said.message
    assert "Transcodes" in said.message
    assert owner.get(f"GetClip/{media}", frame_ranges=["0:19"]).status == 200


def test_a_copied_clip_larger_than_the_disk_is_refused_with_what_can(owner, media, monkeypatch):
    monkeypatch.setattr(clips_service, "LARGEST_CLIP", 10)
    said = owner.get(f"GetClip/{media}", frame_ranges=["0:19"])
    assert said.status == 400
    assert "presigned" in said.message
