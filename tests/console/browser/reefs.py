"""An image of a known object with types of refined shapes: masks, ellipses, polylines, holes and skeletons."""

from __future__ import annotations

import io
import uuid
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from tests.console.browser.projects import new_project
from tests.console.browser.waits import until

SIZE = 960, 540
FINE = 3840, 2160
OBJECT = (0.35, 0.3, 0.6, 0.7)
"""Left, top, right and bottom of the ellipse in the picture, in fractions."""
POINTS = ["nose", "fin", "tail"]


@dataclass(frozen=True)
class Reef:
    """A project with an image of 960 x 540 and one of 3840 x 2160 pixels."""

    api: Any
    project: int
    media: int
    fine: int
    types: dict[str, int]

    def rows(self, media: int | None = None) -> list[dict[str, Any]]:
        """The localizations of an image."""
        found: list[dict[str, Any]] = self.api.ask("GET", f"Localizations/{self.project}", media_id=media or self.media)
        return found

    def clear(self) -> None:
        self.api.ask("DELETE", f"Localizations/{self.project}", {"prune": 1})


def object_pixels(size: tuple[int, int]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which pixels of the picture have the object."""
    picture = Image.new("L", size)
    left, top, right, bottom = (share * size[at % 2] for at, share in enumerate(OBJECT))
    ImageDraw.Draw(picture).ellipse((left, top, right, bottom), fill=255)
    return np.asarray(picture) > 0


def _picture(size: tuple[int, int]) -> bytes:
    chance = np.random.default_rng(7)
    colors = np.where(object_pixels(size)[..., None], (190, 90, 40), (30, 90, 140))
    noisy = np.clip(colors + chance.normal(0, 12, (*size[::-1], 1)), 0, 255).astype(np.uint8)
    made = io.BytesIO()
    Image.fromarray(noisy).save(made, "JPEG", quality=92)
    return made.getvalue()


def reef(stack: Any) -> Reef:
    """Make the project."""
    api = stack.api
    project = new_project(api, "Reef")
    kind = api.create(f"MediaTypes/{project}", {"name": "Photo", "dtype": "image"})
    skeleton = {"points": POINTS, "edges": [[0, 1], [1, 2]]}
    types = {
        name: api.create(f"LocalizationTypes/{project}", {"name": name, "media_types": [kind], **more})
        for name, more in {
            "Fish": {"dtype": "box", "refinements": ["mask", "angle", "ellipse"]},
            "Area": {"dtype": "poly", "refinements": ["open", "holes"]},
            "Body": {"dtype": "poly", "refinements": ["skeleton"], "skeleton": skeleton},
        }.items()
    }
    media = []
    for name, size in (("reef", SIZE), ("fine", FINE)):
        image = {"type": kind, "md5": "", "url": api.upload(project, _picture(size)), "gid": str(uuid.uuid4())}
        api.create(f"Medias/{project}", {**image, "uid": str(uuid.uuid1()), "name": f"{name}.jpg"})

    def complete() -> list[Any]:
        found = api.ask("GET", f"Medias/{project}", sort_by="-$name")
        return found if len(found) == 2 and all((each["media_files"] or {}).get("image") for each in found) else []

    media = [each["id"] for each in until(complete, "the images have files")]
    return Reef(api, project, *media, types)
