"""axe finds nothing in any view, in light and in dark; the keyboard alone is enough."""

from __future__ import annotations

from importlib.resources import files

import pytest
from playwright.sync_api import expect

from tests.console.browser import views
from tests.console.browser.views import show

AXE = (files("axe_playwright_python") / "axe.min.js").read_text()
FOUND = "axe.run().then(found => found.violations)"

CONTROLS = """() => {
  const seen = 'a[href], button:enabled, input:enabled:not([hidden]), select:enabled, textarea:enabled, [tabindex="0"]';
  const isShown = (each) => each.checkVisibility({ visibilityProperty: true }) && each.tabIndex >= 0;
  window.controls = new Set([...document.querySelectorAll(seen)].filter(isShown));
  window.visit = () => {
    const at = document.activeElement, style = getComputedStyle(at);
    const marked = style.outlineStyle !== 'none' || style.boxShadow !== 'none' || at.tagName === 'IFRAME';
    if (marked) controls.delete(at);
    if (at.type === 'radio') document.getElementsByName(at.name).forEach((each) => controls.delete(each));
  };
  window.left = () => [...controls].filter((each) => each.isConnected).map((each) => each.outerHTML.slice(0, 160));
}"""
"""Collect the controls of a page, strike off those that have the focus and show it, and list the others."""


@pytest.mark.parametrize(
    ("theme", "width"),
    [
        ("light", 1280),
        *(pytest.param(*each, marks=pytest.mark.nightly) for each in (("light", 1920), ("dark", 1280), ("dark", 1920))),
    ],
)
def test_axe_finds_nothing(new_page, meadow, nasty, stack, theme, width):
    visitor, member = new_page("", allow=("status of 40",)), new_page(allow=("allow-same-origin",))
    for each in (visitor, member):
        each.set_viewport_size({"width": width, "height": width * 9 // 16})
        each.add_init_script(f"localStorage.setItem('limn.theme', '{theme}')")
    clip = stack.api.ask("GET", f"Medias/{meadow}", dtype="video", fields="id")[0]["id"]
    pages = {**dict.fromkeys(views.OPEN, visitor), f"/#/projects/{meadow}/media/{clip}?frame=48": member}
    pages |= dict.fromkeys(views.addresses(**nasty), member)
    found = []
    for view, page in pages.items():
        show(page, view)
        page.evaluate(AXE)
        found += [
            f"{view}: {each['id']}: {[node['target'] for node in each['nodes']][:3]}" for each in page.evaluate(FOUND)
        ]
    assert not found, "\n".join(found)


@pytest.mark.nightly  # most of a minute
def test_tab_reaches_every_control_of_every_view_and_shows_where_it_is(new_page, nasty):
    page = new_page(allow=("allow-same-origin",))
    missed = []
    for view in views.addresses(**nasty):
        show(page, view)
        page.evaluate(CONTROLS)
        for _ in range(page.evaluate("controls.size") + 20):
            page.keyboard.press("Tab")
            page.evaluate("visit()")
        missed += [f"{view}: {each}" for each in page.evaluate("left()")]
    assert not missed, "\n".join(missed)


@pytest.mark.nightly  # most of a minute
@pytest.mark.parametrize("width", [768, 1024, 1280, 3840])
def test_no_view_is_wider_than_the_window(new_page, nasty, width):
    page = new_page(allow=("allow-same-origin",))
    page.set_viewport_size({"width": width, "height": 1000})
    wide = []
    for view in views.addresses(**nasty):
        show(page, view)
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wide.append(view)
    assert not wide, "\n".join(wide)


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
