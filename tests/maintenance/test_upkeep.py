"""What time brings: deleted things go for good, media are archived and brought back, leftovers are removed."""

from contextlib import suppress

import boto3
import pytest

from chalicelib.core.kinds import Kind
from chalicelib.errors import Conflict
from chalicelib.maintenance import compaction, upkeep
from chalicelib.resources.entities import object_cleanup
from chalicelib.resources.media.files import archiving
from chalicelib.resources.temporary_files import service as temporary_files_service
from chalicelib.resources.temporary_files.schemas import TEMPORARY_FILE
from chalicelib.resources.uploads import tus
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import entities, ids, records
from chalicelib.storage.dynamodb.progress import cursors
from chalicelib.storage.log import log, scheduled_tasks
from chalicelib.storage.objects import owners
from functions import upkeep as function
from infra.local.background.schedule import Timer, run
from tests import objects
from tests.resources.media.samples import media_type, picture, uploaded


@pytest.fixture
def days(move_clock):
    """Lets days go by."""
    return lambda count: move_clock(count * 86_400)


@pytest.fixture
def type_(project):
    return media_type(project, "image")


def image(api, project, type_, name="a.jpg"):
    """An imported image; its id and the key of its file."""
    url = uploaded(api, project, picture(64, 48), name)
    number = api.made(f"Medias/{project}", {"type": type_, "name": name, "md5": "", "url": url})
    api.drain()
    return number, api.get(f"Media/{number}").json["media_files"]["image"][0]["path"]


def state(api, number):
    return api.get(f"Media/{number}").json["archive_state"]


def asked(api, number, wish):
    assert api.patch(f"Media/{number}", {"archive_state": wish}).status == 200


def tags(key):
    found = boto3.client("s3").get_object_tagging(Bucket=settings().media_bucket, Key=key)["TagSet"]
    return {tag["Key"]: tag["Value"] for tag in found}


def tier(key):
    return boto3.client("s3").head_object(Bucket=settings().media_bucket, Key=key).get("StorageClass", "STANDARD")


def transitioned(key):
    """What the bucket's lifecycle rule does with a tagged object, some night."""
    assert tags(key) == {"limn": "archived"}
    place = {"Bucket": settings().media_bucket, "Key": key}
    boto3.client("s3").copy_object(
        **place, CopySource=place, StorageClass="DEEP_ARCHIVE", MetadataDirective="REPLACE", ContentType="image/jpeg"
    )


class TestRetention:
    @pytest.mark.slow
    def test_what_was_deleted_goes_for_good_after_a_month(self, api, project, type_, days):
        number, key = image(api, project, type_)
        kept, other = image(api, project, type_, "b.jpg")
        thumbnail = api.get(f"Media/{number}").json["media_files"]["thumbnail"][0]["path"]
        api.delete(f"Media/{number}")
        days(29)
        upkeep.look_after(project)
        assert objects.size(key)
        days(2)
        upkeep.look_after(project)
        assert objects.size(key) is None
        assert objects.size(thumbnail) is None
        assert owners.get_owners(Kind.MEDIA, [number]) == {}
        assert objects.size(other)
        assert api.get(f"Media/{kept}").status == 200
        assert list(scheduled_tasks.until(project, "9")) == []

    def test_others_of_the_same_creation_stay_visible(self, api, project, type_, days, monkeypatch):
        spec = {"type": type_, "name": "a.jpg", "md5": ""}
        made = api.made(f"Medias/{project}", [spec] * 4)
        api.delete(f"Media/{made[0]}")
        days(31)
        upkeep.look_after(project)
        assert owners.get_owners(Kind.MEDIA, made[:1]) == {}
        monkeypatch.setattr(entities, "_visible", set())  # what another container knows of them
        assert [api.get(f"Media/{number}").status for number in made] == [404, 200, 200, 200]
        assert {number for number in made if entities.many(Kind.MEDIA, [number])} == set(made[1:])

    @pytest.mark.slow
    def test_what_a_clone_shows_stays_until_it_goes_too(self, api, project, type_, days):
        number, key = image(api, project, type_)
        body = {"dest_project": project, "dest_type": type_, "dest_section": None}
        clone = api.post(f"CloneMedia/{project}", body, media_id=number).json["id"][0]
        api.delete(f"Media/{number}")
        days(31)
        upkeep.look_after(project)
        assert owners.get_owners(Kind.MEDIA, [number]) == {}
        assert objects.size(key)
        api.delete(f"Media/{clone}")
        days(62)
        upkeep.look_after(project)
        assert objects.size(key) is None

    @pytest.mark.slow
    def test_a_deletion_that_only_the_archive_of_the_log_knows_is_found(self, api, project, type_, days):
        number, key = image(api, project, type_)
        api.delete(f"Media/{number}")
        assert compaction.compact(project, force=True)
        log.forget(project, range(1, log.last(project, fresh=True)))
        days(31)
        upkeep.look_after(project)
        assert objects.size(key) is None

    def test_dying_anywhere_and_running_again_ends_the_same(self, api, project, type_, days, monkeypatch):
        number, key = image(api, project, type_)
        api.delete(f"Media/{number}")
        days(31)
        for owner, name in (
            (scheduled_tasks, "add"),
            (scheduled_tasks, "look_after"),
            (owners, "release"),
            (entities, "purge"),
            (scheduled_tasks, "delete"),
        ):
            for dies_after in (False, True):
                real = getattr(owner, name)

                def die(*given, real=real, dies_after=dies_after, **named):
                    if dies_after:
                        real(*given, **named)
                    raise KeyboardInterrupt

                with monkeypatch.context() as patch:
                    patch.setattr(owner, name, die)
                    with suppress(KeyboardInterrupt):
                        upkeep.look_after(project)
        upkeep.look_after(project)
        assert objects.size(key) is None
        assert owners.get_owners(Kind.MEDIA, [number]) == {}
        assert list(owners.due_notes(project)) == []
        assert list(scheduled_tasks.until(project, "9")) == []


