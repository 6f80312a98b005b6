"""Exports as jobs: who may see one, and how it ends."""

from __future__ import annotations

import uuid

import msgspec
import pytest

from chalicelib.core.models.datasets import EXPORT
from chalicelib.core.resource import now
from chalicelib.maintenance import upkeep
from chalicelib.queues import encode
from chalicelib.resources.exports import steps
from chalicelib.settings import override
from chalicelib.storage.dynamodb import records
from tests import objects
from tests.service import join, new_user


def left_in(project, export):
    return [str(key).rpartition("/")[2] for key in objects.under(f"_exports/{project}/{export}/")]


class TestUsers:
    def test_an_export_is_its_makers_alone(self, api, project, dataset):
        other = new_user()
        join(other, project, "Full Control")
        _, export = dataset.export(format="csv")
        for ask in (other.get, other.delete):
            assert ask(f"Export/{export['uid']}").status in (403, 404)
        assert other.get(f"Exports/{project}").json == []
        assert [each["uid"] for each in api.get(f"Exports/{project}").json] == [export["uid"]]
        assert new_user().post(f"Exports/{project}", {"format": "csv"}).status == 404

    def test_a_viewer_exports_only_what_the_viewer_may_see(self, api, project, dataset):
        dataset.annotate()
        hidden = api.made(f"Sections/{project}", {"name": "hidden"})
        api.patch(f"Media/{dataset.images[0]}", {"primary_section": hidden})
        viewer = new_user()
        join(viewer, project, "View Only")
        with override(fine_grained_permissions=True):
            denied = {"section": hidden, "user": viewer.user.id, "permission": 0}
            assert api.post("RowProtections", denied).status == 201
            uid = viewer.made(f"Exports/{project}", {"format": "csv"})
            api.drain()
            assert viewer.get(f"Export/{uid}").json["media"] <= 3

    def test_an_export_of_a_user_who_left_fails(self, api, project, dataset):
        viewer = new_user()
        join(viewer, project, "View Only")
        uid = viewer.made(f"Exports/{project}", {"format": "csv"})
        [membership] = [each["id"] for each in api.get(f"Memberships/{project}").json if each["user"] == viewer.user.id]
        assert api.delete(f"Membership/{membership}").status == 200
        api.drain()
        found = records.get(EXPORT, uid)
        assert (found.status, "no longer" in found.message) == ("failed", True)

    @pytest.mark.slow
    def test_too_many_at_work_are_refused(self, api, project, dataset):
        for _ in range(5):
            api.made(f"Exports/{project}", {"format": "csv"})
        assert api.post(f"Exports/{project}", {"format": "csv"}).status == 429
        api.drain()
        assert api.post(f"Exports/{project}", {"format": "csv"}).status == 201
        api.drain()


class TestEnds:
    def test_one_that_is_cancelled_leaves_nothing(self, api, project, dataset):
        dataset.annotate()
        uid = api.made(f"Exports/{project}", {"format": "csv"})
        assert api.delete(f"Export/{uid}").status == 200
        api.drain()
        uid = api.made(f"Exports/{project}", {"format": "csv"})
        steps.plan(steps.PlanExport(uid=uid))
        assert api.get(f"Export/{uid}").json["status"] == "running"
        assert api.delete(f"Export/{uid}").status == 200
        api.drain()
        assert api.get(f"Export/{uid}").status == 404
        assert left_in(project, uid) == []

    def test_a_message_that_dies_after_the_end_takes_nothing_from_an_export_that_succeeded(self, project, dataset):
        dataset.annotate()
        _, export = dataset.export(format="csv")
        before = left_in(project, export["uid"])
        steps.fail(export["uid"], "export", RuntimeError("out of memory"))
        assert left_in(project, export["uid"]) == before
        assert records.get(EXPORT, export["uid"]).status == "succeeded"

    def test_one_that_fails_says_why_and_leaves_nothing(self, api, project, dataset):
        uid = api.made(f"Exports/{project}", {"format": "csv"})
        objects.remove([f"_exports/{project}/{uid}/spec.json"])
        api.drain()
        export = api.get(f"Export/{uid}").json
        assert (export["status"], export["url"]) == ("failed", None)
        assert export["message"]

    def test_it_expires_after_a_week_and_one_that_was_forgotten_is_planned_again(self, api, project, dataset):
        _, export = dataset.export(format="csv")
        forgotten = api.made(f"Exports/{project}", {"format": "csv"})

        def age(uid, **change):
            records.edit(EXPORT, uid, lambda current: msgspec.structs.replace(current, **change))

        age(export["uid"], expires_datetime=now())
        age(forgotten, created_datetime="2020-01-01T00:00:00.000Z")
        steps.settings()
        sent = []
        from chalicelib.resources.exports import service

        real, service.send = service.send, lambda _, message, delay=0: sent.append(message)
        try:
            upkeep.look_after(project)
        finally:
            service.send = real
        assert {message.uid for message in sent} == {forgotten, export["uid"]}
        assert all(map(encode, sent))
        assert api.get(f"Export/{export['uid']}").status == 404
        assert left_in(project, export["uid"]) == []
        api.drain()

    def test_unknown_exports_are_not_found(self, api):
        assert api.get(f"Export/{uuid.uuid4()}").status == 404


def test_pictures_of_a_media_that_says_any_number_of_frames_are_bounded(pictured):
    assert pictured.api.patch(f"Media/{pictured.video}", {"num_frames": 10**15}).status == 200
    spec = {"format": "yolo", "frames": "every", "every": 10, "media": {"ids": [pictured.video]}}
    uid = pictured.api.post(f"Exports/{pictured.project}", spec).json["uid"]
    pictured.api.drain()
    export = pictured.api.get(f"Export/{uid}").json
    assert (export["status"], "1,000,000 pictures" in export["message"]) == ("failed", True)


@pytest.mark.parametrize("fps", [1e-320, *(pytest.param(fps, marks=pytest.mark.slow) for fps in (1e308, -30.0, 0.0))])
def test_frames_of_a_media_whose_rate_no_video_has_have_no_times(pictured, fps):
    pictured.annotate()
    assert pictured.api.patch(f"Media/{pictured.video}", {"fps": fps}).status == 200
    for format_ in ("vars", "viame", "camtrapdp"):
        uid = pictured.api.post(f"Exports/{pictured.project}", {"format": format_}).json["uid"]
        pictured.api.drain()
        assert pictured.api.get(f"Export/{uid}").json["status"] == "succeeded", format_
