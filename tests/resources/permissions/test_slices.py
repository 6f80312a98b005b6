"""Events, exports, imports, rewrites and webhooks under fine-grained permissions, and across projects.

A caller sees, exports, changes and is notified of what the caller may see at that time, and of nothing else.
"""

from __future__ import annotations

import csv
import io
import uuid
import zipfile

import pytest

from chalicelib.access.masks import mask_of
from chalicelib.core.models.accounts import MEMBERSHIP
from chalicelib.core.permissions import Level
from chalicelib.core.records import padded
from chalicelib.resources.imports.schemas import IMPORT
from chalicelib.resources.webhooks import delivery
from chalicelib.settings import override
from chalicelib.storage.dynamodb import records
from tests import objects
from tests.resources.permissions.test_references import Place, allow, guest
from tests.resources.webhooks import receiver as receivers
from tests.service import Api, join, new_user

__all__ = ["allow", "guest"]  # fixtures
EDIT, VIEW, TRANSFER = mask_of(Level.EDIT), mask_of(Level.VIEW), mask_of(Level.TRANSFER)


@pytest.fixture
def place(api, project):
    return Place(api, project)


def exported(api: Api, project: int, who: Api, **more) -> dict[str, list[dict[str, str]]]:
    """The rows of an export as CSV, by file."""
    uid = who.made(f"Exports/{project}", {"format": "csv", **more})
    api.drain()
    found = who.get(f"Export/{uid}").json
    assert found["status"] == "succeeded", found
    archive = zipfile.ZipFile(io.BytesIO(objects.read(f"_exports/{project}/{uid}/archive.zip")))
    return {
        name: list(csv.DictReader(io.StringIO(archive.read(name).decode())))
        for name in archive.namelist()
        if name.endswith(".csv")
    }


def ids(rows: dict[str, list[dict[str, str]]], name: str) -> set[int]:
    return {int(row["id"]) for row in rows.get(name, [])}


class TestExports:
    @pytest.mark.slow
    def test_an_earlier_commit_shows_nothing_that_is_closed_by_now(self, api, project, place, guest, allow):
        """A section that the guest sees; a media leaves it after the commit that is exported."""
        section = api.made(f"Sections/{project}", {"name": "open"})
        for media in place.media:
            assert api.patch(f"Media/{media}", {"primary_section": section}).status == 200
        allow(VIEW, section=section)
        seq = int(guest.get(f"Medias/{project}").headers["Limn-Commit"])
        rows = exported(api, project, guest, seq=seq)
        assert ids(rows, "media.csv") == set(place.media)
        assert ids(rows, "localizations.csv") == set(place.boxes)
        assert api.patch(f"Media/{place.media[1]}", {"primary_section": -1}).status == 200
        rows = exported(api, project, guest, seq=seq)
        assert ids(rows, "media.csv") == {place.media[0]}
        assert ids(rows, "localizations.csv") == {place.boxes[0]}

    @pytest.mark.slow
    def test_a_version_of_one_s_own_shows_nothing_that_is_closed_by_now(self, api, project, place, guest, allow):
        section = api.made(f"Sections/{project}", {"name": "open"})
        for media in place.media:
            assert api.patch(f"Media/{media}", {"primary_section": section}).status == 200
        allow(EDIT, section=section)
        guest.made(f"Datasets/{project}", {"name": "mine"})
        api.drain()
        assert ids(exported(api, project, guest, dataset="mine"), "media.csv") == set(place.media)
        assert api.patch(f"Media/{place.media[1]}", {"primary_section": -1}).status == 200
        rows = exported(api, project, guest, dataset="mine")
        assert (ids(rows, "media.csv"), ids(rows, "localizations.csv")) == ({place.media[0]}, {place.boxes[0]})

    @pytest.mark.slow
    def test_exactly_what_is_open_is_exported(self, api, project, place, guest, allow):
        allow(VIEW, media=place.media[0])
        rows = exported(api, project, guest)
        assert (ids(rows, "media.csv"), ids(rows, "localizations.csv")) == ({place.media[0]}, {place.boxes[0]})
        everything = exported(api, project, api)
        assert ids(everything, "media.csv") == set(place.media)


