"""Annotators in the annotation view: predictions as drafts, decisions on them, objects by clicks."""

from __future__ import annotations

import json
import re
import uuid
from contextlib import contextmanager

import pytest
import requests
from playwright.sync_api import expect

from chalicelib.core.values import rle
from tests.console.browser.dives import SPECIES, close
from tests.console.browser.test_accessibility import AXE, FOUND
from tests.console.browser.views import show
from tests.console.browser.waits import until
from tests.loopback import Handler, Server

BOXES = [
    {"x": 0.1, "y": 0.1, "width": 0.2, "height": 0.2, "label": "Cod", "confidence": 0.9},
    {"x": 0.5, "y": 0.1, "width": 0.2, "height": 0.2, "label": "Tuna", "confidence": 0.8},
    {"x": 0.5, "y": 0.6, "width": 0.2, "height": 0.2, "label": "Tuna", "confidence": 0.3},
]
SURE = {"name": "Confidence", "dtype": "float"}


def runs(size, left, top, right, bottom):
    """The run lengths of a rectangle in a picture, column by column."""
    high, wide = size
    first, last = round(top * high), round(bottom * high)
    found, gap = [], 0
    for column in range(wide):
        if left * wide <= column < right * wide:
            found += [gap + first, last - first]
            gap = high - last
        else:
            gap += high
    return [*found, gap]


class Model:
    """A model behind HTTP: three boxes on each frame; a square around the positive clicks, or the box of the prompt."""

    def __init__(self):
        self.clicks = []
        self.boxes = []
        self.is_masking = False

    def answer(self, body):
        if not body.get("points") and not body.get("box"):
            return {"boxes": BOXES}
        if box := body.get("box"):
            self.boxes.append((box, body.get("points") or []))
            left, top = box["x"], box["y"]
            right, bottom = left + box["width"], top + box["height"]
            corners = [[left, top], [right, top], [right, bottom], [left, bottom]]
            return {"polygons": [{"points": corners, "label": "Cod", "confidence": 0.7}]}
        self.clicks.append(body["points"])
        inside = [each for each in body["points"] if each.get("positive", True)]
        if not inside:
            return {"polygons": []}
        xs, ys = [each["x"] for each in inside], [each["y"] for each in inside]
        left, top, right, bottom = min(xs) - 0.1, min(ys) - 0.1, max(xs) + 0.1, max(ys) + 0.1
        corners = [[left, top], [right, top], [right, bottom], [left, bottom]]
        if self.is_masking:
            size = body["height"], body["width"]
            return {"masks": [{"size": size, "counts": runs(size, left, top, right, bottom), "confidence": 0.7}]}
        return {"polygons": [{"points": corners, "label": "Cod", "confidence": 0.7}]}


@contextmanager
def serving(port):
    model = Model()

    class Predictions(Handler):
        def do_POST(self):
            self.answer(200, model.answer(json.loads(self.read_body())))

    with Server(Predictions, port):
        yield model


@pytest.fixture
def model(stack, dive):
    """A model that the project's annotators ask: one that detects, one that takes clicks."""
    api = dive.api
    video = api.ask("GET", f"MediaTypes/{dive.project}")[0]["id"]
    known = {each["name"]: each["id"] for each in api.ask("GET", f"LocalizationTypes/{dive.project}")}
    if "Found" not in known:
        for name, dtype, refined in (("Found", "box", []), ("Outlined", "poly", []), ("Cut out", "box", ["mask"])):
            spec = {"name": name, "dtype": dtype, "media_types": [video], "attribute_types": [SPECIES, SURE]}
            spec["refinements"] = refined
            known[name] = api.create(f"LocalizationTypes/{dive.project}", spec)
        common = {"url": f"http://127.0.0.1:{stack.hooks}", "label_attribute": "Species"}
        detector = {"name": "fish", "type": known["Found"], "confidence_attribute": "Confidence", **common}
        api.create(f"Annotators/{dive.project}", detector)
        api.create(
            f"Annotators/{dive.project}", {"name": "clicks", "type": known["Outlined"], "prompts": ["points"], **common}
        )
        cuts = {"name": "cuts", "type": known["Cut out"], "prompts": ["points"], **common}
        api.create(f"Annotators/{dive.project}", cuts)
        for name, prompts in (("both", ["points", "box"]), ("boxes", ["box"])):
            spec = {"name": name, "type": known["Outlined"], "prompts": prompts, **common}
            api.create(f"Annotators/{dive.project}", spec)
    with serving(stack.hooks) as made:
        yield made


