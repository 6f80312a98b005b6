"""Leaves that are named, moved, made and deleted at the same time: the paths follow from the names all the same."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

pytestmark = pytest.mark.slow

ROUNDS = [pytest.param(6), pytest.param(100, marks=pytest.mark.nightly)]


class Tree:
    """The leaves of a project."""

    def __init__(self, api, project):
        self.api, self.project = api, project
        self.type = api.made(f"LeafTypes/{project}", {"name": "leaf"})

    def make(self, name, parent=None):
        return self.api.made(f"Leaves/{self.project}", {"name": name, "type": self.type, "parent": parent})[0]

    def check(self):
        leaves = {leaf["id"]: leaf for leaf in self.api.get(f"Leaves/{self.project}").json}
        for leaf in leaves.values():
            if leaf["parent"] is not None:
                above = leaves[leaf["parent"]]
                assert (leaf["path"], leaf["depth"]) == (f"{above['path']}.{leaf['name']}", above["depth"] + 1)


def at_once(*asks):
    ready = threading.Barrier(len(asks))

    def run(ask):
        ready.wait()
        return ask().status

    with ThreadPoolExecutor(len(asks)) as pool:
        return list(pool.map(run, asks))


@pytest.fixture
def tree(api, project):
    return Tree(api, project)


@pytest.mark.parametrize("rounds", ROUNDS)
def test_names_and_children_given_at_once(tree, rounds):
    for turn in range(rounds):
        top = tree.make("top")
        middle = tree.make("middle", top)
        below = tree.make("below", middle)
        many, api = f"Leaves/{tree.project}", tree.api
        said = at_once(
            lambda: api.patch(f"Leaf/{top}", {"name": f"t{turn}"}),  # noqa: B023 run in this turn
            lambda: api.patch(f"Leaf/{middle}", {"name": f"m{turn}"}),  # noqa: B023
            lambda: api.patch(f"Leaf/{below}", {"parent": top}),  # noqa: B023
            lambda: api.post(many, {"name": "new", "type": tree.type, "parent": middle}),  # noqa: B023
            lambda: api.post(many, {"name": "new", "type": tree.type, "parent": below}),  # noqa: B023
        )
        assert set(said) <= {200, 201}
        tree.check()


@pytest.mark.parametrize("rounds", ROUNDS)
def test_nothing_is_made_below_what_goes(tree, rounds):
    for _ in range(rounds):
        top = tree.make("top")
        many, api = f"Leaves/{tree.project}", tree.api
        child = {"name": "new", "type": tree.type, "parent": top}
        said = at_once(*[lambda: api.post(many, child)] * 2, lambda: api.delete(f"Leaf/{top}"))  # noqa: B023
        assert said[-1] == 200
        assert set(said[:-1]) <= {201, 404}
        assert api.get(many).json == []
