"""Leaves that come back: with their subtrees, to the place that their parents have by now."""

from __future__ import annotations

import pytest

from chalicelib.resources.leaves import bulk as leaves_bulk
from chalicelib.resources.restores.leaves import RestoreLeaves
from chalicelib.settings import override
from tests.service import join, new_user


class Trees:
    """A project with a leaf type."""

    def __init__(self, api, project):
        self.api, self.project = api, project
        self.type = api.made(f"LeafTypes/{project}", {"name": "Taxon"})
        self.top = api.get(f"Project/{project}").json["name"].replace(" ", "_")

    def make(self, name, parent=-1):
        [number] = self.api.made(f"Leaves/{self.project}", [{"name": name, "type": self.type, "parent": parent}])
        return number

    def chain(self, *names):
        numbers = [-1]
        for name in names:
            numbers.append(self.make(name, numbers[-1]))
        return numbers[1:]

    def delete(self, number):
        """Delete a leaf with its subtree; the number of the last commit."""
        assert self.api.delete(f"Leaf/{number}").status == 200
        return self.api.get(f"History/{self.project}/leaf/{number}").json[-1]["change"]

    def delete_alone(self, number):
        assert self.api.delete(f"Leaves/{self.project}", {"ids": [number]}).status == 200
        return self.api.get(f"History/{self.project}/leaf/{number}").json[-1]["change"]

    def restore(self, *changes, api=None):
        return (api or self.api).post(f"Restore/{self.project}", {"changes": list(changes)})

    def paths(self):
        leaves = self.api.get(f"Leaves/{self.project}").json
        return {each["id"]: (each["path"].partition(".")[2], each["depth"]) for each in leaves}


@pytest.fixture
def trees(api, project):
    return Trees(api, project)


@pytest.mark.parametrize("rows", [97, 1])
def test_a_leaf_comes_back_with_its_subtree(trees, monkeypatch, rows):
    monkeypatch.setattr(leaves_bulk, "A_COMMIT", rows)
    top, *_ = trees.chain("Fish", "Cod", "Gadus")
    other = trees.make("Crab")
    before = trees.paths()
    change = trees.delete(top)
    assert set(trees.paths()) == {other}
    said = trees.restore(change)
    assert (said.status, said.json["restored"]) == (200, {"leaf": 3})
    assert trees.paths() == before
    assert trees.restore(change).status == 409
    entries = trees.api.get(f"History/{trees.project}/leaf/{top}").json
    assert [each["action"] for each in entries] == ["created", "deleted", "restored"]
    kinds = [each["type"] for each in trees.api.get(f"Events/{trees.project}").json["events"]]
    assert "limn.leaf.restored" in kinds


def test_only_what_one_request_deleted_comes_back(trees):
    top, middle, low = trees.chain("Fish", "Cod", "Gadus")
    earlier = trees.delete(low)
    later = trees.delete(top)
    assert trees.restore(later).json["restored"] == {"leaf": 2}
    assert set(trees.paths()) == {top, middle}
    assert trees.restore(earlier).status == 200
    assert trees.paths()[low] == ("Fish.Cod.Gadus", 2)


def test_a_leaf_without_its_parent_is_refused_unless_that_comes_with_it(trees):
    top, low = trees.chain("Fish", "Cod")
    first = trees.delete(low)
    second = trees.delete(top)
    said = trees.restore(first)
    assert (said.status, "its parent" in said.json["message"]) == (409, True)
    assert trees.restore(first, second).json["restored"] == {"leaf": 2}


def test_it_goes_where_its_parent_is_by_now(trees):
    top, middle, low = trees.chain("Fish", "Cod", "Gadus")
    home = trees.make("Animals")
    change = trees.delete_alone(middle)
    assert trees.api.patch(f"Leaf/{top}", {"parent": home, "name": "Pisces"}).status == 200
    assert trees.restore(change).status == 200
    assert trees.paths() == {
        home: ("Animals", 0),
        top: ("Animals.Pisces", 1),
        middle: ("Animals.Pisces.Cod", 2),
        low: ("Animals.Pisces.Cod.Gadus", 3),
    }


@pytest.mark.parametrize("size", [None, 1])
def test_leaves_come_back_around_one_that_stayed_between_them(trees, monkeypatch, size):
    monkeypatch.setattr(RestoreLeaves, "size", size)
    numbers = trees.chain("Animals", "Fish", "Cod", "Gadus")
    before = trees.paths()
    assert trees.api.delete(f"Leaves/{trees.project}", {"ids": [*numbers[::2], numbers[3]]}).status == 200
    change = trees.api.get(f"History/{trees.project}/leaf/{numbers[0]}").json[-1]["change"]
    assert trees.restore(change).json["restored"] == {"leaf": 3}
    assert trees.paths() == before


def test_a_leaf_whose_parent_moved_below_it_is_refused(trees):
    top, middle, low = trees.chain("Fish", "Cod", "Gadus")
    change = trees.delete_alone(middle)
    assert trees.api.patch(f"Leaf/{top}", {"parent": low}).status == 200
    said = trees.restore(change)
    assert (said.status, "below it" in said.json["message"]) == (409, True)
    assert trees.api.patch(f"Leaf/{top}", {"parent": -1}).status == 200
    assert trees.restore(change).status == 200
    assert trees.paths()[low] == ("Fish.Cod.Gadus", 2)


def test_editors_may_not(trees):
    change = trees.delete(trees.make("Fish"))
    editor = new_user()
    join(editor, trees.project, "Can Transfer")
    assert trees.restore(change, api=editor).status == 403
    assert trees.paths() == {}


def test_what_is_older_than_the_retention_is_gone(trees):
    change = trees.delete(trees.make("Fish"))
    with override(deleted_retention=0):
        assert trees.restore(change).status == 410
