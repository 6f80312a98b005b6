"""Names, classes, counts and events of what fine-grained permissions hide, in what refers to it."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from chalicelib.access.masks import BITS_OF, mask_of
from chalicelib.core.permissions import Level
from tests import objects
from tests.resources.permissions.test_references import Place, allow, guest

__all__ = ["allow", "guest"]  # fixtures
EDIT, VIEW, TRANSFER = mask_of(Level.EDIT), mask_of(Level.VIEW), mask_of(Level.TRANSFER)


@pytest.fixture
def place(api, project):
    return Place(api, project)


@pytest.fixture
def opened(api, project, place, allow):
    """The media in a section that the guest may see and export; takes one out of it."""
    section = api.made(f"Sections/{project}", {"name": "open"})
    for media in place.media:
        assert api.patch(f"Media/{media}", {"primary_section": section}).status == 200
    allow(TRANSFER, section=section)
    return lambda media: api.patch(f"Media/{media}", {"primary_section": -1})


def archive_of(api, project, who, **spec):
    uid = who.made(f"Exports/{project}", spec)
    api.drain()
    found = who.get(f"Export/{uid}").json
    assert found["status"] == "succeeded", found
    return zipfile.ZipFile(io.BytesIO(objects.read(f"_exports/{project}/{uid}/archive.zip")))


def text_of(archive):
    return "".join(archive.read(name).decode() for name in archive.namelist())


@pytest.mark.slow
def test_an_export_has_no_names_of_hidden_versions_and_sections(api, project, place, guest, allow):
    secret = api.made(f"Versions/{project}", {"name": "Operation Mako"})
    folder = api.made(f"Sections/{project}", {"name": "Lagoon"})
    assert api.patch(f"Localizations/{project}", {"new_version": secret, "ids": place.boxes}).status == 200
    assert api.patch(f"Media/{place.media[0]}", {"primary_section": folder}).status == 200
    allow(VIEW, media=place.media[0])
    for format_ in ("csv", "jsonl", "coco", "cvat"):
        text = text_of(archive_of(api, project, guest, format=format_))
        assert ("Operation Mako" in text, "Lagoon" in text) == (False, False), format_
    text = text_of(archive_of(api, project, api, format="csv"))
    assert ("Operation Mako" in text, "Lagoon" in text) == (True, True)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["commit", "version"])
def test_classes_of_an_earlier_time_are_those_of_rows_that_are_open_now(api, project, place, guest, opened, what):
    attribute = {"entity_type": "LocalizationType", "addition": {"name": "Species", "dtype": "string"}}
    assert api.post(f"AttributeType/{place.box}", attribute).status == 201
    for number, species in zip(place.boxes, ("cod", "Latimeria"), strict=True):
        assert api.patch(f"Localization/{number}", {"attributes": {"Species": species}}).status == 200
    earlier = {"seq": int(guest.get(f"Medias/{project}").headers["Limn-Commit"])}
    if what == "version":
        guest.made(f"Datasets/{project}", {"name": "mine"})
        api.drain()
        earlier = {"dataset": "mine"}
    spec = {"format": "coco", "classes": {"attribute": "Species"}, **earlier}
    before = text_of(archive_of(api, project, guest, **spec))
    assert ("cod" in before, "Latimeria" in before) == (True, True)
    opened(place.media[1])
    archive = archive_of(api, project, guest, **spec)
    assert "Latimeria" not in text_of(archive)
    [name] = [name for name in archive.namelist() if name.endswith(".json") and "annotations" in name]
    assert [each["name"] for each in json.loads(archive.read(name))["categories"]] == ["cod"]


@pytest.mark.slow
def test_a_comparison_of_one_s_own_versions_counts_what_is_open_now(api, project, place, guest, opened):
    guest.made(f"Datasets/{project}", {"name": "one"})
    api.drain()
    for number in place.boxes:
        assert api.patch(f"Localization/{number}", {"x": 0.25}).status == 200
    guest.made(f"Datasets/{project}", {"name": "two"})
    api.drain()
    [two] = [each["uid"] for each in guest.get(f"Datasets/{project}").json if each["name"] == "two"]
    found = guest.get(f"DatasetComparison/{two}", base="one").json["localizations"]
    assert found["changed"] == 2
    opened(place.media[1])
    found = guest.get(f"DatasetComparison/{two}", base="one").json["localizations"]
    assert (found["changed"], len(found["changed_ids"])) == (1, 1)
    assert api.get(f"DatasetComparison/{two}", base="one").json["localizations"]["changed"] == 2


@pytest.mark.slow
def test_the_ends_of_versions_and_imports_of_others_are_events_for_those_who_list_them(
    api, project, place, guest, opened
):
    body = {"format": "csv", "dry_run": True, "name": "Import of secrets"}
    for who in (api, guest):
        key = who.get(f"UploadInfo/{project}").json["key"]
        objects.write(key, b"media,frame,type\na,0,box\n")
        who.made(f"Imports/{project}", {**body, "key": key})
        who.made(f"Datasets/{project}", {"name": f"Secrets of {who.user.id}"})
    api.drain()
    kinds = "dataset,import"

    def names(who):
        return sorted(each["data"]["name"] for each in who.get(f"Events/{project}", kinds=kinds).json["events"])

    assert names(guest) == ["Import of secrets", f"Secrets of {guest.user.id}"]
    assert len(names(api)) == 4


@pytest.mark.slow
def test_an_import_cannot_name_a_hidden_version(api, project, place, guest, opened):
    secret = api.made(f"Versions/{project}", {"name": "Operation Mako"})
    [shown] = [each["id"] for each in api.get(f"Versions/{project}").json if each["id"] != secret]
    name = api.get(f"Media/{place.media[0]}").json["name"]
    key = guest.get(f"UploadInfo/{project}").json["key"]
    head = "media,frame,type,kind,x,y,width,height,version\n"
    objects.write(key, f"{head}{name},0,box,box,0,0,0.5,0.5,Operation Mako\n".encode())
    guest.made(f"Imports/{project}", {"format": "csv", "key": key, "match": "name"})
    api.drain()
    new = [each for each in api.get(f"Localizations/{project}").json if each["id"] not in place.boxes]
    assert [each["version"] for each in new if each["version"] == secret] == []
    assert {each["version"] for each in new} <= {shown}


def test_a_hidden_algorithm_is_refused_as_a_missing_one(api, project, algorithm, place, guest, allow):
    rows = api.get("RowProtections", project=project).json
    [own] = [each["id"] for each in rows if each["user"] == guest.user.id]
    assert api.patch(f"RowProtection/{own}", {"permission": BITS_OF[Level.EXECUTE]}).status == 200
    allow(mask_of(Level.EXECUTE), media=place.media[0])
    answers = [
        guest.post(f"Jobs/{project}", {"algorithm_name": name, "media_ids": place.media[:1]})
        for name in (algorithm, "missing")
    ]
    assert [said.status for said in answers] == [404, 404]
    assert answers[0].message.replace(algorithm, "missing") == answers[1].message
