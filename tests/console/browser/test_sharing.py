"""What guests see of share links of each kind, and who reads a public project; how both are made in the console."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.console.browser.test_access import wait_until_painted
from tests.console.browser.views import show


def shared(stack, dive, **spec) -> str:
    """The address of a new link, below the service."""
    return "/#" + stack.api.ask("POST", f"ShareLinks/{dive.project}", spec)["url"].partition("/#")[2]


def made(page) -> str:
    """Make the link of the open dialog; its address, below the service."""
    page.get_by_role("button", name="Make the link").click()
    address = page.locator("code.token")
    expect(address).to_contain_text("/#/shared/")
    found = "/#" + address.inner_text().partition("/#")[2]
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    return found


def test_a_guest_of_frames_steps_through_these_and_gets_no_file(new_page, stack, dive):
    page = new_page("")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(stack.url + shared(stack, dive, frames={"media_id": dive.media, "start": 3, "stop": 6}))
    transport = page.locator(".shared-transport")
    expect(transport).to_contain_text("Frame 3 of")
    wait_until_painted(page, 0)
    for name, shown in (("back", 3), ("on", 4), ("on", 5), ("on", 5)):
        page.get_by_role("button", name=f"One frame {name}").click()
        expect(transport).to_contain_text(f"Frame {shown} of")
    expect(page.get_by_role("alert")).to_have_count(0)
    assert not [url for url in asked if ".mp4" in url or "X-Amz" in url]


def test_frames_a_view_and_a_comment_are_shared_where_they_are_looked_at(new_page, stack, dive):
    page = new_page()
    show(page, dive.path(frame=4))
    for item in ("Share these frames", "Share this view"):
        page.get_by_role("button", name="File").click()
        page.get_by_role("menuitem", name=item).click()
        address = made(page)
        guest = new_page("")
        guest.goto(stack.url + address)
        expect(guest.locator(".shared-transport")).to_contain_text("Frame 4 of")
        guest.close()
    links = stack.api.ask("GET", f"ShareLinks/{dive.project}")[-2:]
    assert [(each["frames"] or each["view"])["media_id"] for each in links] == [dive.media] * 2
    assert links[0]["frames"]["start"] + 1 == links[0]["frames"]["stop"]
    show(page, f"/#/projects/{dive.project}/manage/shares")
    expect(page.get_by_role("row").filter(has_text="Frames 4 to 4")).to_contain_text("1, last")

    stack.api.create(f"Comments/{dive.project}", {"media_id": dive.media, "frame": 2, "text": "a **sponge**?"})
    show(page, f"/#/projects/{dive.project}/comments?of=all")
    page.get_by_role("article").filter(has_text="a sponge?").get_by_role("button", name="Share").click()
    address = made(page)
    guest = new_page("")
    guest.goto(stack.url + address)
    expect(guest.get_by_text("a sponge?")).to_be_visible()
    expect(guest.locator(".shared-transport")).to_contain_text("Frame 2 of")


def test_a_version_of_a_dataset_is_shared_with_the_shapes_it_froze(new_page, stack, dive):
    stack.api.ask("POST", f"Localizations/{dive.project}", [dive.box(0)])
    stack.api.create(f"Datasets/{dive.project}", {"name": "shared version", "media": {"ids": [dive.media]}})
    page = new_page()
    show(page, f"/#/projects/{dive.project}/transfers")
    row = page.get_by_role("listitem").filter(has_text="shared version")
    expect(row).to_contain_text("succeeded")
    dive.clear()
    row.get_by_role("button", name="Actions").click()
    page.get_by_role("menuitem", name="Share").click()
    address = made(page)
    guest = new_page("")
    guest.goto(stack.url + address)
    expect(guest.locator(".shared-transport")).to_contain_text("Frame 0 of")
    wait_until_painted(guest, 0)
    wait_until_painted(guest, 1)


@pytest.mark.parametrize("is_listed", [True, False])
def test_a_public_project_is_opened_without_an_account_until_it_is_closed(new_page, stack, dive, is_listed):
    page = new_page()
    show(page, f"/#/projects/{dive.project}/manage")
    name = page.get_by_role("heading", level=1).inner_text()
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Who may look").select_option("listed" if is_listed else "unlisted")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    reader = new_page("", allow=("401",))
    reader.goto(f"{stack.url}/#/public")
    expect(reader.get_by_role("heading", name="Public projects")).to_be_visible()
    if is_listed:
        reader.get_by_role("link", name=name, exact=True).click()
    else:
        expect(reader.get_by_role("link", name=name, exact=True)).to_have_count(0)
        reader.goto(f"{stack.url}/#/public/{dive.project}")
    expect(reader.get_by_role("heading", name=name)).to_be_visible()
    expect(reader.locator(".shared-transport")).to_contain_text("Frame 0 of")
    wait_until_painted(reader, 0)
    stack.api.ask("PATCH", f"Project/{dive.project}", {"public": None})
    reader.reload()
    expect(reader.get_by_role("heading", name=name)).to_have_count(0)
