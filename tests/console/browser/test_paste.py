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


def test_a_mask_is_not_lost_by_resizing(screen, made):
    screen.press("3", "b", *["'"] * 6)
    screen.drag((0.2, 0.3), (0.4, 0.6))
    screen.press("Escape", "v", "n")
    screen.saved()
    (before,) = made.rows()
    corner = before["x"] + before["width"], before["y"] + before["height"]
    screen.drag(corner, (0.8, 0.8))
    screen.press("n", "m", "Shift+ArrowDown", "Shift+ArrowRight", "Enter")
    screen.saved()
    (row,) = made.rows()
    assert row["mask"] == before["mask"]
    assert close([row["width"], row["height"]], [before["width"], before["height"]])
