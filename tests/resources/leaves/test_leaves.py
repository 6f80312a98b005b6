"""Leaves over HTTP: paths that follow from names and parents, and suggestions from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest


@dataclass
class Here:
    """A project with a leaf type."""

    api: Any
    project: int
    type: int
    label: str

    @property
    def many(self) -> str:
        return f"Leaves/{self.project}"

    def make(self, name: str, parent: int | None = None, **more: Any) -> int:
        return self.api.made(self.many, {"name": name, "type": self.type, "parent": parent, **more})[0]

    def one(self, number: int) -> Any:
        return self.api.get(f"Leaf/{number}").json

    def listed(self, **query: Any) -> list[Any]:
        return self.api.get(self.many, **query).json

    def paths(self) -> dict[int, tuple[str, int]]:
        """Paths without the project's label, and depths."""
        return {leaf["id"]: (leaf["path"].removeprefix(f"{self.label}."), leaf["depth"]) for leaf in self.listed()}


@pytest.fixture
def here(api, project) -> Here:
    attributes = [{"name": "alias", "dtype": "string"}, {"name": "n", "dtype": "int", "default": 1}]
    kind = api.made(f"LeafTypes/{project}", {"name": "species", "attribute_types": attributes})
    here = Here(api, project, kind, "")
    number = here.make("root")
    here.label = here.one(number)["path"].removesuffix(".root")
    api.delete(f"Leaf/{number}")
    return here


class TestCreating:
    def test_paths_follow_from_the_names_above(self, here):
        honda = here.make("Honda (Motor-Co)")
        accord = here.make("Accord", honda)
        assert here.paths() == {honda: ("Honda__Motor_Co_", 0), accord: ("Honda__Motor_Co_.Accord", 1)}
        leaf = here.one(accord)
        assert (leaf["parent"], leaf["meta"], leaf["attributes"]) == (honda, here.type, {"n": 1})
        assert here.listed()[1] == leaf

    def test_attributes_may_stand_at_base_level_and_extra_keys_do_no_harm(self, here):
        number = here.make("a", project=here.project, alias="", n=0)
        assert here.one(number)["attributes"] == {"alias": "", "n": 0}

    @pytest.mark.parametrize(
        ("bad", "status"),
        [
            ({"type": 10**9}, 400),
            ({"name": "a/b"}, 400),
            ({"name": ""}, 400),
            ({"name": "x" * 256}, 400),
            ({"parent": 10**9}, 404),
            ({"attributes": {"n": "x"}}, 400),
        ],
    )
    def test_with_one_bad_item_nothing_is_created(self, here, bad, status):
        spec = {"name": "a", "type": here.type}
        said = here.api.post(here.many, [spec, {**spec, **bad}])
        assert said.status == status
        assert status == 404 or "[1]" in said.json["message"] + said.json["details"]
        assert here.listed() == []

    def test_editors_may_not(self, here, member):
        assert member("Can Execute").post(here.many, {"name": "a", "type": here.type}).status == 403


