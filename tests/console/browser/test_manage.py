"""Webhooks, restoring, versions of datasets, and the sentences of errors."""

from __future__ import annotations

import io
import json
import re
import uuid
from collections.abc import Iterator

import boto3
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from infra.emulator import aws
from tests.console.browser.projects import new_project
from tests.console.browser.views import show
from tests.loopback import Handler, Server


@pytest.fixture
def receiver(stack) -> Iterator[list[dict]]:
    """The events that a server gets, which refuses the first."""
    got: list[dict] = []

    class Receiver(Handler):
        def do_POST(self) -> None:
            got.append(json.loads(self.read_body()))
            self.answer(500 if len(got) == 1 else 204)

    with Server(Receiver, stack.hooks):
        yield got


@pytest.fixture
def garden(stack) -> dict:
    """A project with an image, two boxes on it, and a folder."""
    api = stack.api
    project = new_project(api, "Garden")
    photo = api.create(f"MediaTypes/{project}", {"name": "Photo", "dtype": "image"})
    kinds = {"name": "Bird", "dtype": "box", "media_types": [photo]}
    box = api.create(f"LocalizationTypes/{project}", kinds)
    media = api.create(f"Medias/{project}", {"type": photo, "name": "a.jpg", "md5": "", "section": "Spring"})
    media = media[0] if isinstance(media, list) else media
    shape = {"type": box, "media_id": media, "frame": 0, "x": 0.1, "y": 0.1, "width": 0.2, "height": 0.2}
    version = api.ask("GET", f"Versions/{project}")[0]["id"]
    boxes = api.create(f"Localizations/{project}", [{**shape, "version": version}] * 2)
    return {"api": api, "project": project, "boxes": boxes, "media": media}


def act(page: Page, of: str, item: str) -> None:
    page.get_by_role("button", name=f"Actions of {of}").click()
    page.get_by_role("menuitem", name=item, exact=True).click()


def test_a_webhook_is_registered_pinged_and_events_are_sent_again(page, stack, garden, receiver):
    show(page, f"/#/projects/{garden['project']}/manage/webhooks")
    page.get_by_role("button", name="Register a webhook").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("catalogue")
    dialog.get_by_label("URL").fill(f"http://127.0.0.1:{stack.hooks}/limn")
    dialog.get_by_label("Types of events").fill("limn.localization.*")
    dialog.get_by_role("button", name="Create").click()
    secret = dialog.locator("code").inner_text()
    assert secret.startswith("whsec_")
    dialog.get_by_role("button", name="Done").click()
    expect(page.get_by_text(secret)).to_have_count(0)

    act(page, "catalogue", "Send a ping")
    expect(page.locator(".toast.bad")).to_contain_text("500")
    act(page, "catalogue", "Send a ping")
    expect(page.locator(".toast.good")).to_contain_text("204")
    assert [event["type"] for event in receiver] == ["limn.ping", "limn.ping"]

    garden["api"].ask("DELETE", f"Localization/{garden['boxes'][0]}")
    act(page, "catalogue", "Deliveries")
    delivery = dialog.get_by_role("row").filter(has_text="limn.localization.deleted")
    expect(delivery).to_have_count(1)
    delivery.get_by_role("button", name="Send again", exact=True).click()
    expect(dialog.get_by_role("row").filter(has_text="by hand").filter(has_text="deleted")).to_have_count(1)
    dialog.get_by_label("Only failed ones").check()
    expect(dialog.get_by_role("row").filter(has_text="500")).to_have_count(1)
    expect(dialog.get_by_role("row").filter(has_text="204")).to_have_count(0)
    dialog.get_by_role("button", name="Close").click()

    act(page, "catalogue", "Replace the secret")
    dialog.get_by_role("button", name="Replace the secret").click()
    expect(dialog.locator("code")).not_to_have_text(secret)
    dialog.get_by_role("button", name="Done").click()
    act(page, "catalogue", "Pause")
    expect(page.get_by_text("Paused", exact=True)).to_be_visible()


def test_deletions_are_restored_one_and_many_from_the_history(page, garden):
    for number in garden["boxes"]:
        garden["api"].ask("DELETE", f"Localization/{number}")
    show(page, f"/#/projects/{garden['project']}/manage/history")
    entries = page.locator(".history li")
    expect(entries.filter(has=page.get_by_role("button", name="Restore"))).to_have_count(2)
    expect(entries.nth(0)).to_contain_text("deleted")
    expect(entries.nth(0)).to_contain_text(f"localization {garden['boxes'][1]}")
    entries.nth(0).get_by_role("button", name="Restore").click()
    expect(page.locator(".toast")).to_contain_text("Restored: 1 localization.")
    expect(entries.nth(0)).to_contain_text("restored")
    assert garden["api"].ask("GET", f"LocalizationCount/{garden['project']}") == 1
    garden["api"].ask("DELETE", f"Media/{garden['media']}")
    page.reload()
    boxes = page.get_by_role("checkbox", name="Select the deletion")
    boxes.first.wait_for()
    boxes.first.check()
    page.get_by_role("button", name="Restore 1 deletion").click()
    expect(page.locator(".toast")).to_contain_text("1 media")
    assert garden["api"].ask("GET", f"MediaCount/{garden['project']}") == 1


