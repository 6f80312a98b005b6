"""Small worlds for the tests of rules, each made once for a module, and short words to ask them with.

The world of letters has five of every kind of thing, A to E, whose attributes are those of `VALUES`: A and B have
everything, C has nulls, D has nothing, E is of another type. Localization A lies on media A, state A describes media A
and contains localization A, and so on: so a question has the same letters for an answer whatever kind it is asked of,
and whatever related kind it is asked through.
"""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from chalicelib.resources.projects import service as projects_service
from chalicelib.resources.projects.schemas import ProjectSpec
from tests.service import Api, Said, new_user

KINDS = ("media", "localization", "state", "leaf", "file")
RELATED_KINDS = KINDS[:3]
ANNOTATIONS = ("localization", "state")
MANY = {"media": "Medias", "localization": "Localizations", "state": "States", "leaf": "Leaves", "file": "Files"}
COUNT = {"media": "MediaCount", "localization": "LocalizationCount", "state": "StateCount", "leaf": "LeafCount"}
ONE = {"media": "Media", "localization": "Localization", "state": "State", "leaf": "Leaf", "file": "File"}
ATTRIBUTES = [
    {"name": "b", "dtype": "bool"},
    {"name": "n", "dtype": "int"},
    {"name": "f", "dtype": "float"},
    {"name": "e", "dtype": "enum", "choices": ["red", "green", "Dark Red"]},
    {"name": "s", "dtype": "string"},
    {"name": "t", "dtype": "datetime"},
    {"name": "g", "dtype": "geopos"},
    {"name": "v", "dtype": "float_array", "size": 3},
    {"name": "o", "dtype": "blob"},
]
NULLED = ["b", "n", "f", "e", "s", "t", "v", "o"]
VALUES: dict[str, dict[str, Any]] = {
    "A": {
        "b": True,
        "n": 1,
        "f": 0.5,
        "e": "red",
        "s": "Foo",
        "t": "2020-01-02T03:04:05Z",
        "g": [8.0, 48.0],
        "v": [0.0, 0.0, 0.0],
        "o": "blob A",
    },
    "B": {
        "b": False,
        "n": 2,
        "f": 1.5,
        "e": "Dark Red",
        "s": "bar",
        "t": "2021-06-01",
        "g": [8.0, 49.0],
        "v": [1.0, 0.0, 0.0],
        "o": "blob B",
    },
    "C": {},
    "D": {},
    "E": {"n": 5, "extra": "x"},
}
_names = itertools.count(1)


@dataclass
class World:
    """A project of its own, its owner, and the ids of what is in it."""

    api: Api
    organization: int
    project: int
    types: dict[str, int] = field(default_factory=dict)
    others: dict[str, int] = field(default_factory=dict)
    ids: dict[str, dict[str, int]] = field(default_factory=dict)
    version: int = 0

    def path(self, kind: str) -> str:
        return f"{MANY[kind]}/{self.project}"

    def ask(self, kind: str, body: Any = None, **query: Any) -> Said:
        """A list: by PUT where there is a body."""
        return self.api.ask("PUT" if body is not None else "GET", self.path(kind), body, **query)

    def listed(self, kind: str, body: Any = None, **query: Any) -> list[Any]:
        said = self.ask(kind, body, **query)
        assert said.status == 200, said.body
        return said.json

    def numbers(self, kind: str, body: Any = None, **query: Any) -> list[int]:
        """The ids of a list, in order; the count of the same question agrees."""
        found = [each["id"] for each in self.listed(kind, body, **query)]
        assert len(found) == len(set(found))
        if kind in COUNT:
            count = f"{COUNT[kind]}/{self.project}"
            assert self.api.ask("PUT" if body is not None else "GET", count, body, **query).json == len(found)
        return found

    def found(self, kind: str, body: Any = None, **query: Any) -> str:
        """The letters of a list, in order."""
        letters = {number: letter for letter, number in self.ids[kind].items()}
        return "".join(letters[number] for number in self.numbers(kind, body, **query))

    def refuses(self, kind: str, body: Any = None, **query: Any) -> str:
        """What the 400 of a list says."""
        said = self.ask(kind, body, **query)
        assert said.status == 400, (said.status, said.body)
        return f"{said.message} {said.json['details']}"

    def made(self, kind: str, body: Any) -> Any:
        return self.api.made(self.path(kind), body)

    def one(self, kind: str, number: int) -> Any:
        said = self.api.get(f"{ONE[kind]}/{number}")
        assert said.status == 200, said.body
        return said.json

    def media(self, name: str = "m", **more: Any) -> int:
        return self.made("media", {"type": self.types["media"], "name": name, "md5": "", **more})

    def box(self, media: int, **more: Any) -> int:
        return self.made("localization", {"type": self.types["localization"], "media_id": media, "frame": 0, **more})[0]

    def state(self, media: Iterable[int], **more: Any) -> int:
        return self.made("state", {"type": self.types["state"], "media_ids": list(media), **more})[0]

    def new_version(self, name: str = "layer", **more: Any) -> int:
        return self.api.made(f"Versions/{self.project}", {"name": name, **more})


