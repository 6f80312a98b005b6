"""A story in three browsers: copies of tasks are drawn by two people, compared, agreed on, and exported."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.console.browser.photos import photos
from tests.console.browser.views import show
from tests.console.browser.waits import until


@pytest.fixture(scope="module")
def bay(stack):
    return photos(stack, "Bay", 2)


def label(person, bay, count):
    """Hand in tasks: each with a box in the middle of its picture."""
    show(person, bay.path("/work"))
    person.keyboard.press("n")
    for number in range(count):
        person.locator(".stage[data-frame]").wait_for()
        before = person.url
        person.locator(".stage").focus()
        person.keyboard.press("1")
        person.keyboard.press("Enter")
        person.keyboard.press("Control+Enter")
        if number < count - 1:
            person.wait_for_url(lambda url, before=before: "task=" in url and url != before)
    person.wait_for_url("**/work")


def test_two_people_label_a_manager_compares_agrees_and_exports(page, new_page, bay):
    calm = bay.api.create(f"Sections/{bay.project}", {"name": "Calm", "tator_user_sections": "calm"})
    show(page, bay.path("/tasks"))
    page.get_by_role("button", name="New tasks").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name of the set").fill("Count")
    dialog.get_by_label("People for each task").fill("2")
    dialog.get_by_label("Layer").select_option("A new layer for each copy")
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("region", name="to do").locator(".board-card")).to_have_count(4)

    people = [new_page(bay.member("Can Edit")[2], allow=("status of 404",)) for _ in range(2)]
    for person in people:
        label(person, bay, 2)
    tasks = bay.api.ask("GET", f"Tasks/{bay.project}")
    assert {task["state"] for task in tasks} == {"to review"}
    boxes = bay.api.ask("GET", f"Localizations/{bay.project}")
    assert sorted((box["media"], box["version"]) for box in boxes) == sorted(
        (task["media_id"], task["version"]) for task in tasks
    )
    # one of the copies says another species: the people disagree
    bay.api.ask("PATCH", f"Localization/{boxes[0]['id']}", {"attributes": {"Species": "Eel"}})

    agreed_on = next(number for number in bay.media if number != boxes[0]["media"])
    bay.api.ask("PATCH", f"Media/{agreed_on}", {"primary_section": calm})

    show(page, bay.path("/quality"))
    page.get_by_role("button", name="New report").click()
    for copy in (1, 2):
        dialog.get_by_role("checkbox", name=f"Count, copy {copy}").check()
    dialog.get_by_label("Classes").select_option("Species")
    dialog.get_by_role("button", name="Create").click()
    expect(page.locator(".conflict-list .item")).to_have_count(1)

    show(page, bay.path("/tasks"))
    page.get_by_role("button", name="Make a consensus").click()
    dialog.get_by_label("Classes").select_option("Species")
    dialog.get_by_label("Media", exact=True).select_option("All media")
    dialog.get_by_role("button", name="Create").click()
    part = page.get_by_role("region", name="Consensus")
    expect(part).to_contain_text("1 kept, 0 dropped, 1 undecided")
    (review,) = bay.api.ask("GET", f"Tasks/{bay.project}", name="Count, agreed")
    assert (review["media_id"], review["state"]) == (boxes[0]["media"], "to do")
    part.get_by_role("link", name="1 review task").click()
    expect(page.get_by_role("region", name="to do").locator(".board-card")).to_have_count(1)
    show(page, bay.path("/tasks"))
    page.get_by_role("button", name="Make a consensus").click()
    dialog.get_by_label("Name of the new layer").fill("Of the folder")
    dialog.get_by_label("Media", exact=True).select_option("In Calm")
    dialog.get_by_role("button", name="Create").click()
    expect(part).to_contain_text("1 kept, 0 dropped, 0 undecided")
    page.get_by_role("link", name="See the layer").last.click()
    page.wait_for_url(f"**/crops?version={review['version']}")
    (agreed,) = bay.api.ask("GET", f"Localizations/{bay.project}", version=review["version"])
    assert agreed["made_of"] == sorted(box["id"] for box in boxes if box["media"] == agreed["media"])

    spec = {"format": "coco", "classes": {"attribute": "Species"}, "versions": [review["version"]]}
    export = bay.api.create(f"Exports/{bay.project}", spec)
    assert until(lambda: finished(bay, export), "the export is made")["labels"] == 1


def finished(bay, export):
    found = bay.api.ask("GET", f"Export/{export}")
    return found if found["status"] in ("succeeded", "failed") else None
