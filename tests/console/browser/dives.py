"""A dive with media for the tests of the annotator, and its screen."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass

from PIL import Image

from tests.video.clips import read

SPECIES = {"name": "Species", "dtype": "enum", "choices": ["Cod", "Tuna"], "default": "Cod"}
FRAMES = 40


@dataclass(frozen=True)
class Dive:
    """A project with a clip whose frames show their numbers, and a type of each kind."""

    api: object
    project: int
    media: int
    version: int
    types: dict

    def path(self, **query):
        words = "&".join(f"{name}={value}" for name, value in query.items())
        return f"/#/projects/{self.project}/media/{self.media}?{words}"

    def boxes(self, **query):
        return self.api.ask("GET", f"Localizations/{self.project}", media_id=self.media, **query)

    def tracks(self):
        return self.api.ask("GET", f"States/{self.project}", media_id=self.media)

    def box(self, frame, **more):
        spec = {"type": self.types["box"], "media_id": self.media, "version": self.version, "frame": frame}
        return {**spec, "x": 0.4, "y": 0.4, "width": 0.2, "height": 0.2, **more}

    def clear(self):
        for kind in ("States", "Localizations"):
            self.api.ask("DELETE", f"{kind}/{self.project}", {"prune": 1})


class Screen:
    """The annotation view in a page."""

    def __init__(self, page, dive):
        self.page, self.dive = page, dive

    def open(self, frame=0, **query):
        self.page.goto(self.dive.path(frame=frame, **query))
        self.at(frame)
        self.saving("saved", "unsaved", "conflict")
        return self

    def at(self, frame):
        """Wait until a frame is shown, by its label and by its picture."""
        self.page.wait_for_selector(f'.stage[data-frame="{frame}"]')
        url = self.page.evaluate("document.querySelector('canvas.picture').toDataURL()")
        assert read(Image.open(io.BytesIO(base64.b64decode(url.split(",")[1])))) == frame

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def point(self, x, y):
        """A place in the window, from fractions of the picture."""
        box = self.page.locator("canvas.picture").bounding_box()
        return box["x"] + x * box["width"], box["y"] + y * box["height"]

    def drag(self, start, stop):
        self.page.mouse.move(*self.point(*start))
        self.page.mouse.down()
        self.page.mouse.move(*self.point(*stop), steps=3)
        self.page.mouse.up()

    def saving(self, *states):
        self.page.wait_for_selector(", ".join(f'[data-saving="{state}"]' for state in states))

    def saved(self):
        """Save now, and wait for it."""
        self.press("Control+s")
        self.saving("saved")

    def automatic(self, *, on):
        self.page.get_by_label("Save automatically").set_checked(on)
