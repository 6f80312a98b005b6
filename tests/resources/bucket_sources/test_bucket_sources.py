"""Media where they lie: what is listed, what arrives, what is replaced and what vanishes."""

from __future__ import annotations

import io
import json
import uuid
from urllib.parse import urlsplit

import boto3
import pytest
import requests
from PIL import Image

from chalicelib.access.masks import EXIST, READ, mask_of
from chalicelib.core.kinds import Kind
from chalicelib.core.permissions import Level
from chalicelib.resources.bucket_sources import listing
from chalicelib.resources.bucket_sources import service as bucket_sources_service
from chalicelib.resources.bucket_sources.schemas import BUCKET_SOURCE
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import entities, records
from chalicelib.storage.objects import objects
from tests.faults.crashes import crasher
from tests.resources.media.samples import box_type, frame_shown, media_type, picture, video
from tests.service import join, new_user

FILM = video(75, keyframes=30)


@pytest.fixture(autouse=True)
def no_margin(monkeypatch):
    """What was created in the last minute counts as missing, too."""
    monkeypatch.setattr(listing, "FRESH", -listing.FRESH)


def register(api, project, spec, **more):
    number = api.made(f"BucketSources/{project}", {**spec, **more})
    api.drain()
    return number


def media_of(api, project):
    return {each["name"]: each for each in api.get(f"Medias/{project}").json}


def listed(api, source):
    assert api.patch(f"BucketSource/{source}", {"list_now": True}).status == 200
    api.drain()
    return api.get(f"BucketSource/{source}").json


def notify(lake, key, event="ObjectCreated:Put", sequencer="1"):
    """A notification as S3 sends it."""
    detail = {"bucket": {"name": lake.name}, "object": {"key": key.replace(" ", "+"), "sequencer": sequencer}}
    body = json.dumps({"Records": [{"eventSource": "aws:s3", "eventName": event, "s3": detail}]})
    deliver(body)


def deliver(body):
    boto3.client("sqs").send_message(QueueUrl=settings().source_queue_url, MessageBody=body)


