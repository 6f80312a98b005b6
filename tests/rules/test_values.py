"""Attribute values: what each dtype takes and keeps, what is filled in, merged, reset and set to null."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.rules.rulebook import EVERY, rule
from tests.rules.worlds import KINDS, ONE, World, empty_world, encoded, term

DEFINITIONS: list[dict[str, Any]] = [
    {"name": "bool", "dtype": "bool"},
    {"name": "int", "dtype": "int"},
    {"name": "bounded", "dtype": "int", "minimum": 0, "maximum": 10},
    {"name": "float", "dtype": "float"},
    {"name": "range", "dtype": "float", "minimum": -0.5, "maximum": 1.5},
    {"name": "enum", "dtype": "enum", "choices": ["a", "B b"]},
    {"name": "string", "dtype": "string"},
    {"name": "blob", "dtype": "blob"},
    {"name": "datetime", "dtype": "datetime"},
    {"name": "geopos", "dtype": "geopos"},
    {"name": "float_array", "dtype": "float_array", "size": 3},
    {"name": "now", "dtype": "datetime", "use_current": True},
    {"name": "with default", "dtype": "int", "default": 7},
    {"name": "off", "dtype": "bool", "default": False},
    {"name": "empty", "dtype": "string", "default": ""},
    {"name": "there", "dtype": "geopos", "default": [8, 48]},
]
ODD_NAME = "a-b > c < d % & : # ; ( ) , @ _ \N{LATIN SMALL LETTER U WITH DIAERESIS}"
REFUSED = "refused"
LONG = "\N{SNOWMAN}\"\\'\n\t" * 1500
CONVERSIONS: list[tuple[str, Any, Any]] = [
    ("bool", True, True),
    ("bool", False, False),
    ("bool", "TRUE", True),
    ("bool", "false", False),
    ("bool", "yes", REFUSED),
    ("bool", "", REFUSED),
    ("bool", 1, REFUSED),
    ("bool", 0, REFUSED),
    ("int", 0, 0),
    ("int", -3, -3),
    ("int", 3.7, 3),
    ("int", -3.7, -3),
    ("int", "12", 12),
    ("int", "-12", -12),
    ("int", True, 1),
    ("int", False, 0),
    ("int", "1.5", REFUSED),
    ("int", "x", REFUSED),
    ("int", "", REFUSED),
    ("int", [1], REFUSED),
    ("bounded", 0, 0),
    ("bounded", 10, 10),
    ("bounded", "10", 10),
    ("bounded", 10.9, 10),
    ("bounded", -1, REFUSED),
    ("bounded", 11, REFUSED),
    ("float", 0, 0.0),
    ("float", 3, 3.0),
    ("float", 0.1, 0.1),
    ("float", "2.5", 2.5),
    ("float", "-1e3", -1000.0),
    ("float", "x", REFUSED),
    ("float", "", REFUSED),
    ("float", "nan", REFUSED),
    ("float", [0.5], REFUSED),
    ("range", -0.5, -0.5),
    ("range", 1.5, 1.5),
    ("range", 1.51, REFUSED),
    ("range", "-0.6", REFUSED),
    ("enum", "a", "a"),
    ("enum", "B b", "B b"),
    ("enum", "b b", REFUSED),
    ("enum", "", REFUSED),
    ("enum", 1, REFUSED),
    *((dtype, value, value) for dtype in ("string", "blob") for value in ("x", "", 5, 0, 0.5, True, False)),
    *((dtype, value, value) for dtype in ("string", "blob") for value in (LONG, " x ", [1, 2.5], ["a", "b"])),
    ("datetime", "2020-01-02T03:04:05", "2020-01-02T03:04:05"),
    ("datetime", "2020-01-02T03:04:05Z", "2020-01-02T03:04:05+00:00"),
    ("datetime", "2020-01-02T03:04:05+02:00", "2020-01-02T03:04:05+02:00"),
    ("datetime", "2020-01-02T03:04:05.678901", "2020-01-02T03:04:05.678901"),
    ("datetime", "2020-01-02", "2020-01-02T00:00:00"),
    ("datetime", "2020-01-02 03:04", "2020-01-02T03:04:00"),
    ("datetime", "no date", REFUSED),
    ("datetime", "", REFUSED),
    ("datetime", 5, REFUSED),
    ("geopos", [8, 48], [8.0, 48.0]),
    ("geopos", [-180, -90], [-180.0, -90.0]),
    ("geopos", [180, 90.0], [180.0, 90.0]),
    ("geopos", [0, 0], [0.0, 0.0]),
    ("geopos", "48_8", [8.0, 48.0]),
    ("geopos", "-48.5_-120.25", [-120.25, -48.5]),
    ("geopos", [8], REFUSED),
    ("geopos", [8, 48, 1], REFUSED),
    ("geopos", [8, 90.1], REFUSED),
    ("geopos", [180.1, 0], REFUSED),
    ("geopos", "120_8", REFUSED),
    ("geopos", "48", REFUSED),
    ("geopos", "x_y", REFUSED),
    ("geopos", ["x", "y"], REFUSED),
    ("geopos", 8, REFUSED),
    ("float_array", [1, 2.5, 3], [1.0, 2.5, 3.0]),
    ("float_array", ["1", "2.5"], [1.0, 2.5]),
    ("float_array", [1, 2, 3, 4], [1.0, 2.0, 3.0, 4.0]),
    ("float_array", ["x"], REFUSED),
    ("float_array", "1", REFUSED),
    ("float_array", 1, REFUSED),
    *(
        (each["name"], value, REFUSED)
        for each in DEFINITIONS[:11]
        for value in (None, {}, [[1, 2]], ["a", 1], {"a": 1})
    ),
]


@pytest.fixture(scope="module")
def world() -> World:
    made = empty_world([*DEFINITIONS, {"name": ODD_NAME, "dtype": "string"}])
    made.ids["media"] = {"A": made.media("A")}
    made.ids["localization"] = {"A": made.box(made.ids["media"]["A"])}
    made.ids["state"] = {"A": made.state([made.ids["media"]["A"]])}
    made.ids["leaf"] = {"A": made.made("leaf", {"name": "A", "type": made.types["leaf"]})[0]}
    made.ids["file"] = {"A": made.made("file", {"name": "A", "type": made.types["file"], "description": ""})}
    return made


def spec(world: World, kind: str, attributes: Any) -> dict[str, Any]:
    more: dict[str, dict[str, Any]] = {
        "media": {"name": "x", "md5": ""},
        "localization": {"media_id": world.ids["media"]["A"], "frame": 0},
        "state": {"media_ids": [world.ids["media"]["A"]]},
        "leaf": {"name": "x"},
        "file": {"name": "x", "description": ""},
    }
    return {"type": world.types[kind], "attributes": attributes, **more[kind]}


def create(world: World, kind: str, attributes: Any) -> int:
    made = world.made(kind, spec(world, kind, attributes))
    return made[0] if isinstance(made, list) else made


def change(world: World, kind: str, **body: Any) -> Any:
    """PATCH thing A; the attributes that it has then."""
    path = f"{ONE[kind]}/{world.ids[kind]['A']}"
    said = world.api.patch(path, body)
    assert said.status == 200, said.body
    return world.one(kind, world.ids[kind]["A"])["attributes"]


def same(value: Any, other: Any) -> bool:
    return bool(value == other) and type(value) is type(other)


@rule(
    "Values",
    "Each dtype takes and keeps what can be made into it; the rest is 400 that names the attribute.",
    takes="attributes",
    of=EVERY,
)
@rule("Values", "Bounds are inclusive; texts and blobs are kept as they come, byte for byte.")
@rule("Values", "null, objects and arrays that are mixed or nested are no values of anything.")
@pytest.mark.parametrize(
    ("place", "name", "given", "kept"),
    [pytest.param(place, *row, id=f"{row[0]} {row[1]!r}"[:60]) for place, row in enumerate(CONVERSIONS)],
)
def test_conversion(world: World, place, name, given, kept):
    for kind in {"localization", KINDS[place % len(KINDS)]}:  # each row of one other kind: the next test is of all
        path = f"{ONE[kind]}/{world.ids[kind]['A']}"
        if kept is REFUSED:
            for said in (
                world.api.post(world.path(kind), spec(world, kind, {name: given})),
                world.api.patch(path, {"attributes": {name: given}}),
            ):
                assert said.status == 400, said.body
                assert name in said.message + said.json["details"]
        else:
            made = create(world, kind, {name: given})
            assert same(world.one(kind, made)["attributes"][name], kept)
            assert same(change(world, kind, attributes={name: given})[name], kept)


@rule("Values", "Values of all kinds of entities are converted alike, and lists show them as single reads do.")
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_converts_alike(world: World, kind):
    rows = [row for row in CONVERSIONS if row[2] is not REFUSED]
    for nth in range(3):
        chosen = {name: [row for row in rows if row[0] == name] for name, _, _ in rows}
        picked = [found[nth * 2 % len(found)] for found in chosen.values()]
        given, kept = ({row[0]: row[at] for row in picked} for at in (1, 2))
        made = create(world, kind, given)
        [listed] = world.listed(kind, encoded_search=encoded(term("$id", "eq", made)))
        for found in (world.one(kind, made)["attributes"], listed["attributes"], change(world, kind, attributes=given)):
            assert {name: found[name] for name in kept} == kept


@pytest.mark.parametrize("kind", KINDS)
@rule("Values", "At creation what is not given is now, by `use_current`, or the default, or absent.")
@rule("Values", "At creation unknown names are refused; the service's own, which clones send back, are dropped.")
def test_creation_fills_in(world: World, kind):
    before = datetime.now(UTC)
    attributes = world.one(kind, create(world, kind, {"int": 3, "_tator_x": "y"}))["attributes"]
    moment = datetime.fromisoformat(attributes.pop("now"))
    assert before - timedelta(seconds=1) <= moment <= datetime.now(UTC)
    for tag in ("tator_user_sections", "svc_user_sections"):
        attributes.pop(tag, None)
    assert attributes == {"int": 3, "with default": 7, "off": False, "empty": "", "there": [8.0, 48.0]}
    given = {"now": "2020-01-01T00:00:00", "with default": 0, "off": True, "empty": "x", "there": "1_2"}
    attributes = world.one(kind, create(world, kind, given))["attributes"]
    assert {name: attributes[name] for name in given} == given | {"there": [2.0, 1.0]}


@pytest.mark.parametrize("kind", KINDS)
@rule("Values", "A PATCH of `attributes` merges them key by key; an unknown name is 400 and changes nothing.")
def test_changes_merge(world: World, kind):
    change(world, kind, attributes={"int": 1, "string": "kept"})
    assert change(world, kind, attributes={"int": 0})["string"] == "kept"
    path = f"{ONE[kind]}/{world.ids[kind]['A']}"
    said = world.api.patch(path, {"attributes": {"int": 5, "unknown": 5}})
    assert (said.status, "unknown" in said.message) == (400, True)
    assert world.one(kind, world.ids[kind]["A"])["attributes"]["int"] == 0
    assert change(world, kind, attributes={})["int"] == 0


@pytest.mark.parametrize("kind", KINDS)
@rule("Values", "`reset_attributes` sets to the default, or null without one.", takes="reset_attributes", of=EVERY)
@rule(
    "Values",
    "`null_attributes` sets to null, a geopos too, which distance then does not find.",
    takes="null_attributes",
    of=EVERY,
)
@rule("Values", "First `attributes` count, then `reset_attributes`, then `null_attributes`; unknown names are 400.")
def test_reset_and_null(world: World, kind):
    given = {"int": 1, "with default": 1, "off": True, "there": [1, 1], "geopos": [1, 1], "string": "x", "enum": "a"}
    change(world, kind, attributes=given)
    after = change(world, kind, reset_attributes=["int", "with default", "off", "there"])
    assert [after[name] for name in ("int", "with default", "off", "there")] == [None, 7, False, [8.0, 48.0]]
    assert after["string"] == "x"
    after = change(world, kind, null_attributes=["string", "enum", "geopos", "with default"])
    assert [after[name] for name in ("string", "enum", "geopos", "with default")] == [None, None, None, None]
    after = change(
        world,
        kind,
        attributes={"with default": 1, "off": True, "string": "y"},
        reset_attributes=["with default", "off"],
        null_attributes=["with default"],
    )
    assert [after[name] for name in ("with default", "off", "string")] == [None, False, "y"]
    path = f"{ONE[kind]}/{world.ids[kind]['A']}"
    for member in ("reset_attributes", "null_attributes"):
        said = world.api.patch(path, {member: ["unknown"], "attributes": {"string": "lost"}})
        assert (said.status, "unknown" in said.message) == (400, True)
    assert world.one(kind, world.ids[kind]["A"])["attributes"]["string"] == "y"


@pytest.mark.parametrize("kind", KINDS[:4])
@rule("Values", "Bulk changes convert, merge, reset and refuse as single ones do.")
def test_bulk_changes_of_values(world: World, kind):
    numbers = [create(world, kind, {"string": text}) for text in "ab"]
    path = world.path(kind)
    body = {"ids": numbers, "attributes": {"int": "5", "off": True}, "reset_attributes": ["off"]}
    said = world.api.patch(path, body | {"null_attributes": ["geopos"]}, count=2)
    assert said.status == 200, said.body
    for number, text in zip(numbers, "ab", strict=True):
        found = world.one(kind, number)["attributes"]
        wanted = {"int": 5, "off": False, "geopos": None, "string": text}
        assert {name: found[name] for name in wanted} == wanted
    for wrong in ({"attributes": {"unknown": 1}}, {"attributes": {"bounded": 11}}, {"null_attributes": ["unknown"]}):
        assert world.api.patch(path, {"ids": numbers, **wrong}).status == 400
    other = world.others[kind]
    strange = world.made(kind, spec(world, kind, {}) | {"type": other})
    mixed = [*numbers, strange[0] if isinstance(strange, list) else strange]
    said = world.api.patch(path, {"ids": mixed, "attributes": {"n": 1}})
    assert said.status == 400, said.body


@pytest.mark.parametrize("kind", KINDS)
@rule("Values", "Names may have blanks and marks; they work in creation, change, search and order.")
def test_odd_names(world: World, kind):
    made = create(world, kind, {ODD_NAME: "odd"})
    assert change(world, kind, attributes={ODD_NAME: "other"})[ODD_NAME] == "other"
    body = {"attribute": ODD_NAME, "operation": "eq", "value": "odd"}
    assert [each["id"] for each in world.listed(kind, encoded_search=encoded(body))] == [made]


@rule("Values", "What is required and neither given nor filled in is 400 that names it; a change does not ask again.")
def test_required():
    world = empty_world(
        [
            {"name": "must", "dtype": "string", "required": True},
            {"name": "filled", "dtype": "int", "required": True, "default": 0},
            {"name": "timed", "dtype": "datetime", "required": True, "use_current": True},
        ]
    )
    world.ids["media"] = {"A": world.media("A", attributes={"must": ""})}
    for kind in KINDS:
        said = world.api.post(world.path(kind), spec(world, kind, {"filled": 1}))
        assert (said.status, "must" in said.message) == (400, True)
        made = create(world, kind, {"must": ""})
        assert world.one(kind, made)["attributes"]["must"] == ""
        assert world.api.patch(f"{ONE[kind]}/{made}", {"null_attributes": ["must"]}).status == 200
        assert world.one(kind, made)["attributes"]["must"] is None


@rule("Values", "Of both names of the tag, the value counts that is new; two new values are 400.")
def test_both_names_of_the_tag(world: World):
    made = create(world, "media", {"tator_user_sections": "a", "svc_user_sections": "a"})
    path = f"Media/{made}"
    for new in ({"svc_user_sections": "b"}, {"tator_user_sections": "c"}):
        attributes = world.one("media", made)["attributes"]
        assert world.api.patch(path, {"attributes": attributes | new}).status == 200
        after = world.one("media", made)["attributes"]
        assert set(new.values()) == {after["tator_user_sections"], after["svc_user_sections"]}
    two = {"tator_user_sections": "d", "svc_user_sections": "e"}
    for said in (
        world.api.patch(path, {"attributes": two}),
        world.api.post(world.path("media"), spec(world, "media", two)),
    ):
        assert (said.status, "svc_user_sections" in said.message) == (400, True)
    assert world.one("media", made)["attributes"]["tator_user_sections"] == "c"
    assert world.api.delete(path).status == 200


@rule("Values", "`tator_user_sections`, or `svc_user_sections`, is an attribute that every media may have.")
@pytest.mark.parametrize("tag", ["tator_user_sections", "svc_user_sections"])
def test_the_tag_of_media(world: World, tag):
    made = create(world, "media", {tag: "a tag"})
    attributes = world.one("media", made)["attributes"]
    assert attributes["tator_user_sections"] == attributes["svc_user_sections"] == "a tag"
    assert world.numbers("media", attribute=f"{tag}::a tag") == [made]
    assert world.api.patch(f"Media/{made}", {"attributes": {tag: "another"}}).status == 200
    assert world.numbers("media", attribute=f"{tag}::a tag") == []
    assert world.api.patch(f"Media/{made}", {"null_attributes": [tag]}).status == 200
    assert world.one("media", made)["attributes"]["tator_user_sections"] == ""
    for said in (
        answer
        for value in (5, None)
        for answer in (
            world.api.post(world.path("media"), spec(world, "media", {tag: value})),
            world.api.patch(f"Media/{made}", {"attributes": {tag: value}}),
        )
    ):
        assert (said.status, "tator_user_sections" in said.message) == (400, True)
    assert world.api.delete(f"Media/{made}").status == 200