def species(dive, version):
    return sorted(row["attributes"].get("Species") for row in dive.boxes(version=version))


def drafts_of(dive):
    [found] = [each for each in dive.api.ask("GET", f"Annotators/{dive.project}") if each["name"] == "fish"]
    return found["drafts"]


def part(screen):
    return screen.page.get_by_role("region", name="Annotators")


def on_frame(screen):
    return screen.page.get_by_role("list", name="Annotations on this frame").get_by_role("button")


def test_a_frame_is_predicted_and_drafts_are_decided_on_singly_by_class_and_all(screen, dive, model):
    screen.open(5)
    expect(part(screen)).to_be_visible()
    screen.press("p")
    expect(on_frame(screen)).to_have_count(3)
    assert species(dive, drafts_of(dive)) == ["Cod", "Tuna", "Tuna"]
    screen.press("p")  # again: those of before make room
    expect(screen.page.get_by_text("3 drafts by")).to_have_count(1)
    part(screen).get_by_role("slider").fill("0.5")
    expect(on_frame(screen)).to_have_count(2)
    screen.page.evaluate(AXE)
    assert screen.page.evaluate(FOUND) == []

    screen.page.mouse.click(*screen.point(0.2, 0.2))
    screen.page.locator(".stage").focus()
    screen.press("a")
    expect(screen.page.get_by_text("Accepted 1 localization")).to_be_visible()
    expect(part(screen).get_by_role("listitem")).to_have_count(1)
    assert species(dive, dive.version) == ["Cod"]
    assert species(dive, drafts_of(dive)) == ["Tuna", "Tuna"]

    part(screen).get_by_role("button", name="Accept Tuna").click()
    expect(part(screen).get_by_role("listitem")).to_have_count(0)
    assert species(dive, dive.version) == ["Cod", "Tuna"]  # the unsure one is hidden, so it stays
    screen.page.get_by_role("button", name="Undo").last.click()
    expect(part(screen).get_by_role("listitem")).to_have_count(1)
    assert species(dive, dive.version) == ["Cod"]

    part(screen).get_by_role("slider").fill("0")
    part(screen).get_by_role("button", name="Reject all").click()
    expect(part(screen).get_by_role("listitem")).to_have_count(0)
    assert species(dive, drafts_of(dive)) == []
    expect(on_frame(screen)).to_have_count(1)


def test_a_range_is_predicted_by_a_job(screen, dive, model):
    screen.open(0)
    part(screen).get_by_role("button", name="Range…").click()
    dialog = screen.page.get_by_role("dialog")
    dialog.get_by_label("First frame").fill("10")
    dialog.get_by_label("Last frame").fill("20")
    dialog.get_by_label("Every n-th frame").fill("5")
    dialog.get_by_role("button", name="Predict").click()
    expect(part(screen).get_by_text("9 drafts")).to_be_visible()
    assert sorted({row["frame"] for row in dive.boxes(version=drafts_of(dive))}) == [10, 15, 20]


def test_clicks_outline_an_object_that_enter_draws(screen, dive, model):
    screen.open(3)
    expect(part(screen)).to_be_visible()
    screen.press("S")
    hint = screen.page.locator(".clicks")
    expect(hint).to_have_attribute("data-object", "false")
    screen.page.mouse.click(*screen.point(0.5, 0.5))
    expect(hint).to_have_attribute("data-object", "true")
    screen.page.mouse.click(*screen.point(0.2, 0.8), button="right")
    screen.page.mouse.click(*screen.point(0.6, 0.5))
    expect(screen.page.locator(".clicks .spinner")).to_have_count(0)
    assert [each.get("positive", True) for each in model.clicks[-1]] == [True, False, True]
    assert dive.boxes() == []
    screen.press("Enter")
    screen.saved()
    [made] = dive.boxes()
    assert made["version"] == dive.version
    assert close([n for point in made["points"] for n in point], [0.4, 0.4, 0.7, 0.4, 0.7, 0.6, 0.4, 0.6])
    screen.press("Escape", "Escape")
    expect(hint).to_have_count(0)
    screen.press("Control+z")
    screen.saved()
    assert dive.boxes() == []


