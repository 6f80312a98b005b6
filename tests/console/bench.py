"""`make bench-console`: how fast the console is, measured in a Chromium without a window, by one person's keys.

It starts a stack of its own with one video of 1,200 frames at 30 a second, first without annotations, then with 100,000
boxes (83 a frame) and 2,000 more on one frame. Processor times are those of the page's main thread, in milliseconds:
they hold on a busy machine, seconds do not.

    python -m tests.console.bench [number of random seeks]
"""

from __future__ import annotations

import dataclasses
import math
import random
import statistics
import sys
import tempfile
import time
import uuid
from fractions import Fraction
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from infra import demo
from tests import chromium
from tests.console.browser.projects import new_project
from tests.console.browser.stack import run
from tests.console.browser.waits import until
from tests.video import textures
from tests.video.clips import KINDS, make

FRAMES = 1200
FPS = 30
BOXES = 100_000
CROWD = 2000
CROWDED = 600
"""The frame on which the crowd is."""
SECONDS = 6
"""How long it plays."""
FOLLOWED = 101
STEPS = 40
SEEKS = """async (frames) => {
  const stage = document.querySelector('.stage');
  const shown = (frame) => new Promise((resolve) => {
    if (stage.dataset.frame === String(frame)) return resolve();
    const watch = new MutationObserver(() => {
      if (stage.dataset.frame === String(frame)) { watch.disconnect(); resolve(); }
    });
    watch.observe(stage, { attributeFilter: ['data-frame'] });
  });
  const took = [];
  for (const frame of frames) {
    const began = performance.now();
    location.hash = location.hash.replace(/frame=\\d*/, 'frame=' + frame);
    await shown(frame);
    took.push(performance.now() - began);
    await new Promise((resolve) => setTimeout(resolve, 500));  // until the address has the frame
  }
  return took;
}"""
COUNT_FRAMES = """() => {
  const stage = document.querySelector('.stage');
  window.seen = 0;
  new MutationObserver((all) => { window.seen += all.length; }).observe(stage, { attributeFilter: ['data-frame'] });
}"""


def swim(frame: int) -> textures.Place:
    """Where the texture is that is followed."""
    turn = 2 * math.pi * frame / FOLLOWED
    return textures.Place(640 + 300 * math.sin(turn), 360 + 160 * math.cos(turn), 120, 90)


