"""The profile: one's own tokens and password."""

from __future__ import annotations

import uuid

import requests
from playwright.sync_api import expect

from tests.console.browser.views import show

OLD = "reef watch 77"
NEW = "battery staple 8"


def test_a_token_is_made_and_revoked_and_the_password_changed(new_page, stack):
    name = f"profile-{uuid.uuid4().hex[:8]}"
    _, token = stack.user(name)
    page = new_page(token, allow=("400",))
    show(page, "/#/profile")
    mine = page.get_by_role("listitem").filter(has=page.locator("code"))
    expect(mine).to_have_count(1)
    expect(mine).to_contain_text("this session")
    page.get_by_label("Your password").fill(OLD)
    page.get_by_label("Name of the new token").fill("laptop")
    page.get_by_role("button", name="New token").click()
    expect(mine).to_have_count(2)
    made = page.locator("code.token").inner_text()
    laptop = mine.filter(has_text="laptop")
    laptop.get_by_role("button", name="Revoke").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(laptop).to_have_count(0)
    who = f"{stack.url}/rest/User/GetCurrent"
    assert requests.get(who, headers={"Authorization": f"Token {made}"}, timeout=60).status_code == 401

    page.get_by_label("Present password").fill("wrong horse 7")
    page.get_by_label("New password").fill(NEW)
    page.get_by_role("button", name="Change the password").click()
    expect(page.get_by_role("alert")).to_contain_text("current_password")
    page.get_by_label("Present password").fill(OLD)
    page.get_by_role("button", name="Change the password").click()
    expect(page.locator(".toast.good").filter(has_text="The password is changed.")).to_be_visible()
    expect(mine).to_have_count(1)
    body = {"username": name, "password": NEW}
    assert requests.post(f"{stack.url}/rest/Token", json=body, timeout=60).status_code == 201
