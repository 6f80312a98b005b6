"""The tour: each step waits for what its person does with the hands; it is left and resumed, in every language."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect


def card(page):
    return page.get_by_role("region", name="Tour")


def step(page, number, title):
    expect(card(page)).to_contain_text(f"Step {number} of 5")
    expect(card(page).get_by_role("heading", name=title)).to_be_visible()


@pytest.mark.slow
def test_five_steps_are_done_with_the_hands_left_and_resumed(screen, dive):
    page = screen.page
    screen.open(0, tour=1)
    step(page, 1, "Draw a box")
    assert "tour" not in page.url
    screen.press("ArrowRight")  # something else is no step
    screen.at(1)
    step(page, 1, "Draw a box")
    screen.press("1")
    screen.drag((0.2, 0.2), (0.4, 0.4))
    step(page, 2, "Name it by a key")
    expect(card(page)).to_contain_text("Alt 2")
    screen.press("Alt+2")
    step(page, 3, "Follow it through the video")
    screen.saved()
    assert [row["attributes"]["Species"] for row in dive.boxes()] == ["Tuna"]

    card(page).get_by_role("button", name="Leave the tour").click()
    expect(card(page)).to_have_count(0)
    screen.open(1)
    expect(card(page)).to_have_count(0)
    page.locator(".stage").focus()
    screen.press("?")
    page.get_by_role("button", name="Resume the tour").click()
    step(page, 3, "Follow it through the video")

    page.locator(".stage").focus()
    screen.press("n", "t")
    step(page, 3, "Follow it through the video")
    screen.press("ArrowRight", "ArrowRight")
    screen.at(3)
    screen.drag((0.3, 0.3), (0.5, 0.5))
    step(page, 4, "Take it back")
    screen.press("Control+z")
    step(page, 5, "Take the work with you")
    screen.saved()
    assert len(dive.boxes()) == 1

    card(page).get_by_role("link", name="Import and export").click()
    step(page, 5, "Take the work with you")
    page.get_by_role("button", name="New export").click()
    page.get_by_role("dialog").get_by_role("button", name="Export", exact=True).click()
    expect(card(page)).to_contain_text("You have done it all")
    card(page).get_by_role("button", name="Close").click()
    expect(card(page)).to_have_count(0)


@pytest.mark.parametrize(("language", "title"), [("de", "Eine Box zeichnen"), ("es", "Dibujar una caja")])
def test_the_tour_speaks_the_language_of_the_console(new_page, dive, language, title):
    page = new_page()
    page.add_init_script(f"localStorage.setItem('limn.language', '{language}')")
    page.goto(dive.path(frame=0, tour=1))
    expect(page.get_by_role("heading", name=title)).to_be_visible()