class TestArchive:
    def test_a_wish_waits_a_week_and_then_the_files_are_moved(self, api, project, type_, days):
        number, key = image(api, project, type_)
        asked(api, number, "to_archive")
        days(6)
        upkeep.look_after(project)
        assert (state(api, number), tags(key)) == ("to_archive", {})
        days(2)
        upkeep.look_after(project)
        assert (state(api, number), tags(key)) == ("archived", {"limn": "archived"})
        thumbnail = api.get(f"Media/{number}").json["media_files"]["thumbnail"][0]["path"]
        assert tags(thumbnail) == {}
        assert api.get(f"MediaCount/{project}").json == 0
        assert api.get(f"MediaCount/{project}", archive_lifecycle="archived").json == 1

    def test_a_wish_taken_back_moves_nothing(self, api, project, type_, days):
        number, key = image(api, project, type_)
        asked(api, number, "to_archive")
        asked(api, number, "to_live")
        assert state(api, number) == "live"
        days(8)
        upkeep.look_after(project)
        assert (state(api, number), tags(key)) == ("live", {})

    def test_one_taken_back_while_it_was_moved_is_whole_again(self, api, project, type_, days, monkeypatch):
        number, key = image(api, project, type_)
        asked(api, number, "to_archive")
        days(8)
        real = archiving._become

        def late(media, before, after):
            asked(api, number, "to_live")
            return real(media, before, after)

        with monkeypatch.context() as patch:
            patch.setattr(archiving, "_become", late)
            upkeep.look_after(project)
        assert (state(api, number), tags(key)) == ("live", {})

    def test_what_was_not_moved_yet_is_back_at_once(self, api, project, type_, days):
        number, key = image(api, project, type_)
        asked(api, number, "to_archive")
        days(8)
        upkeep.look_after(project)
        asked(api, number, "to_live")
        assert state(api, number) == "to_live"
        days(0.1)
        upkeep.look_after(project)
        assert (state(api, number), tags(key)) == ("live", {})

    def test_what_lies_in_the_archive_is_brought_out_and_then_live(self, api, project, type_, days, monkeypatch):
        number, key = image(api, project, type_)
        before = objects.read(key)
        asked(api, number, "to_archive")
        days(8)
        upkeep.look_after(project)
        transitioned(key)
        assert tier(key) == "DEEP_ARCHIVE"
        asked(api, number, "to_live")
        days(0.1)
        upkeep.look_after(project)
        assert state(api, number) == "to_live"
        days(2)
        upkeep.look_after(project)
        assert (state(api, number), tier(key), tags(key)) == ("live", "STANDARD", {})
        assert objects.read(key) == before
        assert list(scheduled_tasks.until(project, "9")) == []

    def test_an_archived_file_is_a_conflict_that_says_what_to_do(self, api, project, type_):
        number, key = image(api, project, type_)
        place = {"Bucket": settings().media_bucket, "Key": key}
        boto3.client("s3").copy_object(**place, CopySource=place, StorageClass="DEEP_ARCHIVE")
        with pytest.raises(Conflict, match="archived; set archive_state to to_live"):
            objects.read(key)
        assert api.get(f"GetFrame/{number}", format="png").status in (400, 409)

    def test_a_clone_and_its_original_wait_for_each_other(self, api, project, type_, days):
        number, key = image(api, project, type_)
        body = {"dest_project": project, "dest_type": type_, "dest_section": None}
        clone = api.post(f"CloneMedia/{project}", body, media_id=number).json["id"][0]
        asked(api, clone, "to_archive")
        days(8)
        upkeep.look_after(project)
        assert (state(api, clone), tags(key)) == ("to_archive", {})
        asked(api, number, "to_archive")
        days(8)
        upkeep.look_after(project)
        assert (state(api, number), state(api, clone)) == ("archived", "archived")
        assert tags(key) == {"limn": "archived"}

    def test_many_at_once_by_a_query(self, api, project, type_, days):
        made = [image(api, project, type_, f"{name}.jpg")[0] for name in "ab"]
        assert api.patch(f"Medias/{project}", {"archive_state": "to_archive", "ids": made}).status == 200
        days(8)
        upkeep.look_after(project)
        assert {state(api, number) for number in made} == {"archived"}