def test_a_box_that_is_dragged_is_a_prompt_and_shift_takes_away(screen, dive, model):
    screen.open(3)
    part(screen).get_by_role("button", name="Click an object: both").click()
    hint = screen.page.locator(".clicks")
    expect(hint).to_contain_text("drag a box around the object, or click it")
    screen.drag((0.3, 0.3), (0.6, 0.7))
    expect(hint).to_have_attribute("data-object", "true")
    expect(screen.page.locator(".clicks .spinner")).to_have_count(0)
    screen.page.keyboard.down("Shift")
    screen.page.mouse.click(*screen.point(0.35, 0.65))
    screen.page.keyboard.up("Shift")
    expect(hint).to_contain_text("Enter accepts")
    expect(screen.page.locator(".clicks .spinner")).to_have_count(0)
    (first, none), (second, clicks) = model.boxes
    assert first == second
    assert close([first[name] for name in ("x", "y", "width", "height")], [0.3, 0.3, 0.3, 0.4])
    assert none == []
    assert [each["positive"] for each in clicks] == [False]
    screen.drag((0.1, 0.1), (0.2, 0.2))  # another object
    expect(screen.page.locator(".clicks .spinner")).to_have_count(0)
    assert model.boxes[-1][1] == []
    screen.page.locator(".stage").focus()
    screen.press("Enter")
    screen.saved()
    [made] = dive.boxes()
    assert close([n for point in made["points"] for n in point], [0.1, 0.1, 0.2, 0.1, 0.2, 0.2, 0.1, 0.2])
    part(screen).get_by_role("button", name="Click an object: boxes").click()
    screen.page.mouse.click(*screen.point(0.5, 0.5))
    expect(screen.page.get_by_text("takes boxes alone")).to_be_visible()


def test_what_is_imported_is_predicted_by_a_rule_made_in_the_console(page, dive, model):
    show(page, f"/#/projects/{dive.project}/manage/webhooks")
    page.get_by_role("button", name="Predict on import").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Runs")).to_have_value(re.compile("annotator:"))
    dialog.get_by_label("Every n-th frame").fill("20")
    dialog.get_by_role("button", name="Create").click()
    row = page.get_by_role("row").filter(has_text="Predict on import")
    expect(row).to_contain_text("Annotator fish")
    expect(row).to_contain_text("limn.media.ready")
    api = dive.api
    (source,) = api.ask("GET", f"Medias/{dive.project}", media_id=dive.media, presigned=3600)
    clip = requests.get(source["media_files"]["streaming"][0]["path"], timeout=60).content
    spec = {"type": source["type"], "gid": str(uuid.uuid4()), "uid": str(uuid.uuid1()), "name": "new.mp4", "md5": ""}
    said = api.ask("POST", f"Transcodes/{dive.project}", {**spec, "url": api.upload(dive.project, clip)})

    def found():
        rows = api.ask("GET", f"Localizations/{dive.project}", media_id=said["media_id"])
        return rows if len(rows) == 3 * len(BOXES) else []

    rows = until(found, "the new clip is predicted")
    assert {each["version"] for each in rows} == {drafts_of(dive)}
    assert {each["frame"] for each in rows} == {0, 20, 40}
    row.get_by_role("button", name="Actions of Predict on import").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(row).to_have_count(0)
    api.ask("DELETE", f"Media/{said['media_id']}")


def test_a_mask_is_drawn_saved_and_moved_with_its_box(screen, dive, model):
    model.is_masking = True
    screen.open(3)
    part(screen).get_by_role("button", name="Click an object: cuts").click()
    hint = screen.page.locator(".clicks")
    expect(hint).to_contain_text("cuts")
    screen.page.mouse.click(*screen.point(0.5, 0.5))
    expect(hint).to_have_attribute("data-object", "true")
    screen.page.locator(".stage").focus()
    screen.press("Enter")
    screen.saved()
    [made] = dive.boxes()
    assert close([made[name] for name in ("x", "y", "width", "height")], [0.4, 0.4, 0.2, 0.2])
    assert made["mask"]["counts"]
    screen.press("Escape")
    expect(hint).to_have_count(0)
    screen.drag((0.5, 0.5), (0.7, 0.5))
    screen.saved()
    [moved] = dive.boxes()
    assert close([moved["x"]], [0.6])
    assert moved["mask"] == made["mask"]


def test_runs_of_masks_are_read_as_the_service_writes_them(screen):
    screen.page.goto("/#/")
    runs = [[0, 5, 3], [7, 1, 60, 2, 1000, 40, 3, 4], [100_000, 3, 1, 90_000, 2]]
    seen = screen.page.evaluate(
        """async (all) => {
          const root = document.querySelector('script[src*="app.js"]').src.replace('app.js', '');
          const { runsOf } = await import(root + 'masks/runs.js');
          return all.map(runsOf);
        }""",
        [rle.encode(each) for each in runs],
    )
    assert seen == runs