class Video:
    """A project with one video."""

    def __init__(self, api: demo.Service, folder: Path) -> None:
        self.api = api
        self.project = new_project(api, "Bench")
        video = api.create(f"MediaTypes/{self.project}", {"name": "Video", "dtype": "video"})
        types = f"LocalizationTypes/{self.project}"
        self.box = api.create(types, {"name": "Box", "dtype": "box", "media_types": [video]})
        kind = dataclasses.replace(KINDS[0], name="long", count=FRAMES, fps=Fraction(FPS), size=(640, 360))
        track = {"name": "Track", "association": "Localization", "media_types": [video]}
        api.create(f"StateTypes/{self.project}", track)
        self.media = self.add(video, make(kind, folder))
        texture = textures.Texture(1, swim)
        moving = textures.make(folder / "moving.mp4", [texture], FOLLOWED, (1280, 720))
        self.moving = self.add(video, moving)

    def add(self, video: int, clip: Path) -> int:
        """The id of a clip's media, once it is transcoded."""
        api = self.api
        url = api.upload(self.project, clip.read_bytes())
        names = {"gid": str(uuid.uuid4()), "uid": str(uuid.uuid1()), "name": clip.name, "md5": ""}
        said = api.ask("POST", f"Transcodes/{self.project}", {"type": video, "url": url, **names})
        until(
            lambda: api.ask("GET", f"Transcode/{said['id']}")["job"]["status"] == "succeeded", "the video is transcoded"
        )
        media: int = said["media_id"]
        return media

    def draw(self, frames: list[int]) -> None:
        """Boxes in rows and columns, one for each frame given."""
        specs = [
            {"type": self.box, "media_id": self.media, "frame": frame, "width": 0.015, "height": 0.02}
            | {"x": n % 50 / 51, "y": n // 50 % 40 / 41}
            for n, frame in enumerate(frames)
        ]
        for start in range(0, len(specs), 500):
            self.api.create(f"Localizations/{self.project}", specs[start : start + 500])

    def open(self, page: Page, frame: int) -> None:
        """Show a frame, with all annotations read."""
        page.goto("about:blank")
        page.goto(f"/#/projects/{self.project}/media/{self.media}?frame={frame}")
        page.wait_for_selector(f'.stage[data-frame="{frame}"]')
        page.wait_for_selector('[data-saving="saved"]', timeout=300_000)


class Meter:
    """The processor time of a page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.inspector = page.context.new_cdp_session(page)
        self.inspector.send("Performance.enable")

    def now(self) -> float:
        """Milliseconds since the page began."""
        found = {each["name"]: each["value"] for each in self.inspector.send("Performance.getMetrics")["metrics"]}
        return float(found["ThreadTime"]) * 1000

    def quiet(self) -> float:
        """The same, once the page has nothing left to do."""
        before = self.now()
        while True:
            self.page.wait_for_timeout(250)
            if (after := self.now()) - before < 5:
                return after
            before = after


def steps(video: Video, page: Page, meter: Meter) -> float:
    """Processor time of a step by key, with the list beside the picture."""
    video.open(page, 100)
    for frame in range(101, 121):  # decoded, and compiled
        page.keyboard.press("ArrowRight")
        page.wait_for_selector(f'.stage[data-frame="{frame}"]')
    before = meter.quiet()
    for turn in range(STEPS):
        page.keyboard.press("ArrowLeft" if turn < STEPS // 2 else "ArrowRight")
        frame = 120 - min(turn + 1, STEPS - turn - 1)
        page.wait_for_selector(f'.stage[data-frame="{frame}"]')
    return (meter.quiet() - before) / STEPS


def hover(page: Page, meter: Meter) -> float:
    """Processor time of a move of the mouse over a frame full of boxes."""
    place = page.locator("canvas.picture").bounding_box()
    assert place
    before = meter.quiet()
    for n in range(100):
        page.mouse.move(
            place["x"] + (n % 50 + 0.5) / 51 * place["width"], place["y"] + (0.2 + n / 400) * place["height"]
        )
    return (meter.quiet() - before) / 100


def draw(page: Page, meter: Meter) -> float:
    """Processor time of drawing a box on it, until it is shown and before it is saved."""
    page.get_by_label("Save automatically").set_checked(False)
    page.locator(".stage").focus()
    page.keyboard.press("1")
    place = page.locator("canvas.picture").bounding_box()
    assert place
    before = meter.quiet()
    for n in range(5):
        x, y = place["x"] + (0.1 + n / 10) * place["width"], place["y"] + 0.5 * place["height"]
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 40, y + 40, steps=2)
        page.mouse.up()
        page.wait_for_timeout(150)
    return (meter.quiet() - before) / 5


def play(video: Video, page: Page) -> float:
    """The share of frames that are shown while it plays."""
    video.open(page, 100)
    page.wait_for_timeout(1000)
    page.evaluate(COUNT_FRAMES)
    page.locator(".stage").focus()
    page.keyboard.press(" ")
    page.wait_for_timeout(SECONDS * 1000)
    page.keyboard.press(" ")
    return int(page.evaluate("window.seen")) / (SECONDS * FPS)


def follow(video: Video, page: Page) -> float:
    """Seconds from the key to the path of one box through 100 frames of 720 lines."""
    at = swim(0)
    x, y = (at.x - at.width / 2) / 1280, (at.y - at.height / 2) / 720
    spec = {"type": video.box, "media_id": video.moving, "frame": 0, "x": x, "y": y}
    video.api.create(f"Localizations/{video.project}", [{**spec, "width": at.width / 1280, "height": at.height / 720}])
    page.goto("about:blank")
    page.goto(f"/#/projects/{video.project}/media/{video.moving}?frame=0")
    page.wait_for_selector('[data-saving="saved"]')
    page.get_by_label("Quality").select_option("720")
    page.locator(".stage").focus()
    page.keyboard.press("n")
    page.wait_for_timeout(2000)
    began = time.monotonic()
    page.keyboard.press("y")
    page.wait_for_selector('.proposal[data-stop="end"]')
    return time.monotonic() - began


def take_over(video: Video) -> float:
    """Seconds until the service lists what was just drawn."""
    began = time.monotonic()
    video.api.ask("GET", f"LocalizationCount/{video.project}", media_id=video.media)
    return time.monotonic() - began


def first_annotations(video: Video, page: Page) -> float:
    """Seconds from the address, in a page that shows nothing, to the annotations of its frame."""
    page.goto("about:blank")
    began = time.monotonic()
    page.goto(f"/#/projects/{video.project}/media/{video.media}?frame=300")
    page.wait_for_selector('[aria-label="Annotations on this frame"] button')
    return time.monotonic() - began


def main() -> None:
    """Measure, and print one line for each figure with its aim."""
    found = chromium.find() or sys.exit(chromium.ABSENT)
    seeks = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    with tempfile.TemporaryDirectory() as folder, run(Path(folder)) as stack, sync_playwright() as playwright:
        video = Video(stack.api, Path(folder))
        browser = playwright.chromium.launch(executable_path=found, args=chromium.ARGUMENTS)
        page = browser.new_page(base_url=stack.url, viewport={"width": 1440, "height": 900})
        page.set_default_timeout(120_000)
        stack.sign_in(page.context, stack.token)
        meter = Meter(page)

        def say(what: str, value: Any, aim: str) -> None:
            sys.stdout.write(f"{what:62} {value:>10}   aim {aim}\n")
            sys.stdout.flush()

        say("step, no boxes (processor ms)", f"{steps(video, page, meter):.1f}", "10")
        say("follow one box for 100 frames of 720p (s)", f"{follow(video, page):.2f}", "2")
        video.draw([n % FRAMES for n in range(BOXES)])
        say("the service lists 100,000 boxes just drawn (s)", f"{take_over(video):.2f}", "-")
        say("annotations of the present frame (s)", f"{first_annotations(video, page):.2f}", "1")
        say("step, 100,000 boxes in the video (processor ms)", f"{steps(video, page, meter):.1f}", "14")
        say("play 30 fps with 100,000 boxes (frames shown)", f"{play(video, page):.0%}", "95%")
        frames = random.Random(7).sample(range(FRAMES), seeks)
        video.open(page, 0)
        took = sorted(page.evaluate(SEEKS, [frame for frame in frames if frame]))
        say("random seek, median (ms)", f"{statistics.median(took):.0f}", "120")
        say("random seek, p95 (ms)", f"{took[int(len(took) * 0.95)]:.0f}", "300")
        video.draw([CROWDED] * CROWD)
        video.open(page, CROWDED)
        say("hover with 2,000 boxes on the frame (processor ms a move)", f"{hover(page, meter):.1f}", "4")
        say("draw one box among them (processor ms)", f"{draw(page, meter):.1f}", "30")
        browser.close()


if __name__ == "__main__":
    main()
