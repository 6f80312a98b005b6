"""What console users do with access: share media with guests, make tokens for scripts, read the audit log."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.console.browser.views import show


def wait_until_painted(page, number: int, *, wanted: bool = True) -> None:
    """Wait until the picture (0) or the shapes over it (1) show anything, or nothing."""
    page.wait_for_function(
        """([number, wanted]) => { const canvas = document.querySelectorAll(".shared-stage canvas")[number];
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          return data.some((value, index) => index % 4 < 3 && value > 20) === wanted; }""",
        arg=[number, wanted],
    )


def test_a_guest_watches_what_was_shared_frame_by_frame_until_the_link_ends(new_page, stack, dive):
    api = stack.api
    api.ask("POST", f"Localizations/{dive.project}", [dive.box(2)])
    link = api.ask(
        "POST", f"ShareLinks/{dive.project}", {"media_ids": [dive.media], "name": "museum", "passphrase": "deep sea"}
    )
    place = "/#" + link["url"].partition("/#")[2]
    page = new_page("", allow=("403", "404"))
    page.goto(f"{stack.url}{place}")
    page.get_by_label("Passphrase").fill("lake")
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("alert")).to_contain_text("passphrase")
    page.get_by_label("Passphrase").fill("deep sea")
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("heading", name="museum")).to_be_visible()
    expect(page.locator(".shared-transport")).to_contain_text(re.compile("Frame 0 of"))
    for number in (1, 2):
        page.get_by_role("button", name="One frame on").click()
        expect(page.locator(".shared-transport")).to_contain_text(f"Frame {number} of")
        wait_until_painted(page, 0)
        wait_until_painted(page, 1, wanted=number == 2)  # the box is on frame 2
    expect(page.get_by_role("alert")).to_have_count(0)
    api.ask("DELETE", f"ShareLink/{link['id']}")
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("no longer")


def test_links_are_made_and_ended_in_the_console(new_page, stack, dive):
    page = new_page()
    stack.api.create(f"Sections/{dive.project}", {"name": "Reef walk", "dtype": "folder"})
    show(page, f"/#/projects/{dive.project}/manage/shares")
    page.get_by_role("button", name="Share").click()
    page.get_by_label("Folders").select_option(label="Reef walk")
    page.get_by_role("dialog").get_by_role("button", name="Share").click()
    page.get_by_label("Name of the link").fill("for the press")
    page.get_by_role("button", name="Make the link").click()
    expect(page.locator("code.token")).to_contain_text("/#/shared/")
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    expect(page.get_by_role("row").filter(has_text="for the press")).to_contain_text("Reef walk")


def test_a_token_with_limits_is_made_and_the_log_tells_of_it(new_page, stack):
    page = new_page()
    organization = stack.api.create("Organizations", {"name": "Audited"})
    show(page, "/#/profile")
    page.get_by_role("button", name="New access token").click()
    page.get_by_label("Name", exact=True).fill("nightly")
    page.get_by_label("Level").select_option("View Only")
    page.get_by_label("Operations").select_option(label="Reading only")
    page.get_by_role("dialog").get_by_role("button", name="Create").click()
    expect(page.locator("code.token").filter(has_text="limn_")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="nightly")).to_contain_text("View Only")
    show(page, f"/#/organizations/{organization}")
    expect(page.get_by_role("row").filter(has_text="CreateAccessToken")).to_be_visible()
    page.get_by_label("About").select_option("policy")
    expect(page.get_by_role("row").filter(has_text="CreateOrganization")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="CreateAccessToken")).to_have_count(0)
