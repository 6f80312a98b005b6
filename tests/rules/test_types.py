"""Types: their members, defaults, changes and deletion."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.rulebook import rule
from tests.rules.worlds import KINDS, ONE, World, empty_world

KIND_TYPE = {kind: f"{ONE[kind]}Type" for kind in KINDS}
UNKNOWN_ID = 999_999_999
DEFAULTS: dict[str, dict[str, Any]] = {
    "media": {
        "dtype": "video",
        "file_format": None,
        "default_volume": 0,
        "visible": True,
        "archive_config": None,
        "streaming_config": None,
        "overlay_config": None,
        "default_box": None,
        "default_line": None,
        "default_dot": None,
    },
    "localization": {
        "dtype": "box",
        "color_map": None,
        "line_width": 3,
        "visible": True,
        "drawable": True,
        "grouping_default": True,
    },
    "state": {
        "dtype": "state",
        "association": "Localization",
        "interpolation": "latest",
        "visible": True,
        "grouping_default": True,
        "delete_child_localizations": False,
        "default_localization": None,
        "extended_info": {},
    },
    "leaf": {"dtype": "leaf", "visible": True},
    "file": {},
}
CHANGES: dict[str, dict[str, Any]] = {
    "media": {"file_format": "mp4", "default_volume": 100, "visible": False, "overlay_config": {"mode": "constant"}},
    "localization": {"line_width": 1, "visible": False, "drawable": False, "grouping_default": False},
    "state": {"delete_child_localizations": True, "grouping_default": False, "extended_info": {"a": 1}},
    "leaf": {},
    "file": {},
}
WRONG: dict[str, list[dict[str, Any]]] = {
    "media": [{"dtype": "audio"}, {"file_format": "12345"}, {"default_volume": 101}, {"default_volume": -1}],
    "localization": [{"dtype": "circle"}, {"line_width": 0}, {"media_types": []}, {"media_types": ["x"]}],
    "state": [{"association": "Video"}, {"interpolation": "linear"}, {"media_types": []}],
    "leaf": [],
    "file": [],
}


@pytest.fixture(scope="module")
def world() -> World:
    return empty_world([])


def spec(world: World, kind: str, **more: Any) -> dict[str, Any]:
    given: dict[str, dict[str, Any]] = {
        "media": {"dtype": "video"},
        "localization": {"dtype": "box", "media_types": [world.types["media"]]},
        "state": {"association": "Localization", "media_types": [world.types["media"]]},
        "leaf": {},
        "file": {},
    }
    return {"name": "new", **given[kind], **more}


def make(world: World, kind: str, **more: Any) -> int:
    return world.api.made(f"{KIND_TYPE[kind]}s/{world.project}", spec(world, kind, **more))


def one(world: World, kind: str, number: int) -> Any:
    said = world.api.get(f"{KIND_TYPE[kind]}/{number}")
    assert said.status == 200, said.body
    return said.json


def thing(world: World, kind: str, type_: int, attributes: Any = None) -> int:
    world.types[kind], before = type_, world.types[kind]
    try:
        more = {"attributes": attributes or {}}
        if kind == "media":
            return world.media("x", **more)
        if kind == "localization":
            return world.box(media_of(world), **more)
        if kind == "state":
            return world.state([media_of(world)], **more)
        if kind == "leaf":
            return world.made("leaf", {"name": "x", "type": type_, **more})[0]
        return world.made("file", {"name": "x", "description": "", "type": type_, **more})
    finally:
        world.types[kind] = before


def media_of(world: World) -> int:
    if "media" not in world.ids:
        world.ids["media"] = {"A": world.media("A")}
    return world.ids["media"]["A"]


@pytest.mark.parametrize("kind", KINDS)
@rule("Types", "A new type has what was given, and otherwise the defaults of its kind.")
def test_defaults(world: World, kind):
    number = make(world, kind, project=77)
    found = one(world, kind, number)
    wanted = {"id": number, "project": world.project, "name": "new", "description": "", "attribute_types": []}
    assert {name: found.get(name, "missing") for name in (*wanted, *DEFAULTS[kind])} == wanted | DEFAULTS[kind]
    assert found["elemental_id"]
    if kind in ("localization", "state"):
        assert found["media"] == [world.types["media"]]


@pytest.mark.parametrize("kind", KINDS)
@rule("Types", "Types are listed by name, those of files by id, and by `elemental_id`; names need not be unique.")
def test_lists(kind):
    world = empty_world([])
    for types in (world.types, world.others):
        assert world.api.delete(f"{KIND_TYPE[kind]}/{types[kind]}").status == 200
    if kind == "media":
        world.types["media"] = 0
    numbers = [
        world.api.made(f"{KIND_TYPE[kind]}s/{world.project}", {**spec(world, kind), "name": name}) for name in "cab"
    ]
    listed = world.api.get(f"{KIND_TYPE[kind]}s/{world.project}").json
    assert [each["name"] for each in listed] == (list("cab") if kind == "file" else list("abc"))
    element = one(world, kind, numbers[1])["elemental_id"]
    for query in ({"elemental_id": element}, {"elemental_id": element.upper()}):
        assert [each["id"] for each in world.api.get(f"{KIND_TYPE[kind]}s/{world.project}", **query).json] == numbers[
            1:2
        ]
    assert world.api.get(f"{KIND_TYPE[kind]}s/{world.project}", elemental_id="x").status == 400
    make(world, kind, name="a")


@pytest.mark.parametrize("kind", KINDS)
@rule("Types", "A PATCH is of what it gives; never of attributes or dtype.")
def test_changes(world: World, kind):
    definitions = [{"name": "n", "dtype": "int"}]
    number = make(world, kind, description="d", attribute_types=definitions)
    before = one(world, kind, number)
    path = f"{KIND_TYPE[kind]}/{number}"
    assert world.api.patch(path, {"name": "renamed"}).status == 200
    assert one(world, kind, number) == before | {"name": "renamed"}
    body = {"description": "", **CHANGES[kind]}
    assert world.api.patch(path, body).status == 200
    after = one(world, kind, number)
    assert after == before | {"name": "renamed"} | body
    for wrong in ({"attribute_types": []}, {"dtype": "image"}):
        assert world.api.patch(path, {**wrong, "name": "x"}).status == 400
    assert one(world, kind, number) == after


@pytest.mark.parametrize("kind", KINDS)
@rule("Types", "Wrong members are 400; so are a missing name, one that is too long, and the name `filename`.")
def test_wrong_types_are_refused(world: World, kind):
    path = f"{KIND_TYPE[kind]}s/{world.project}"
    before = len(world.api.get(path).json)
    for wrong in ({"name": None}, {"name": "x" * 65}, {"name": "filename"}, {"description": "x" * 257}, *WRONG[kind]):
        given = {name: value for name, value in spec(world, kind, **wrong).items() if value is not None}
        assert world.api.post(path, given).status == 400, wrong
    needed = {"media": ["dtype"], "localization": ["dtype", "media_types"], "state": ["association", "media_types"]}
    for missing in needed.get(kind, []):
        given = {name: value for name, value in spec(world, kind).items() if name != missing}
        assert world.api.post(path, given).status == 400, missing
    assert len(world.api.get(path).json) == before
    for said in (
        world.api.get(f"{KIND_TYPE[kind]}/{UNKNOWN_ID}"),
        world.api.patch(f"{KIND_TYPE[kind]}/{UNKNOWN_ID}", {"name": "x"}),
        world.api.delete(f"{KIND_TYPE[kind]}/{UNKNOWN_ID}"),
    ):
        assert said.status == 404


@rule("Types", "The media types of an annotation type are of the project: 404 otherwise, and nothing is made.")
@pytest.mark.parametrize("kind", ["localization", "state"])
def test_media_types_are_of_the_project(world: World, kind):
    path = f"{KIND_TYPE[kind]}s/{world.project}"
    before = len(world.api.get(path).json)
    other = empty_world([])
    for wrong in (UNKNOWN_ID, other.types["media"]):
        said = world.api.post(path, spec(world, kind, media_types=[world.types["media"], wrong]))
        assert said.status == 404, said.body
    assert len(world.api.get(path).json) == before
    second = make(world, "media")
    number = make(world, kind)
    assert world.api.patch(f"{KIND_TYPE[kind]}/{number}", {"media_types": [second]}).status == 200
    assert set(one(world, kind, number)["media"]) == {world.types["media"], second}


@rule("Types", "`media_id` lists the annotation types for the type of one media; several are 400, an unknown one 404.")
@pytest.mark.parametrize("kind", ["localization", "state"])
def test_types_for_a_media(world: World, kind):
    second = make(world, "media")
    number = make(world, kind, media_types=[second])
    path = f"{KIND_TYPE[kind]}s/{world.project}"
    media = thing(world, "media", second)
    assert [each["id"] for each in world.api.get(path, media_id=media).json] == [number]
    assert number not in [each["id"] for each in world.api.get(path, media_id=media_of(world)).json]
    assert world.api.get(path, media_id=[media, media_of(world)]).status == 400
    assert world.api.get(path, media_id=UNKNOWN_ID).status == 404
    world.api.delete(f"Media/{media}")


@rule("Types", "A media type's default annotation types are of its project: 404 where there is none, else 400.")
def test_default_annotation_types(world: World):
    for name, dtype in (("default_box", "box"), ("default_line", "line"), ("default_dot", "dot")):
        kind = make(world, "localization", dtype=dtype)
        path = f"MediaType/{make(world, 'media')}"
        assert world.api.patch(path, {name: kind}).status == 200
        assert world.api.get(path).json[name] == kind
        assert world.api.patch(path, {name: UNKNOWN_ID}).status == 404
        assert world.api.patch(path, {name: empty_world([]).types["localization"]}).status == 400
    kind = make(world, "state", default_localization=make(world, "localization"))
    assert one(world, "state", kind)["default_localization"] is not None


@rule("Older clients", "A colour map may be called `colorMap`.")
def test_color_maps(world: World):
    for name in ("color_map", "colorMap"):
        number = make(world, "localization", **{name: {"default": "#ff0000"}})
        assert one(world, "localization", number)["color_map"] == {"default": "#ff0000"}


@pytest.mark.parametrize("kind", KINDS)
@rule("Types", "Deleting a type deletes what is of it; the message has its id and their number.")
def test_deleting_a_type(world: World, kind):
    media_of(world)
    number = make(world, kind)
    for _ in range(3):
        thing(world, kind, number)
    before = world.numbers(kind)
    assert len(world.numbers(kind, type=number)) == 3
    said = world.api.delete(f"{KIND_TYPE[kind]}/{number}")
    assert said.status == 200
    assert str(number) in said.message
    assert "3" in said.message.replace(str(number), "")
    world.api.drain()
    assert len(world.numbers(kind)) == len(before) - 3
    listed = world.ask(kind, type=number)
    assert listed.status == 400 if kind == "file" else listed.json == []
    assert world.api.get(f"{KIND_TYPE[kind]}/{number}").status == 404


@rule("Types", "Deleting a media type takes it out of the media types of annotation types.")
def test_deleting_a_media_type(world: World):
    second = make(world, "media")
    numbers = {
        kind: make(world, kind, media_types=[world.types["media"], second]) for kind in ("localization", "state")
    }
    assert world.api.delete(f"MediaType/{second}").status == 200
    for kind, number in numbers.items():
        assert one(world, kind, number)["media"] == [world.types["media"]]
