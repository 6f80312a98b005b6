"""Comments in Chromium: written with a mention, answered, resolved, walked through by key, and found in the inbox."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.console.browser.photos import photos
from tests.console.browser.views import show

COLORS = """(frames) => {
  const canvas = document.querySelector('.timeline canvas');
  const x = (frame) => Math.round((frame / canvas.ariaValueMax) * canvas.width);
  const at = (frame) => canvas.getContext('2d').getImageData(x(frame), 1, 1, 1);
  return frames.map((frame) => [...at(frame).data].join());
}"""
"""The colors of frames of a clip at the upper edge of the timeline."""


@pytest.fixture(scope="module")
def bay(stack):
    return photos(stack, "Bay", 2)


def comments(bay):
    return bay.api.ask("GET", f"Comments/{bay.project}")


def test_a_mention_is_completed_answered_from_the_inbox_and_resolved(page, new_page, bay):
    name, number, token = bay.member("Can Edit")
    media = bay.media[0]
    show(page, bay.path(f"/media/{media}"))
    page.keyboard.press("w")
    page.keyboard.type(f"Is this **<b>one</b>** a cod? @{name[:-2]}")
    page.get_by_role("option", name=f"@{name}").wait_for()
    page.keyboard.press("Enter")
    page.keyboard.type("look")
    page.keyboard.press("Control+Enter")
    thread = page.locator(".thread")
    expect(thread.locator(".mention")).to_have_text(f"@{name}")
    expect(thread.locator("strong", has_text="<b>one</b>")).to_be_visible()
    (first,) = comments(bay)
    assert (first["text"], first["mentions"]) == (f"Is this **<b>one</b>** a cod? @{name} look", [number])

    ada = new_page(token)
    show(ada, bay.path("/comments"))
    inbox = ada.locator(".thread")
    inbox.get_by_role("button", name="Reply").click()
    expect(inbox.get_by_role("textbox")).to_be_focused()
    ada.keyboard.type("A pollack.")
    ada.keyboard.press("Control+Enter")
    expect(inbox).to_contain_text("A pollack.")
    ada.locator("h1").click()
    ada.keyboard.press("e")
    expect(inbox).to_have_count(0)
    assert [(each["resolved"], each["parent"]) for each in comments(bay)] == [(True, None), (False, first["id"])]
    ada.get_by_role("button", name="Resolved").click()
    expect(inbox).to_have_count(1)
    ada.keyboard.press("ArrowUp")
    ada.keyboard.press("Enter")
    ada.wait_for_url(f"**/media/{media}?**")
    expect(ada.locator(".thread.chosen")).to_contain_text("A pollack.")


def test_open_threads_are_walked_through_by_key_and_marked_on_the_timeline(page, dive):
    for frame, end in ((5, None), (20, 25)):
        body = {"text": f"at {frame}", "media_id": dive.media, "frame": frame}
        dive.api.create(f"Comments/{dive.project}", {**body, **({"end_frame": end} if end else {})})
    box = dive.api.create(f"Localizations/{dive.project}", [dive.box(30)])[0]
    dive.api.create(f"Comments/{dive.project}", {"text": "on a box", "localization_id": box})
    show(page, dive.path(frame=0))
    expect(page.locator(".thread")).to_have_count(3)
    for frame in (5, 20, 30, 5):
        page.keyboard.press("u")
        page.wait_for_selector(f'.stage[data-frame="{frame}"]')
    page.keyboard.press("U")
    page.wait_for_selector('.stage[data-frame="30"]')
    expect(page.get_by_role("region", name="Details")).to_be_visible()
    flags = page.evaluate(COLORS, [5, 10, 22])
    assert flags[1] not in (flags[0], flags[2])


def test_the_bell_tells_of_a_mention_and_the_profile_says_where(page, new_page, bay):
    name, _, token = bay.member("Can Edit")
    body = {"text": f"<b>look</b> @{name}", "media_id": bay.media[1]}
    comment = bay.api.create(f"Comments/{bay.project}", body)
    ada = new_page(token)
    show(ada, "/#/profile")
    ada.get_by_role("button", name="1 new notification").click()
    ada.get_by_role("menuitem", name="<b>look</b>").click()
    ada.wait_for_url(f"**/media/{bay.media[1]}?**comment={comment}")
    ada.get_by_role("button", name="Notifications").wait_for()
    show(ada, "/#/profile")
    ada.get_by_label("Comments that mention me").select_option("Nowhere")
    expect(ada.get_by_text("Saved")).to_be_visible()
    bay.api.create(f"Comments/{bay.project}", body)
    ada.reload()
    ada.get_by_label("Comments that mention me").wait_for()
    expect(ada.get_by_role("button", name="Notifications")).to_be_visible()
