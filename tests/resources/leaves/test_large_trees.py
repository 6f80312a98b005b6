"""A change of a tree that does not fit into its request says so, and goes on."""

from __future__ import annotations

import pytest

from chalicelib.core.time import deadline
from chalicelib.resources.bulk import service as bulk_service
from chalicelib.resources.leaves import bulk as leaves_bulk


@pytest.fixture
def tree(api, project, monkeypatch, no_delays):
    """A root with 200 leaves below it; a change of it takes some rounds, and its message is due at once."""
    monkeypatch.setattr(leaves_bulk, "A_ROUND", leaves_bulk.A_COMMIT)
    monkeypatch.setattr(bulk_service, "SOON_DONE", 100)
    type_ = api.made(f"LeafTypes/{project}", {"name": "taxon", "attribute_types": [{"name": "n", "dtype": "int"}]})
    (root,) = api.made(f"Leaves/{project}", [{"type": type_, "name": "root"}])
    api.made(f"Leaves/{project}", [{"type": type_, "name": f"leaf {n}", "parent": root} for n in range(200)])
    return root


@pytest.mark.slow
@pytest.mark.parametrize("change", ["rename", "delete", "edit"])
def test_a_change_whose_time_is_over_is_finished_by_the_queue(api, project, tree, monkeypatch, change):
    monkeypatch.setattr(deadline, "end", lambda: 0.0)
    if change == "rename":
        said = api.patch(f"Leaf/{tree}", {"name": "top"})
    elif change == "delete":
        said = api.delete(f"Leaf/{tree}")
    else:
        said = api.patch(f"Leaves/{project}", {"attributes": {"n": 3}})
    assert (said.status, "goes on by itself" in said.message) == (503, True)
    api.drain()
    found = api.get(f"Leaves/{project}").json
    if change == "rename":
        assert {each["path"].split(".")[1] for each in found} == {"top"}
    elif change == "delete":
        assert found == []
    else:
        assert {each["attributes"]["n"] for each in found} == {3}


def test_a_query_that_is_interrupted_within_the_change_says_the_same(api, project, tree, monkeypatch):
    def interrupted(*_):
        raise deadline.time_ended()

    with monkeypatch.context() as patch:
        patch.setattr(leaves_bulk.RebuildPaths, "do_one", interrupted)
        said = api.patch(f"Leaf/{tree}", {"name": "top"})
    assert (said.status, "goes on by itself" in said.message) == (503, True)
    api.drain()
    assert {each["path"].split(".")[1] for each in api.get(f"Leaves/{project}").json} == {"top"}