class TestWhatLies:
    @pytest.fixture
    def filled(self, lake):
        lake.put("survey/dive/one.mp4", FILM)
        lake.put("survey/two.JPG", picture(64, 48))
        lake.put("survey/notes.txt", b"no media")
        lake.put("survey/empty.mp4", b"")
        lake.put("elsewhere/three.jpg", picture())
        return lake

    @pytest.mark.slow
    def test_objects_below_the_prefix_become_media_without_a_copy(self, api, project, spec, filled):
        before = filled.keys()
        source = api.get(f"BucketSource/{register(api, project, spec)}").json
        assert (source["status"], source["objects"], source["created"], source["skipped"]) == ("listed", 4, 2, 2)
        found = media_of(api, project)
        assert set(found) == {"one.mp4", "two.JPG"}
        film, still = found["one.mp4"], found["two.JPG"]
        assert (film["num_frames"], film["fps"], film["width"], film["height"]) == (75, 25, 96, 64)
        assert (still["width"], still["height"]) == (64, 48)
        for each in (film, still):
            assert each["media_files"]["thumbnail"][0]["size"]
            assert each["media_files"]["bucket_object"]["state"] == "present"
        assert film["media_files"]["archival"][0]["bucket_id"] == filled.number
        assert filled.keys() == before
        assert not filled.calls.keys() & {"PUT", "POST", "DELETE", "COPY"}

    @pytest.mark.slow
    def test_frames_clips_and_crops_are_of_the_object(self, api, project, spec, filled, types):
        register(api, project, spec)
        film = media_of(api, project)["one.mp4"]["id"]
        for frame in (0, 31, 74):
            said = api.get(f"GetFrame/{film}", frames=frame)
            assert said.status == 200, said.body
            assert frame_shown(said.body) == frame % 75
        assert api.get(f"GetFrame/{film}", frames=75).status == 400
        clip = api.get(f"GetClip/{film}", frame_ranges="40:44")
        assert clip.status == 200, clip.body
        assert clip.json["segment_start_frames"] == [40]
        box = {"type": box_type(project, types[0]), "media_id": film, "frame": 50}
        (box_id,) = api.made(f"Localizations/{project}", [{**box, "x": 0.2, "y": 0.2, "width": 0.5, "height": 0.5}])
        said = api.get(f"LocalizationGraphic/{box_id}")
        assert said.status == 200, said.body
        assert frame_shown(said.body) == 50
        still = media_of(api, project)["two.JPG"]["id"]
        assert Image.open(io.BytesIO(api.get(f"GetFrame/{still}").body)).size == (64, 48)

    @pytest.mark.slow
    def test_an_original_is_read_by_ranges_and_downloaded_by_a_url_of_its_bucket(self, api, project, spec, filled):
        register(api, project, spec)
        media = media_of(api, project)["one.mp4"]
        (seen,) = api.get(f"Media/{media['id']}", presigned=600).json["media_files"]["archival"]
        assert urlsplit(seen["path"]).path == f"/{filled.name}/survey/dive/one.mp4"
        assert requests.get(seen["path"], timeout=5).content == FILM
        key = media["media_files"]["archival"][0]["path"]
        (url,) = api.post(f"DownloadInfo/{project}", {"keys": [key]}).json
        assert requests.get(url["url"], timeout=5).content == FILM
        filled.calls.clear()
        assert api.get(f"GetFrame/{media['id']}", frames=3).status == 200
        assert set(filled.calls) == {"RANGE"}

    def test_a_listing_again_makes_nothing_new_and_a_deleted_media_stays_deleted(self, api, project, spec, filled):
        source = register(api, project, spec)
        first = media_of(api, project)
        assert api.delete(f"Media/{first['two.JPG']['id']}").status == 200
        seen = listed(api, source)
        assert (seen["created"], seen["changed"], seen["missing"]) == (0, 0, 0)
        assert set(media_of(api, project)) == {"one.mp4"}

    def test_a_page_that_is_listed_twice_makes_each_media_once(self, api, project, spec, filled, monkeypatch):
        monkeypatch.setattr(objects, "PAGE", 1)
        number = register(api, project, spec)
        source = records.get(BUCKET_SOURCE, number)
        found = bucket_sources_service.find(number, source.run)
        page = objects.page(listing.object_keys.source_prefix(found[1].organization, source.bucket, "survey/"))
        assert listing.update_media(*found, page, {}).created == 0
        assert len(media_of(api, project)) == 2

    def test_a_file_that_is_no_video_is_a_media_that_says_so(self, api, project, spec, lake):
        lake.put("survey/broken.mp4", b"no video at all" * 100)
        register(api, project, spec)
        media = media_of(api, project)["broken.mp4"]
        assert media["media_files"]["bucket_object"]["message"]
        assert api.get(f"GetFrame/{media['id']}").status == 400

    @pytest.mark.slow
    def test_pattern_section_and_media_types_choose(self, api, project, spec, filled):
        section = api.made(f"Sections/{project}", {"name": "Lake"})
        number = register(api, project, spec, pattern="dive/*", section=section)
        (film,) = media_of(api, project).values()
        assert (film["name"], film["primary_section"]) == ("one.mp4", section)
        assert api.patch(f"BucketSource/{number}", {"pattern": "*"}).status == 200
        api.drain()
        assert set(media_of(api, project)) == {"one.mp4", "two.JPG"}

    def test_a_change_and_the_begin_of_its_listing_are_one_write(self, api, project, spec, lake):
        number = register(api, project, spec)
        with crasher() as hook:
            assert api.patch(f"BucketSource/{number}", {"pattern": "dive/*"}).status == 200
        assert [call for call in hook.calls if "Put" in call or "Write" in call] == ["dynamodb.TransactWriteItems"]
        assert api.get(f"BucketSource/{number}").json["status"] == "listing"

    def test_files_of_the_service_in_the_bucket_are_no_media(self, api, project, spec, lake):
        lake.put(f"survey/720_AbCdEfGhIj@{lake.number}.jpg", picture())
        lake.put("survey/a//b.jpg", picture())
        assert api.get(f"BucketSource/{register(api, project, spec)}").json["created"] == 0

    @pytest.mark.slow
    def test_clones_read_the_object_and_purges_leave_it(self, api, project, organization, spec, filled):
        register(api, project, spec)
        film = media_of(api, project)["one.mp4"]["id"]
        other = api.made("Projects", {"name": "clones", "organization": organization})
        body = {"dest_project": other, "dest_type": media_type(other)}
        (clone,) = api.made(f"CloneMedia/{project}", body, media_id=film)
        assert frame_shown(api.get(f"GetFrame/{clone}", frames=7).body) == 7
        assert api.delete(f"Media/{film}").status == 200
        from chalicelib.resources.entities import object_cleanup

        object_cleanup.purge(project, Kind.MEDIA, [film], whole=False)
        assert "survey/dive/one.mp4" in filled.keys()  # noqa: SIM118 a method
        assert frame_shown(api.get(f"GetFrame/{clone}", frames=7).body) == 7


