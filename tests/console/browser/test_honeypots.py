"""Honeypots in Chromium: ordered with new tasks, a person falls below the threshold, and is let again."""

from __future__ import annotations

import pytest
import requests
from playwright.sync_api import expect

from tests.console.browser.photos import photos
from tests.console.browser.views import show
from tests.console.browser.waits import until


@pytest.mark.slow
def test_a_manager_orders_honeypots_is_told_and_lets_a_person_again(page, stack):
    reef = photos(stack, "Reef", 6)
    name, _, token = reef.member("Can Edit")
    truth = reef.version("truth")
    reef.api.create(f"Localizations/{reef.project}", [reef.box(media, truth) for media in reef.media[:3]])
    show(page, reef.path("/tasks"))
    page.get_by_role("button", name="New tasks").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name of the set").fill("Survey")
    dialog.get_by_label("Honeypots with the reference").select_option("truth")
    dialog.get_by_label("Share of honeypots in %").fill("50")
    dialog.get_by_label("Classes").select_option("Species")
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("region", name="to do").locator(".board-card")).to_have_count(6)

    hand_in_all(reef, token)
    (score,) = until(
        lambda: reef.api.ask("GET", f"HoneypotScores/{reef.project}", suspended="true"), "the person is suspended"
    )
    assert (score["score"], len(score["results"])) == (0, 3)

    show(page, reef.path("/media"))
    page.locator(".bell").click()
    page.get_by_text(f"{name} has a mean F1 of 0 %").click()
    page.wait_for_url("**/quality/people")
    row = page.get_by_role("row").filter(has_text=name)
    expect(row).to_contain_text("Suspended")
    row.get_by_role("button", name=f"Let {name} again").click()
    dialog.get_by_role("button", name=f"Let {name} again").click()
    expect(row).to_contain_text("Gets tasks")
    expect(page.get_by_role("listitem").filter(has_text="against truth, at least 80.0 %")).to_have_count(1)


def hand_in_all(reef, token):
    """Do all tasks without drawing anything."""
    head = {"Authorization": f"Token {token}"}
    rest = f"{reef.stack.url}/rest"
    while (said := requests.post(f"{rest}/NextTask/{reef.project}", json={}, headers=head, timeout=60)).ok:
        done = {"state": "to review"}
        requests.patch(f"{rest}/Task/{said.json()['id']}", json=done, headers=head, timeout=60).raise_for_status()
