"""axe finds nothing serious in any view, in light and in dark; the keyboard alone is enough."""

from __future__ import annotations

from importlib.resources import files

import pytest
from playwright.sync_api import expect

from tests.console.browser.test_names_are_text import show

AXE = (files("axe_playwright_python") / "axe.min.js").read_text()
PAGES = ("", "/crops", "/upload", "/jobs", "/manage", "/manage/types", "/manage/members", "/manage/history?user=all")
VIEWS = ("/#/", "/#/profile", *(f"/#/projects/{{}}{page}" for page in PAGES))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(new_page, meadow, theme):
    visitor, member = new_page(""), new_page()
    for each in (visitor, member):
        each.add_init_script(f"localStorage.setItem('limn.theme', '{theme}')")
    found = []
    for view in ("/#/sign-in", *VIEWS):
        page = visitor if view == "/#/sign-in" else member
        show(page, view.format(meadow))
        page.evaluate(AXE)
        violations = page.evaluate("axe.run().then(found => found.violations)")
        found += [
            f"{view}: {each['id']}: {[node['target'] for node in each['nodes']][:3]}"
            for each in violations
            if each["impact"] in ("serious", "critical")
        ]
    assert not found, "\n".join(found)


def test_the_gallery_works_with_the_keyboard_alone(page, meadow):
    show(page, f"/#/projects/{meadow}")
    first = page.locator("[data-index='0']")
    first.wait_for()
    first.get_by_role("link").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.closest('[data-index]').dataset.index") == "1"
    page.keyboard.press("End")
    expect(page.locator("[data-index='36']")).to_be_visible()
    assert page.evaluate("document.activeElement.closest('[data-index]').dataset.index") == "36"
    page.keyboard.press("Enter")
    page.wait_for_url("**/media/*")
