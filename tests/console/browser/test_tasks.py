"""Tasks in Chromium: made by a manager, done and handed in by keys, reviewed, and moved on the board."""

from __future__ import annotations

import pytest
from playwright.sync_api import Route, expect

from tests.console.browser.photos import photos
from tests.console.browser.views import show


@pytest.fixture(scope="module")
def shore(stack):
    return photos(stack, "Shore", 2)


def states(shore):
    return sorted(task["state"] for task in shore.api.ask("GET", f"Tasks/{shore.project}"))


@pytest.mark.slow
def test_tasks_are_made_done_rejected_and_done_again_by_keys(page, new_page, shore):
    show(page, shore.path("/tasks"))
    page.get_by_role("button", name="New tasks").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name of the set").fill("Survey")
    dialog.get_by_label("Layer").select_option("A new layer for each copy")
    dialog.get_by_label("Instructions").fill("Box <b>all</b> fish.")
    dialog.get_by_label("Steps").fill("all fish boxed")
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("region", name="to do").locator(".board-card")).to_have_count(2)

    _, _, token = shore.member("Can Edit")
    ada = new_page(token, allow=("status of 404",))  # that no task waits
    show(ada, shore.path("/work"))
    ada.keyboard.press("n")
    part = ada.get_by_role("region", name="Task")
    expect(part).to_contain_text("Box <b>all</b> fish.")
    ada.locator(".stage[data-frame]").wait_for()
    part.get_by_label("all fish boxed").check()
    ada.locator(".stage").focus()
    ada.keyboard.press("1")
    ada.keyboard.press("Enter")
    first = ada.url
    ada.keyboard.press("Control+Enter")
    ada.wait_for_url(lambda url: "task=" in url and url != first)
    assert states(shore) == ["in progress", "to review"]
    (task,) = shore.api.ask("GET", f"Tasks/{shore.project}", state="to review")
    (box,) = shore.api.ask("GET", f"Localizations/{shore.project}", media_id=task["media_id"])
    assert box["version"] == task["version"]

    page.goto(shore.path("/work"))
    page.get_by_role("button", name="Next review").wait_for()
    page.keyboard.press("r")
    page.locator(".stage[data-frame]").wait_for()
    expect(page.get_by_role("button", name="Accept the task")).to_be_visible()
    page.keyboard.press("Control+Backspace")
    dialog.get_by_label("Reason").fill("too large")
    dialog.get_by_role("button", name="Change to rejected").click()
    page.wait_for_url("**/work")
    assert states(shore) == ["in progress", "rejected"]


@pytest.mark.slow
def test_a_task_is_handed_in_with_a_step_whose_tick_is_on_its_way(new_page, stack):
    ticks = photos(stack, "Ticks", 2)
    ticks.api.ask("POST", f"Tasks/{ticks.project}", {"name": "T", "media_ids": ticks.media, "checklist": ["boxed"]})
    ada = new_page(ticks.member("Can Edit")[2])
    show(ada, ticks.path("/work"))
    ada.keyboard.press("n")
    step = ada.get_by_role("region", name="Task").get_by_label("boxed")
    step.wait_for()
    held: list[Route] = []

    def hold(route: Route) -> None:
        if held or route.request.method != "PATCH":
            route.continue_()
        else:
            held.append(route)

    ada.route("**/rest/Task/*", hold)
    step.check()
    first = ada.url
    ada.keyboard.press("Control+Enter")
    expect(ada.get_by_role("dialog")).to_have_count(0)
    held[0].continue_()
    ada.wait_for_url(lambda url: "task=" in url and url != first)
    (task,) = ticks.api.ask("GET", f"Tasks/{ticks.project}", state="to review")
    assert task["checklist"] == [{"text": "boxed", "done": True}]


def test_the_board_moves_tasks_by_keys_and_the_list_narrows_them(page, shore):
    name = "Board"
    shore.api.ask("POST", f"Tasks/{shore.project}", {"name": name, "media_ids": shore.media})
    show(page, shore.path(f"/tasks?set={name}"))
    todo, busy = (page.get_by_role("region", name=state) for state in ("to do", "in progress"))
    expect(todo.locator(".board-card")).to_have_count(2)
    todo.locator("[data-task]").first.focus()
    page.keyboard.press("ArrowDown")
    second = page.evaluate("document.activeElement.dataset.task")
    page.keyboard.press("Shift+ArrowRight")
    expect(busy.locator(f"[data-task='{second}']")).to_be_focused()
    assert shore.api.ask("GET", f"Task/{second}")["state"] == "in progress"
    page.keyboard.press("ArrowLeft")
    expect(todo.locator("[data-task]").first).to_be_focused()
    page.get_by_role("button", name="List").click()
    page.get_by_label("State").select_option("in progress")
    expect(page.locator("tbody [data-task]")).to_have_count(1)
    page.get_by_role("button", name="People").click()
    expect(page.get_by_role("row", name="Nobody")).to_contain_text("2")
