"""What annotators do with their hands in Chromium: copy and paste, labels by keys, keys of their own."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.console.browser.dives import close


@pytest.fixture
def shark(dive):
    """A type with two choices, for one test."""
    choices = {"Sex": ["f", "m"], "Age": ["old", "young"]}
    attributes = [{"name": name, "dtype": "enum", "choices": values} for name, values in choices.items()]
    media = dive.api.ask("GET", f"Media/{dive.media}")["type"]
    spec = {"name": "Shark", "dtype": "box", "media_types": [media], "attribute_types": attributes}
    number = dive.api.create(f"LocalizationTypes/{dive.project}", spec)
    yield number
    dive.clear()
    dive.api.ask("DELETE", f"LocalizationType/{number}")


def species(dive):
    return [row["attributes"].get("Species") for row in sorted(dive.boxes(), key=lambda row: row["id"])]


def test_shapes_are_copied_to_another_frame_and_beside_themselves(screen, dive):
    dive.api.create(f"Localizations/{dive.project}", [dive.box(5, attributes={"Species": "Tuna"})])
    screen.open(5)
    screen.press("n", "Control+c", "Control+v")
    screen.saved()
    screen.press("g", "9", "Enter")
    screen.at(9)
    screen.press("Control+v")
    screen.saved()
    rows = sorted(dive.boxes(), key=lambda row: row["id"])
    assert [row["frame"] for row in rows] == [5, 5, 9]
    assert close([row["x"] for row in rows], [0.4, 0.42, 0.4])
    assert set(species(dive)) == {"Tuna"}


def test_a_box_with_its_class_takes_two_keys_and_a_drag(screen, dive):
    screen.open(5)
    screen.press("1", "Alt+2")
    screen.drag((0.1, 0.1), (0.3, 0.4))
    screen.drag((0.5, 0.1), (0.7, 0.4))
    screen.press("Alt+1")
    screen.saved()
    assert species(dive) == ["Tuna", "Cod"]


@pytest.mark.nightly
@pytest.mark.parametrize(("run", "most"), [(1, 220), (5, 140)])
def test_a_hundred_boxes_with_classes_on_twenty_frames(screen, dive, run, most):
    """An input is a key, with those held, or a drag. The class changes after each box, or after a frame of five."""
    screen.open(0)
    inputs, wanted = 1, []
    screen.press("1")
    for frame in range(20):
        if frame:
            screen.press("ArrowRight")
            screen.page.wait_for_selector(f'.stage[data-frame="{frame}"]')
            inputs += 1
        for box in range(5):
            name = ("Cod", "Tuna")[len(wanted) // run % 2]
            key = f"Alt+{1 + (name == 'Tuna')}"
            if run > 1 and not box:  # of all that are drawn from here on
                screen.press(key)
            left = 0.05 + 0.18 * box
            screen.drag((left, 0.2), (left + 0.12, 0.6))
            if run == 1:  # of the one that was drawn
                screen.press(key)
            inputs += 1 + (run == 1 or not box)
            wanted.append(name)
    screen.saved()
    rows = sorted(dive.boxes(), key=lambda row: (row["frame"], row["x"]))
    assert [(row["frame"], row["attributes"]["Species"]) for row in rows] == list(
        zip((frame for frame in range(20) for _ in range(5)), wanted, strict=True)
    )
    assert inputs <= most


def test_keys_change_nothing_on_a_frame_that_was_left_while_drawing(screen, dive):
    screen.open(5)
    screen.press("1")
    screen.drag((0.1, 0.1), (0.3, 0.4))
    screen.press("ArrowRight")
    screen.at(6)
    screen.press("Delete", "Alt+2")
    screen.drag((0.1, 0.1), (0.3, 0.4))
    screen.saved()
    assert species(dive) == ["Cod", "Tuna"]


def test_the_last_label_is_set_again(screen, dive):
    dive.api.create(f"Localizations/{dive.project}", [dive.box(5, x=0.1), dive.box(5, x=0.6)])
    screen.open(5)
    screen.press("n", "Alt+2", "n", "R")
    screen.saved()
    assert species(dive) == ["Tuna", "Tuna"]


def test_setting_all_values_again_is_one_step_of_undo(screen, dive, shark):
    boxes = [dive.box(5, x=x, type=shark, attributes={"Sex": "f", "Age": "old"}) for x in (0.1, 0.6)]
    dive.api.create(f"Localizations/{dive.project}", boxes)
    screen.open(5)
    screen.press("n")
    for name, value in (("Sex", "m"), ("Age", "young")):
        screen.page.locator(".annotate-panel").get_by_label(name, exact=True).select_option(value)
    screen.page.locator(".stage").focus()
    screen.press("n", "R")
    screen.saved()
    values = [row["attributes"] for row in sorted(dive.boxes(), key=lambda row: row["id"])]
    assert values == [{"Sex": "m", "Age": "young"}] * 2
    screen.press("Control+z")
    screen.saved()
    values = [row["attributes"] for row in sorted(dive.boxes(), key=lambda row: row["id"])]
    assert values == [{"Sex": "m", "Age": "young"}, {"Sex": "f", "Age": "old"}]


def test_moves_by_keys_that_were_begun_apart_are_undone_apart(screen, dive):
    dive.api.create(f"Localizations/{dive.project}", [dive.box(5, x=0.1, y=0.1)])
    screen.open(5)
    screen.press("n", "m", "ArrowRight", "ArrowRight", "Enter", "m", "ArrowRight", "Enter")
    screen.saved()
    (end,) = dive.boxes()
    screen.press("Control+z")
    screen.saved()
    (middle,) = dive.boxes()
    assert 0.1 < middle["x"] < end["x"]


def test_one_draws_below_a_message_which_stays_in_the_picture(screen, dive):
    screen.open(5)
    screen.press("Control+v")
    message = screen.page.locator(".toast")
    expect(message).to_be_visible()
    place, picture = message.bounding_box(), screen.page.locator("canvas.picture").bounding_box()
    x, y = place["x"] + 60, place["y"] + place["height"] / 2
    screen.press("1")
    screen.page.mouse.move(max(x, picture["x"] + 10), y)
    screen.page.mouse.down()
    screen.page.mouse.move(picture["x"] + picture["width"] / 2, y + 200, steps=3)
    screen.page.mouse.up()
    screen.saved()
    assert len(dive.boxes()) == 1
    screen.press("Control+z")
    screen.page.set_viewport_size({"width": 800, "height": 900})
    inner, outer = (screen.page.locator(each).bounding_box() for each in (".toasts", ".stage"))
    assert outer["y"] <= inner["y"]
    assert inner["x"] + inner["width"] <= outer["x"] + outer["width"]
    message.last.get_by_role("button", name="Close").click()


def test_values_are_set_on_all_that_is_selected(screen, dive):
    dive.api.create(f"Localizations/{dive.project}", [dive.box(5, x=0.1), dive.box(5, x=0.6)])
    screen.open(5)
    screen.press("Control+a", "Alt+2")
    screen.saved()
    assert species(dive) == ["Tuna", "Tuna"]
    screen.press("Control+z")
    screen.saved()
    assert species(dive) == ["Cod", "Cod"]


def test_a_person_chooses_other_keys_and_keeps_them(screen, dive):
    screen.open(5)
    screen.press("?")
    dialog = screen.page.get_by_role("dialog")
    dialog.get_by_role("button", name="Change the key of: Next frame", exact=True).click()
    screen.press("w")
    dialog.get_by_role("button", name="Close").last.click()
    screen.press("w")
    screen.at(6)
    screen.press(".")
    screen.page.wait_for_url(re.compile("frame=6"))
    screen.page.reload()
    screen.at(6)
    screen.saving("saved")
    screen.press("w")
    screen.at(7)
    screen.press("?")
    dialog.get_by_role("button", name="All keys as they were").click()
    dialog.get_by_role("button", name="Close").last.click()
    screen.press(".")
    screen.at(8)
    expect(screen.page.get_by_role("dialog")).to_have_count(0)


def test_a_chosen_key_is_the_one_that_is_shown_and_a_key_given_back_is_that_of_its_command_again(screen):
    screen.open(5)
    screen.press("?")
    dialog = screen.page.get_by_role("dialog")
    key = lambda name: dialog.get_by_role("button", name=f"Change the key of: {name}", exact=True)  # noqa: E731
    for name, pressed in (("B line", "b"), ("Select", "x"), ("Undo", "Tab")):
        key(name).click()
        screen.press(pressed)
    expect(key("Split at this frame")).to_have_text("no key")
    expect(key("Undo")).to_have_text("Press a key")
    screen.press("F4")
    key("Select").click()
    screen.press("F2")
    expect(key("Split at this frame")).to_have_text("x")
    dialog.get_by_role("button", name="Close").last.click()
    tools = screen.page.get_by_role("navigation", name="Tools")
    expect(tools.get_by_role("button", name="Select (F2)")).to_be_visible()
    tool = tools.get_by_title("B line (b)")
    expect(tool.locator(".key")).to_have_text("b")
    screen.press("2")
    expect(tool).to_have_attribute("aria-pressed", "false")
    screen.press("b")
    expect(tool).to_have_attribute("aria-pressed", "true")


def test_a_key_chosen_where_some_commands_are_not_there_is_theirs_no_more(screen):
    """Media of other kinds have other commands: the sheet of one need not know whose key it takes."""
    screen.open(5)
    screen.page.evaluate("localStorage.setItem('limn.keys', JSON.stringify({ select: ['.'] }))")
    screen.page.reload()
    screen.at(5)
    screen.press("1", ".")
    tools = screen.page.get_by_role("navigation", name="Tools")
    expect(tools.get_by_role("button", name="Select (.)")).to_have_attribute("aria-pressed", "true")
    screen.at(5)


def test_messages_cover_no_question_of_attribute_mode(screen, dive):
    dive.api.create(f"Localizations/{dive.project}", [dive.box(5)])
    screen.open(5)
    screen.press("Control+a", "Control+c", "A")
    mode, message = screen.page.get_by_role("group", name="Attribute mode"), screen.page.locator(".toast")
    expect(message).to_be_visible()
    expect(mode).to_be_visible()
    above, below = mode.bounding_box(), message.bounding_box()
    assert above["y"] + above["height"] <= below["y"]


def test_one_attribute_is_asked_of_all_shapes_by_keys_alone(screen, dive):
    for frame, x in ((5, 0.1), (5, 0.6), (9, 0.4)):
        dive.api.create(f"Localizations/{dive.project}", [dive.box(frame, x=x)])
    screen.open(5)
    screen.press("A")
    expect(screen.page.get_by_role("group", name="Attribute mode")).to_be_visible()
    screen.press("Tab", "Shift+Tab", "2", "1")
    screen.at(9)
    expect(screen.page.locator(".annotate-panel .selection")).to_be_visible()
    screen.press("2", "Escape")
    expect(screen.page.get_by_role("group", name="Attribute mode")).to_have_count(0)
    screen.saved()
    assert species(dive) == ["Tuna", "Cod", "Tuna"]


def test_what_has_no_answer_is_found_on_later_frames_and_from_the_beginning(screen, dive):
    ids = [dive.api.create(f"Localizations/{dive.project}", [dive.box(frame)])[0] for frame in (5, 9, 12)]
    for box in (ids[0], ids[2]):
        dive.api.ask("PATCH", f"Localization/{box}", {"null_attributes": ["Species"]})
    screen.open(5)
    screen.press("A")
    expect(screen.page.locator(".annotate-panel .selection")).to_be_visible()
    screen.press("Enter")
    screen.at(12)
    screen.press("Enter")
    screen.at(5)
    screen.press("2", "Enter")
    screen.at(12)
    screen.press("2", "Escape")
    screen.saved()
    assert species(dive) == ["Tuna", "Cod", "Tuna"]


def test_each_shape_is_asked_the_choices_of_its_type_and_backwards_from_the_last(screen, dive, shark):
    choices = {"name": "Species", "dtype": "enum", "choices": ["White", "Tiger", "Bull"]}
    dive.api.ask("POST", f"AttributeType/{shark}", {"entity_type": "LocalizationType", "addition": choices})
    boxes = [(5, {"x": 0.1}), (5, {"x": 0.6, "type": shark}), (9, {"x": 0.1}), (9, {"x": 0.6, "type": shark})]
    for frame, more in boxes:
        dive.api.create(f"Localizations/{dive.project}", [dive.box(frame, **more)])
    screen.open(9)
    screen.press("A")
    mode = screen.page.get_by_role("group", name="Attribute mode")
    expect(mode.locator(".answer")).to_have_text([re.compile("Cod"), re.compile("Tuna")])
    screen.press("2")
    expect(mode.locator(".answer")).to_have_count(3)
    screen.press("Shift+Tab", "Shift+Tab")
    screen.at(5)
    expect(mode.locator(".answer")).to_have_count(3)
    screen.press("3", "Escape")
    screen.saved()
    assert species(dive) == ["Cod", "Bull", "Tuna", None]
