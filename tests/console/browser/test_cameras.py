"""Cameras side by side: the others follow the active one by time."""

from __future__ import annotations

import base64
import io
import random
import uuid

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.console.browser.dives import Dive, Screen
from tests.console.browser.projects import new_project
from tests.console.browser.waits import until
from tests.resources.frames.test_cameras import KINDS, OFFSETS, expected
from tests.video.clips import make, read

PICTURES = """() => [...document.querySelectorAll('.camera')].map((each) =>
    each.classList.contains('none') ? null : each.querySelector('canvas').toDataURL())"""
SETTLED = """() => [...document.querySelectorAll('.camera')].every((each) =>
    !each.dataset.due || each.dataset.due === each.dataset.frame)"""


@pytest.fixture(scope="module")
def rig(stack, tmp_path_factory):
    """A project with four clips of other rates, and a media that shows them; a type of boxes."""
    api, folder = stack.api, tmp_path_factory.mktemp("rig")
    project = new_project(api, "Rig")
    video = api.create(f"MediaTypes/{project}", {"name": "Camera", "dtype": "video"})
    multi = api.create(f"MediaTypes/{project}", {"name": "Rig", "dtype": "multi"})
    box = api.create(f"LocalizationTypes/{project}", {"name": "Box", "dtype": "box", "media_types": [video]})
    jobs = []
    for kind in KINDS:
        spec = {
            "type": video,
            "gid": str(uuid.uuid4()),
            "uid": str(uuid.uuid1()),
            "name": f"{kind.name}.mp4",
            "md5": "",
        }
        url = api.upload(project, make(kind, folder).read_bytes())
        jobs.append(api.ask("POST", f"Transcodes/{project}", {**spec, "url": url}))
    for said in jobs:
        until(
            lambda said=said: api.ask("GET", f"Transcode/{said['id']}")["job"]["status"] == "succeeded", "it is ready"
        )
    media = api.create(f"Medias/{project}", {"type": multi, "name": "The rig", "md5": ""})
    version = api.ask("GET", f"Versions/{project}")[0]["id"]
    found = Dive(api, project, media, version, {"box": box})
    object.__setattr__(found, "parts", [said["media_id"] for said in jobs])
    return found


@pytest.fixture
def aligned(rig):
    """The media with the offsets of the test of the service."""
    rig.api.ask("PATCH", f"Media/{rig.media}", {"multi": {"ids": rig.parts, "frameOffset": OFFSETS, "layout": [2, 2]}})
    return rig


def numbers(page):
    """The numbers in the pictures of the cameras that follow; None where none is shown."""
    page.wait_for_function(SETTLED)
    pictures = page.evaluate(PICTURES)
    return [each and read(Image.open(io.BytesIO(base64.b64decode(each.split(",")[1])))) for each in pictures]


@pytest.mark.parametrize("seeks", [50, pytest.param(1000, marks=pytest.mark.nightly)])
def test_no_random_seek_shows_a_wrong_frame(page, aligned, seeks):
    screen = Screen(page, aligned).open(0)
    expect(page.locator(".camera")).to_have_count(3)
    rng, wrong = random.Random(seeks), []
    for _ in range(seeks):
        frame = rng.randrange(95)
        screen.press("g")
        page.keyboard.type(str(frame))
        screen.press("Enter")
        screen.at(frame)
        wanted = [expected(part, frame) for part in (1, 2, 3)]
        if (shown := numbers(page)) != wanted:
            wrong.append((frame, shown, wanted))
    assert not wrong


def test_a_click_gives_the_tools_to_another_camera_and_a_shape_stays_on_it(page, aligned):
    screen = Screen(page, aligned).open(50)
    numbers(page)
    page.get_by_role("button", name="Work on 59.94.mp4").click()
    at = expected(2, 50)
    page.wait_for_selector(f'.stage[aria-label^="59.94.mp4"][data-frame="{at}"]')
    screen.saving("saved")
    screen.press("1")
    screen.drag((0.2, 0.2), (0.5, 0.6))
    screen.saved()
    boxes = aligned.api.ask("GET", f"Localizations/{aligned.project}")
    assert [(row["media"], row["frame"]) for row in boxes] == [(aligned.parts[2], at)]
    assert "part=2" in page.url
    page.get_by_role("button", name="Work on 25.mp4").click()
    page.wait_for_selector('.stage[aria-label^="25.mp4"][data-frame="50"]')
    screen.press("K")
    page.wait_for_selector(f'.stage[aria-label^="{KINDS[1].name}.mp4"][data-frame="{expected(1, 50)}"]')


def test_marks_of_the_same_moment_become_offsets_that_are_stored(page, aligned):
    screen = Screen(page, aligned).open(40)
    numbers(page)
    page.get_by_role("button", name="Mark this moment").click()
    page.get_by_role("button", name="Work on 29.97.mp4").click()
    page.wait_for_selector('.stage[aria-label^="29.97.mp4"][data-frame]')
    screen.saving("saved")
    numbers(page)
    screen.press("g")
    page.keyboard.type("70")
    screen.press("Enter")
    page.wait_for_selector('.stage[data-frame="70"]')
    page.get_by_role("button", name="Mark this moment").click()
    page.get_by_role("button", name="Align the marks").click()
    expect(page.get_by_text("The marked frames are shown at the same moment now.")).to_be_visible()
    expect(page.locator(".camera").first).to_have_attribute("data-frame", "40")
    stored = until(
        lambda: (
            (found := aligned.api.ask("GET", f"Media/{aligned.media}")["media_files"]["frameOffset"]) != OFFSETS
            and found
        ),
        "the offsets are stored",
    )
    # 1.6 s after frame 22 of 29.97 frame 69 is still shown, after 23 frame 70
    assert stored == [0, 23, -20, 5]
    times = aligned.api.ask("GET", f"FrameTimes/{aligned.media}", start=40, stop=41)
    assert times["parts"][1] == [70]
    page.get_by_label("Offset of 29.97.mp4").fill("24")
    page.evaluate("location.hash += '&drawn=anew'")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.get_by_label("Offset of 29.97.mp4").press("Enter")
    until(
        lambda: aligned.api.ask("GET", f"Media/{aligned.media}")["media_files"]["frameOffset"][1] == 24, "it is stored"
    )


def test_they_play_together(page, aligned):
    screen = Screen(page, aligned).open(20)
    numbers(page)
    screen.press("k")
    page.wait_for_function("() => Number(document.querySelector('.stage').dataset.frame) > 45")
    screen.press("k")
    frame = int(page.locator(".stage").get_attribute("data-frame"))
    screen.at(frame)
    assert numbers(page) == [expected(part, frame) for part in (1, 2, 3)]