class TestHistory:
    def test_marks_of_an_element_on_a_hidden_media_are_left_out(self, api, project, place, guest, allow):
        element = str(uuid.uuid4())
        shape = {"type": place.box, "frame": 0, "x": 0, "y": 0, "width": 0.5, "height": 0.5, "elemental_id": element}
        seen, hidden = (
            api.made(f"Localizations/{project}", [{**shape, "media_id": media}])[0] for media in place.media
        )
        allow(VIEW, media=place.media[0])
        entries = guest.get(f"History/{project}/localization/{seen}").json
        assert {each["id"] for each in entries} == {seen}
        assert hidden in {each["id"] for each in api.get(f"History/{project}/localization/{seen}").json}


class TestRewrites:
    def test_a_hidden_id_is_refused_as_a_missing_one(self, api, project, place, guest, allow):
        added = {"entity_type": "LocalizationType", "addition": {"name": "n", "dtype": "int", "maximum": 5}}
        assert api.post(f"AttributeType/{place.box}", added).status == 201
        allow(EDIT, media=place.media[0])
        for value in (1, 99):  # one that the type takes, and one that it refuses
            text = f"id,n\n{place.boxes[1]},{value}\n987654321,{value}\n".encode()
            said = guest.ask("PATCH", f"AttributeValues/{project}", raw=text, kind="localization", dry_run=True)
            reasons = {each["reason"] for each in said.json["refusals"]}
            assert reasons == {"The project has no localization with this id."}, said.body


class TestImports:
    @pytest.fixture
    def archive(self, project):
        """Uploads a CSV of localizations; returns the key."""

        def upload(who, text):
            key = who.get(f"UploadInfo/{project}").json["key"]
            objects.write(key, text.encode())
            return key

        return upload

    @pytest.mark.slow
    def test_reports_are_of_those_who_see_all_media_and_the_author(self, api, project, place, guest, allow, archive):
        section = api.made(f"Sections/{project}", {"name": "open"})
        allow(TRANSFER, section=section)
        body = {"format": "csv", "dry_run": True}
        text = "media,frame,type\na,0,box\n"
        theirs = api.made(f"Imports/{project}", {**body, "key": archive(api, text)})
        own = guest.made(f"Imports/{project}", {**body, "key": archive(guest, text)})
        api.drain()
        assert {each["id"] for each in guest.get(f"Imports/{project}").json} == {own}
        assert guest.get(f"Import/{theirs}").status == guest.delete(f"Import/{theirs}").status == 404
        assert guest.get(f"Import/{own}").status == 200
        assert {each["id"] for each in api.get(f"Imports/{project}").json} == {theirs, own}

    def test_an_import_ends_with_the_account_of_its_user(self, api, project, place, archive):
        leaver = new_user()
        join(leaver, project, "Can Transfer")
        uid = leaver.made(
            f"Imports/{project}",
            {"format": "csv", "key": archive(leaver, "media,frame,type,x,y,width,height\na,0,box,0,0,1,1\n")},
        )
        staff = new_user(is_staff=True)
        assert staff.patch(f"User/{leaver.user.id}", {"is_active": False}).status == 200
        api.drain()
        found = records.get(IMPORT, uid)
        assert (found.status, "no longer" in found.message) == ("failed", True)


class TestWebhooks:
    def test_a_webhook_of_an_organization_repeats_nothing_of_a_project_its_owner_left(self, api, organization):
        """What the stream leaves out, an order to send one event again must not send."""
        with receivers.running() as receiver, override(service_origins=[receiver.url]):
            body = {"name": "all", "url": f"{receiver.url}/ok", "types": ["*"]}
            number = api.made(f"OrganizationWebhooks/{organization}", body)
            project = api.made("Projects", {"name": "left", "organization": organization})
            other = new_user()
            join(other, project, "Full Control")
            delivery.sweep()
            delivery.join_projects(records.get(delivery.WEBHOOK, number))
            found = records.find(MEMBERSHIP, project, padded(api.user.id))
            assert other.delete(f"Membership/{found.id}").status == 200
            other.made(f"Sections/{project}", {"name": "secret"})
            api.drain()
            seq = int(other.get(f"Sections/{project}").headers.get("Limn-Commit", "2"))
            count = len(receiver.got)
            for commit in range(1, seq + 2):
                api.post(f"WebhookRedelivery/{number}", {"event": f"{project}/{commit}"})
            api.drain()
            assert [each for each in receiver.got[count:] if each["source"].endswith(f"/{project}")] == []
            assert api.delete(f"Webhook/{number}").status == 200