class TestChanging:
    def test_a_new_name_is_in_all_paths_below(self, here):
        top = here.make("a")
        below = here.make("b", top)
        lowest = here.make("c", below)
        assert here.api.patch(f"Leaf/{top}", {"name": "z", "attributes": {"n": 0}}).status == 200
        assert here.paths() == {top: ("z", 0), below: ("z.b", 1), lowest: ("z.b.c", 2)}
        assert here.one(top)["attributes"]["n"] == 0

    def test_a_new_parent_takes_all_below_along(self, here):
        first, second = here.make("a"), here.make("b")
        below = here.make("c", second)
        here.api.patch(f"Leaf/{second}", {"parent": first})
        assert here.paths() == {first: ("a", 0), second: ("a.b", 1), below: ("a.b.c", 2)}
        here.api.patch(f"Leaf/{second}", {"parent": -1})
        assert here.paths() == {first: ("a", 0), second: ("b", 0), below: ("b.c", 1)}

    def test_below_its_own_child_the_two_change_places(self, here):
        top = here.make("top")
        middle = here.make("middle", top)
        child = here.make("child", middle)
        other = here.make("other", middle)
        here.api.patch(f"Leaf/{middle}", {"parent": child})
        assert here.paths() == {
            top: ("top", 0),
            child: ("top.child", 1),
            middle: ("top.child.middle", 2),
            other: ("top.child.middle.other", 3),
        }
        assert here.api.patch(f"Leaf/{middle}", {"parent": middle}).status == 400

    def test_many_below_follow_too(self, here):
        top = here.make("a")
        here.api.made(here.many, [{"name": f"n{i}", "type": here.type, "parent": top} for i in range(250)])
        here.api.patch(f"Leaf/{top}", {"name": "z"})
        assert all(path.startswith("z") for path, _ in here.paths().values())

    def test_many_are_changed_if_they_are_of_one_type(self, here):
        numbers = [here.make(name) for name in "abc"]
        assert here.api.patch(here.many, {"ids": numbers[:2], "attributes": {"n": 5}}, count=2).status == 200
        assert [leaf["attributes"]["n"] for leaf in here.listed()] == [5, 5, 1]
        assert here.api.patch(here.many, {"attributes": {"n": 6}}, count=2).status == 400
        other = here.api.made(f"LeafTypes/{here.project}", {"name": "other"})
        here.make("d", type=other)
        assert here.api.patch(here.many, {"attributes": {"n": 6}}).status == 400


class TestDeleting:
    def test_all_below_go_too(self, here):
        top, stays = here.make("a"), here.make("b")
        here.make("d", here.make("c", top))
        assert here.api.delete(f"Leaf/{top}").status == 200
        assert list(here.paths()) == [stays]
        assert here.api.get(f"Leaf/{top}").status == 404

    def test_of_many_only_the_matches_go(self, here):
        top = here.make("a")
        below = here.make("b", top)
        assert here.api.delete(here.many, {"ids": []}, count=0).status == 200
        assert here.api.delete(here.many, depth=0, count=1).status == 200
        assert list(here.paths()) == [below]


class TestAsking:
    def test_lists_and_counts_agree(self, here):
        numbers = [here.make(name) for name in "abc"]
        assert [leaf["id"] for leaf in here.api.put(here.many, {"ids": numbers[1:]}).json] == numbers[1:]
        assert here.api.put(here.many, {"ids": []}).json == []
        assert here.api.get(f"LeafCount/{here.project}", name="b").json == 1
        assert [leaf["id"] for leaf in here.listed(leaf_id=numbers[:2], start=1)] == numbers[1:2]

    def test_suggestions_are_what_fits_below_the_ancestor(self, here):
        honda = here.make("Honda", attributes={"alias": "H"})
        accord = here.make("Accord", honda, attributes={"alias": "Acc"})
        here.make("Accord Sport", accord)
        here.make("Acura")
        path = f"Leaves/Suggestion/{here.label}.Honda/{here.project}"
        assert here.api.get(path, query="acc").json == [
            {"value": "Accord Sport", "group": "Accord (Acc)", "data": {}},
            {"value": "Accord", "group": "Honda (H)", "data": {"alias": "Acc"}},
        ]
        assert [each["value"] for each in here.api.get(path, query="*o*rt").json] == ["Accord Sport"]
        assert [each["value"] for each in here.api.get(path, query="*", min_level=2).json] == ["Accord Sport"]
        assert [each["value"] for each in here.api.get(path, query="h").json] == ["Honda"]
        assert here.api.get(path).status == 400
        assert here.api.get(path, query="").status == 400
        assert here.api.get(f"Leaves/Suggestion/Nothing/{here.project}", query="a").json == []


def test_a_leaf_whose_parent_was_deleted_alone_is_renamed_where_it_is(here):
    top = here.make("top")
    middle = here.make("middle", top)
    low = here.make("low", here.make("child", middle))
    child = here.one(low)["parent"]
    assert here.api.delete(here.many, {"ids": [middle]}).status == 200
    assert here.api.patch(f"Leaf/{child}", {"name": "renamed"}).status == 200
    assert here.paths() == {
        top: ("top", 0),
        child: ("top.middle.renamed", 2),
        low: ("top.middle.renamed.low", 3),
    }
