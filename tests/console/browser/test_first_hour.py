"""A person's first hour without code: from the mail of an invitation to an exported COCO file."""

from __future__ import annotations

import io
import json
import re
import uuid
import zipfile

import requests
from playwright.sync_api import Page, expect

from tests.console.browser.dives import plain_clip
from tests.console.browser.waits import until
from tests.video.clips import SIZE

TRANSCODE = 300_000
"""Milliseconds within which a machine under load transcodes the clip."""


def invitation_of(stack, address: str) -> str:
    """The link in the mail to an address."""

    def links():
        mails = requests.get(
            f"{stack.url}/outbox?format=json", headers={"Authorization": f"Token {stack.token}"}, timeout=120
        ).json()
        return [
            found[0]
            for mail in mails
            if address in json.dumps(mail)
            for found in [re.findall(r"https?://[^\s\"<>\\]+registration[^\s\"<>\\]+", json.dumps(mail))]
            if found
        ]

    return until(links, "the mail comes")[-1]


def choose(page: Page, menu: str, item: str) -> None:
    page.get_by_role("button", name=menu, exact=True).click()
    page.get_by_role("menuitem", name=item, exact=True).click()


def test_from_an_invitation_to_a_coco_file(new_page, stack, tmp_path):
    name = f"grace{uuid.uuid4().hex[:8]}"
    address = f"{name}@example.org"
    organization = stack.api.create("Organizations", {"name": f"Reef lab {name}"})
    stack.api.create(f"Invitations/{organization}", {"email": address, "permission": "Admin"})
    page = new_page("")

    # the mail leads to a form, the form to the console
    page.goto(invitation_of(stack, address))
    for label, value in (
        ("User name", name),
        ("First name", "Grace"),
        ("Last name", "Hopper"),
        ("The address that was invited", address),
        ("New password", "reef watch 77"),
    ):
        page.get_by_label(label).fill(value)
    page.get_by_role("button", name="Register").click()
    page.get_by_role("link", name="Open Limn").click()
    page.get_by_label("User name").fill(name)
    page.get_by_label("Password", exact=True).fill("reef watch 77")
    page.get_by_role("button", name="Sign in").click()

    # a project with a media type and a type of boxes
    page.get_by_role("button", name="New project").first.click()
    page.get_by_label("Name").fill(f"Survey {name}")
    page.get_by_role("button", name="Create").click()
    page.get_by_role("heading", name="Types", exact=True).wait_for()
    for kind, title in (("Media", "Dive"), ("Shapes", "Animal")):
        choose(page, "New type", kind)
        page.get_by_role("dialog").get_by_label("Name").fill(title)
        page.get_by_role("dialog").get_by_role("button", name="Create").click()
        page.locator(".type-card", has_text=title).wait_for()

    # a video, dropped, transcoded
    clip = plain_clip(tmp_path)
    page.get_by_role("link", name="Upload").click()
    page.locator("input[type=file]:not([webkitdirectory])").set_input_files(clip)
    expect(page.get_by_text("Done", exact=True)).to_be_visible(timeout=TRANSCODE)
    page.get_by_role("link", name=clip.name).click()

    # a box
    page.wait_for_selector('.stage[data-frame="0"]')
    page.get_by_role("button", name=re.compile("Animal")).first.click()
    frame = page.locator("canvas.picture").bounding_box()
    page.mouse.move(frame["x"] + frame["width"] * 0.2, frame["y"] + frame["height"] * 0.3)
    page.mouse.down()
    page.mouse.move(frame["x"] + frame["width"] * 0.4, frame["y"] + frame["height"] * 0.7, steps=4)
    page.mouse.up()
    page.keyboard.press("Control+s")
    page.wait_for_selector('[data-saving="saved"]')

    # an export
    page.get_by_role("link", name="Import and export").click()
    page.get_by_role("button", name="New export").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    with zipfile.ZipFile(io.BytesIO(download.value.path().read_bytes())) as archive:
        [found] = [entry for entry in archive.namelist() if entry.endswith(".json")]
        coco = json.loads(archive.read(found))
    assert [category["name"] for category in coco["categories"]] == ["Animal"]
    [box] = coco["annotations"]
    placed = [length / whole for length, whole in zip(box["bbox"], [*SIZE, *SIZE], strict=True)]
    assert all(abs(a - b) < 0.01 for a, b in zip(placed, (0.2, 0.3, 0.2, 0.4), strict=True))
