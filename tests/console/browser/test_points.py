"""Sampled points: drawn from the gallery and beside the picture, and labelled in the attribute mode."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.console.browser.photos import Photos, photos
from tests.console.browser.views import show

LABELS = [*(f"Rock {number}" for number in range(9)), "Coral dead", "Coral live", "Sand"]


@pytest.fixture
def ground(stack: Any) -> Photos:
    """Two images, and a type of points whose labels are more than there are digits."""
    made = photos(stack, "Ground", 2)
    kind = made.api.ask("GET", f"MediaTypes/{made.project}")[0]["id"]
    label = {"name": "Label", "dtype": "enum", "choices": LABELS}
    spec = {"name": "Point", "dtype": "dot", "media_types": [kind], "attribute_types": [label]}
    made.api.create(f"LocalizationTypes/{made.project}", spec)
    return made


def points(ground: Photos, media: int) -> list[dict[str, Any]]:
    """The points of an image."""
    return ground.api.ask("GET", f"Localizations/{ground.project}", media_id=media)


def draw(page: Any, count: str) -> None:
    """Fill the dialog in and send it."""
    page.get_by_role("dialog").get_by_label("Points on each frame").fill(count)
    page.get_by_role("dialog").get_by_role("button", name="Draw points").click()


def test_points_are_drawn_on_selected_media_and_on_all_of_a_search(new_page, ground):
    page = new_page(allow=("status of 400",))
    show(page, ground.path(""))
    for name in ("0.jpg", "1.jpg"):
        page.get_by_role("checkbox", name=f"Select {name}").check()
    page.get_by_role("button", name="Draw points").click()
    draw(page, "0")
    expect(page.get_by_role("alert")).to_contain_text("count")
    draw(page, "many")
    expect(page.get_by_role("alert")).to_contain_text("count")
    draw(page, "3")
    expect(page.locator(".toast").filter(has_text="6 points on 2 frames")).to_be_visible()
    (layer,) = [each for each in ground.api.ask("GET", f"Versions/{ground.project}") if each["name"] == "Points"]
    assert [len(points(ground, each)) for each in ground.media] == [3, 3]
    assert {each["version"] for media in ground.media for each in points(ground, media)} == {layer["id"]}
    page.get_by_role("button", name="Label them").click()
    expect(page.get_by_role("button", name="Draw here: Points")).to_have_attribute("aria-pressed", "true")

    show(page, ground.path("?search=filename:1*"))
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Draw points").click()
    page.get_by_role("dialog").get_by_label("Seed").fill("1")
    draw(page, "2")
    expect(page.locator(".toast").filter(has_text="2 points on 1 frame")).to_be_visible()
    assert [len(points(ground, each)) for each in ground.media] == [3, 5]


def test_points_are_drawn_beside_the_picture_and_labelled_from_near(page, ground):
    media = ground.media[0]
    show(page, ground.path(f"/media/{media}"))
    picture, mode = page.locator("canvas.picture"), page.get_by_role("group", name="Attribute mode")
    page.locator('.stage[data-frame="0"]').wait_for()
    page.get_by_role("button", name="File of the media").click()
    page.get_by_role("menuitem", name="Draw points").click()
    draw(page, "3")
    expect(page.get_by_role("button", name="Draw here: Points")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".annotate-panel .item").filter(has_text="Point")).to_have_count(3)
    whole = picture.bounding_box()["width"]
    page.keyboard.press("A")
    expect(page.get_by_label("Attribute that is asked")).to_have_value("Label")
    expect(mode.locator(".answer")).to_have_count(9)
    assert round(picture.bounding_box()["width"] / whole) == 6
    page.keyboard.type("li")
    expect(mode.locator(".answer")).to_have_text(["1 Coral live"])
    page.keyboard.press("1")  # the first point; the second is passed over, the third answered
    page.keyboard.press("Tab")
    page.keyboard.type("sa")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")  # the one without an answer
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    expect(page.locator(".toast").filter(has_text="have an answer")).to_be_visible()
    page.keyboard.press("Escape")
    assert picture.bounding_box()["width"] == whole
    page.keyboard.press("Control+s")
    page.wait_for_selector('[data-saving="saved"]')
    assert [each["attributes"]["Label"] for each in points(ground, media)] == ["Coral live", "Rock 1", "Sand"]