class TestWhatChanges:
    @pytest.fixture
    def film(self, api, project, spec, lake):
        lake.put("survey/one.mp4", FILM)
        source = register(api, project, spec)
        return source, media_of(api, project)["one.mp4"]["id"]

    def test_an_object_that_vanishes_is_noticed_and_may_come_back(self, api, project, lake, film):
        source, media = film
        lake.delete("survey/one.mp4")
        seen = listed(api, source)
        assert (seen["missing"], seen["missing_media"]) == (1, [media])
        shown = api.get(f"Media/{media}").json["media_files"]["bucket_object"]
        assert (shown["state"], bool(shown["missing_datetime"])) == ("missing", True)
        said = api.get(f"GetFrame/{media}")
        assert (said.status, "missing" in said.message) == (409, True)
        lake.put("survey/one.mp4", FILM)
        assert listed(api, source)["missing"] == 0
        shown = api.get(f"Media/{media}").json["media_files"]["bucket_object"]
        assert (shown["state"], shown.get("missing_datetime")) == ("present", None)
        assert api.get(f"GetFrame/{media}").status == 200

    def test_an_object_that_is_replaced_is_noticed_and_indexed_again(self, api, project, lake, film):
        source, media = film
        before = api.get(f"Media/{media}").json["media_files"]
        lake.put("survey/one.mp4", video(40, keyframes=20))
        said = api.get(f"GetFrame/{media}", frames=3)
        assert (said.status, "changed" in said.message) == (409, True)
        assert listed(api, source)["changed"] == 1
        after = api.get(f"Media/{media}").json
        shown = after["media_files"]["bucket_object"]
        assert (after["num_frames"], shown["state"], bool(shown["changed_datetime"])) == (40, "present", True)
        assert shown["etag"] != before["bucket_object"]["etag"]
        assert frame_shown(api.get(f"GetFrame/{media}", frames=39).body) == 39

    def test_a_new_object_of_an_event_is_handled_once(self, api, project, lake, film):
        lake.put("survey/new one.jpg", picture(32, 32))
        lake.calls.clear()
        notify(lake, "survey/new one.jpg")
        notify(lake, "survey/new one.jpg")
        api.drain()
        assert lake.calls["LIST"] == 1
        assert set(media_of(api, project)) == {"one.mp4", "new one.jpg"}
        source, _ = film
        assert listed(api, source)["created"] == 0

    def test_events_out_of_order_lead_to_what_the_bucket_shows(self, api, project, lake, film):
        _, media = film
        lake.put("survey/gone.jpg", picture(32, 32))
        lake.delete("survey/gone.jpg")
        lake.delete("survey/one.mp4")
        notify(lake, "survey/one.mp4", "ObjectRemoved:Delete", "2")
        notify(lake, "survey/one.mp4", "ObjectCreated:Put", "1")
        notify(lake, "survey/gone.jpg")
        api.drain()
        assert set(media_of(api, project)) == {"one.mp4"}
        assert api.get(f"Media/{media}").json["media_files"]["bucket_object"]["state"] == "missing"

    def test_events_of_eventbridge_other_buckets_and_trials_are_understood(self, api, project, lake, film):
        lake.put("survey/bridge.jpg", picture(32, 32))
        detail = {"bucket": {"name": lake.name}, "object": {"key": "survey/bridge.jpg", "size": 3}}
        event = {"id": str(uuid.uuid4()), "source": "aws.s3", "detail-type": "Object Created", "detail": detail}
        deliver(json.dumps(event))
        deliver(json.dumps({"Service": "Amazon S3", "Event": "s3:TestEvent", "Bucket": lake.name}))
        elsewhere = {"bucket": {"name": "of-nobody"}, "object": {"key": "survey/x.jpg"}}
        deliver(json.dumps({**event, "id": "x", "detail": elsewhere}))
        deliver(json.dumps({**event, "id": "y", "detail": {"bucket": {"name": lake.name}, "object": {"key": "a.jpg"}}}))
        api.drain()
        assert set(media_of(api, project)) == {"one.mp4", "bridge.jpg"}

    def test_a_bucket_that_notifies_the_queue_brings_its_objects(self, api, project, lake, film):
        arn = "arn:aws:sqs:us-east-1:123456789012:limn-local-source"
        queue = {"QueueArn": arn, "Events": ["s3:ObjectCreated:*", "s3:ObjectRemoved:*"]}
        boto3.client("s3").put_bucket_notification_configuration(
            Bucket=lake.name, NotificationConfiguration={"QueueConfigurations": [queue]}
        )
        lake.put("survey/a b+c.jpg", picture(32, 32))
        api.drain()
        assert set(media_of(api, project)) == {"one.mp4", "a b+c.jpg"}
        lake.delete("survey/a b+c.jpg")
        api.drain()
        shown = media_of(api, project)["a b+c.jpg"]["media_files"]["bucket_object"]
        assert shown["state"] == "missing"

    def test_upkeep_lists_what_is_due_and_what_stopped(self, api, project, lake, film):
        from datetime import UTC, datetime, timedelta

        source, _ = film
        record = records.get(BUCKET_SOURCE, source)
        moment = datetime.now(UTC)
        assert not bucket_sources_service.is_due(record, moment)
        assert bucket_sources_service.is_due(record, moment + timedelta(hours=25))
        record.status = "listing"
        assert not bucket_sources_service.is_due(record, moment + timedelta(minutes=30))
        assert bucket_sources_service.is_due(record, moment + timedelta(hours=2))