class TestLeftovers:
    def test_expired_temporary_files_go_a_day_later(self, api, project, days):
        url = uploaded(api, project, b"x")
        number = api.made(f"TemporaryFiles/{project}", {"name": "a", "url": url, "lookup": "b", "hours": 1})
        key = temporary_files_service.key_of(records.get(TEMPORARY_FILE, number))
        days(0.5)
        upkeep.look_after(project)
        assert objects.size(key) == 1
        days(1)
        upkeep.look_after(project)
        assert objects.size(key) is None
        assert records.list_children(TEMPORARY_FILE, project) == []

    def test_objects_that_a_crash_left_go(self, api, project, type_):
        number, key = image(api, project, type_)
        stray = key.rpartition("/")[0] + "/stray.jpg"
        objects.write(stray, b"x")
        object_cleanup.release(project, [objects.key(stray), objects.key(key)])
        upkeep.look_after(project)
        assert objects.size(stray) is None
        assert objects.size(key)
        assert number


class TestSchedule:
    TIMER = Timer(name="upkeep", handler=function.handler, every=1.0)

    def test_it_looks_after_every_project_and_goes_on_where_it_stopped(self, project, monkeypatch):
        seen = []
        monkeypatch.setattr(upkeep, "look_after", seen.append)
        monkeypatch.setattr(ids, "last", lambda _: 4)
        cursors.reach("upkeep", 2)
        run(self.TIMER, "us-east-1")
        assert seen == [3, 4, 1, 2]

    def test_without_time_it_begins_nothing(self, monkeypatch):
        seen = []
        monkeypatch.setattr(upkeep, "look_after", seen.append)
        run(Timer(name="upkeep", handler=function.handler, every=1.0, timeout=function.SPARE - 1), "us-east-1")
        assert seen == []

    def test_one_project_s_failure_is_not_another_s(self, monkeypatch):
        seen = []

        def look_after(number):
            seen.append(number)
            if number == 1:
                raise ValueError("one")

        monkeypatch.setattr(upkeep, "look_after", look_after)
        monkeypatch.setattr(ids, "last", lambda _: 3)
        cursors.reach("upkeep", 0)
        with pytest.raises(ValueError, match="one"):
            upkeep.run(60)
        assert seen == [1, 2, 3]

    def test_it_sweeps_uploads_too(self, monkeypatch):
        swept = []
        monkeypatch.setattr(tus, "sweep", lambda: swept.append(1))
        monkeypatch.setattr(ids, "last", lambda _: 0)
        upkeep.run(60)
        assert swept

    def test_an_idle_project_is_looked_at_for_nothing(self, api, project, type_):
        image(api, project, type_)
        upkeep.look_after(project)
        seen = scheduled_tasks.last_searched(project)
        upkeep.look_after(project)
        assert scheduled_tasks.last_searched(project) == seen > 0
