"""The profile: one's own tokens and password."""

from __future__ import annotations

import base64
import time
import uuid

import requests
from playwright.sync_api import expect

from chalicelib.core.values import one_time_codes
from tests.console.browser import qr_codes
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


def test_a_device_is_signed_in_by_its_code(new_page, stack):
    _, token = stack.user(f"device-{uuid.uuid4().hex[:8]}")
    asked = {"name": "limn on <b>lab-3</b>", "level": "Full Control", "operations": ["Media", "Uploads"]}

    def begin():
        return requests.post(f"{stack.url}/rest/DeviceAuthorizations", json=asked, timeout=60).json()

    def ask(codes):
        return requests.post(f"{stack.url}/rest/DeviceToken", json={"device_code": codes["device_code"]}, timeout=60)

    page = new_page(token, allow=("404",))
    codes = begin()
    show(page, "/#/device")
    page.get_by_label("Code").fill("BBBB-BBBB")
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("alert")).to_contain_text("no device waits")
    page.get_by_label("Code").fill(codes["user_code"].lower())
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("heading", name="limn on <b>lab-3</b> asks to act in your name")).to_be_visible()
    expect(page.get_by_label("Operations")).to_have_value("")
    page.get_by_label("Level").select_option("View Only")
    page.get_by_role("button", name="Sign it in").click()
    expect(page.locator(".note.good")).to_contain_text("The device is signed in.")
    who = {"Authorization": f"Token {ask(codes).json()['access_token']}"}
    assert requests.get(f"{stack.url}/rest/User/GetCurrent", headers=who, timeout=60).status_code == 403
    mine = {"Authorization": f"Token {token}"}
    [made] = requests.get(f"{stack.url}/rest/AccessTokens", headers=mine, timeout=60).json()
    assert (made["level"], made["operations"]) == ("View Only", ["Media", "Uploads"])

    codes = begin()
    show(page, f"/#/device?code={codes['user_code']}")
    page.get_by_role("button", name="Refuse").click()
    expect(page.locator(".note.good")).to_contain_text("The device gets nothing.")
    assert ask(codes).json()["error"] == "access_denied"


def test_a_second_factor_is_set_up_and_asked_for_at_the_next_sign_in(new_page, stack):
    name = f"factor-{uuid.uuid4().hex[:8]}"
    _, token = stack.user(name)
    page = new_page(token)
    show(page, "/#/profile")
    page.get_by_label("Password, to set it up").fill(OLD)
    page.get_by_role("button", name="Set up a second factor").click()
    secret = page.locator("code.token").inner_text()
    picture = page.get_by_role("img", name="The key as a QR code")
    assert qr_codes.read(qr_codes.modules_of(picture.locator("path").get_attribute("d"))).startswith(
        f"otpauth://totp/Limn%3A{name}?secret={secret}"
    )
    page.get_by_role("textbox", name="Code").fill(code_of(secret, -1))
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_text("10 recovery codes are left.")).to_be_visible()
    recovery = page.locator("code.recovery").inner_text().split()
    assert len(recovery) == 10

    other = new_page("", allow=("401", "403"))
    other.goto(f"{stack.url}/#/profile")
    other.get_by_label("User name").fill(name)
    other.get_by_label("Password", exact=True).fill(OLD)
    other.get_by_role("button", name="Sign in", exact=True).click()
    other.get_by_role("textbox", name="Code").fill("000000")
    other.get_by_role("button", name="Sign in", exact=True).click()
    expect(other.get_by_role("alert")).to_contain_text("The code is wrong")
    other.get_by_role("textbox", name="Code").fill(code_of(secret))
    other.get_by_role("button", name="Sign in", exact=True).click()
    expect(other.get_by_role("heading", name="Second factor")).to_be_visible()
    other.get_by_label("Code", exact=True).fill(recovery[0])
    other.get_by_role("button", name="End the second factor").click()
    expect(other.get_by_role("button", name="Set up a second factor")).to_be_visible()


def code_of(secret, step=0):
    """The code of an app that was given a secret, so many steps from now."""
    present = int(time.time() // one_time_codes.STEP_SECONDS)
    return one_time_codes.code_at(base64.b32decode(secret), present + step)
