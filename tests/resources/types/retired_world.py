"""A project in which a type of each kind is deleted, and what is visible of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from chalicelib.core.kinds import Kind
from chalicelib.storage.dynamodb import entities
from chalicelib.storage.log import log
from tests.resources.annotations.boxes import EVERYTHING, Here, settle

SINGULAR = {"Medias": "Media", "Localizations": "Localization", "States": "State", "Leaves": "Leaf", "Files": "File"}
COUNTS = {
    "Medias": "MediaCount",
    "Localizations": "LocalizationCount",
    "States": "StateCount",
    "Leaves": "LeafCount",
}


@dataclass
class World(Here):
    """A project in which a type of each kind is to go, and another of each is to stay."""

    doomed: dict[str, int]
    kept: dict[str, int]
    things: dict[tuple[str, str], list[int]]
    """By what is listed and how it is called here: ids."""
    layer: int

    def ids(self, plural: str, **query: Any) -> list[int]:
        said = self.api.get(f"{plural}/{self.project}", **query)
        assert said.status == 200, said.json
        return [each["id"] for each in said.json]

    def remove(self, word: str, number: int) -> str:
        said = self.api.delete(f"{word}/{number}")
        assert said.status == 200, said.json
        return said.message

    def commits(self) -> int:
        return log.last(self.project, fresh=True)


def build(api, project) -> World:
    here = settle(api, project)
    layer = here.version()

    def types(name: str, media_types: list[int]) -> dict[str, int]:
        on = {"media_types": media_types}
        return {
            "LocalizationType": api.made(f"LocalizationTypes/{project}", {"name": name, "dtype": "box", **on}),
            "StateType": api.made(f"StateTypes/{project}", {"name": name, "association": "Localization", **on}),
            "LeafType": api.made(f"LeafTypes/{project}", {"name": name}),
            "FileType": api.made(f"FileTypes/{project}", {"name": name}),
        }

    video = api.made(f"MediaTypes/{project}", {"name": "doomed", "dtype": "video"})
    both = [here.media_type, video]
    doomed, kept = types("doomed", both), types("kept", both)
    doomed["MediaType"], kept["MediaType"] = video, here.media_type
    section = api.made(f"Sections/{project}", {"name": "s"})
    doomed["section"] = section if isinstance(section, int) else section["id"]
    tags = {each["id"]: each["tator_user_sections"] for each in api.get(f"Sections/{project}").json}
    things: dict[tuple[str, str], list[int]] = {("Medias", "kept"): [here.media]}
    things["Medias", "doomed"] = [
        api.made(
            f"Medias/{project}",
            {
                "type": video,
                "name": f"{n}.mp4",
                "md5": "",
                "attributes": {"tator_user_sections": tags[doomed["section"]]},
            },
        )
        for n in range(3)
    ]
    for name, of in (("doomed", doomed), ("kept", kept)):
        for place, media in (("here", here.media), ("there", things["Medias", "doomed"][0])):
            boxes = [{"media_id": media, "type": of["LocalizationType"], "frame": f} for f in range(6)]
            made = api.made(f"Localizations/{project}", boxes)
            layered = [{**box, "version": layer} for box in boxes[:3]]
            made_in_layer = api.made(f"Localizations/{project}", layered)
            things["Localizations", f"{name} {place}"] = made
            things["Localizations", f"{name} {place} in layer"] = made_in_layer
            tracks = [{"media_ids": [media], "type": of["StateType"], "localization_ids": made[:2]}] * 3
            things["States", f"{name} {place}"] = api.made(f"States/{project}", tracks)
        spec = {"media_ids": [here.media, things["Medias", "doomed"][1]], "type": of["StateType"]}
        things["States", f"{name} both"] = api.made(f"States/{project}", [spec])
        leaf = [{"name": f"{name} {n}", "type": of["LeafType"]} for n in range(3)]
        things["Leaves", name] = api.made(f"Leaves/{project}", leaf)
        things["Files", name] = [
            api.made(f"Files/{project}", {"name": f"{name} {n}", "description": "", "type": of["FileType"]})
            for n in range(3)
        ]
    api.drain()
    return World(api, project, here.media, here.type, here.media_type, doomed, kept, things, layer)


def split(build_world: World, goes) -> tuple[dict[str, set[int]], dict[str, set[int]]]:
    """The ids that go and those that stay, by what is listed."""
    gone: dict[str, set[int]] = {plural: set() for plural in SINGULAR}
    left: dict[str, set[int]] = {plural: set() for plural in SINGULAR}
    for (plural, name), numbers in build_world.things.items():
        (gone if goes(plural, name) else left)[plural].update(numbers)
    return gone, left


CASES = {
    "LocalizationType": lambda plural, name: plural == "Localizations" and name.startswith("doomed"),
    "StateType": lambda plural, name: plural == "States" and name.startswith("doomed"),
    "LeafType": lambda plural, name: plural == "Leaves" and name == "doomed",
    "FileType": lambda plural, name: plural == "Files" and name == "doomed",
    "MediaType": lambda plural, name: (plural, name) == ("Medias", "doomed") or " there" in name,
    "Version": lambda _, name: "in layer" in name,
}
COUNT = {"LocalizationType": 18, "StateType": 7, "LeafType": 3, "FileType": 3, "MediaType": 3}


def number_of(build_world: World, word: str) -> int:
    return build_world.layer if word == "Version" else build_world.doomed[word]


def check(build_world: World, word: str) -> None:
    """Nothing of what was deleted is visible, and all of the rest is."""
    gone, left = split(build_world, CASES[word])
    for plural, one in SINGULAR.items():
        every = EVERYTHING if plural in ("Localizations", "States") else {}
        assert set(build_world.ids(plural, **every)) == left[plural], plural
        if counts := COUNTS.get(plural):
            assert build_world.api.get(f"{counts}/{build_world.project}", **every).json == len(left[plural])
        assert {build_world.api.get(f"{one}/{number}").status for number in gone[plural]} <= {404}
        assert {build_world.api.get(f"{one}/{number}").status for number in left[plural]} <= {200}
        kind = Kind(one.lower())
        assert set(entities.many(kind, gone[plural] | left[plural])) == left[plural]
