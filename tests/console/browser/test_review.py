"""Review in Chromium: setting it up, work lists, decisions and comments."""

from __future__ import annotations

import io
import re
import uuid

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.console.browser.projects import new_project
from tests.console.browser.waits import until

COUNT = 4


@pytest.fixture(scope="module")
def pool(stack):
    """A project with images, a box on each, and two members."""
    api = stack.api
    project = new_project(api, "Pool")
    image, other = (api.create(f"MediaTypes/{project}", {"name": name, "dtype": "image"}) for name in ("Photo", "Scan"))
    box = api.create(f"LocalizationTypes/{project}", {"name": "Fish", "dtype": "box", "media_types": [image, other]})
    picture = io.BytesIO()
    Image.new("RGB", (64, 48), (20, 90, 160)).save(picture, "JPEG")
    url = api.upload(project, picture.getvalue())
    spec = {"md5": "", "url": url, "gid": str(uuid.uuid4())}
    for number in range(COUNT):
        kind = other if number == COUNT - 1 else image
        api.create(f"Medias/{project}", {**spec, "type": kind, "uid": str(uuid.uuid1()), "name": f"{number}.jpg"})

    def complete():
        found = api.ask("GET", f"Medias/{project}", sort_by="$name")
        return all((each["media_files"] or {}).get("image") for each in found) and found

    media = until(complete, "the images have files")
    shape = {"type": box, "frame": 0, "x": 0.2, "y": 0.2, "width": 0.5, "height": 0.5}
    api.create(f"Localizations/{project}", [{**shape, "media_id": each["id"]} for each in media])
    track = api.create(f"StateTypes/{project}", {"name": "Swim", "association": "Localization", "media_types": [image]})
    boxes = api.ask("GET", f"Localizations/{project}", media_id=media[0]["id"])
    spec = {"type": track, "media_ids": [media[0]["id"]], "localization_ids": [each["id"] for each in boxes]}
    api.create(f"States/{project}", [spec])
    api.create(f"Localizations/{project}", [{"type": box, "frame": 0, "media_id": media[1]["id"]}])  # a gap is no shape
    name = f"maria{uuid.uuid4().hex[:6]}"
    number, token = stack.user(name)
    api.create(f"Memberships/{project}", {"user": number, "permission": "Can Edit"})
    return {"api": api, "project": project, "member": name, "token": token}


def values(pool, path, name):
    rows = pool["api"].ask("GET", f"{path}/{pool['project']}", sort_by="$id")
    return [row["attributes"].get(name) for row in rows]


def test_a_project_is_set_up_and_its_media_are_distributed_and_worked_on(page, new_page, pool):
    page.goto(f"/#/projects/{pool['project']}/review")
    page.get_by_role("button", name="Set up review").click()
    page.get_by_label("Select all").check()
    page.get_by_role("button", name=f"Assign {COUNT} media to").click()
    page.get_by_role("menuitem", name="Distribute evenly").click()
    expect(page.get_by_text("The media are distributed.")).to_be_visible()
    assigned = values(pool, "Medias", "Assigned to")
    assert sorted(set(assigned)) == ["admin", pool["member"]]
    assert assigned.count("admin") == COUNT // 2
    mine = new_page(pool["token"])
    mine.goto(f"/#/projects/{pool['project']}/review?who={pool['member']}")
    rows = mine.locator("table.work tbody tr")
    expect(rows).to_have_count(COUNT // 2)
    rows.first.get_by_label(re.compile("Work status")).select_option("Done")
    expect(mine.get_by_role("progressbar", name=f"1 of {COUNT // 2} done")).to_be_visible()
    assert values(pool, "Medias", "Work status").count("Done") == 1


def test_annotations_are_accepted_rejected_and_commented_by_key(page, pool):
    page.goto(f"/#/projects/{pool['project']}/review?tab=annotations")
    cards = page.locator(".crop")
    set_up = page.get_by_role("button", name="Set up review")
    expect(cards.first.or_(set_up)).to_be_visible()
    if set_up.is_visible():
        set_up.click()
    expect(cards).to_have_count(COUNT)
    page.locator(".crop img").first.wait_for()
    page.keyboard.press("a")
    page.keyboard.press("r")
    page.keyboard.press("c")
    page.get_by_role("dialog").get_by_label("Comment").fill("<b>blurred</b>")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_text("<b>blurred</b>")).to_be_visible()
    expect(page.locator(".crop.accepted")).to_have_count(1)
    expect(page.locator(".crop.rejected")).to_have_count(1)
    assert values(pool, "Localizations", "Review")[:COUNT] == ["Accepted", "Rejected", "Open", "Open"]
    assert values(pool, "Localizations", "Review comment")[2] == "<b>blurred</b>"
    page.get_by_role("button", name="Accepted", exact=True).click()
    expect(cards).to_have_count(1)
    page.get_by_role("button", name="Open", exact=True).click()
    page.get_by_role("button", name="Tracks").click()
    expect(cards).to_have_count(1)
    page.locator(".crop img").first.wait_for()
    page.keyboard.press("?")
    page.get_by_role("button", name="Change the key of: Accept").click()
    page.keyboard.press("n")
    page.get_by_role("dialog").get_by_role("button", name="Close").last.click()
    cards.first.focus()
    page.keyboard.press("n")
    expect(page.locator(".crop.accepted")).to_have_count(1)
    assert values(pool, "States", "Review") == ["Accepted"]
    cards.first.get_by_role("link").click()
    expect(page.get_by_role("list", name="Tracks").get_by_role("button")).to_have_attribute("aria-pressed", "true")
