"""The definitions of types' attributes: added, renamed, changed, replaced and deleted, with the values they have."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.rulebook import rule
from tests.rules.test_types import KIND_TYPE, UNKNOWN_ID, make, one, thing
from tests.rules.worlds import KINDS, World, empty_world

ALL_DTYPES = ("bool", "int", "float", "enum", "string", "datetime", "geopos", "float_array", "blob")


@pytest.fixture(scope="module")
def world() -> World:
    return empty_world([])


class Attributes:
    """A new type with one thing of it, and what is asked of its attributes."""

    def __init__(self, world: World, kind: str, *definitions: dict[str, Any]) -> None:
        self.world, self.kind = world, kind
        self.type = make(world, kind, attribute_types=list(definitions))
        self.path = f"AttributeType/{self.type}"

    def ask(self, method: str, **body: Any) -> Any:
        return self.world.api.ask(method, self.path, {"entity_type": KIND_TYPE[self.kind], **body})

    def add(self, **addition: Any) -> Any:
        return self.ask("POST", addition=addition)

    def update(self, current: str, **update: Any) -> Any:
        return self.ask("PATCH", current_name=current, attribute_type_update=update)

    @property
    def definitions(self) -> dict[str, Any]:
        return {each["name"]: each for each in one(self.world, self.kind, self.type)["attribute_types"]}

    def thing(self, **attributes: Any) -> int:
        return thing(self.world, self.kind, self.type, attributes)

    def values(self, number: int) -> Any:
        found = self.world.one(self.kind, number)["attributes"]
        return {name: value for name, value in found.items() if "user_sections" not in name}


@pytest.mark.parametrize("kind", KINDS)
@rule("Attribute types", "A new attribute has its defaults; existing entities get its default value, if it has one.")
def test_adding(world: World, kind):
    here = Attributes(world, kind)
    number = here.thing()
    assert here.add(name="plain", dtype="string").status == 201
    wanted = {"name": "plain", "dtype": "string", "description": "", "required": False, "order": 0}
    assert {name: here.definitions["plain"][name] for name in wanted} == wanted
    assert here.values(number) == {}
    for name, dtype, value in (
        ("zero", "int", 0),
        ("off", "bool", False),
        ("none", "string", ""),
        ("at", "geopos", [1, 2]),
    ):
        assert here.add(name=name, dtype=dtype, default=value).status == 201
    assert here.values(number) == {"zero": 0, "off": False, "none": "", "at": [1.0, 2.0]}
    assert world.numbers(kind, attribute="zero::0", type=here.type) == [number]


@rule("Attribute types", "An addition that is wrong is 400 and says why.")
@pytest.mark.parametrize(
    ("addition", "says"),
    [
        ({"dtype": "int"}, "name"),
        ({"name": "x"}, "dtype"),
        ({"name": "$x", "dtype": "int"}, "not valid"),
        ({"name": "a/b", "dtype": "int"}, "not valid"),
        ({"name": "a.b", "dtype": "int"}, "not valid"),
        ({"name": "", "dtype": "int"}, ""),
        ({"name": "there", "dtype": "int"}, "is already an attribute."),
        ({"name": "x", "dtype": "enum"}, "enum attribute type definition missing 'choices' field"),
        ({"name": "x", "dtype": "float_array"}, "size"),
        ({"name": "x", "dtype": "float_array", "size": 0}, "size"),
        ({"name": "x", "dtype": "float_array", "size": 2001}, "size"),
        ({"name": "x", "dtype": "int", "default": "many"}, ""),
        ({"name": "x", "dtype": "int", "default": 11, "maximum": 10}, ""),
        ({"name": "x", "dtype": "enum", "choices": ["a"], "default": "b"}, ""),
        ({"name": "x", "dtype": "bool", "default": 1}, ""),
        ({"name": "x", "dtype": "geopos", "default": [0, 91]}, ""),
        ({"name": "x", "dtype": "datetime", "default": "no date"}, ""),
    ],
    ids=str,
)
def test_wrong_additions_are_refused(world: World, addition, says):
    here = Attributes(world, "leaf", {"name": "there", "dtype": "int"})
    said = here.ask("POST", addition=addition)
    assert said.status == 400, said.body
    assert says in said.message + said.json["details"]
    assert list(here.definitions) == ["there"]


@rule("Attribute types", "An unknown dtype is 400 in words that the newest client looks for.")
def test_an_unknown_dtype(world: World):
    here = Attributes(world, "leaf", {"name": "n", "dtype": "int"})
    for said in (here.add(name="x", dtype="colour"), here.update("n", name="n", dtype="colour")):
        assert said.status == 400
        assert "Input should be" in said.body.decode()
        assert "literal_error" in said.body.decode()


@rule("Attribute types", "The type must be there, and of the kind that `entity_type` says.")
def test_whose_attributes(world: World):
    here = Attributes(world, "leaf")
    addition = {"name": "x", "dtype": "int"}
    assert (
        world.api.post(f"AttributeType/{UNKNOWN_ID}", {"entity_type": "LeafType", "addition": addition}).status == 404
    )
    assert world.api.post(here.path, {"entity_type": "PlantType", "addition": addition}).status == 400
    assert world.api.post(here.path, {"addition": addition}).status == 400


@pytest.mark.parametrize("kind", KINDS)
@rule("Attribute types", "Renamed, it is renamed in everything that has it; every question knows the new name only.")
def test_renaming(world: World, kind):
    here = Attributes(world, kind, {"name": "n", "dtype": "int"}, {"name": "s", "dtype": "string"})
    number, bare = here.thing(n=0, s="x"), here.thing()
    assert here.update("n", name="m").status == 200
    assert (here.values(number), here.values(bare)) == ({"m": 0, "s": "x"}, {})
    assert here.definitions["m"]["dtype"] == "int"
    assert world.numbers(kind, attribute="m::0", type=here.type) == [number]
    world.refuses(kind, attribute="n::0", type=here.type)
    assert here.update("nowhere", name="x").status == 400
    for wrong in ("s", "$x", "a/b"):
        assert here.update("m", name=wrong).status == 400, wrong
    assert list(here.definitions) == ["m", "s"]
    assert here.update("m", name="m").status == 200


@rule("Attribute types", "The dtype can change between int and float, and between enum and string; values follow.")
@pytest.mark.parametrize("old", ALL_DTYPES)
@pytest.mark.parametrize("new", ALL_DTYPES)
def test_changing_dtypes(world: World, old, new):
    more = {"enum": {"choices": ["a", "b"]}, "float_array": {"size": 2}}
    values = {"int": 3, "float": 3.0, "enum": "a", "string": "a", "bool": True, "datetime": "2020-01-02T00:00:00"}
    here = Attributes(world, "leaf", {"name": "x", "dtype": old, **more.get(old, {})})
    number = here.thing(**({"x": values[old]} if old in values else {}))
    before = here.definitions
    said = here.update("x", name="y", dtype=new, **more.get(new, {}))
    allowed = old == new or {old, new} in ({"int", "float"}, {"enum", "string"})
    assert said.status == (200 if allowed else 400), said.body
    if allowed:
        assert here.definitions["y"]["dtype"] == new
        assert here.values(number) == ({"y": values[new]} if old in values else {})
        if old in values:
            assert type(here.values(number)["y"]) is type(values[new])
    else:
        assert here.definitions == before
        assert here.values(number) == ({"x": values[old]} if old in values else {})


@rule("Attribute types", "A PATCH merges what it gives into the definition; a PUT replaces it whole.")
@rule("Attribute types", "What changes more than the name says the dtype, and is checked as an addition is.")
def test_merging_and_replacing(world: World):
    here = Attributes(world, "state", {"name": "n", "dtype": "int", "minimum": 0, "maximum": 9, "description": "d"})
    assert here.update("n", name="n", dtype="int", maximum=5).status == 200
    wanted = {"minimum": 0, "maximum": 5, "description": "d"}
    assert {name: here.definitions["n"][name] for name in wanted} == wanted
    assert here.update("n", name="n", maximum=7).status == 400
    assert here.update("n", dtype="int", maximum=6).status == 200  # the name is kept
    assert here.definitions["n"]["maximum"] == 6
    assert here.update("n", name="n", dtype="int", default="x").status == 400
    assert here.update("n", name="n", dtype="enum").status == 400
    update = {"name": "m", "dtype": "int", "order": -1, "style": "disabled"}
    said = here.ask("PUT", current_name="n", attribute_type_update=update)
    assert said.status == 200, said.body
    definition = here.definitions["m"]
    assert (definition["order"], definition["style"]) == (-1, "disabled")
    assert [definition.get(name) for name in ("minimum", "maximum", "default")] == [None, None, None]
    assert definition.get("description", "") == ""


@rule("Attribute types", "Deletion removes it from the type and from all entities; an unknown one is 400.")
@pytest.mark.parametrize("kind", KINDS)
def test_deleting(world: World, kind):
    here = Attributes(world, kind, {"name": "n", "dtype": "int"}, {"name": "s", "dtype": "string"})
    number = here.thing(n=1, s="x")
    assert here.ask("DELETE", name="n").status == 200
    assert (list(here.definitions), here.values(number)) == (["s"], {"s": "x"})
    world.refuses(kind, attribute="n::1", type=here.type)
    assert here.ask("DELETE", name="n").status == 400
    assert here.ask("DELETE", attribute_to_delete="s").status == 200
    assert here.values(number) == {}
    assert here.add(name="n", dtype="string").status == 201
    assert here.values(number) == {}


@rule("Older clients", "Renaming takes the older names; `global` `true` is for every type that has the attribute.")
def test_the_older_words(world: World):
    here, other = (Attributes(world, "media", {"name": "shared", "dtype": "int"}) for _ in range(2))
    number = other.thing(shared=3)

    def rename(old: str, **new: Any) -> Any:
        more = {name: new.pop(name) for name in ("global",) if name in new}
        return here.ask("PATCH", old_attribute_type_name=old, new_attribute_type=new, **more)

    said = rename("shared", name="mine", dtype="int")
    assert said.status == 200, said.body
    assert (list(here.definitions), list(other.definitions)) == (["mine"], ["shared"])
    assert rename("mine", name="shared", dtype="int", **{"global": "false"}).status == 200
    assert rename("shared", name="shared", dtype="float", **{"global": "true"}).status == 200
    assert [each.definitions["shared"]["dtype"] for each in (here, other)] == ["float", "float"]
    assert other.values(number) == {"shared": 3.0}


@rule("Attribute types", "Every member of a definition comes back as it was given.")
@pytest.mark.parametrize(
    "definition",
    [
        {"dtype": "int", "minimum": -1, "maximum": 0, "default": 0, "order": -5, "visible": False},
        {"dtype": "float", "minimum": 0, "maximum": 0.5},
        {"dtype": "enum", "choices": ["a", ""], "labels": ["A", "none"], "default": ""},
        {"dtype": "string", "style": "long_string disabled", "autocomplete": {"serviceUrl": "/x", "match_any": True}},
        {"dtype": "datetime", "use_current": True},
        {"dtype": "float_array", "size": 2000},
        {"dtype": "blob", "description": "d", "required": True},
        {"dtype": "bool", "default": False, "required": False},
        {"dtype": "geopos", "default": [0.0, 0.0]},
    ],
    ids=lambda definition: definition["dtype"],
)
def test_definitions_come_back(world: World, definition):
    given = {"name": "x", **definition}
    for here in (Attributes(world, "localization", given), Attributes(world, "localization")):
        if not here.definitions:
            assert here.add(**given).status == 201
        found = here.definitions["x"]
        if "autocomplete" in given:
            assert given["autocomplete"].items() <= found["autocomplete"].items()
            given = {name: value for name, value in given.items() if name != "autocomplete"}
        assert {name: found[name] for name in given} == given
