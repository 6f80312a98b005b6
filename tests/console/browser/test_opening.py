"""A frame is opened by its address: what it shows comes first, before its picture and all other annotations."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Route, expect


def test_the_annotations_of_the_frame_come_before_its_picture_and_all_others(page, dive):
    dive.api.create(f"Localizations/{dive.project}", [dive.box(frame) for frame in (3, 30, 30)])
    asked: list[str] = []
    held: list[Route] = []
    page.on("request", lambda request: asked.append(request.url))

    def hold(route: Route) -> None:
        held.append(route)

    page.route(re.compile(r"\.mp4|/GetFrame/|/Localizations/.*[?&]stop="), hold)
    page.goto(dive.path(frame=30))
    rows = page.get_by_label("Annotations on this frame").get_by_role("button")
    expect(rows).to_have_count(2)
    expect(page.locator(".stage[data-frame]")).to_have_count(0)
    expect(page.get_by_role("status").filter(has_text="annotations")).to_be_visible()

    def place(part: str) -> list[int]:
        return [at for at, url in enumerate(asked) if part in url]

    (media,) = place(f"/rest/Media/{dive.media}?")
    (frame,) = place(f"/rest/Localizations/{dive.project}?media_id={dive.media}&merge=0&frame=30")
    (modules,) = place("/draw/sync.js")  # what asks for them is not even there
    assert max(media, frame) < modules
    for each in held:
        each.continue_()
    page.unroute_all()
    page.wait_for_selector('[data-saving="saved"]')
    page.wait_for_selector('.stage[data-frame="30"]')
    pages = [parse_qs(urlsplit(asked[at]).query) for at in place(f"/rest/Localizations/{dive.project}?")]
    assert [each["stop"] for each in pages if "stop" in each] == [["5000"]]
