"""A project with types, an image and a video."""

from __future__ import annotations

from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class World:
    """A project, and ids in it."""

    api: object
    project: int
    types: dict
    image: int
    video: int

    def localizations(self, **query):
        return self.api.get(f"Localizations/{self.project}", **query).json

    def states(self):
        return self.api.get(f"States/{self.project}").json


def make_types(api, project):
    """The types of a project: an image and a video, each kind of localization, a track."""
    types = {
        "image": api.made(f"MediaTypes/{project}", {"name": "Picture", "dtype": "image"}),
        "video": api.made(f"MediaTypes/{project}", {"name": "Dive", "dtype": "video"}),
    }
    media = [types["image"], types["video"]]
    attributes = [
        {"name": "Species", "dtype": "string"},
        {"name": "Depth", "dtype": "float", "minimum": 0},
        {"name": "Place", "dtype": "geopos"},
    ]
    for dtype in ("box", "line", "dot", "poly"):
        body = {"name": dtype.title(), "dtype": dtype, "media_types": media, "attribute_types": attributes}
        types[dtype] = api.made(f"LocalizationTypes/{project}", body)
    track = {"name": "Track", "association": "Localization", "media_types": media}
    types["track"] = api.made(f"StateTypes/{project}", {**track, "attribute_types": [{"name": "Seen", "dtype": "int"}]})
    return types


@pytest.fixture
def world(api, project):
    types = make_types(api, project)
    image = {"type": types["image"], "name": "reef.png", "md5": "0" * 32, "width": 640, "height": 480}
    video = {
        "type": types["video"],
        "name": "dive.mp4",
        "md5": "1" * 32,
        "width": 200,
        "height": 100,
        "num_frames": 50,
        "fps": 25.0,
    }
    made = [api.made(f"Medias/{project}", body) for body in (image, video)]
    return World(api, project, types, *made)


@pytest.fixture
def picture():
    """A PNG of 64 × 48."""
    from tests.resources.media.samples import picture as drawn

    return drawn(64, 48, "PNG")