class TestWhatIsRefused:
    def test_bad_registrations_name_the_member(self, api, project, spec, lake, types, register):
        stranger = new_user(is_staff=True)
        foreign = register(stranger, stranger.made("Organizations", {"name": f"foreign {uuid.uuid4()}"}))
        states = media_type(project, "multi")
        for change, word in (
            ({"bucket": foreign.number}, "bucket"),
            ({"bucket": 10**9}, "bucket"),
            ({"prefix": "survey"}, "prefix"),
            ({"prefix": "a/../b/"}, "prefix"),
            ({"prefix": "/a/"}, "prefix"),
            ({"media_types": []}, "media_types"),
            ({"media_types": [{"extension": "mp4", "type": states}]}, "media_types"),
            (
                {"media_types": [{"extension": "mp4", "type": types[0]}, {"extension": "MP4", "type": types[0]}]},
                "twice",
            ),
            ({"section": 10**9}, "section"),
        ):
            said = api.post(f"BucketSources/{project}", {**spec, **change})
            text = said.json["message"] + said.json["details"]
            assert (said.status, word in text) == (400, True), (change, text)
        api.made(f"BucketSources/{project}", spec)
        said = api.post(f"BucketSources/{project}", {**spec, "prefix": "survey/deeper/"})
        assert (said.status, "already" in said.message) == (400, True)

    def test_only_administrators_of_project_and_organization_register(self, api, project, spec):
        member = new_user()
        join(member, project, "Full Control")
        assert member.post(f"BucketSources/{project}", spec).status == 403
        editor = new_user()
        join(editor, project, "Can Execute")
        source = api.made(f"BucketSources/{project}", spec)
        assert editor.get(f"BucketSources/{project}").status == 403
        assert editor.patch(f"BucketSource/{source}", {"name": "x"}).status == 403
        assert member.patch(f"BucketSource/{source}", {"name": "x"}).status == 200

    @pytest.mark.slow
    def test_no_caller_names_an_object_of_a_bucket(self, api, project, organization, spec, lake):
        lake.put("survey/one.mp4", FILM)
        lake.put("secret/other.mp4", FILM)
        register(api, project, spec)
        media = media_of(api, project)["one.mp4"]
        path = media["media_files"]["archival"][0]["path"]
        other = api.made(f"Medias/{project}", {"type": media["type"], "name": "b.mp4", "md5": ""})
        entry = {"codec": "h264", "resolution": [64, 96]}
        own = path.replace(f"/{media['id']}/", f"/{other}/")
        secret = path.replace("survey/one.mp4", "secret/other.mp4")
        for text in (path, own, secret, secret.replace(f"/{media['id']}/", f"/{other}/")):
            said = api.post(f"VideoFiles/{other}", {**entry, "path": text}, role="archival")
            assert said.status == 403, (text, said.body)
        for text in (secret, own):
            assert api.post(f"DownloadInfo/{project}", {"keys": [text]}).status == 400, text
        forged = {**media["media_files"]["bucket_object"], "path": secret}
        assert api.patch(f"Media/{media['id']}", {"media_files": {"bucket_object": forged}}).status == 400
        # what a media refers to may be given back to it
        assert api.patch(f"Media/{media['id']}", {"media_files": media["media_files"]}).status == 200
        said = api.post(f"VideoFiles/{media['id']}", {**entry, "path": path}, role="archival")
        assert said.status == 201, said.body

    @pytest.mark.slow
    def test_a_caller_gets_the_objects_of_the_media_that_they_may_see(
        self, api, project, spec, lake, colleague, fine_grained
    ):
        lake.put("survey/one.mp4", FILM)
        lake.put("survey/two.jpg", picture())
        register(api, project, spec)
        found = media_of(api, project)
        film, still = found["one.mp4"], found["two.jpg"]
        for target in ({"project": project}, {"media": film["id"]}):
            permission = EXIST | READ if "project" in target else mask_of(Level.TRANSFER)
            api.made("RowProtections", {**target, "user": colleague.user.id, "permission": permission})
        mine, other = film["media_files"]["archival"][0]["path"], still["media_files"]["image"][0]["path"]
        said = colleague.post(f"DownloadInfo/{project}", {"keys": [other]})
        assert said.status in (403, 404), said.body
        assert colleague.get(f"GetFrame/{film['id']}").status == 200
        assert colleague.get(f"GetFrame/{still['id']}").status in (403, 404)
        assert api.post(f"DownloadInfo/{project}", {"keys": [mine, other]}).status == 201
        assert colleague.post(f"BucketSources/{project}", spec).status in (403, 404)
        assert colleague.get(f"BucketSources/{project}").status in (403, 404)

    def test_a_key_stored_unchecked_is_neither_signed_nor_read(self, api, project, organization, spec, lake):
        lake.put("survey/one.mp4", FILM)
        lake.put("secret/other.mp4", FILM)
        register(api, project, spec)
        media = media_of(api, project)["one.mp4"]["id"]

        def forge(current):
            current.media_files.bucket_object.path = current.media_files.bucket_object.path.replace(
                "survey/one", "secret/other"
            )
            current.media_files.archival[0].path = current.media_files.bucket_object.path
            current.name = "forged"
            return current

        entities.edit(Kind.MEDIA, media, forge, user=None)
        shown = api.get(f"Media/{media}", presigned=600).json["media_files"]["archival"][0]["path"]
        assert shown.startswith("_buckets/")
        assert api.get(f"GetFrame/{media}").status == 400

    def test_the_service_neither_writes_nor_removes_what_it_refers_to(self, api, project, spec, lake):
        from chalicelib.core.keys.object_keys import reference_key
        from chalicelib.errors import Forbidden

        lake.put("survey/two.jpg", picture())
        register(api, project, spec)
        media = media_of(api, project)["two.jpg"]
        path = media["media_files"]["image"][0]["path"]
        key = reference_key(int(path.split("/")[1]), lake.number, project, media["id"], "survey/two.jpg")
        assert key.path == path
        for act, *rest in ((objects.remove, [key]), (objects.write, key, b""), (objects.presign_put, key, 9)):
            with pytest.raises(Forbidden):
                act(*rest)
        assert api.delete(f"ImageFile/{media['id']}", role="image", index=0).status == 200
        assert lake.keys() == ["survey/two.jpg"]
        said = api.delete(f"Bucket/{lake.number}")
        assert (said.status, "refer" in said.message) == (400, True)
