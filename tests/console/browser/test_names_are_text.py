"""Markup in names, descriptions and values is text in every view, and no view breaks the page's policy."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.console.browser import views
from tests.console.browser.markup import NASTY
from tests.console.browser.views import show


def test_the_list_of_views_has_all_of_the_router():
    given = [each.removeprefix("/#").partition("?")[0] for each in (*views.ALL, *views.OPEN)]
    missing = [pattern.pattern for pattern in views.patterns() if not any(map(pattern.fullmatch, given))]
    assert missing == []


@pytest.mark.nightly  # half a minute
def test_markup_in_names_is_text_in_every_view(new_page, nasty):
    page = new_page(allow=("allow-same-origin",))  # the fixture itself tries to put the token into the applet's frame
    for view in views.addresses(**nasty):
        show(page, view)
        assert page.evaluate("window.hit") is None, view
        assert page.locator("main script, main [onerror], main [onload], main img[src='x']").count() == 0, view
        assert page.locator("main b, main a[href^='javascript']").count() == 0, view
        buttons = page.get_by_role("button", name="Actions of")
        if buttons.count():
            buttons.first.click()
            page.get_by_role("menu").wait_for()
            page.keyboard.press("Escape")
        assert page.evaluate("window.hit") is None, view
    show(page, f"/#/projects/{nasty['project']}")
    page.get_by_role("listitem").first.wait_for()
    assert any(part in page.locator("main").inner_text() for part in NASTY)


def test_an_address_of_the_console_cannot_run_script(page, stack):
    for address in (
        "/#/javascript:window.hit=1",
        "/#/projects/<img src=x onerror=window.hit=1>",
        "/#/%3Cscript%3Ewindow.hit=1",
    ):
        page.goto(address)
        page.locator("#main").wait_for()
        assert page.evaluate("window.hit") is None


def test_a_file_of_a_project_is_no_script_of_the_console(new_page, nasty, stack):
    project = nasty["project"]
    sent = {"name": "harm.js", "upload_url": stack.api.upload(project, b"window.hit = 1")}
    saved = stack.api.ask("POST", f"SaveGenericFile/{project}", sent)["url"]
    page = new_page(allow=("status of 401", "is not executable"))  # elements of a page carry no credentials
    show(page, f"/#/projects/{project}")
    ran = """address => new Promise(done => {
        const script = Object.assign(document.createElement("script"), { src: address });
        script.onload = script.onerror = event => done(event.type);
        document.head.append(script);
    })"""
    assert page.evaluate(ran, f"/media/{saved}") == "error"
    assert page.evaluate("window.hit") is None


def test_a_message_with_markup_is_text(new_page, nasty):
    page = new_page(allow=("status of 400",))
    show(page, f"/#/projects/{nasty['project']}?search=<img src=x onerror=window.hit=1>:(")
    expect(page.get_by_role("alert")).to_contain_text("search")
    assert page.evaluate("window.hit") is None
    assert page.locator("img[src='x']").count() == 0
