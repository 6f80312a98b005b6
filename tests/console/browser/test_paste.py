"""Masks in Chromium that are copied, moved and resized: beside themselves, and onto media of another size."""

from __future__ import annotations

from typing import Any

import pytest
from pycocotools import mask as coco

from tests.console.browser.dives import Screen, close
from tests.console.browser.reefs import Reef, reef
from tests.console.browser.stack import Stack

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),  # of pycocotools
]


@pytest.fixture(scope="module")
def made(stack: Stack) -> Reef:
    return reef(stack)


@pytest.fixture
def screen(page: Any, made: Reef) -> Screen:
    made.clear()
    return show(Screen(page, made), made.media)


def show(screen: Screen, media: int) -> Screen:
    """Open one of its images."""
    screen.page.goto(f"/#/projects/{screen.dive.project}/media/{media}")
    screen.page.wait_for_selector('.stage[data-frame="0"]')
    screen.saving("saved")
    return screen


def share(row: dict[str, Any]) -> float:
    """The part of its box that a mask has."""
    tall, wide = row["mask"]["size"]
    return float(coco.area(row["mask"])) / (tall * wide)


def test_a_mask_is_pasted_beside_itself_and_onto_a_larger_image(screen, made):
    screen.press("3", "b", *["'"] * 6)
    screen.drag((0.2, 0.3), (0.4, 0.6))
    screen.press("Escape", "v", "n", "Control+c", "Control+v")
    screen.saved()
    one, two = sorted(made.rows(), key=lambda row: row["id"])
    assert one["mask"] == two["mask"]
    show(screen, made.fine)
    screen.press("Control+v")
    screen.saved()
    (large,) = made.rows(made.fine)
    assert large["mask"]["size"] == [4 * each for each in one["mask"]["size"]]
    assert close([share(large)], [share(one)])
    assert close([large["x"], large["y"], large["width"]], [one["x"], one["y"], one["width"]])


def test_a_mask_is_scaled_only_on_purpose(screen, made):
    screen.press("3", "b", *["'"] * 6)
    screen.drag((0.2, 0.3), (0.4, 0.6))
    screen.press("Escape", "v", "n")
    screen.saved()
    (before,) = made.rows()
    screen.drag((before["x"] + before["width"], before["y"] + before["height"]), (0.5, 0.6))
    screen.saved()
    (row,) = made.rows()
    assert row["mask"] == before["mask"]
    screen.press("n", "m")
    x, y, wide, high = (row[name] for name in ("x", "y", "width", "height"))
    screen.drag((x + wide, y + high), (x + 2 * wide, y + 2 * high))
    screen.saved()
    (large,) = made.rows()
    assert large["mask"]["size"] == pytest.approx([2 * each for each in before["mask"]["size"]], abs=2)
    assert share(large) == pytest.approx(share(before), abs=0.03)
    screen.press("n", "m", *["Shift+ArrowDown", "Shift+ArrowUp"] * 5, "Enter")
    screen.saved()
    assert made.rows()[0]["mask"] == large["mask"]


def test_shapes_that_are_pasted_again_lie_beside_each_other(screen, made):
    screen.press("3")
    screen.drag((0.2, 0.3), (0.4, 0.6))
    screen.press("Escape", "n", "Control+c", *["Control+v"] * 4)
    screen.saved()
    places = [(row["x"], row["y"]) for row in made.rows()]
    assert len(places) == len(set(places)) == 5
    show(screen, made.fine)
    screen.press("Control+v", "Control+v")
    screen.saved()
    assert len({row["x"] for row in made.rows(made.fine)}) == 2


def test_the_pixels_of_a_mask_that_was_moved_are_edited_where_they_are(screen, made):
    screen.press("3", "b", *["'"] * 6)
    screen.drag((0.2, 0.3), (0.3, 0.4))
    screen.press("Escape", "v", "n")
    screen.drag((0.25, 0.35), (0.65, 0.65))
    screen.saved()
    (moved,) = made.rows()
    screen.press("n", "b", *["'"] * 6)
    screen.drag((0.62, 0.62), (0.75, 0.75))
    screen.saved()
    (row,) = made.rows()
    assert row["x"] >= moved["x"] - 0.1
