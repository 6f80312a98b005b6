"""Quality in Chromium: a report is ordered, and its numbers open their conflicts, which open their frames."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.console.browser.photos import photos
from tests.console.browser.views import show


@pytest.fixture(scope="module")
def reef(stack):
    """Five boxes in a layer; in the other one is missing, one renamed, and one there is extra."""
    made = photos(stack, "Reef", 5)
    truth, trial = made.version("truth"), made.version("trial")
    made.api.create(f"Localizations/{made.project}", [made.box(each, truth) for each in made.media])
    eel = {"attributes": {"Species": "Eel"}}
    boxes = [made.box(each, trial, x=0.21, **(eel if at == 1 else {})) for at, each in enumerate(made.media) if at]
    boxes.append(made.box(made.media[2], trial, x=0.8, width=0.1))
    made.api.create(f"Localizations/{made.project}", boxes)
    return made


def test_every_number_of_a_report_opens_its_conflicts(page, reef):
    show(page, reef.path("/quality"))
    page.get_by_role("button", name="New report").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reference").select_option("truth")
    dialog.get_by_role("checkbox", name="trial").check()
    dialog.get_by_label("Classes").select_option("Species")
    dialog.get_by_role("button", name="Create").click()
    matrix = page.locator(".matrix")
    expect(matrix.get_by_role("row", name="Cod 3")).to_have_text("Cod311")
    items = page.locator(".conflict-list .item")
    expect(items).to_have_count(3)
    matrix.get_by_role("row", name="Cod 3").get_by_role("link").first.click()
    expect(items).to_have_text(["Class: Eel instead of Cod1.jpgframe 0"])
    page.locator(".conflict-both canvas").wait_for()
    page.get_by_role("button", name="Show all").click()
    page.get_by_role("row", name="admin").get_by_role("link", name="1").click()
    expect(items).to_have_text(["Extra: Cod2.jpgframe 0"])
    page.get_by_role("button", name="Show all").click()
    expect(items).to_have_count(3)
    page.locator("h1").click()
    page.keyboard.press("ArrowDown")
    expect(items.nth(1)).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/media/{reef.media[1]}?**")
    page.locator(".stage[data-frame]").wait_for()
    expect(page.get_by_role("region", name="Details")).to_contain_text("Eel")


def test_a_report_of_a_folder_names_its_media_and_is_read_by_keyboard(page, reef):
    section = reef.api.create(f"Sections/{reef.project}", {"name": "Lagoon"})
    reef.api.ask("PATCH", f"Media/{reef.media[2]}", {"primary_section": section})
    show(page, reef.path("/quality"))
    page.get_by_role("button", name="New report").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reference").select_option("truth")
    dialog.get_by_role("checkbox", name="trial").check()
    dialog.get_by_label("Media").select_option("In Lagoon")
    dialog.get_by_role("button", name="Create").click()
    worst = page.locator("section.card").filter(has=page.get_by_role("heading", name="Media, the worst first"))
    expect(worst.get_by_role("rowheader")).to_have_text(["2.jpg"])
    expect(page.locator(".conflict-list .item")).to_have_text(["Extra: Fish2.jpgframe 0"])
    worst.get_by_role("link", name="2.jpg").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**media=*")
    expect(page.locator(".conflict-list .item")).to_have_count(1)
