"""Leaves: hierarchies, their paths and depths, suggestions; and Files."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.rules.rulebook import FILES, LEAVES, rule
from tests.rules.worlds import World, empty_world

UNKNOWN_ID = 999_999_999


@pytest.fixture(scope="module")
def world() -> World:
    return empty_world([{"name": "alias", "dtype": "string"}, {"name": "n", "dtype": "int", "default": 0}])


def leaf(world: World, name: str, parent: int | None = None, **more: Any) -> int:
    return world.made("leaf", {"name": name, "type": world.types["leaf"], "parent": parent, **more})[0]


def tree(world: World, top: str) -> dict[str, int]:
    """A root, two children, and a grandchild."""
    ids = {"root": leaf(world, top)}
    ids["Honda"] = leaf(world, "Honda", ids["root"], attributes={"alias": "HD"})
    ids["Ford"] = leaf(world, "Ford", ids["root"])
    ids["Accord"] = leaf(world, "Accord", ids["Honda"])
    return ids


def label(world: World) -> str:
    return world.api.get(f"Project/{world.project}").json["name"].replace(" ", "_")


@rule(
    "Leaves",
    "A path is the project's name and those of all above, blanks, `-` and brackets turned into `_`.",
    takes="name type parent",
    of=[LEAVES],
)
@rule("Leaves", "A root has depth 0.")
def test_paths(world: World):
    root = leaf(world, "My (best) cars-of", attributes={"alias": ""})
    child = leaf(world, "Accord", root)
    one = world.one("leaf", root)
    wanted = {
        "id": root,
        "project": world.project,
        "type": world.types["leaf"],
        "meta": world.types["leaf"],
        "name": "My (best) cars-of",
        "parent": None,
        "path": f"{label(world)}.My__best__cars_of",
        "attributes": {"alias": "", "n": 0},
    }
    assert {name: one[name] for name in wanted} == wanted
    one = world.one("leaf", child)
    assert (one["parent"], one["path"]) == (root, f"{label(world)}.My__best__cars_of.Accord")
    assert [world.one("leaf", number)["depth"] for number in (root, child)] == [0, 1]
    world.api.delete(f"Leaf/{root}")


@rule("Leaves", "Name and type are needed; a parent exists already and is of this project; at most 500, all or none.")
@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ({"name": None}, 400),
        ({"name": ""}, 400),
        ({"name": "x" * 256}, 400),
        ({"name": "a/b"}, 400),
        ({"type": None}, 400),
        ({"type": UNKNOWN_ID}, 400),
        ({"parent": UNKNOWN_ID}, 404),
        ({"parent": "x"}, 400),
    ],
    ids=str,
)
def test_wrong_leaves_are_refused(world: World, wrong, status):
    good = {"name": "x", "type": world.types["leaf"]}
    before = world.numbers("leaf")
    for body in ({**good, **wrong}, [good, {**good, **wrong}]):
        said = world.api.post(world.path("leaf"), body)
        assert said.status == status, said.body
    assert world.api.post(world.path("leaf"), [good] * 501).status == 400
    assert world.api.post(world.path("leaf"), []).status == 400
    assert world.numbers("leaf") == before


@rule("Leaves", "A parent of another project is 400.")
def test_a_parent_of_another_project_is_refused(world: World):
    other = empty_world([])
    strange = other.made("leaf", {"name": "x", "type": other.types["leaf"]})[0]
    said = world.api.post(world.path("leaf"), {"name": "x", "type": world.types["leaf"], "parent": strange})
    assert said.status == 400, said.body


@rule("Leaves", "Creation answers a list of ids, takes null and −1 for no parent, and attributes at base level.")
@rule("Leaves", "Names need not be unique.")
def test_creation(world: World):
    base = {"name": "Twin", "type": world.types["leaf"], "project": 77}
    numbers = world.made("leaf", [{**base, "parent": None}, {**base, "parent": -1, "n": 5}])
    assert [world.one("leaf", number)["parent"] for number in numbers] == [None, None]
    assert [world.one("leaf", number)["attributes"] for number in numbers] == [{"n": 0}, {"n": 5}]
    assert {world.one("leaf", number)["project"] for number in numbers} == {world.project}
    assert world.numbers("leaf", name="Twin") == numbers
    said = world.api.delete(world.path("leaf"), {"ids": numbers}, count=2)
    assert said.status == 200, said.body


@rule("Leaves", "A new name shows in the paths of all below; a new parent too; −1 or a root makes a root.")
def test_renaming_and_moving(world: World):
    ids = tree(world, "Cars")
    top = label(world)
    assert world.api.patch(f"Leaf/{ids['Honda']}", {"name": "H-D"}).status == 200
    assert world.one("leaf", ids["Accord"])["path"] == f"{top}.Cars.H_D.Accord"
    assert world.api.patch(f"Leaf/{ids['Honda']}", {"parent": ids["Ford"]}).status == 200
    accord = world.one("leaf", ids["Accord"])
    assert (accord["path"], accord["depth"], accord["parent"]) == (f"{top}.Cars.Ford.H_D.Accord", 3, ids["Honda"])
    assert world.numbers("leaf", depth=3) == [ids["Accord"]]
    assert world.api.patch(f"Leaf/{ids['Honda']}", {"parent": -1}).status == 200
    assert world.one("leaf", ids["Honda"])["parent"] is None
    assert world.one("leaf", ids["Accord"])["path"] == f"{top}.H_D.Accord"
    assert world.numbers("leaf", ancestor=f"{top}.H_D") == [ids["Honda"], ids["Accord"]]
    for wrong in ({"name": ""}, {"name": "a/b"}, {"parent": ids["Honda"]}, {"parent": -2}):
        assert world.api.patch(f"Leaf/{ids['Honda']}", wrong).status == 400, wrong
    assert world.api.patch(f"Leaf/{ids['Honda']}", {"parent": UNKNOWN_ID}).status == 404
    for number in (ids["Honda"], ids["root"]):
        assert world.api.delete(f"Leaf/{number}").status == 200


@rule("Leaves", "A leaf moved below one of its own descendants changes places with it.")
def test_moving_below_oneself(world: World):
    ids = tree(world, "Cars")
    assert world.api.patch(f"Leaf/{ids['Honda']}", {"parent": ids["Accord"]}).status == 200
    accord, honda = (world.one("leaf", ids[name]) for name in ("Accord", "Honda"))
    assert (accord["parent"], honda["parent"]) == (ids["root"], ids["Accord"])
    assert honda["path"] == f"{label(world)}.Cars.Accord.Honda"
    assert world.api.delete(f"Leaf/{ids['root']}").status == 200


@rule("Leaves", "Deleting one deletes all below; deleting by a list only what matches.")
def test_deletion(world: World):
    ids = tree(world, "Cars")
    assert world.api.delete(f"Leaf/{ids['Honda']}").status == 200
    assert world.numbers("leaf") == [ids["root"], ids["Ford"]]
    assert world.api.delete(world.path("leaf"), {"ids": [ids["root"]]}, count=1).status == 200
    assert world.numbers("leaf") == [ids["Ford"]]
    for said in (
        world.api.get(f"Leaf/{ids['Accord']}"),
        world.api.patch(f"Leaf/{ids['Accord']}", {"name": "x"}),
        world.api.delete(f"Leaf/{ids['Accord']}"),
    ):
        assert said.status == 404
    assert world.api.delete(world.path("leaf"), {"ids": []}, count=0).status == 200
    assert world.numbers("leaf") == [ids["Ford"]]
    assert world.api.delete(f"Leaf/{ids['Ford']}").status == 200


@rule(
    "Leaves",
    "Suggestions are leaves at or below an ancestor's path whose name begins as asked, whatever the case.",
    takes="query",
    of=[LEAVES],
)
@rule(
    "Leaves",
    "`min_level`, once `minLevel`, counts levels below the ancestor; 1 is everything.",
    takes="min_level",
    of=[LEAVES],
)
@rule("Leaves", "A suggestion's group is its parent's name, with its alias; its own alias is in its data.")
def test_suggestions(world: World):
    ids = tree(world, "Cars")
    leaf(world, "Hornet", ids["Ford"])
    top = label(world)

    def suggested(query: str, ancestor: str = f"{top}.Cars", **more: Any) -> list[str]:
        said = world.api.get(f"Leaves/Suggestion/{ancestor}/{world.project}", query=query, **more)
        assert said.status == 200, said.body
        return [each["value"] for each in said.json]

    assert sorted(suggested("h")) == ["Honda", "Hornet"]
    assert suggested("HORN") == ["Hornet"]
    assert suggested("acc") == ["Accord"]
    assert suggested("*d") == suggested("*D") != []
    assert sorted(suggested("*o*")) == ["Accord", "Ford", "Honda", "Hornet"]
    assert suggested("H*r*t") == ["Hornet"]
    assert suggested("o") == []
    assert suggested("ca") == ["Cars"]
    assert suggested("ca", min_level=2) == []
    assert sorted(suggested("h", min_level=2)) == sorted(suggested("h", minLevel=2)) == ["Hornet"]
    assert suggested("h", ancestor=f"{top}.Cars.Honda") == ["Honda"]
    assert suggested("h", ancestor="Nowhere") == []
    said = world.api.get(f"Leaves/Suggestion/{top}.Cars/{world.project}", query="accord")
    assert said.json == [{"value": "Accord", "group": "Honda (HD)", "data": {}}]
    said = world.api.get(f"Leaves/Suggestion/{top}.Cars/{world.project}", query="honda")
    assert said.json == [{"value": "Honda", "group": "Cars", "data": {"alias": "HD"}}]
    for wrong in ({}, {"query": ""}):
        assert world.api.get(f"Leaves/Suggestion/{top}.Cars/{world.project}", **wrong).status == 400
    assert world.api.delete(f"Leaf/{ids['root']}").status == 200


def file(world: World, **more: Any) -> int:
    return world.made("file", {"name": "f", "description": "d", "type": world.types["file"], **more})


@rule(
    "Files",
    "Name, description and a type of this project are needed; the type may be called `meta`.",
    takes="name description type",
    of=[FILES],
)
def test_files_are_made(world: World):
    element = str(uuid.uuid4())
    number = file(world, elemental_id=element, attributes={"alias": "x"})
    one = world.one("file", number)
    wanted = {
        "id": number,
        "project": world.project,
        "type": world.types["file"],
        "meta": world.types["file"],
        "name": "f",
        "description": "d",
        "path": "",
        "attributes": {"alias": "x", "n": 0},
        "elemental_id": element,
        "created_by": world.api.user.id,
        "modified_by": world.api.user.id,
    }
    assert {name: one[name] for name in wanted} == wanted
    meta = world.made("file", {"name": "g", "description": "", "meta": world.types["file"]})
    assert world.one("file", meta)["type"] == world.types["file"]
    good = {"name": "f", "description": "d", "type": world.types["file"]}
    for wrong in (
        {"name": None},
        {"description": None},
        {"type": None},
        {"type": UNKNOWN_ID},
        {"type": world.types["leaf"] + 7777},
        {"elemental_id": "x"},
        {"name": ""},
    ):
        given = {key: value for key, value in {**good, **wrong}.items() if value is not None}
        assert world.api.post(world.path("file"), given).status == 400, wrong


@rule(
    "Files",
    "A change is of what is given; `path` is a key of this file.",
    takes="path elemental_id",
    of=[FILES],
)
@rule("Files", "`user_elemental_id` names another author.", takes="user_elemental_id", of=[FILES])
def test_files_are_changed(world: World):
    number = file(world)
    before = world.one("file", number)
    assert world.api.patch(f"File/{number}", {"name": "new"}).status == 200
    after = world.one("file", number)
    assert (after["name"], after["description"]) == ("new", "d")
    assert after["modified_datetime"] > before["modified_datetime"]
    assert after["created_datetime"] == before["created_datetime"]
    assert world.api.patch(f"File/{number}", {"description": ""}).status == 200
    assert world.one("file", number)["description"] == ""
    for key in ("x", f"{world.organization}/{world.project}/files/{number + 1}/x", "../x"):
        said = world.api.patch(f"File/{number}", {"path": key})
        assert said.status == 403, said.body
    element = str(uuid.uuid4())
    assert world.api.patch(f"File/{number}", {"elemental_id": element}).status == 200
    assert world.numbers("file", elemental_id=element) == [number]
    assert world.api.patch(f"File/{number}", {"user_elemental_id": str(uuid.uuid4())}).status == 404
    assert world.api.delete(f"File/{number}").status == 200
    for said in (world.api.get(f"File/{number}"), world.api.patch(f"File/{number}", {"name": "x"})):
        assert said.status == 404


@rule("Files", "A project without types of files has an empty list of them.")
def test_a_project_without_file_types(world: World):
    other = empty_world([])
    for kind in ("file", "leaf", "localization", "state", "media"):
        for types in (other.types, other.others):
            name = {"media": "MediaType", "localization": "LocalizationType", "state": "StateType"}
            path = name.get(kind, f"{kind.capitalize()}Type")
            assert other.api.delete(f"{path}/{types[kind]}").status == 200
        assert other.listed(kind) == []
        assert other.numbers(kind) == []
