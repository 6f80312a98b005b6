"""A project of images with a type of boxes, for tests of several people."""

from __future__ import annotations

import io
import uuid
from dataclasses import dataclass
from typing import Any

from PIL import Image

from tests.console.browser.projects import new_project
from tests.console.browser.waits import until


@dataclass(frozen=True)
class Photos:
    """A project with images that can be drawn on."""

    api: Any
    stack: Any
    project: int
    media: list[int]
    type: int

    def member(self, level: str) -> tuple[str, int, str]:
        """A new member: user name, id and token."""
        name = f"member{uuid.uuid4().hex[:6]}"
        number, token = self.stack.user(name)
        self.api.create(f"Memberships/{self.project}", {"user": number, "permission": level})
        return name, number, token

    def version(self, name: str) -> int:
        """A new layer."""
        number: int = self.api.create(f"Versions/{self.project}", {"name": name})
        return number

    def box(self, media: int, version: int, **more: Any) -> dict[str, Any]:
        """The body of a box."""
        place = {"frame": 0, "x": 0.2, "y": 0.2, "width": 0.5, "height": 0.5}
        return {"type": self.type, "media_id": media, "version": version, **place, **more}

    def path(self, rest: str) -> str:
        """The address of a view of the project."""
        return f"/#/projects/{self.project}{rest}"


def photos(stack: Any, name: str, count: int) -> Photos:
    """Make a project with images that are ready."""
    api = stack.api
    project = new_project(api, name)
    kind = api.create(f"MediaTypes/{project}", {"name": "Photo", "dtype": "image"})
    species = {"name": "Species", "dtype": "enum", "choices": ["Cod", "Eel"], "default": "Cod"}
    spec = {"name": "Fish", "dtype": "box", "media_types": [kind], "attribute_types": [species]}
    box = api.create(f"LocalizationTypes/{project}", spec)
    picture = io.BytesIO()
    Image.new("RGB", (64, 48), (20, 90, 160)).save(picture, "JPEG")
    image = {"type": kind, "md5": "", "url": api.upload(project, picture.getvalue()), "gid": str(uuid.uuid4())}
    for number in range(count):
        api.create(f"Medias/{project}", {**image, "uid": str(uuid.uuid1()), "name": f"{number}.jpg"})

    def complete() -> list[Any]:
        found = api.ask("GET", f"Medias/{project}", sort_by="$name")
        return found if all((each["media_files"] or {}).get("image") for each in found) else []

    media = [each["id"] for each in until(complete, "the images have files")]
    return Photos(api, stack, project, media, box)
