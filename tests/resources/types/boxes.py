"""A localization type and boxes of it, whose attributes tests change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class Boxes:
    """A project with boxes, and short words for what is done to their attributes."""

    api: Any
    project: int
    media_type: int
    media: int
    type: int

    def add(self, addition: dict[str, Any], number: int | None = None, what: str = "LocalizationType") -> Any:
        body = {"entity_type": what, "addition": addition}
        return self.api.post(f"AttributeType/{number or self.type}", body)

    def change(self, name: str, update: dict[str, Any], number: int | None = None, **more: Any) -> Any:
        body = {"entity_type": "LocalizationType", "current_name": name, "attribute_type_update": update, **more}
        return self.api.patch(f"AttributeType/{number or self.type}", body)

    def remove(self, name: str, what: str = "LocalizationType", number: int | None = None) -> Any:
        return self.api.delete(f"AttributeType/{number or self.type}", {"entity_type": what, "name": name})

    def box(self, **attributes: Any) -> int:
        spec = {"media_id": self.media, "type": self.type, "frame": 0, "attributes": attributes}
        return self.api.made(f"Localizations/{self.project}", spec)[0]

    def values(self, number: int) -> Any:
        return self.api.get(f"Localization/{number}").json["attributes"]

    def count(self, **query: Any) -> int:
        return self.api.get(f"LocalizationCount/{self.project}", **query).json

    def defined(self, number: int | None = None) -> dict[str, Any]:
        found = self.api.get(f"LocalizationType/{number or self.type}").json["attribute_types"]
        return {each["name"]: each for each in found}

    def other_type(self, *attributes: dict[str, Any]) -> int:
        spec = {"name": "other", "dtype": "dot", "media_types": [self.media_type], "attribute_types": attributes}
        return self.api.made(f"LocalizationTypes/{self.project}", spec)


def spec(boxes: Boxes, **attributes: Any) -> dict[str, Any]:
    return {"media_id": boxes.media, "type": boxes.type, "frame": 0, "attributes": attributes}
