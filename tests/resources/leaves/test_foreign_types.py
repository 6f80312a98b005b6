"""Trees that are copied to another project name the types of the first one (decision 80)."""

from __future__ import annotations

import pytest

from tests.service import join, new_user


@pytest.fixture
def other(api, organization):
    """A project of the same user without leaf types."""
    return api.made("Projects", {"name": "other", "organization": organization})


@pytest.fixture
def foreign(api, project):
    """A leaf type of the first project."""
    attributes = [{"name": "alias", "dtype": "string", "default": "none"}]
    return api.made(f"LeafTypes/{project}", {"name": "Species", "attribute_types": attributes})


def leaf_of(api, project, **leaf):
    number = api.made(f"Leaves/{project}", [{"name": "cod", **leaf}])[0]
    return api.get(f"Leaf/{number}").json


def test_a_type_is_copied_once_with_its_attributes(api, other, foreign):
    one = leaf_of(api, other, type=foreign)
    two = leaf_of(api, other, type=foreign, name="hake", parent=one["id"], attributes={"alias": "h"})
    (copy,) = api.get(f"LeafTypes/{other}").json
    assert one["type"] == two["type"] == copy["id"] != foreign
    assert (copy["name"], copy["project"], copy["attribute_types"][0]["name"]) == ("Species", other, "alias")
    assert (one["attributes"], two["attributes"]) == ({"alias": "none"}, {"alias": "h"})
    assert (one["depth"], two["depth"]) == (0, 1)


def test_the_namesake_is_taken_where_there_is_one(api, other, foreign):
    own = api.made(f"LeafTypes/{other}", {"name": "species"})
    assert leaf_of(api, other, type=foreign)["type"] == own


def test_a_type_that_the_caller_may_not_see_is_unknown(api, other, foreign):
    outsider = new_user()
    join(outsider, other, "Full Control")
    refusals = [outsider.post(f"Leaves/{other}", [{"name": "cod", "type": each}]).message for each in (foreign, 10**9)]
    assert refusals[0].replace(str(foreign), "…") == refusals[1].replace(str(10**9), "…")
    assert api.get(f"LeafTypes/{other}").json == []
