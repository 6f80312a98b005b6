"""Signing in, and what the first view costs."""

from __future__ import annotations

import re

import pytest
import requests
from playwright.sync_api import expect

from tests.console.browser.conftest import window

BUSY = 1.0
"""Seconds of the processor that the browser's main thread may take for the first view. The budget is 1.5 s in all."""


def test_a_person_signs_in_with_a_password_and_out_again(new_page, stack):
    page = new_page("", allow=("status of 400", "status of 401", "status of 403", "status of 404"))
    page.goto("/#/projects/999")
    page.get_by_label("User name").fill(stack.username)
    page.get_by_label("Password", exact=True).fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("Password", exact=True).fill(stack.password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(re.compile(r"#/projects/999$"))
    # one sign-in for all tabs, and nothing of it for scripts
    tab = page.context.new_page()
    tab.goto("/#/profile")
    expect(tab.get_by_role("heading", name="Profile and tokens")).to_be_visible()
    token = next(each["value"] for each in page.context.cookies() if each["name"].startswith("limn-"))
    assert token not in page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie])")
    page.get_by_role("button", name=re.compile("Account of")).click()
    page.get_by_role("menuitem", name="Sign out").click()
    for each in (page, tab):
        expect(each.get_by_role("heading", name="Sign in")).to_be_visible()
    said = requests.get(f"{stack.url}/rest/User/GetCurrent", headers={"Authorization": f"Token {token}"}, timeout=60)
    assert said.status_code == 401


def test_a_page_of_another_origin_cannot_use_the_sign_in(new_page, stack):
    page = new_page(allow=("CORS", "ERR_FAILED", "status of 401", "status of 403"))
    page.goto("/")
    expect(page.get_by_role("heading", name="Projects", exact=True)).to_be_visible()
    foreign = page.context.new_page()
    foreign.route("http://elsewhere.test/", lambda route: route.fulfill(content_type="text/html", body="<p>hello"))
    foreign.goto("http://elsewhere.test/")
    attempts = """async (url) => Promise.all([{}, {headers: {"Limn-Session": "1"}}, {method: "DELETE"}].map((more) =>
      fetch(`${url}/rest/${more.method ? "Session" : "User/GetCurrent"}`, {credentials: "include", ...more})
        .then((answer) => answer.status, () => "refused")))"""
    assert set(foreign.evaluate(attempts, stack.url)) <= {"refused", 401, 403}
    page.reload()
    expect(page.get_by_role("heading", name="Projects", exact=True)).to_be_visible()


def test_a_token_signs_in_and_is_never_in_an_address(new_page, stack):
    page = new_page("")
    addresses: list[str] = []
    page.on("request", lambda request: addresses.append(request.url))
    page.goto("/")
    page.get_by_role("button", name="Token").click()
    page.get_by_label("API token").fill(stack.token)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Projects", exact=True)).to_be_visible()
    assert not [address for address in [*addresses, page.url] if stack.token in address]


def test_the_first_view_is_small_and_takes_little_time(page):
    inspector = page.context.new_cdp_session(page)
    inspector.send("Performance.enable")
    page.goto("/")
    expect(page.get_by_role("heading", name="Projects", exact=True)).to_be_visible()
    busy = {each["name"]: each["value"] for each in inspector.send("Performance.getMetrics")["metrics"]}["ThreadTime"]
    page.wait_for_load_state("networkidle")
    sizes = page.evaluate("performance.getEntries().map((each) => [each.name, each.encodedBodySize])")
    own = {name: size for name, size in sizes if size and ("/console/" in name or name == page.url)}
    assert len(own) > 20
    assert sum(own.values()) < 300_000
    assert busy < BUSY, f"the first view takes {busy:.2f} s of the browser's processor"


def test_no_module_of_a_view_waits_for_another_one(page, dive):
    page.goto(dive.path(frame=0))
    page.wait_for_selector('.stage[data-frame="0"]')
    late = """(() => {
      const known = new Set([...document.querySelectorAll("link[rel=modulepreload]")].map((each) => each.href));
      const modules = performance.getEntriesByType("resource").map((each) => each.name).filter((name) =>
        new RegExp("/console/.*[.]js$").test(name) && !name.includes("worker.js"));
      return [modules.length, modules.filter((name) => !known.has(name))];
    })()"""
    count, missing = page.evaluate(late)
    assert count > 100
    assert missing == []


@pytest.mark.parametrize("locale", ["en-GB", "de-DE", "es-ES"])
def test_every_tab_of_a_project_is_in_sight_in_narrow_windows(browser, stack, dive, locale):
    narrow = window(browser, stack, locale)
    stack.sign_in(narrow, stack.token)
    page = narrow.new_page()
    page.goto(f"/#/projects/{dive.project}/manage/types")
    tabs = page.locator(".bar nav a")
    for width in (768, 1000, 1270, 1280, 1440):
        page.set_viewport_size({"width": width, "height": 720})
        expect(tabs.last).to_be_visible()
        bar, last = page.locator(".bar nav").bounding_box(), tabs.last.bounding_box()
        assert last["x"] + last["width"] <= bar["x"] + bar["width"] + 1, f"{width} pixels"
        expect(page.locator(".bar .avatar").first).to_be_in_viewport(ratio=1)
    assert all(tabs.nth(at).get_attribute("title") for at in range(tabs.count()))
    narrow.close()