def test_the_history_names_members_in_words(page, garden):
    project, number = garden["project"], garden["boxes"][0]
    garden["api"].ask("PATCH", f"Localization/{number}", {"x": 0.25})
    show(page, f"/#/projects/{project}/manage/history?user=all")
    terms = page.locator(".history dt")
    assert {"left", "layer"} <= set(terms.all_inner_texts())
    assert not [each for each in terms.all_inner_texts() if "_" in each or each in {"gid", "uid", "md5"}]
    page.get_by_label("Id", exact=True).fill(f"{number}")
    page.get_by_label("Id", exact=True).press("Enter")
    page.wait_for_url(f"**entity={number}**")


def test_a_deleted_folder_comes_back_by_undo(page, garden):
    show(page, f"/#/projects/{garden['project']}")
    act(page, "Spring", "Delete")
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("link", name="Spring")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("link", name="Spring")).to_have_count(1)
    show(page, f"/#/projects/{garden['project']}/manage/history")
    expect(page.locator(".history li").filter(has_text=re.compile(r"deleted\s*section \d"))).to_have_count(1)


def test_a_version_of_a_dataset_is_frozen_compared_and_exported(page, garden):
    show(page, f"/#/projects/{garden['project']}/transfers")
    dialog = page.get_by_role("dialog")
    for name in ("first", "second"):
        page.get_by_role("button", name="Freeze a version").click()
        dialog.get_by_label("Name").fill(name)
        dialog.get_by_role("button", name="Freeze").click()
        expect(page.get_by_role("listitem").filter(has_text=name).filter(has_text="succeeded")).to_be_visible()
        if name == "first":
            garden["api"].ask("PATCH", f"Localization/{garden['boxes'][0]}", {"x": 0.5})
            garden["api"].ask("DELETE", f"Localization/{garden['boxes'][1]}")
    act(page, "second", "Compare")
    row = dialog.get_by_role("row").filter(has=page.get_by_role("rowheader", name="Localizations"))
    expect(row.get_by_role("cell")).to_contain_text(["0", "1", "1"])
    dialog.get_by_role("button", name="Close").click()
    act(page, "first", "Export")
    dialog.get_by_label("Format").select_option("csv")
    dialog.get_by_role("button", name="Export").click()
    exports = page.locator("section").filter(has=page.get_by_role("heading", name="Exports"))
    expect(exports.get_by_text("2 labels of 1 media")).to_be_visible()


def test_messages_of_errors_name_the_field_and_the_rule_and_nothing_else(new_page, garden):
    page = new_page(allow=("status of 400",))
    show(page, f"/#/projects/{garden['project']}/manage/versions")
    page.get_by_role("button", name="Create").click()
    page.get_by_role("dialog").get_by_label("Name").fill("x" * 2000)
    page.get_by_role("dialog").get_by_role("button", name="Create").click()
    alert = page.get_by_role("dialog").get_by_role("alert")
    expect(alert).to_contain_text("name")
    assert "None" not in alert.inner_text()


def test_folders_and_media_are_moved_by_dragging_and_by_the_menu(page, garden):
    api, project = garden["api"], garden["project"]
    api.create(f"Sections/{project}", {"name": "Year", "dtype": "folder"})
    show(page, f"/#/projects/{project}")
    year, spring = page.get_by_role("link", name="Year"), page.get_by_role("link", name="Spring")

    def paths():
        return {each["name"]: each["path"] for each in api.ask("GET", f"Sections/{project}")}

    spring.drag_to(year)
    expect(page.get_by_text("Moved to Year")).to_be_visible()
    assert paths()["Spring"] == "Year.Spring"
    act(page, "Spring", "Move to the top")
    expect(page.get_by_text("Moved to Folders")).to_be_visible()
    assert paths()["Spring"] == "Spring"
    expect(page.get_by_text("Moved to Year")).to_be_hidden()
    page.locator("[data-index='0'] a").drag_to(year)
    expect(page.get_by_text("Moved to Year")).to_be_visible()
    (found,) = api.ask("GET", f"Sections/{project}", name="Year")
    assert api.ask("GET", f"MediaCount/{project}", section=found["id"]) == 1


def test_a_prefix_of_a_bucket_is_registered_and_listed(page, stack, garden):
    api, project = garden["api"], garden["project"]
    store = boto3.client("s3", endpoint_url=stack.s3_url, region_name=aws.REGION, **stack.s3_keys)
    name = f"lake-{uuid.uuid4().hex[:8]}"
    store.create_bucket(Bucket=name)
    picture = io.BytesIO()
    Image.new("RGB", (64, 48), (20, 90, 160)).save(picture, "JPEG")
    for key in ("dives/a.jpg", "dives/notes.txt", "other/b.jpg"):
        store.put_object(Bucket=name, Key=key, Body=picture.getvalue())
    config = {"endpoint_url": stack.s3_url, "region_name": aws.REGION, **stack.s3_keys}
    organization = api.ask("GET", f"Project/{project}")["organization"]
    api.create(f"Buckets/{organization}", {"name": name, "store_type": "MINIO", "config": config})
    show(page, f"/#/projects/{project}/manage/sources")
    page.get_by_role("button", name="Register a prefix").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("lake")
    dialog.get_by_label("Prefix").fill("dives/")
    dialog.get_by_role("button", name="Create").click()
    row = page.get_by_role("row").filter(has_text="dives/")
    expect(row).to_contain_text("1 new, 1 skipped")
    expect(row).to_contain_text("listed")
    act(page, "lake", "Edit")
    dialog.get_by_label("Media types").fill("jpg Nothing")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text("media types")
