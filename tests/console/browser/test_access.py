"""What console users do with access: share media with guests, make tokens for scripts, read the audit log."""

from __future__ import annotations

import re
import uuid

import requests
from playwright.sync_api import expect

from tests.console.browser.views import show
from tests.resources.identity_providers.provider import Provider


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
    expect(page.get_by_role("alert")).to_contain_text("has ended")


def test_links_are_made_and_ended_in_the_console(new_page, stack, dive):
    page = new_page()
    stack.api.create(f"Sections/{dive.project}", {"name": "Reef walk", "dtype": "folder"})
    show(page, f"/#/projects/{dive.project}/manage/shares")
    page.get_by_role("button", name="Share").click()
    page.get_by_label("Folder or search").select_option(label="Reef walk")
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


def test_an_administrator_sees_usage_sets_a_limit_and_manages_identity_providers(new_page, stack):
    provider = Provider(port=stack.hooks)
    try:
        organization = stack.api.create("Organizations", {"name": "Metered"})
        stack.api.create("Projects", {"name": "Kelp forest", "organization": organization})
        page = new_page()
        show(page, f"/#/organizations/{organization}")
        expect(page.get_by_role("row").filter(has_text="Kelp forest")).to_contain_text("$")
        page.get_by_role("button", name="Set limits").click()
        page.get_by_label("Mails in a month").fill("500")
        page.get_by_role("dialog").get_by_role("button", name="Save").click()
        expect(page.get_by_text("Mails in a month 500")).to_be_visible()
        assert stack.api.ask("GET", f"Organization/{organization}")["usage_limits"]["mails"] == 500

        page.get_by_role("button", name="New identity provider").click()
        page.get_by_label("Name", exact=True).fill("Reef login")
        page.get_by_label("Issuer").fill(provider.issuer)
        page.get_by_label("Client id").fill("limn")
        page.get_by_label("Client secret").fill("s3cret")
        page.get_by_role("dialog").get_by_role("button", name="Create").click()
        row = page.get_by_role("row").filter(has_text="Reef login")
        expect(row).to_contain_text("/sign-in/")
        row.get_by_role("button").click()
        page.get_by_role("menuitem", name="Test").click()
        expect(page.locator(".toast.good").filter(has_text="answers.")).to_be_visible()
        row.get_by_role("button").click()
        page.get_by_role("menuitem", name="Edit").click()
        page.get_by_label("Hours that scripts go on without a sign-in").fill("8")
        page.get_by_role("dialog").get_by_role("button", name="Save").click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        [stored] = stack.api.ask("GET", f"IdentityProviders/{organization}")
        assert (stored["unattended_hours"], stored["has_secret"]) == (8, True)
    finally:
        provider.close()


def test_a_person_is_erased_after_the_user_name_was_typed(new_page, stack):
    name = f"leaving-{uuid.uuid4().hex[:8]}"
    number, token = stack.user(name)
    organization = stack.api.create("Organizations", {"name": f"Left by {name}"})
    stack.api.create(f"Affiliations/{organization}", {"user": number, "permission": "Member"})
    page = new_page()
    show(page, f"/#/organizations/{organization}")
    page.get_by_role("row").filter(has_text=f"{name}@").get_by_role("button").click()
    page.get_by_role("menuitem", name="Erase the person").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Type").fill("another")
    dialog.get_by_role("button", name="Erase", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text(name)
    assert stack.api.ask("GET", f"Erasures/{organization}") == []
    dialog.get_by_label("Type").fill(name)
    dialog.get_by_role("button", name="Erase", exact=True).click()
    expect(page.get_by_role("row").filter(has_text="Being erased")).to_contain_text("account")
    expect(page.get_by_role("row").filter(has_text=f"{name}@")).to_have_count(0)
    who = f"{stack.url}/rest/User/GetCurrent"
    assert requests.get(who, headers={"Authorization": f"Token {token}"}, timeout=60).status_code == 401
