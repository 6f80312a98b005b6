"""A project with what localizations need, for the tests of them."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

ATTRIBUTES = [
    {"name": "flag", "dtype": "bool"},
    {"name": "count", "dtype": "int", "minimum": 0, "maximum": 100},
    {"name": "size", "dtype": "float"},
    {"name": "kind", "dtype": "enum", "choices": ["a", "b"], "default": "a"},
    {"name": "text", "dtype": "string"},
    {"name": "place", "dtype": "geopos"},
    {"name": "vector", "dtype": "float_array", "size": 3},
]
EVERYTHING = {"show_all_marks": 1, "show_deleted": 1, "merge": 0}


@dataclass
class Here:
    """A project with what localizations need."""

    api: Any
    project: int
    media: int
    type: int
    media_type: int

    @property
    def many(self) -> str:
        return f"Localizations/{self.project}"

    def spec(self, **more: Any) -> dict[str, Any]:
        return {"media_id": self.media, "type": self.type, "frame": 0, **more}

    def make(self, **more: Any) -> int:
        return self.api.made(self.many, self.spec(**more))[0]

    def one(self, number: int) -> Any:
        return self.api.get(f"Localization/{number}").json

    def listed(self, **query: Any) -> list[Any]:
        return self.api.get(self.many, **query).json

    def count(self, **query: Any) -> int:
        return self.api.get(f"LocalizationCount/{self.project}", **query).json

    def version(self) -> int:
        return self.api.made(f"Versions/{self.project}", {"name": f"layer {uuid.uuid4().hex}"})


def settle(api: Any, project: int) -> Here:
    """Make a type with an attribute of almost every dtype, and a media."""
    media_type = api.made(f"MediaTypes/{project}", {"name": "video", "dtype": "video"})
    spec = {"name": "box", "dtype": "box", "media_types": [media_type], "attribute_types": ATTRIBUTES}
    box = api.made(f"LocalizationTypes/{project}", spec)
    media = api.made(f"Medias/{project}", {"type": media_type, "name": "a.mp4", "md5": ""})
    return Here(api, project, media, box, media_type)
