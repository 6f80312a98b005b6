"""A dive with media for the tests of the annotator, and its screen."""

from __future__ import annotations

import base64
import io
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
from PIL import Image

from tests.console.browser.projects import new_project
from tests.console.browser.waits import until
from tests.video.clips import KINDS, make, read

EVIL = '<img src=x onerror="document.title=1">&amp;'
WEATHER = {"name": "Weather", "dtype": "enum", "choices": ["Sun", "Rain"]}
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


def attach(api, project, media, data, name):
    """Give a media an attachment."""
    info = api.ask("GET", f"UploadInfo/{project}", media_id=media, filename=name)
    requests.put(info["urls"][0], data=data, timeout=120).raise_for_status()
    api.ask("POST", f"AuxiliaryFiles/{media}", {"path": info["key"], "name": name}, role="attachment")


def close(one, two):
    """Whether numbers are the same up to a hundredth."""
    return all(abs(a - b) < 0.01 for a, b in zip(one, two, strict=True))


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


def plain_clip(folder: Path) -> Path:
    """A small video of 25 frames a second whose frames show their numbers."""
    found: Path = make(next(kind for kind in KINDS if kind.name == "plain"), folder)
    return found


def sea(stack: Any, folder: Path) -> Dive:
    """Make the project, and wait for the transcode of its clip."""
    api = stack.api
    project = new_project(api, f"Dives {EVIL}")
    video = api.create(f"MediaTypes/{project}", {"name": "Dive", "dtype": "video", "attribute_types": [WEATHER]})
    types = {}
    for dtype, name in (("box", f"A {EVIL}"), ("line", "B line"), ("dot", "C dot"), ("poly", "D outline")):
        spec = {"name": name, "dtype": dtype, "media_types": [video], "attribute_types": [SPECIES]}
        types[dtype] = api.create(f"LocalizationTypes/{project}", spec)
    spec = {"name": "Track", "association": "Localization", "media_types": [video]}
    types["track"] = api.create(f"StateTypes/{project}", spec)
    spec = {"name": "Scene", "association": "Frame", "media_types": [video]}
    types["scene"] = api.create(f"StateTypes/{project}", spec)
    spec = {"type": video, "gid": str(uuid.uuid4()), "uid": str(uuid.uuid1()), "name": f"{EVIL}.mp4", "md5": ""}
    said = api.ask(
        "POST", f"Transcodes/{project}", {**spec, "url": api.upload(project, plain_clip(folder).read_bytes())}
    )
    until(lambda: api.ask("GET", f"Transcode/{said['id']}")["job"]["status"] == "succeeded", "the clip is transcoded")
    version = api.ask("GET", f"Versions/{project}")[0]["id"]
    return Dive(api, project, said["media_id"], version, types)