def encoded(search: Any) -> str:
    """An object search as parameters carry it."""
    return base64.b64encode(json.dumps(search).encode()).decode()


def term(attribute: str, operation: str, value: Any, **more: Any) -> dict[str, Any]:
    """A filter of an object search."""
    return {"attribute": attribute, "operation": operation, "value": value, **more}


def empty_world(attributes: list[dict[str, Any]] | None = None) -> World:
    """A project with a type of every kind and another one, and nothing of them."""
    api = new_user(is_staff=True)
    assert api.user
    number = next(_names)
    organization = api.made("Organizations", {"name": f"rules {number}"})
    spec = ProjectSpec(name=f"Rule book {number}", organization=organization)
    project = projects_service.create_project(spec, api.user.id, "No Access").id
    world = World(api, organization, project)
    attributes = ATTRIBUTES if attributes is None else attributes
    extra = [{"name": "n", "dtype": "int"}, {"name": "extra", "dtype": "string"}]
    for types, given in ((world.types, attributes), (world.others, extra)):
        more: dict[str, Any] = {"attribute_types": given}
        types["media"] = api.made(f"MediaTypes/{project}", {"name": "video", "dtype": "video", **more})
        more["media_types"] = [types["media"]]
        types["localization"] = api.made(f"LocalizationTypes/{project}", {"name": "box", "dtype": "box", **more})
        track = {"name": "track", "association": "Localization", **more}
        types["state"] = api.made(f"StateTypes/{project}", track)
        del more["media_types"]
        types["leaf"] = api.made(f"LeafTypes/{project}", {"name": "leaf", **more})
        types["file"] = api.made(f"FileTypes/{project}", {"name": "file", **more})
    world.version = min(each["id"] for each in api.get(f"Versions/{project}").json)
    return world


def world_of_letters() -> World:
    """A to E of every kind."""
    world = empty_world()
    world.ids = {kind: {} for kind in KINDS}
    for place, (letter, values) in enumerate(VALUES.items()):
        types = world.others if letter == "E" else world.types
        given = {"name": letter, "attributes": values}
        world.ids["media"][letter] = media = world.made(
            "media", {**given, "type": types["media"], "md5": f"md5{letter}"}
        )
        box = {"type": types["localization"], "media_id": media, "frame": place, "attributes": values}
        shape = {"x": place / 10, "y": 0.5 - place / 10, "width": 0.1, "height": 0.2}
        world.ids["localization"][letter] = number = world.made("localization", {**box, **shape})[0]
        state = {"type": types["state"], "media_ids": [media], "localization_ids": [number], "attributes": values}
        world.ids["state"][letter] = world.made("state", {**state, "frame": place})[0]
        world.ids["leaf"][letter] = world.made("leaf", {**given, "type": types["leaf"]})[0]
        world.ids["file"][letter] = world.made("file", {**given, "type": types["file"], "description": ""})
    for kind in KINDS:
        said = world.api.patch(f"{ONE[kind]}/{world.ids[kind]['C']}", {"null_attributes": NULLED})
        assert said.status == 200, said.body
    return world
