"""Passkeys in the console, with an authenticator of Chromium: added in the profile, then signing in alone.

The pages are those of `localhost`: an address of digits cannot have passkeys.
"""

from __future__ import annotations

import uuid

import pytest
from playwright.sync_api import expect

PASSWORD = "reef watch 77"


@pytest.fixture
def page(new_page):
    """A page that nobody is signed in at, whose browser has an authenticator that verifies its user."""
    made = new_page("", allow=("401", "403"))
    tools = made.context.new_cdp_session(made)
    tools.send("WebAuthn.enable")
    options = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}
    options |= {"isUserVerified": True, "automaticPresenceSimulation": True}
    tools.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return made


def sign_in(page, name):
    page.get_by_label("User name").fill(name)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def test_a_passkey_is_added_and_signs_in_to_the_first_project(page, stack):
    name = f"passkey-{uuid.uuid4().hex[:8]}"
    number, _ = stack.user(name)
    organization = stack.api.create("Organizations", {"name": f"{name} reefs"})
    project = stack.api.create("Projects", {"name": f"{name} transects", "organization": organization})
    stack.api.create(f"Memberships/{project}", {"user": number, "permission": "Can Edit"})
    home = stack.url.replace("127.0.0.1", "localhost")

    page.goto(f"{home}/#/profile")
    sign_in(page, name)
    page.get_by_label("Name of the passkey").fill("laptop")
    page.get_by_label("Password, to add a passkey").fill(PASSWORD)
    page.get_by_role("button", name="Add a passkey").click()
    mine = page.get_by_role("list", name="Passkeys").get_by_role("listitem")
    expect(mine).to_have_count(1)
    expect(mine).to_contain_text("laptop")

    page.get_by_role("button", name="Use my passkeys as the second factor").click()
    expect(page.get_by_text("10 recovery codes are left.")).to_be_visible()

    sign_out(page, home)
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.get_by_role("link", name=f"{name} transects").first.click()
    expect(page.get_by_role("heading", name="Media").first).to_be_visible()

    sign_out(page, home)
    sign_in(page, name)
    expect(page.get_by_role("link", name=f"{name} transects").first).to_be_visible()

    page.goto(f"{home}/#/profile")
    expect(mine).to_contain_text("last used")
    page.get_by_role("button", name="End the second factor").click()
    expect(page.get_by_role("button", name="Set up a second factor")).to_be_visible()
    mine.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(mine).to_have_count(0)
    sign_out(page, home)
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("alert")).to_be_visible()


def sign_out(page, home):
    page.get_by_role("button", name="Account of").click()
    page.get_by_role("menuitem", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in with a passkey")).to_be_visible()
    page.goto(f"{home}/#/")
    expect(page.get_by_role("button", name="Sign in with a passkey")).to_be_visible()


def test_an_address_of_digits_offers_no_passkeys(new_page, stack):
    page = new_page("", allow=("401",))
    page.goto(f"{stack.url}/#/")
    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Sign in with a passkey")).to_have_count(0)
